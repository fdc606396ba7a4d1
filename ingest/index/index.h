/* The trace index: every relation between the events of a trace, computed once after reading.
 *
 *     thread    step    |-------------------------------------|
 *               op         |-----------------------|              parent: step
 *               op            |--------|                          parent: the op around it
 *               call            |--|                              op: the inner one
 *     stream                        kernel |=======|              launch: call, op: the inner one
 *
 * Columns stand beside the model's: row i belongs to event i of the trace. The rules:
 *   - Complete events (phase X) with a time are indexed; all others have INDEX_OTHER and no
 *     relation.
 *   - A thread is a pair of process and thread id as the file writes them ("7" and 7 are one).
 *   - An event lies inside another of its thread if that one starts before it (or with it, and
 *     is longer; or is as long, and stands before it in the file), runs then, and does not end
 *     before it. An event that ends after one in which it starts is not inside that one, nor is
 *     what comes later. Nothing is left out.
 *   - Device work belongs to the first call, in the order of the file, with its correlation,
 *     which may be a number written as a text; correlation 0 is none.
 *   - A call belongs to the operator of its thread that started last of those that run at the
 *     call's start. Device work belongs to the operator of its call; without a call, to the first
 *     operator with its external id. Where another recorder wrote the file, that operator goes
 *     before the one of the call, and is also the call's if it has none [FMT-0.5].
 *   - A step is a host annotation `ProfilerStep#<N>` that takes time. Where several threads have
 *     them, those of the thread with most count (then: the longest, then the first in the file);
 *     of two with one name that overlap there, the longer. Where there is none, the annotations of
 *     a serving engine are the steps (engine_annotation.h): the detailed ones, if any is.
 *     Host events lie in the step that runs at their start, device work in the step of its call.
 *
 * About 40 bytes an event while it is there, O(n log n) for any input, no recursion. The trace must
 * outlive the index. Only read after it is built, so that several threads may read it at once. */
#ifndef KS_INDEX_INDEX_H
#define KS_INDEX_INDEX_H

#include "ingest/base/attr.h"
#include "ingest/index/engine_annotation.h"
#include "ingest/index/step_map.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX
/* What Lightning's profiler puts before the names of its marks. */
#define INDEX_PL_PROFILE "[pl][profile]"
#define INDEX_PL_MODULE "[pl][module]"

/* In this order: host work, calls, device rows. */
enum index_class {
    INDEX_OTHER,      /* no complete event, or without a time: not indexed */
    INDEX_MEMORY,     /* a record of memory, not indexed either */
    INDEX_UNKNOWN,    /* a complete event of a category that means nothing to us */
    INDEX_OPERATOR,   /* not one that marks a step, nor one of Lightning's profiler */
    INDEX_PYTHON,     /* a call of category `python` */
    INDEX_STEP,       /* an annotation that is a step, see above */
    INDEX_ANNOTATION, /* of the host */
    INDEX_MODULE,     /* python_function of a torch.nn.Module, `[pl][module]…` of Lightning */
    INDEX_FUNCTION,   /* other Python functions */
    INDEX_PROFILE,    /* `[pl][profile]…` of Lightning */
    INDEX_SPAN,       /* of a recorder: `PyTorch Profiler (0)` */
    INDEX_RUNTIME_CALL,
    INDEX_DRIVER_CALL,
    INDEX_KERNEL, /* device work from here on */
    INDEX_MEMCPY,
    INDEX_MEMSET,
    INDEX_DEVICE_ROW,  /* of an accelerator that does not say what it did */
    INDEX_DEVICE_WAIT, /* a stream that waits; no work */
    INDEX_DEVICE_ANNOTATION,
    INDEX_CLASS_COUNT
};

/* By phase and category, before names are asked. */
enum index_class index_class_by_category(const struct event_class *event_class);

/* Launches device work. */
static inline bool index_is_call(enum index_class class)
{
    return class == INDEX_RUNTIME_CALL || class == INDEX_DRIVER_CALL;
}

/* Of the stack of Python. */
static inline bool index_is_frame(enum index_class class)
{
    return class == INDEX_MODULE || class == INDEX_FUNCTION || class == INDEX_PYTHON;
}

static inline bool index_is_device_work(enum index_class class)
{
    return class >= INDEX_KERNEL && class <= INDEX_DEVICE_ROW;
}

/* A stretch of a list: items[first] to items[end - 1]. */
struct index_range {
    uint32_t first, end;
};

struct index_thread {
    uint32_t pid_text, tid_text; /* string ids */
    struct index_range events;   /* of `in_order` */
};

struct index_stream {
    int64_t device; /* as index_device_number(), else the process number; TRACE_NO_ID: neither */
    int64_t stream; /* argument `stream`, else the thread number; TRACE_NO_ID: neither */
    uint32_t pid_text, tid_text; /* string ids of what stands for a missing number, else 0 */
    struct index_range work;     /* of `device_work` */
};

struct trace_index {
    const struct trace *trace;

    /* ---- by event ---- */
    uint8_t *class;   /* enum index_class */
    uint32_t *parent; /* innermost event around it on its thread, INDEX_NONE */
    uint32_t *end;    /* in_order[place + 1 .. end) is its subtree; by event, not by place */
    int64_t *self_ns; /* its duration without the time that its children cover, never negative */
    uint32_t *launch; /* device work: its call. Calls: where their first work stands in
                         `launched`. INDEX_NONE: none */
    uint32_t *op;     /* device work and calls: whose they are. Else the innermost operator
                         around the event. INDEX_NONE: none */
    uint32_t *step;   /* number of its step, INDEX_NONE */

    /* ---- lists ---- */
    uint32_t *in_order; /* indexed events, thread by thread, each in order of start, the longer
                           first, then in file order: a parent stands before its children */
    uint32_t count;     /* of in_order */
    uint32_t *in_time;  /* the same events in order of start, then in file order; NULL after
                           index_drop_in_time */
    uint32_t *launched; /* device work that has a call, call by call in file order, in order of
                           start: that of a call goes on as long as `launch` names the call */
    uint32_t launched_count;
    uint32_t *device_work; /* stream by stream, in order of start, then in file order */
    uint32_t device_count;
    struct index_thread *threads; /* in order of their tracks */
    uint32_t thread_count;
    struct index_stream *streams; /* in order of their first work in time */
    uint32_t stream_count;
    struct index_step *steps; /* in order of start, the longer first, then in file order */
    uint32_t step_count;
    bool has_engine_steps;  /* the steps are those of a serving engine */
    uint32_t *track_thread; /* thread by track of the trace */
    uint32_t class_count[INDEX_CLASS_COUNT];
};

/* False without memory; must be freed in either case. */
bool index_build(struct trace_index *index, const struct trace *trace) KS_MUST_USE;
void index_free(struct trace_index *index);
/* Frees `in_time`, which only those need who select events before all else. */
void index_drop_in_time(struct trace_index *index);

static inline enum index_class index_class(const struct trace_index *index, uint32_t event)
{
    return (enum index_class)index->class[event];
}

/* The thread of an indexed event. */
static inline uint32_t index_thread(const struct trace_index *index, uint32_t event)
{
    return index->track_thread[trace_event_track(&index->trace->events, event)];
}

/* From where device work was started: its call, whose thread shows what lies around it. Where a
 * recorder's calls run on a thread of their own, that is its operator, as it is without a call.
 * INDEX_NONE: neither. */
static inline uint32_t index_launcher(const struct trace_index *index, uint32_t work)
{
    uint32_t call = index->launch[work];
    uint32_t op = index->op[work];
    bool is_elsewhere = call != INDEX_NONE && op != INDEX_NONE &&
                        index_thread(index, call) != index_thread(index, op);
    return call == INDEX_NONE || is_elsewhere ? op : call;
}

/* The device work of a call, a stretch of `launched`; empty when it launched none. */
static inline struct index_range index_launched(const struct trace_index *index, uint32_t call)
{
    struct index_range work = {0, 0};
    if (index->launch[call] != INDEX_NONE) {
        work = (struct index_range){index->launch[call], index->launch[call]};
        while (work.end < index->launched_count &&
               index->launch[index->launched[work.end]] == call) {
            work.end++;
        }
    }
    return work;
}

/* Whether the event is an annotation of a serving engine, and what it says. */
bool index_engine_step(const struct trace_index *index,
                       uint32_t event,
                       struct engine_annotation *out) KS_MUST_USE;

/* All of them that are steps [DEV-4], in order of start, the longer first, then in file order. *out
 * is to be freed with scratch_free() in either case. False without memory. */
bool index_engine_steps(const struct trace_index *index,
                        struct index_step **out,
                        uint32_t *count) KS_MUST_USE;

/* The number of the device: argument `device`, a text too; else n of a thread `device:n …`; else
 * TRACE_NO_ID. */
int64_t index_device_number(const struct trace *trace, uint32_t event);
/* The device of device work, as struct index_stream has it. */
int64_t index_device(const struct trace *trace, uint32_t event);

/* An analysis of the index that fills rows of a declared table, in the arena; the caller has zeroed
 * *count. False without memory. */
struct arena;
typedef bool rows_analysis(const struct trace_index *index,
                           int64_t zero_ns,
                           struct arena *arena,
                           void **rows,
                           size_t *count);

#endif

/* A trace in memory, in columns: one row per element of `traceEvents` that was read, whatever its
 * phase, in file order, about 32 bytes each. Formats fill it through trace_add_*; analyses read the
 * columns. One thread owns it at a time; trace_destroy frees everything.
 *
 * Units: times are integer nanoseconds as in the file (decimal microseconds parsed from text, never
 * through a double); add `base_time_ns` for absolute times. All are within +-2^62 ns, so that ts +
 * dur and ts + base cannot overflow. Negative durations are read as 0. */
#ifndef KS_MODEL_TRACE_H
#define KS_MODEL_TRACE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/base/order.h"
#include "ingest/base/text/strtab.h"
#include "ingest/model/recorders/recorded.h"
#include "ingest/model/warning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* "None" for int64 ids (correlation id, external id, ...). */
#define TRACE_NO_ID INT64_MIN
/* "No arguments that an analysis needs" in the `args` column. */
#define TRACE_NO_ARGS UINT32_MAX

/* The kind of an event, whatever its producer calls the category [TB-3b], including the categories
 * of the MLU fork [TB-17a]. Only complete events (X), flows (s, t, f) and memory records have a
 * kind other than EVENT_OTHER. Categories that no view knows have a kind of their own or
 * EVENT_OTHER. */
enum event_kind {
    EVENT_OTHER,
    EVENT_OPERATOR,   /* cpu_op, operator */
    EVENT_RUNTIME,    /* runtime, cuda_runtime, mtia_, glow_, xpu_, privateuse1_, mlu_runtime */
    EVENT_KERNEL,     /* kernel */
    EVENT_MEMCPY,     /* memcpy, gpu_memcpy, mlu_memcpy */
    EVENT_MEMSET,     /* memset, gpu_memset, mlu_memset */
    EVENT_TRACE_SPAN, /* trace */
    EVENT_PYTHON,     /* python */
    EVENT_PYTHON_FUNCTION,     /* python_function */
    EVENT_MEMORY,              /* ph X with category memory, and ph i named [memory] */
    EVENT_USER_ANNOTATION,     /* user_annotation */
    EVENT_GPU_USER_ANNOTATION, /* gpu_user_annotation, mlu_user_annotation */
    EVENT_DRIVER,              /* cuda_driver, xpu_driver, privateuse1_driver */
    EVENT_FLOW_FWDBWD,         /* fwdbwd, forward_backward */
    EVENT_FLOW,                /* ac2g, async, ...: every other s / t / f */
    EVENT_DEVICE_ROW           /* mtia_ccp_events: work whose accelerator does not say which */
};

enum event_flag {
    EVENT_HAS_DUR = 1,     /* the event has a duration of its own (else dur_ns is 0) */
    EVENT_NO_TS = 2,       /* no readable time stamp (ts_ns is 0): metadata, damaged events, and a
                              `Record Window End` left out by [TB-2e] */
    EVENT_TID_IS_TEXT = 4, /* the raw tid was a JSON string */
    EVENT_MODULE = 8,      /* python_function with `Python module id` */
    EVENT_NO_NAME = 16,    /* the event has no name (the name id is that of the empty string) */
    EVENT_NO_CATEGORY = 32,
    EVENT_UNREADABLE = 64 /* dur, ts or args is present but null or unreadable: cycles skip the
                             event [CMP-10a.loading.2] */
};

/* Whether `args` of this kind of event is an index into trace.op_args. */
static inline bool trace_has_op_args(enum event_kind kind)
{
    return kind == EVENT_OPERATOR || kind == EVENT_PYTHON || kind == EVENT_USER_ANNOTATION ||
           kind == EVENT_GPU_USER_ANNOTATION;
}

/* Whether it is an index into trace.kernel_args. */
static inline bool trace_has_kernel_args(enum event_kind kind)
{
    return kind == EVENT_KERNEL || kind == EVENT_MEMCPY || kind == EVENT_MEMSET ||
           kind == EVENT_DEVICE_ROW;
}

/* A column of 64-bit numbers, most of them small: 32-bit words, and a list for those that do not
 * fit. */
struct trace_numbers {
    uint32_t *word; /* below TRACE_WIDE: the number; TRACE_WORD_NONE; else its index in `wide` */
    int64_t *wide;
    uint32_t wide_count;
    uint32_t wide_capacity;
};
#define TRACE_WIDE ((uint32_t)1 << 31)
#define TRACE_WORD_NONE UINT32_MAX /* TRACE_NO_ID */

static inline int64_t trace_number(const struct trace_numbers *numbers, uint32_t event)
{
    uint32_t word = numbers->word[event];
    if (KS_LIKELY(word < TRACE_WIDE)) {
        return word;
    }
    return word == TRACE_WORD_NONE ? TRACE_NO_ID : numbers->wide[word - TRACE_WIDE];
}

/* A column of indexes that rarely exceed 16 bits. */
struct trace_indexes {
    uint16_t *low;
    uint16_t *high; /* NULL: all 0 */
};

static inline uint32_t trace_index(const struct trace_indexes *indexes, uint32_t event)
{
    uint32_t high = KS_LIKELY(indexes->high == NULL) ? 0 : indexes->high[event];
    return high << 16 | indexes->low[event];
}

/* Overwrites an index with one that the column already holds at another event. */
static inline void trace_set_index(struct trace_indexes *indexes, uint32_t event, uint32_t index)
{
    indexes->low[event] = (uint16_t)index;
    if (KS_UNLIKELY(indexes->high != NULL)) {
        indexes->high[event] = (uint16_t)(index >> 16);
    }
}

/* What many events share; equal entries are stored once. */
struct event_class {
    uint16_t category; /* index into trace.categories */
    uint8_t kind;      /* enum event_kind */
    uint8_t flags;     /* enum event_flag */
    int32_t phase;     /* the `ph` character */
};

/* The columns. Row i of every array belongs to event i. */
struct trace_events {
    uint32_t count;
    uint32_t capacity;
    uint32_t expected; /* from trace_expect(); 0: unknown */
    int64_t *ts_ns;
    struct trace_numbers dur_ns; /* trace_dur_ns() */
    /* trace_correlation(). Device and runtime events: `correlation`. Flow events: their id.
     * python_function: `Python id`. Ids that are JSON texts become unique negative numbers.
     * TRACE_NO_ID where absent. */
    struct trace_numbers correlation;
    /* trace_external_id(). `external id`, else `External id` [TB-3.1]. python_function: `Python
     * parent id`. */
    struct trace_numbers external_id;
    uint32_t *name;             /* string id */
    struct trace_indexes track; /* trace_event_track(): into trace.tracks */
    struct trace_indexes class; /* trace_event_class(): into `classes` */
    uint32_t
        *args; /* by kind: see struct op_args, kernel_args, memory_args; calls: the string id
                  of `kernel`, what they launch; EVENT_OTHER: that of `Task Type`; python_function
                  with EVENT_MODULE: the module id itself; else TRACE_NO_ARGS */
    struct event_class *classes;
    uint32_t class_count;
};

static inline int64_t trace_dur_ns(const struct trace_events *events, uint32_t event)
{
    return trace_number(&events->dur_ns, event);
}

static inline uint32_t trace_event_track(const struct trace_events *events, uint32_t event)
{
    return trace_index(&events->track, event);
}

static inline const struct event_class *trace_event_class(const struct trace_events *events,
                                                          uint32_t event)
{
    return &events->classes[trace_index(&events->class, event)];
}

static inline uint16_t trace_category(const struct trace_events *events, uint32_t event)
{
    return trace_event_class(events, event)->category;
}

static inline enum event_kind trace_kind(const struct trace_events *events, uint32_t event)
{
    return (enum event_kind)trace_event_class(events, event)->kind;
}

static inline uint8_t trace_flags(const struct trace_events *events, uint32_t event)
{
    return trace_event_class(events, event)->flags;
}

static inline char trace_phase(const struct trace_events *events, uint32_t event)
{
    return (char)trace_event_class(events, event)->phase;
}

static inline int64_t trace_correlation(const struct trace_events *events, uint32_t event)
{
    return trace_number(&events->correlation, event);
}

static inline int64_t trace_external_id(const struct trace_events *events, uint32_t event)
{
    return trace_number(&events->external_id, event);
}

/* One (pid, tid) pair as in the file. The raw texts are kept, so "7" and 7 are two tracks. */
struct trace_track {
    uint32_t pid_text; /* string ids of the raw values: JSON strings unquoted, numbers as written */
    uint32_t tid_text;
    bool pid_is_text; /* a JSON string */
    bool tid_is_text;
    bool pid_is_int; /* a JSON integer */
    bool tid_is_int;
    /* int(pid), int(tid) as Python computes them, also of texts such as "25738"; *_valid is false
     * where Python would fail. Tracks with equal tid_int are one thread of the operator tree
     * [TB-3.2]. */
    bool pid_int_valid;
    bool tid_int_valid;
    int64_t pid_int;
    int64_t tid_int;
};

/* Arguments of operators and annotations; equal entries are stored once. Texts are Python's str()
 * of the JSON value [TB-11a]: `[[2, 8, 5], []]`. */
struct op_args {
    uint32_t shape;       /* `Input Dims`, else `Input dims`; "[]" when absent, "None" for a null */
    uint32_t call_stack;  /* empty string when absent */
    uint32_t input_types; /* `Input type` as text, STRTAB_NONE when absent */
    /* The inputs as JSON without spaces, for those who ask the reader (operator_inputs of struct
     * format_options); STRTAB_NONE when absent or not asked for. */
    uint32_t dims_json;     /* `Input Dims`, else `Input dims` */
    uint32_t types_json;    /* `Input type` */
    uint32_t strides_json;  /* `Input Strides` */
    uint32_t concrete_json; /* `Concrete Inputs` */
};

/* Arguments of kernels, memcpys and memsets; equal entries are stored once. */
struct kernel_args {
    int64_t device;       /* arg `device` when it is an integer, else TRACE_NO_ID */
    int64_t stream;       /* arg `stream`, TRACE_NO_ID when absent or no integer */
    int64_t size_bytes;   /* arg `bytes` (memcpy, memset), TRACE_NO_ID when absent */
    double blocks_per_sm; /* NaN when absent or null */
    double occupancy_pct; /* `est. achieved occupancy %`, NaN when absent or null */
    /* Texts as Python prints them, str(value); STRTAB_NONE when absent. `grid`, `block`,
     * `registers per thread`, `shared memory`; `kernel type`, `tasktopo`, `tasktopo_node`. `dim` is
     * the list of dimx, dimy, dimz (`[16, 4, 4]`, `None` for missing ones); absent if all of them
     * are. An NPU's kernel has its core, block dim, input and output shapes in the first four. */
    uint32_t grid;
    uint32_t block;
    uint32_t registers_per_thread;
    uint32_t shared_memory;
    uint32_t kernel_type;
    uint32_t dim;
    uint32_t tasktopo;
    uint32_t tasktopo_node;
};

#define MEMORY_HAS_ADDR 1u
#define MEMORY_HAS_ALLOCATED 2u
#define MEMORY_HAS_RESERVED 4u
#define MEMORY_HAS_DEVICE_TYPE 8u
#define MEMORY_HAS_DEVICE_ID 16u
#define MEMORY_TYPE_OTHER INT16_MAX

/* Arguments of one `[memory]` record. */
struct memory_args {
    int64_t addr;       /* the 64 bits of the unsigned address */
    int64_t size_bytes; /* `Bytes`: positive allocates, negative releases; 0 when absent */
    int64_t total_allocated_bytes;
    int64_t total_reserved_bytes;
    int32_t device_id;
    int16_t device_type; /* 0 CPU, 1 CUDA, 20 PrivateUse1 (MLU); beyond 16 bits MEMORY_TYPE_OTHER */
    uint16_t has;        /* MEMORY_HAS_* */
};

#define EXTRA_HAS_HOST 1u
#define EXTRA_HAS_DEVICE 2u
#define EXTRA_HAS_VALUE 4u
#define EXTRA_VALUE_IS_INTEGER 8u /* a JSON integer */
#define EXTRA_HAS_CORRELATION 16u

/* Arguments that only the analysis of cycles needs [CMP-10.loading] [CMP-10a.loading]: one entry
 * per event that has any, ascending by event, so that other traces pay nothing. A JSON text under
 * `args.args` is first merged into the arguments; the other columns do not see it. These values win
 * over the other columns: numbers written as texts, a device of events without kernel_args. */
struct event_extra {
    uint32_t event;
    uint32_t host;       /* string id of `hostname`, which may be empty */
    uint32_t has;        /* EXTRA_* */
    int64_t device;      /* `device` */
    int64_t correlation; /* `correlation` */
    double value;        /* of a counter (ph C): `value` */
};

/* What profilers write about a collective into its operator (`record_param_comms`) or kernel: one
 * entry per event with a name, a group, its size or a message, ascending by event. Texts are string
 * ids, STRTAB_NONE when absent; absent numbers are TRACE_NO_ID. */
struct collective_args {
    uint32_t event;
    uint32_t name;  /* `Collective name`: allreduce, _allgather_base, wait, ...; 0 when absent */
    uint32_t dtype; /* `dtype`: Float, BFloat16, ... */
    uint32_t group; /* `Process Group Name`, else `Process Group ID` */
    uint32_t group_ranks; /* `Process Group Ranks`: [0, 1, 2] */
    uint32_t in_split;    /* `In split size`: [16, 32] */
    bool is_group_named;  /* `group` is the name */
    int64_t sequence;     /* `Seq` */
    int64_t group_size;   /* `Group size`: ranks */
    int64_t in_count;     /* `In msg nelems`: elements this rank sends */
    int64_t out_count;    /* `Out msg nelems`: elements it receives */
};

/* What events that are no device work say of a stream: waits (category cuda_sync), operators of
 * compiled kernels. One entry per event with a stream, ascending by event. Absent numbers are
 * TRACE_NO_ID. */
struct wait_args {
    uint32_t event;
    int64_t stream;
    int64_t wait_stream; /* `wait_on_stream`: on which the awaited event was recorded */
    int64_t
        wait_correlation; /* `wait_on_cuda_event_record_corr_id`: of the call that recorded it */
};

/* One series of a counter event (ph C): each numeric member of its `args`. Ascending by event. */
struct trace_counter {
    uint32_t event;
    uint32_t series; /* string id of the member's key */
    double value;
};

#define DEVICE_HAS_ID 1u
#define DEVICE_HAS_TOTAL_MEMORY 2u
#define DEVICE_HAS_TOTAL_MEMORY_MIB 4u
#define DEVICE_HAS_COMPUTE_MAJOR 8u
#define DEVICE_HAS_COMPUTE_MINOR 16u
#define DEVICE_HAS_SM_COUNT 32u
#define DEVICE_HAS_NAME 64u

/* One entry of `deviceProperties`, in file order. */
struct device_properties {
    int64_t id;
    const char *name;
    int64_t total_memory_bytes; /* totalGlobalMem */
    int64_t total_memory_mib;   /* totalMem(MiB) */
    int64_t compute_major;
    int64_t compute_minor;
    int64_t sm_count; /* numSms */
    uint32_t has;     /* DEVICE_HAS_* */
};

/* A scalar of the top level or of `distributedInfo` (keys "distributedInfo.rank" ...), for the
 * environment table; values are JSON text, strings unquoted. Also process and thread names (see
 * trace.labels). */
struct trace_meta {
    const char *key;
    const char *value;
};

/* process_name, thread_name, process_labels, process_sort_index and thread_sort_index metadata (`M`
 * events). */
struct trace_label {
    uint32_t kind_name; /* string id of the M event's name, "thread_name" */
    uint32_t track;
    uint32_t label; /* string id of args.name, args.labels or args.sort_index */
};

struct trace {
    struct arena arena; /* texts of metadata, and other data that live as long as the trace */
    struct strtab *strings;
    struct trace_events events;

    struct trace_track *tracks;
    uint32_t *categories; /* string ids of the raw `cat` texts */
    uint32_t track_count;
    uint32_t category_count;
    struct op_args *op_args;
    struct kernel_args *kernel_args;
    uint32_t op_args_count;
    uint32_t kernel_args_count;
    struct memory_args *memory_args; /* one a record */
    uint32_t memory_args_count;
    struct event_extra *extras;
    uint32_t extra_count;
    struct collective_args *collectives;
    uint32_t collective_count;
    struct wait_args *waits;
    uint32_t wait_count;
    struct trace_counter *counters;
    uint32_t counter_count;
    struct trace_label *labels;
    uint32_t label_count;

    struct device_properties *devices;
    uint32_t device_count;
    bool has_device_properties; /* the key was present, even with an empty list */
    bool decimal_times;         /* some ts or dur has a decimal point or exponent: [TB-1e] */
    struct trace_meta *meta;
    uint32_t meta_count;
    const char *framework;    /* top-level `Framework`, NULL when absent */
    int64_t base_time_ns;     /* `baseTimeNanoseconds`, 0 when absent */
    int64_t distributed_rank; /* distributedInfo.rank, TRACE_NO_ID when absent */
    int64_t distributed_world_size;
    const char *distributed_backend; /* NULL when absent */
    const struct recorded *recorded; /* NULL: PyTorch's own format, or one that says nothing */

    struct warnings warnings;

    struct trace_private *priv; /* look-up tables of the builder */
};

struct trace *trace_create(void) KS_MUST_USE; /* NULL without memory */
void trace_destroy(struct trace *trace);      /* NULL is allowed */

/* What the maker calls its devices: "MLU" (is_mlu), "NPU", "TPU", else "GPU". */
const char *trace_device_word(const struct trace *trace, bool is_mlu);

/* ---- filling: functions return ids, or UINT32_MAX without memory ---- */

/* An event to append; everything is copied. */
struct trace_event {
    int64_t ts_ns, dur_ns, correlation, external_id;
    uint32_t name, track, args;
    uint16_t category;
    enum event_kind kind;
    uint8_t flags;
    char phase;
};

/* Appends a row. False without memory, or beyond UINT32_MAX - 1 rows. */
bool trace_add_event(struct trace *trace, const struct trace_event *event) KS_MUST_USE;
/* As trace_add_event, with the class of another row (trace_index of `class`), whatever *event says
 * about it. */
bool trace_add_event_of_class(struct trace *trace,
                              const struct trace_event *event,
                              uint32_t class) KS_MUST_USE;
/* Changes the duration of an event. False without memory. */
bool trace_set_dur_ns(struct trace *trace, uint32_t event, int64_t dur_ns) KS_MUST_USE;
/* Change an id of an event. False without memory. */
bool trace_set_correlation(struct trace *trace, uint32_t event, int64_t id) KS_MUST_USE;
bool trace_set_external_id(struct trace *trace, uint32_t event, int64_t id) KS_MUST_USE;
/* Changes the class of an event. False without memory. */
bool trace_set_class(struct trace *trace, uint32_t event, struct event_class class) KS_MUST_USE;
/* Return the index of an equal entry; add it when new. */
uint32_t trace_add_track(struct trace *trace, const struct trace_track *track);
/* Category 0 is the empty text. Beyond 65536 categories, new ones share entry 0. */
uint32_t trace_add_category(struct trace *trace, const char *text, size_t len);
uint32_t trace_add_op_args(struct trace *trace, const struct op_args *args);
/* All absent. */
struct kernel_args trace_no_kernel_args(void);
uint32_t trace_add_kernel_args(struct trace *trace, const struct kernel_args *args);
/* Always adds an entry. */
uint32_t trace_add_memory_args(struct trace *trace, const struct memory_args *args);
bool trace_add_extra(struct trace *trace, const struct event_extra *extra) KS_MUST_USE;
bool trace_add_collective(struct trace *trace, const struct collective_args *args) KS_MUST_USE;
bool trace_add_wait(struct trace *trace, const struct wait_args *args) KS_MUST_USE;
bool trace_add_counter(struct trace *trace, const struct trace_counter *counter) KS_MUST_USE;
bool trace_add_label(struct trace *trace, const struct trace_label *label) KS_MUST_USE;
bool trace_add_device(struct trace *trace, const struct device_properties *device) KS_MUST_USE;
bool trace_add_meta(struct trace *trace, const char *key, const char *value) KS_MUST_USE;

/* Announces the expected number of events, and reserves room for them; call it whenever more is
 * known. 0: unknown. */
void trace_expect(struct trace *trace, uint64_t event_count);
/* Returns unused room. Call it after the last event. */
void trace_seal(struct trace *trace);

/* Bytes in use by columns, tables, strings and arena. Reserved room does not count: the system
 * provides no memory for it before it is written. */
size_t trace_memory_bytes(const struct trace *trace);

/* NULL: the event has none. */
static inline const struct kernel_args *trace_kernel_args_of(const struct trace *trace,
                                                             uint32_t event)
{
    uint32_t args = trace->events.args[event];
    return args == TRACE_NO_ARGS || !trace_has_kernel_args(trace_kind(&trace->events, event))
               ? NULL
               : &trace->kernel_args[args];
}

/* What there is of an event besides: notes begin with their event, by which they ascend. NULL:
 * nothing. */
static inline const struct event_extra *trace_extra_of(const struct trace *trace, uint32_t event)
{
    return trace->extra_count == 0 ? NULL
                                   : bsearch(&event, trace->extras, trace->extra_count,
                                             sizeof *trace->extras, order_u32_at);
}

/* The correlation as a number, also where the file writes it as a text [DEV-8]; a text that is no
 * number keeps its id. */
static inline int64_t trace_correlation_number(const struct trace *trace, uint32_t event)
{
    int64_t id = trace_correlation(&trace->events, event);
    const struct event_extra *extra = id >= 0 ? NULL : trace_extra_of(trace, event);
    return extra != NULL && (extra->has & EXTRA_HAS_CORRELATION) != 0 ? extra->correlation : id;
}

static inline const struct wait_args *trace_wait_of(const struct trace *trace, uint32_t event)
{
    return trace->wait_count == 0 ? NULL
                                  : bsearch(&event, trace->waits, trace->wait_count,
                                            sizeof *trace->waits, order_u32_at);
}

#endif

/* The events that the analysis of cycles looks at, in order of time, with what it asks of each:
 * kind of event, process, host, thread, device, correlation [CMP-10.loading] [CMP-10a.loading].
 *
 *     position   0     1     2     3 ...      by start; equal starts in file order
 *     row[]      17    4     5     9          the event's row in the trace
 *
 * An event is named by its position everywhere in the analysis of cycles. */
#ifndef KS_ANALYSIS_CYCLES_EVENTS_H
#define KS_ANALYSIS_CYCLES_EVENTS_H

#include "ingest/analysis/cycles/names.h"
#include "ingest/base/attr.h"
#include "ingest/base/saturating.h"
#include "ingest/index/index.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stdint.h>

#define CYCLE_NONE UINT32_MAX
#define CYCLE_NO_DEVICE (-1)
#define CYCLE_NO_INSTANCE (-1)
/* Process of events without a readable pid. */
#define CYCLE_NO_PID (-1)

enum cycle_class {
    CYCLE_CLASS_OTHER,
    CYCLE_CLASS_PYTHON,     /* Python call with a duration */
    CYCLE_CLASS_GPU,        /* kernel, memcpy, memset */
    CYCLE_CLASS_LAUNCH,     /* call that can start device work */
    CYCLE_CLASS_OPERATOR,   /* Kineto's operators, without steps */
    CYCLE_CLASS_ANNOTATION, /* Kineto's user annotations on the host; steps */
    CYCLE_CLASS_COUNTER,    /* a sample, with a value */
    CYCLE_CLASS_SILENT      /* tells a host name, nothing else */
};

struct cycle_track {
    uint32_t process;
    uint32_t thread;  /* by the text of the tid alone */
    uint32_t host;    /* in the text of the pid, CYCLE_NONE */
    int64_t device;   /* <n> of `device:<n>` in the tid, CYCLE_NO_DEVICE */
    int64_t instance; /* <n> of `CAT_XPU_<n>` in the tid, CYCLE_NO_INSTANCE */
};

struct cycle_events {
    const struct trace *trace;
    const struct trace_index *index;
    struct cycle_names names;
    uint32_t count;
    uint32_t *row;
    uint8_t *class; /* enum cycle_class */
    uint8_t *type;  /* enum cycle_type (cycle_types.h) */
    uint32_t *host; /* ids in `hosts`, CYCLE_NONE; NULL: no event names a host */
    struct strtab *hosts;
    uint32_t *extra;           /* by row: index into the trace's extras; NULL: it has none */
    struct cycle_track *track; /* by track of the trace */
    int64_t *pid;              /* by process */
    uint32_t process_count;
    uint32_t busiest_process; /* where device work belongs that no known call started */
    uint32_t thread_count;
    bool is_kineto; /* PyTorch's own profiler wrote it: device events carry the device as pid */
    bool has_short_times; /* cycle_clock_meant() tells the times of its recorder */
    bool has_steps;       /* those of the index are ProfilerStep#N */
    bool names_hosts;
    bool has_many_hosts;
    bool has_counters; /* samples with a value */
};

/* Times that a recorder kept as doubles of microseconds. Since the epoch these lie 0.25 us apart,
 * and their shortest text (1763001580008344.2) is not their value (….25), which is what the
 * recorder meant and what adds up with the durations. */

/* Whether the time reads as the shortest text of a double; true for whole microseconds. */
bool cycle_clock_is_short(int64_t time_ns);
/* The value of the double that is nearest to the time. */
int64_t cycle_clock_meant(int64_t time_ns);

/* `only_steps`: a trace with steps is read without its Python calls, which then tell nothing, and
 * perhaps in the order of the file; one that can have neither cycles nor counters not at all. False
 * without memory; must be freed in either case. The index must outlive the events. */
bool cycle_events_init(struct cycle_events *events,
                       const struct trace_index *index,
                       bool only_steps) KS_MUST_USE;
void cycle_events_free(struct cycle_events *events);

static inline const struct cycle_track *cycle_track(const struct cycle_events *events, uint32_t at)
{
    return &events->track[trace_event_track(&events->trace->events, events->row[at])];
}

static inline int64_t cycle_row_start_ns(const struct cycle_events *events, uint32_t row)
{
    int64_t start_ns = events->trace->events.ts_ns[row];
    return KS_UNLIKELY(events->has_short_times) ? cycle_clock_meant(start_ns) : start_ns;
}

static inline int64_t cycle_start_ns(const struct cycle_events *events, uint32_t at)
{
    return cycle_row_start_ns(events, events->row[at]);
}

static inline int64_t cycle_end_ns(const struct cycle_events *events, uint32_t at)
{
    return saturating_add(cycle_start_ns(events, at),
                          trace_dur_ns(&events->trace->events, events->row[at]));
}

/* A string id. */
static inline uint32_t cycle_name(const struct cycle_events *events, uint32_t at)
{
    return events->trace->events.name[events->row[at]];
}

/* The row of the call that launched device work of a Kineto trace, or of the event itself. */
static inline uint32_t cycle_asking_row(const struct cycle_events *events, uint32_t at)
{
    uint32_t row = events->row[at];
    bool is_work = events->is_kineto && events->class[at] == CYCLE_CLASS_GPU;
    uint32_t call = is_work ? events->index->launch[row] : INDEX_NONE;
    return call == INDEX_NONE ? row : call;
}

/* Device work of Kineto traces belongs to the process of the call that launched it. */
static inline uint32_t cycle_process(const struct cycle_events *events, uint32_t at)
{
    uint32_t row = cycle_asking_row(events, at);
    if (events->is_kineto && events->class[at] == CYCLE_CLASS_GPU && row == events->row[at]) {
        return events->busiest_process;
    }
    return events->track[trace_event_track(&events->trace->events, row)].process;
}

static inline uint32_t cycle_host(const struct cycle_events *events, uint32_t at)
{
    return events->host == NULL ? CYCLE_NONE : events->host[at];
}

/* What stands in the extras of the event, NULL when nothing does. */
static inline const struct event_extra *cycle_extra(const struct cycle_events *events, uint32_t at)
{
    if (KS_LIKELY(events->extra == NULL)) {
        return NULL;
    }
    uint32_t index = events->extra[events->row[at]];
    return index == CYCLE_NONE ? NULL : &events->trace->extras[index];
}

/* The argument `device`; false when there is none. */
bool cycle_device_argument(const struct cycle_events *events, uint32_t at, int64_t *device);
/* The same, else the device in the tid, else CYCLE_NO_DEVICE. */
int64_t cycle_device(const struct cycle_events *events, uint32_t at);
/* False when the event has no correlation that is an integer. */
bool cycle_correlation(const struct cycle_events *events, uint32_t at, int64_t *correlation);

#endif

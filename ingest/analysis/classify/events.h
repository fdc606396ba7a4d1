/* Which events count and as what: classes, names, and the order of time. */
#ifndef KS_ANALYSIS_CLASSIFY_EVENTS_H
#define KS_ANALYSIS_CLASSIFY_EVENTS_H

#include "ingest/analysis/classify/names.h"
#include "ingest/base/attr.h"
#include "ingest/index/index.h"
#include "ingest/model/trace.h"
#include "ingest/model/warning.h"

#include <stdbool.h>
#include <stdint.h>

/* Kept events are listed by who asks for them together. */
enum event_list {
    LIST_HOST, /* operators, annotations, steps, modules, Python functions, Lightning's profile */
    LIST_RUNTIME,
    LIST_DEVICE, /* kernels, copies, memsets */
    LIST_MEMORY,
    LIST_SPAN,
    LIST_COUNT
};

/* Events in order of time, equal times in file order. */
struct events_in_time {
    const uint32_t *items;
    uint32_t count;
};

struct event_classes;

/* Times by another clock than the trace's; starts and ends count from the first event. */
struct event_clock {
    int64_t (*start)(const struct event_classes *sel, uint32_t event);
    int64_t (*end)(const struct event_classes *sel, uint32_t event);
    int64_t (*start_key)(const struct event_classes *sel, uint32_t event);
    int64_t (*end_key)(const struct event_classes *sel, uint32_t event);
};

struct event_classes {
    const struct trace *trace;
    struct names names;
    uint8_t *class; /* enum index_class by event: steps are marked by name [TB-3], rows of any
                       accelerator are kernels; INDEX_OTHER: it does not count */
    struct events_in_time lists[LIST_COUNT];
    uint32_t *listed; /* all of them */
    size_t listed_count;
    uint32_t class_count[INDEX_CLASS_COUNT];
    const struct kernel_rules *kernel_rules; /* of one's own; NULL: none */
    const uint32_t *name;            /* name id by event, without the prefixes of Lightning */
    uint32_t *own_name;              /* what `name` points to when it is not the trace's column */
    uint32_t seen_names;             /* enum name_flag of all kept events together */
    bool lightning;                  /* `Framework` is pytorch-lightning */
    bool mlu;                        /* the rules of the fork apply [TB-17.1] */
    bool is_ours;                    /* by an index; otherwise the annex's rules apply */
    const struct event_clock *clock; /* of one's own; NULL: nanoseconds (times.h) */
    int64_t first_ns, last_ns; /* smallest start and largest end of kept events; 0 without any */
    int64_t zero_ns; /* where positions count from: first_ns, or what the caller sets behind it */
};

/* By an index with in_time. `own` as for kernel_class_of(). False without memory; `sel` must be
 * freed in either case. The trace must outlive it. */
bool classify_events(struct event_classes *sel,
                     const struct trace_index *index,
                     const struct kernel_rules *own,
                     struct warnings *warnings) KS_MUST_USE;
/* The same in two steps, for other rules: the caller sets `class` between them, and what else
 * differs. Without an index events are put in order here. */
bool classify_begin(struct event_classes *sel, const struct trace *trace) KS_MUST_USE;
bool classify_finish(struct event_classes *sel,
                     const struct trace_index *index,
                     struct warnings *warnings) KS_MUST_USE;
void classify_free(struct event_classes *sel);

/* The classes that form the operator tree [TB-4c]. */
static inline bool classify_is_host(enum index_class class)
{
    return class >= INDEX_OPERATOR && class <= INDEX_MODULE;
}

#endif

/* Which events count and as what [TB-3]: types, names, and the order of time. */
#ifndef KS_ANALYSIS_CLASSIFY_EVENTS_H
#define KS_ANALYSIS_CLASSIFY_EVENTS_H

#include "ingest/analysis/classify/names.h"
#include "ingest/base/attr.h"
#include "ingest/index/index.h"
#include "ingest/model/trace.h"
#include "ingest/model/warning.h"

#include <stdbool.h>
#include <stdint.h>

/* What an event is [TB-3]. TYPE_NONE: it does not count. */
enum event_type {
    TYPE_NONE,
    TYPE_OPERATOR,
    TYPE_PYTHON,
    TYPE_USER_ANNOTATION,
    TYPE_PROFILER_STEP,
    TYPE_MODULE,
    TYPE_PL_MODULE,
    TYPE_PL_PROFILE,
    TYPE_PYTHON_FUNCTION,
    TYPE_TRACE_SPAN,
    TYPE_RUNTIME,
    TYPE_KERNEL,
    TYPE_MEMCPY,
    TYPE_MEMSET,
    TYPE_MEMORY,
    TYPE_DEVICE_ANNOTATION, /* by the index only */
    TYPE_COUNT
};

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

struct event_classes {
    const struct trace *trace;
    struct names names;
    uint8_t *type; /* enum event_type by event */
    struct events_in_time lists[LIST_COUNT];
    uint32_t *listed; /* all of them */
    uint32_t type_count[TYPE_COUNT];
    const struct kernel_rules *kernel_rules; /* of one's own; NULL: none */
    const uint32_t *name;      /* name id by event, without the prefixes of Lightning */
    uint32_t *own_name;        /* what `name` points to when it is not the trace's column */
    uint32_t seen_names;       /* enum name_flag of all kept events together */
    bool lightning;            /* `Framework` is pytorch-lightning */
    bool mlu;                  /* the rules of the fork apply [TB-17.1] */
    bool is_ours;              /* by an index; otherwise the annex's rules apply */
    bool rounded;              /* times are rounded to doubles: see tb_clock.h */
    int64_t first_ns, last_ns; /* smallest start and largest end of kept events; 0 without any */
};

/* False without memory; `sel` must be freed in either case. The trace must outlive it. `index`:
 * with in_time, of our figures, for which rows of any accelerator are kernels and steps are the
 * host's; NULL: by categories alone, for the annex. `own` as for kernel_class_of(). `rounded`:
 * times are taken as doubles hold them (classify_can_round). */
bool classify_events(struct event_classes *sel,
                     const struct trace *trace,
                     const struct trace_index *index,
                     const struct kernel_rules *own,
                     bool rounded,
                     struct warnings *warnings) KS_MUST_USE;
/* Whether doubles differ from the exact times, and their ticks fit 64 bits. */
bool classify_can_round(const struct event_classes *sel);
void classify_free(struct event_classes *sel);

/* The types that form the operator tree [TB-4c]. */
static inline bool classify_is_host(enum event_type type)
{
    return type >= TYPE_OPERATOR && type <= TYPE_PL_MODULE;
}

/* Kernel, Memcpy, Memset. */
static inline bool classify_is_device(enum event_type type)
{
    return type == TYPE_KERNEL || type == TYPE_MEMCPY || type == TYPE_MEMSET;
}

#endif

/* The collectives of a trace. A collective is
 *
 *   - what the host marks as one: an operator or annotation named by a library (`nccl:all_reduce`,
 *     collective_kinds.h) or an event with a `Collective name`, such as `record_param_comms`; marks
 *     inside a mark on the same thread belong to it,
 *
 *         record_param_comms   |-------------------------|      one collective, with this
 *           nccl:all_reduce        |----------------|           kernel as its device work
 *             launch                  |--|
 *               ncclDevKernel_…             |=================|
 *
 *   - with the device work that belongs to it: kernels of class communication [DEV-1], found by the
 *     external id of a mark, else by their launch inside the mark. External ids that are copies of
 *     the correlation say nothing,
 *   - and each such kernel for which the host has no mark.
 *
 * Annotations of the device stand for device work where no kernel of a collective was recorded. */
#ifndef KS_ANALYSIS_COLLECTIVES_COLLECTIVES_H
#define KS_ANALYSIS_COLLECTIVES_COLLECTIVES_H

#include "ingest/analysis/classify/events.h"
#include "ingest/analysis/steps/steps.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/index/index.h"
#include "ingest/model/collective_log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLLECTIVE_NOTHING UINT32_MAX

struct collective {
    uint32_t anchor; /* event that places it in time: the outermost mark, the launch, the kernel */
    uint32_t args;   /* index into trace.collectives, COLLECTIVE_NOTHING */
    uint32_t named;  /* mark that is named by its library, COLLECTIVE_NOTHING */
    uint32_t kernel; /* the first one, COLLECTIVE_NOTHING */
    uint32_t device_count;
};

struct collective_work {
    uint32_t collective;
    uint32_t event;
};

struct collectives {
    struct collective *items;
    struct collective_work *work; /* in order of time, annotations last */
    uint32_t count;
    uint32_t work_count;
    size_t items_cap;
    size_t work_cap;
};

/* A trace without collectives costs a look at each kernel's name. False without memory; must be
 * freed in either case. */
bool collectives_collect(struct collectives *out,
                         struct event_classes *sel,
                         const struct trace_index *index) KS_MUST_USE;
void collectives_free(struct collectives *out);

/* The log, in order of (start, -end) of the anchors: name, step of the anchor as in [TB-15a],
 * process group; size_bytes: elements that the rank gives (gets, where it gives none) x size of the
 * type, else the inputs of the operator as collective_log.h has them; ranges: the device work, or
 * the anchor where there is none. `*out` lies in `arena`; NULL when there is no collective. False
 * without memory. */
bool collectives_log(struct collective_log **out,
                     struct arena *arena,
                     const struct collectives *collectives,
                     const struct event_classes *sel,
                     const struct steps *steps) KS_MUST_USE;

#endif

/* Roles in time, and the profiler steps after their adjustment to device work [TB-6]. */
#ifndef KS_ANALYSIS_STEPS_STEPS_H
#define KS_ANALYSIS_STEPS_STEPS_H

#include "ingest/analysis/classify/events.h"
#include "ingest/analysis/relations/launch_correlation.h"
#include "ingest/analysis/relations/tb_collectives.h"
#include "ingest/analysis/util/ranges.h"
#include "ingest/base/attr.h"
#include "ingest/index/index.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>
#include <stdint.h>

#define STEP_NO_EVENT UINT32_MAX

/* Merged ranges by role; TIME_OTHER stays empty [TB-6b] [TB-6e]. */
struct time_ranges {
    struct ranges by_role[TIME_CATEGORY_COUNT];
};

struct step {
    uint32_t
        event;     /* ProfilerStep event, STEP_NO_EVENT for the one step of a trace without steps */
    int64_t start; /* ticks, see tb_clock.h */
    int64_t end;
    int64_t start_key; /* before the adjustment, for comparisons: see tb_clock.h */
    int64_t end_key;
    int64_t launches;          /* runtimes inside that started device work */
    int64_t device_activities; /* started by them */
};

struct steps {
    const struct event_classes *sel;
    struct step *items; /* at least one */
    uint32_t count;
    bool undefined; /* neither steps nor host events: no bounds [TB-1.1] */
    bool has_profiler_steps;
    int64_t
        window_start; /* ticks: of the first step; and the end of the last one, or of device work */
    int64_t window_end; /* that the steps launched, if that ends later */
};

/* `communicates`: device work of class communication, by event, NULL: none; in the plugin's figures
 * `comms` tells. False without memory; must be freed in either case. */
bool time_ranges_collect(struct time_ranges *roles,
                         const struct event_classes *sel,
                         const struct tb_collectives *comms,
                         const bool *communicates) KS_MUST_USE;
void time_ranges_free(struct time_ranges *roles);

bool steps_build(struct steps *steps,
                 const struct event_classes *sel,
                 const struct launch_correlation *links) KS_MUST_USE;
/* Steps by the index: the annotations' own intervals. Without any, the one step of a trace as
 * steps_build has it. */
bool steps_from_index(struct steps *steps,
                      const struct event_classes *sel,
                      const struct trace_index *index) KS_MUST_USE;
void steps_free(struct steps *steps);

#endif

/* Time by category, and the steps of a trace [TB-6]. */
#ifndef KS_ANALYSIS_STEPS_STEPS_H
#define KS_ANALYSIS_STEPS_STEPS_H

#include "ingest/analysis/classify/events.h"
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
    uint32_t event; /* STEP_NO_EVENT for the one step of a trace without steps */
    int64_t start;  /* see times.h */
    int64_t end;
    int64_t launches;          /* runtimes inside that started device work */
    int64_t device_activities; /* started by them */
};

struct steps {
    const struct event_classes *sel;
    struct step *items; /* at least one */
    uint32_t count;
    bool undefined; /* neither steps nor host events: no bounds [TB-1.1] */
    bool has_steps;
    int64_t window_start; /* of the first step; and the end of the last one, or of device work */
    int64_t window_end;   /* that the steps launched, if that ends later */
};

/* enum time_category by event, a scratch array; NULL without memory. No device work communicates
 * yet: the caller knows the collectives. What time_ranges_collect passes over has one, too. */
uint8_t *time_categories_find(const struct event_classes *sel) KS_MUST_USE;
/* `host_communicates`: host events named for a collective count as communication, else as work of
 * the host [DEV-6c]. False without memory; must be freed in either case. */
bool time_ranges_collect(struct time_ranges *roles,
                         const struct event_classes *sel,
                         const uint8_t *categories,
                         bool host_communicates) KS_MUST_USE;
void time_ranges_free(struct time_ranges *roles);

/* Steps by the index: the annotations' own intervals [DEV-6a]. Without any, one that is the whole
 * trace. */
bool steps_from_index(struct steps *steps,
                      const struct event_classes *sel,
                      const struct trace_index *index) KS_MUST_USE;
void steps_free(struct steps *steps);

#endif

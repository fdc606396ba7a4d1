/* Labels: what slices of one name, category and role have in common. */
#ifndef KS_ANALYSIS_TIMELINE_LABELS_H
#define KS_ANALYSIS_TIMELINE_LABELS_H

#include "ingest/analysis/timeline/levels/items.h"
#include "ingest/base/attr.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/timeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timeline_label_sum {
    uint64_t count;
    int64_t total_ns;
    uint64_t origin; /* while labels are found */
};

struct timeline_labels {
    struct key_map keys;             /* name, category, role: numbers as they come */
    struct timeline_label_sum *sums; /* by that number */
    size_t sums_cap;
    uint32_t *rank; /* the number that a label has outside */
};

/* Sets items->by_event: that number of slices and instants, of counters their first row, of ends
 * of flows TIMELINE_NO_EVENT.
 * `categories` as in timeline_frame. False without memory; must be freed in
 * either case. */
bool timeline_labels_find(struct timeline_labels *labels,
                          const struct timeline_items *items,
                          const uint8_t *categories) KS_MUST_USE;
void timeline_labels_free(struct timeline_labels *labels);

/* Copies them, by falling count, texts included. NULL without memory. */
struct timeline_label *timeline_labels_write(const struct timeline_labels *labels,
                                             const struct trace *trace,
                                             struct arena *arena) KS_MUST_USE;

#endif

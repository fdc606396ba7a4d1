/* Levels of detail. Which ones are worth keeping is counted while level 0 goes by a first time: of
 * every width the items that it would have, at once. */
#ifndef KS_ANALYSIS_TIMELINE_LEVELS_LEVELS_H
#define KS_ANALYSIS_TIMELINE_LEVELS_LEVELS_H

#include "ingest/analysis/timeline/columns.h"
#include "ingest/analysis/timeline/lanes.h"
#include "ingest/analysis/timeline/source.h"
#include "ingest/base/attr.h"
#include "ingest/model/timeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Widths are 2^10 ns, 2^12 ns, …: their cells nest. */
#define TIMELINE_FIRST_SHIFT 10u
#define TIMELINE_SHIFT_STEP 2u
#define TIMELINE_WIDTHS (TIMELINE_LEVELS_MAX - 1)

/* Of a lane, what short items stood there last: one at all widths from `width` on, and the cells of
 * older ones at narrower widths. */
struct timeline_latest {
    uint32_t width; /* TIMELINE_WIDTHS: none */
    int64_t start_ns;
    uint64_t bin[TIMELINE_WIDTHS];
};

struct timeline_counts {
    /* Items and points by the first width at which they are merged with what came before: all
     * narrower levels have them. */
    uint64_t merged_at[TIMELINE_WIDTHS + 1];
    uint32_t lane_count; /* of this track, so far */
    struct timeline_latest latest[TIMELINE_LANES_MAX];
};

/* The cell of a position in the grid of 2^shift ns; cells ascend with time, none is UINT64_MAX. */
static inline uint64_t timeline_cell(int64_t position_ns, unsigned shift)
{
    return ((uint64_t)position_ns ^ (UINT64_C(1) << 63)) >> shift;
}

/* To be told of all items of level 0, track by track, in order; all zero at first. */
void timeline_counts_track(struct timeline_counts *counts);
void timeline_counts_item(struct timeline_counts *counts,
                          uint32_t lane,
                          int64_t start_ns,
                          int64_t dur_ns);
void timeline_counts_point(struct timeline_counts *counts, const struct timeline_point *point);

/* Fills timeline->levels. */
void timeline_levels_choose(struct timeline *timeline, const struct timeline_counts *counts);

/* Builds and hands over all levels, side by side. Memory: some blocks a level. Time linear in level
 * 0. Of several labels in one cell, those beyond the first 16 are not weighed. ERR_NO_MEMORY, and
 * what the sink answers. */
bool timeline_levels_build(const struct timeline *timeline,
                           const struct timeline_source *source,
                           struct timeline_lanes *lanes,
                           const struct timeline_sink *sink,
                           struct err *err) KS_MUST_USE;

#endif

/* The levels but 0, all at once: each merges the short items of the one before, lane by lane, bin
 * by bin. Time goes forward within a track, so that only rows of the current bin can still
 * change: those before it go on, block by block, to the next level and to the sink. */
#ifndef KS_ANALYSIS_TIMELINE_LEVELS_BINS_H
#define KS_ANALYSIS_TIMELINE_LEVELS_BINS_H

#include "ingest/analysis/timeline/columns.h"
#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/model/timeline.h"

#include <stdbool.h>

struct timeline_bins;

/* For the levels of `timeline`; it and the sink are kept. NULL without memory. */
struct timeline_bins *timeline_bins_create(const struct timeline *timeline,
                                           const struct timeline_sink *sink) KS_MUST_USE;
void timeline_bins_destroy(struct timeline_bins *bins); /* NULL is allowed */

/* To be told of all blocks of level 0, in order. False without memory or when the sink gives up. */
bool timeline_bins_block(struct timeline_bins *bins,
                         const struct timeline_block *block,
                         struct err *err) KS_MUST_USE;
bool timeline_bins_points(struct timeline_bins *bins,
                          const struct timeline_points *points,
                          struct err *err) KS_MUST_USE;
/* Behind the last one: hands over what is left. */
bool timeline_bins_end(struct timeline_bins *bins, struct err *err) KS_MUST_USE;

#endif

/* The levels but 0, all at once: each merges the short items of the one before, lane by lane, cell
 * by cell. Time goes forward within a track, so that only rows of the current cell can still
 * change: those before it go on, block by block, to the next level and to the sink. */
#ifndef KS_ANALYSIS_TIMELINE_LEVELS_CELLS_H
#define KS_ANALYSIS_TIMELINE_LEVELS_CELLS_H

#include "ingest/analysis/timeline/columns.h"
#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/model/timeline.h"

#include <stdbool.h>

struct timeline_cells;

/* For the levels of `timeline`; it and the sink are kept. NULL without memory. */
struct timeline_cells *timeline_cells_create(const struct timeline *timeline,
                                             const struct timeline_sink *sink) KS_MUST_USE;
void timeline_cells_destroy(struct timeline_cells *cells); /* NULL is allowed */

/* To be told of all blocks of level 0, in order. False without memory or when the sink gives up. */
bool timeline_cells_block(struct timeline_cells *cells,
                          const struct timeline_block *block,
                          struct err *err) KS_MUST_USE;
bool timeline_cells_points(struct timeline_cells *cells,
                           const struct timeline_points *points,
                           struct err *err) KS_MUST_USE;
/* Behind the last one: hands over what is left. */
bool timeline_cells_end(struct timeline_cells *cells, struct err *err) KS_MUST_USE;

#endif

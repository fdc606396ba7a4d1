/* Merges the short items of a level, lane by lane, cell by cell. Rows come in order and may stand
 * in the same columns that the merged ones are written to: those are never ahead. */
#ifndef KS_ANALYSIS_TIMELINE_CELLS_H
#define KS_ANALYSIS_TIMELINE_CELLS_H

#include "ingest/analysis/timeline_columns.h"
#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stdint.h>

struct timeline_cells;

/* NULL without memory. The columns must have room for all that will come out. */
struct timeline_cells *timeline_cells_create(struct timeline_block *block,
                                             struct timeline_points *points) KS_MUST_USE;
void timeline_cells_destroy(struct timeline_cells *merge); /* NULL is allowed */
/* Begins a level of 2^shift ns: the columns are written from their first row on. */
void timeline_cells_level(struct timeline_cells *merge, unsigned shift);
void timeline_cells_item(struct timeline_cells *merge, const struct timeline_item *item);
void timeline_cells_point(struct timeline_cells *merge, const struct timeline_point *point);

#endif

/* Writes comparisons into the tables. */
#ifndef KS_STORE_RESULTS_COMPARISON_ROWS_H
#define KS_STORE_RESULTS_COMPARISON_ROWS_H

#include "ingest/store/db/row_writer.h"

/* Tables of a comparison that are stored as they stand: cycles, rows, findings. */
#define COMPARISON_PART_COUNT 3
extern const struct rows_part comparison_parts[COMPARISON_PART_COUNT];

/* The comparison of an uploaded report: visible when its trace is. The writer's texts and owner are
 * the comparison's from here on. */
void comparison_rows_of_trace(struct row_writer *writer,
                              int64_t trace_id,
                              const struct comparison *comparison);
/* All pairs of one request with what they compare, in state 'writing'; their ids go to `ids`. */
void comparison_rows_of_group(struct row_writer *writer,
                              const struct comparison_list *list,
                              const int64_t *const trace_ids[SIDE_COUNT],
                              const size_t trace_count[SIDE_COUNT],
                              int64_t *ids);

#endif

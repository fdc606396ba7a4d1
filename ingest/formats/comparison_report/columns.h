/* The table of a comparison, the same columns in the Markdown report and in its CSV [CMP-5a]. */
#ifndef KS_FORMATS_COMPARISON_REPORT_COLUMNS_H
#define KS_FORMATS_COMPARISON_REPORT_COLUMNS_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/formats/csv/scan.h"
#include "ingest/formats/csv/text_pool.h"
#include "ingest/model/results/comparison.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>
#include <stddef.h>

/* Numbers of a row, in the order of the columns; then ours. */
#define REPORT_FIGURES 18

struct report_columns {
    size_t function;
    size_t metric;
    size_t device;
    size_t figures[REPORT_FIGURES];
    size_t presence;
    size_t column_count;
    struct csv_cell labels[SIDE_COUNT]; /* slices of the header; empty when it has none */
};

/* Whether the cells are the header of the table, and what stands where. */
bool report_columns_find(const struct csv_cell *cells,
                         size_t count,
                         struct report_columns *columns);

/* A row of the table, which has `column_count` cells. *unreadable is NULL, or the name of what in
 * it is no number. Texts come from the pool. False without memory. */
bool report_columns_read(const struct report_columns *columns,
                         const struct csv_cell *cells,
                         struct text_pool *texts,
                         struct comparison_row *row,
                         const char **unreadable) KS_MUST_USE;

/* A figure as reports print it: thousands separators, a sign, an exponent, "inf"; NaN for "nan",
 * "-" and an empty cell. False: none of these. */
bool report_figure(struct csv_cell cell, double *figure);

/* A comparison without any figure: roles without pid and cycles, what a report does not hold NaN.
 * NULL without memory. */
struct comparison *report_comparison_create(struct arena *arena) KS_MUST_USE;
/* Hands a comparison with its rows over to the table's results. */
void report_comparison_finish(struct comparison *comparison, struct trace_results *results);

#endif

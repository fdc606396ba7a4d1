/* The table "Added and removed functions" of our own reports (api/comparison/markdown.c). */
#ifndef KS_FORMATS_COMPARISON_REPORT_APPEARED_H
#define KS_FORMATS_COMPARISON_REPORT_APPEARED_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/formats/csv/row_list.h"
#include "ingest/formats/csv/scan.h"
#include "ingest/formats/csv/text_pool.h"
#include "ingest/model/results/comparison.h"

#include <stdbool.h>
#include <stddef.h>

struct report_appeared {
    struct row_list list;
    size_t function, device, presence; /* columns */
};

void report_appeared_init(struct report_appeared *appeared);
void report_appeared_free(struct report_appeared *appeared);
/* Whether the cells are the header of the table; what stands where is kept. */
bool report_appeared_header(struct report_appeared *appeared,
                            const struct csv_cell *cells,
                            size_t count);
/* Takes a row. The pool must be the one of the comparison's rows: equal texts are one there. False
 * without memory. */
bool report_appeared_row(struct report_appeared *appeared,
                         const struct csv_cell *cells,
                         struct text_pool *texts) KS_MUST_USE;
/* Sets comparison->appeared and the presence of the rows of these functions and devices. False
 * without memory. */
bool report_appeared_finish(struct report_appeared *appeared,
                            struct comparison *comparison,
                            struct arena *arena) KS_MUST_USE;

#endif

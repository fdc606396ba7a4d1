/* What the readers of result tables (perf-data, counters, comparison reports) share: the results
 * they fill, and a record of unreadable lines. */
#ifndef KS_FORMATS_CSV_TABLE_RESULTS_H
#define KS_FORMATS_CSV_TABLE_RESULTS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/csv/scan.h"
#include "ingest/formats/csv/text_pool.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/text_stream.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_results {
    struct trace_results *results; /* the bundle's in the end */
    struct text_pool texts;        /* in results->arena */
    struct text_stream *stream;
    size_t memory_budget_bytes; /* 0: no bound */
};

/* table_results_free is allowed, and needed, either way. Error: ERR_NO_MEMORY. */
bool table_results_init(struct table_results *table,
                        struct text_stream *stream,
                        size_t memory_budget_bytes,
                        struct err *err) KS_MUST_USE;
void table_results_free(struct table_results *table);
/* Hands the results over as the bundle's only item, with the warnings of the stream. */
bool table_results_finish(struct table_results *table,
                          struct format_bundle *bundle,
                          struct err *err) KS_MUST_USE;

/* Reads the header, scan->row afterwards: the column of each name, or CSV_NO_COLUMN. ERR_BAD_INPUT
 * where one of the first `needed` names is missing; the errors of csv_next. */
bool table_read_header(struct csv_scan *scan,
                       const char *const *names,
                       size_t needed,
                       size_t count,
                       size_t *columns,
                       struct err *err) KS_MUST_USE;

/* A line that is left out: counted, and the first ones described ("line 17: <what>"). False
 * without memory. */
bool table_bad_line(struct table_results *table,
                    uint64_t line,
                    uint64_t byte_off,
                    const char *fmt,
                    ...) KS_PRINTF(4, 5);
/* The same for a row that has a flaw or not as many cells as the header. *is_bad tells. */
bool table_check_row(struct table_results *table,
                     const struct csv_row *row,
                     size_t columns,
                     bool *is_bad) KS_MUST_USE;
/* Returns false with ERR_BAD_INPUT: "<what> that can be read", and the first line that was left out
 * where there is one. */
bool table_no_row(const struct table_results *table, const char *what, struct err *err);
/* False with ERR_TOO_LARGE when the results and `extra_bytes` beside them are over the budget. */
bool table_within_budget(const struct table_results *table,
                         size_t extra_bytes,
                         struct err *err) KS_MUST_USE;
/* Returns false, with ERR_NO_MEMORY. */
bool table_no_memory(struct err *err);

#endif

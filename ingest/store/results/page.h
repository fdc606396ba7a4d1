/* Part of a large table in some order: which table, which of its rows, which page.
 *
 * Rows are read a block at a time. A search or an order looks at all of them once and keeps a key
 * of each that passes; then those of the page are read in full. */
#ifndef KS_STORE_RESULTS_PAGE_H
#define KS_STORE_RESULTS_PAGE_H

#include "ingest/model/tables/table.h"
#include "ingest/store/results_files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_query {
    const struct row_table *table;
    int64_t trace_id;
    int group;         /* 0 in a table without groups */
    const char *name;  /* of the column `name`; NULL: any */
    const char *shape; /* of the column `input_shape`; NULL: any */
};

/* What goes on after the page over the same file. */
typedef bool page_more(struct db *db,
                       struct arena *arena,
                       const void *rows,
                       size_t count,
                       void *context,
                       struct err *err);
/* Reads a page and, when `more` is not NULL, what belongs to it. *total counts the rows that pass
 * on all pages. ERR_BAD_REQUEST for an unknown column (lists the known ones) or a bad pattern. */
bool page_read(struct store_snapshot *snapshot,
               struct arena *arena,
               const struct page_query *query,
               const struct store_page *page,
               void **rows,
               size_t *count,
               int64_t *total,
               page_more *more,
               void *context,
               struct err *err) KS_MUST_USE;

#endif

/* Reads whole tables of one trace or comparison, in stored order. */
#ifndef KS_STORE_DB_ROWS_READER_H
#define KS_STORE_DB_ROWS_READER_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/results.h"
#include "ingest/model/tables/table.h"
#include "ingest/store/db/db.h"
#include "ingest/store/db/text_cache.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a function that reads one table needs. */
struct rows_reader {
    struct db *db;
    struct arena *arena;
    struct text_cache *texts;
    int64_t owner_id; /* the trace or comparison */
};

/* Reads the stored columns of a row, which are the next ones of the statement. */
void rows_read_columns(struct db_stmt *st,
                       struct text_cache *texts,
                       const struct row_table *table,
                       void *row);

/* Appends the rows that are left in `st`, each a place and the columns, to *rows of *count, which
 * this function alone fills. Failures go to the statement. */
void rows_append(struct db_stmt *st,
                 struct text_cache *texts,
                 const struct row_table *table,
                 void **rows,
                 size_t *count);
/* Reads all rows of a table that belong to the owner. NULL and 0 where there are none. */
bool rows_read_table(const struct rows_reader *in,
                     const struct row_table *table,
                     void **rows,
                     size_t *count,
                     struct err *err) KS_MUST_USE;
#endif

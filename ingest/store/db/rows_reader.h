/* Reads whole tables of one trace or comparison, in stored order. */
#ifndef KS_STORE_DB_ROWS_READER_H
#define KS_STORE_DB_ROWS_READER_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/results.h"
#include "ingest/store/db/db.h"
#include "ingest/store/db/fields.h"
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

/* Prepares the SELECT of a table, which has the owner as its one parameter, and takes memory for
 * its rows: NULL when there are none, and when there is no memory, which the statement then tells.
 */
void *rows_begin(const struct rows_reader *in,
                 struct db_stmt *st,
                 const char *sql,
                 size_t count,
                 size_t row_bytes);
/* Goes to the next row and past its position. */
bool rows_next(struct db_stmt *st);
/* `sql` is a SELECT of a count with the owner as its parameter. */
bool rows_count(const struct rows_reader *in, const char *sql, size_t *count, struct err *err)
    KS_MUST_USE;

#define ROWS_SELECT_OF(owner, table, fields, more_columns)                             \
    "SELECT position" fields(FIELD_COLUMN) more_columns " FROM " table " WHERE " owner \
                                                        " = ? ORDER BY position"
#define ROWS_SELECT(table, fields, more_columns) \
    ROWS_SELECT_OF("trace_id", table, fields, more_columns)

/* Reads a table of which every column is a field into the array out->rows of out->row_count. */
#define ROWS_DEFINE_READER_OF(owner, function, table, fields, out_struct, rows, row_count,         \
                              row_struct)                                                          \
    static bool function(const struct rows_reader *in, struct out_struct *out, struct err *err)    \
    {                                                                                              \
        struct arena *arena = in->arena;                                                           \
        struct text_cache *texts = in->texts;                                                      \
        struct db_stmt only;                                                                       \
        struct db_stmt *st = &only;                                                                \
        (void)arena;                                                                               \
        (void)texts;                                                                               \
        if (!rows_count(in, "SELECT count(*) FROM " table " WHERE " owner " = ?", &out->row_count, \
                        err)) {                                                                    \
            return false;                                                                          \
        }                                                                                          \
        out->rows = rows_begin(in, st, ROWS_SELECT_OF(owner, table, fields, ""), out->row_count,   \
                               sizeof(struct row_struct));                                         \
        for (size_t i = 0; i < out->row_count && rows_next(st); i++) {                             \
            struct row_struct *row = &out->rows[i];                                                \
            fields(FIELD_READ)                                                                     \
        }                                                                                          \
        return db_done(st, err);                                                                   \
    }
/* The same of a trace's results. */
#define ROWS_DEFINE_READER(function, table, fields, rows, row_count, row_struct)               \
    ROWS_DEFINE_READER_OF("trace_id", function, table, fields, trace_results, rows, row_count, \
                          row_struct)

#endif

/* Writes rows into the catalogue, in transactions of bounded size between which other writers get
 * their turn, or into the file of a trace. Rows are written one by one; after the first failure the
 * rest does nothing. */
#ifndef KS_STORE_DB_ROW_WRITER_H
#define KS_STORE_DB_ROW_WRITER_H

#include "ingest/base/text/strtab.h"
#include "ingest/model/tables/table.h"
#include "ingest/store/results_files.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The owner of shared texts. */
enum row_texts { ROW_TEXTS_OF_TRACE, ROW_TEXTS_OF_COMPARISON };

struct row_writer {
    struct store *store;
    struct results_file *file; /* NULL: the catalogue */
    bool is_callers;           /* the transaction: it begins and ends elsewhere */
    size_t file_bytes;         /* of rows to come, about */
    struct db *db;             /* in a batch */
    int64_t owner_id;          /* first parameter of every row: trace or comparison */
    struct strtab *texts;      /* ids are those of the text table */
    enum row_texts texts_of;
    int64_t texts_owner_id;
    uint32_t texts_written;
    struct db_stmt row;
    int64_t row_id; /* of the last row whose statement said RETURNING */
    bool in_batch;
    size_t batch_rows;
    size_t batch_bytes;
    bool ok;
    struct err *err;
};

/* False without memory. `owner_id` may change between rows. */
bool row_writer_init(struct row_writer *writer,
                     struct store *store,
                     int64_t owner_id,
                     struct err *err) KS_MUST_USE;
/* The same inside the caller's transaction, for rows without shared texts. */
void row_writer_init_inside(struct row_writer *writer,
                            struct store *store,
                            int64_t owner_id,
                            struct err *err);
/* The same for about `bytes` of rows of the one log of a file. */
void row_writer_init_file(struct row_writer *writer,
                          struct results_file *file,
                          size_t bytes,
                          struct err *err);
/* From here on, texts are shared by the owner of the texts, from id 0. False without memory. */
bool row_writer_share_texts(struct row_writer *writer,
                            enum row_texts texts_of,
                            int64_t texts_owner_id) KS_MUST_USE;
/* Commits the rest and frees the writer. Returns whether all went well. */
bool row_writer_finish(struct row_writer *writer) KS_MUST_USE;

/* `sql` is a literal; its first parameter is the owner. */
void row_begin(struct row_writer *writer, const char *sql);
void row_end(struct row_writer *writer);

/* Each sets the next parameter. */
void row_put_int(struct row_writer *writer, int64_t value);
void row_put_optional(struct row_writer *writer, int64_t value); /* INT64_MIN: NULL */
void row_put_real(struct row_writer *writer, double value);      /* not a number: NULL */
void row_put_text(struct row_writer *writer, const char *text);
/* The bytes must live until row_end. */
void row_put_blob(struct row_writer *writer, const void *bytes, size_t len);
/* A text that stands in the table of texts once; the row holds its id. */
void row_put_shared(struct row_writer *writer, const char *text);

/* The stored columns of one row, as the next parameters. */
void row_put_columns(struct row_writer *writer, const struct row_table *table, const void *row);
/* Writes an array of rows, from position 0. */
void row_write_table(struct row_writer *writer,
                     const struct row_table *table,
                     const void *rows,
                     size_t count);

#endif

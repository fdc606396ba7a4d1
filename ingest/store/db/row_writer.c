#include "ingest/store/db/row_writer.h"

#include <string.h>

/* A batch holds the writer for some 20 ms: what another upload waits for its turn at the most. */
#define BATCH_ROWS 5000
#define BATCH_BYTES ((size_t)8 << 20)
/* A turn of a file costs nothing, and others pack their rows meanwhile. */
#define FILE_BATCH_BYTES ((size_t)16 << 10)

bool row_writer_init(struct row_writer *writer,
                     struct store *store,
                     int64_t owner_id,
                     struct err *err)
{
    *writer = (struct row_writer){.store = store, .owner_id = owner_id, .ok = true, .err = err};
    return row_writer_share_texts(writer, ROW_TEXTS_OF_TRACE, owner_id);
}

void row_writer_init_inside(struct row_writer *writer,
                            struct store *store,
                            int64_t owner_id,
                            struct err *err)
{
    *writer = (struct row_writer){.db = store->writer,
                                  .is_callers = true,
                                  .in_batch = true,
                                  .owner_id = owner_id,
                                  .ok = true,
                                  .err = err};
}

void row_writer_init_file(struct row_writer *writer,
                          struct results_file *file,
                          size_t bytes,
                          struct err *err)
{
    *writer = (struct row_writer){
        .file = file, .file_bytes = bytes, .owner_id = RESULTS_LOG_ID, .ok = true, .err = err};
}

bool row_writer_share_texts(struct row_writer *writer,
                            enum row_texts texts_of,
                            int64_t texts_owner_id)
{
    strtab_destroy(writer->texts);
    writer->texts = strtab_create();
    writer->texts_of = texts_of;
    writer->texts_owner_id = texts_owner_id;
    writer->texts_written = 0;
    if (writer->texts == NULL && writer->ok) {
        writer->ok = err_set(writer->err, ERR_NO_MEMORY, "no memory for the texts of the rows");
    }
    return writer->ok;
}

static void begin_batch(struct row_writer *writer)
{
    if (writer->file != NULL) {
        writer->ok = results_file_begin(writer->file, writer->file_bytes, &writer->db, writer->err);
    } else {
        writer->ok = store_write_begin(writer->store, STORE_BATCH, writer->err);
        writer->db = writer->store->writer;
    }
    writer->in_batch = writer->ok;
    writer->batch_rows = 0;
    writer->batch_bytes = 0;
}

void row_begin(struct row_writer *writer, const char *sql)
{
    if (writer->ok && !writer->in_batch) {
        begin_batch(writer);
    }
    if (writer->ok) {
        db_prepare(&writer->row, writer->db, sql);
        db_put_int(&writer->row, writer->owner_id);
    }
}

static void end_batch(struct row_writer *writer)
{
    if (writer->is_callers) {
        return;
    }
    if (writer->in_batch && writer->file != NULL) {
        results_file_end(writer->file);
    } else if (writer->in_batch) {
        writer->ok = store_write_end(writer->store, writer->ok, writer->err);
    }
    writer->in_batch = false;
}

void row_end(struct row_writer *writer)
{
    if (!writer->ok) {
        return;
    }
    writer->ok = db_run_returning(&writer->row, &writer->row_id, writer->err);
    writer->batch_rows++;
    size_t batch_bytes = writer->file != NULL ? FILE_BATCH_BYTES : BATCH_BYTES;
    if (writer->batch_rows >= BATCH_ROWS || writer->batch_bytes >= batch_bytes) {
        end_batch(writer);
    }
}

void row_put_int(struct row_writer *writer, int64_t value)
{
    if (writer->ok) {
        db_put_int(&writer->row, value);
    }
}

void row_put_optional(struct row_writer *writer, int64_t value)
{
    if (writer->ok) {
        db_put_optional(&writer->row, value);
    }
}

void row_put_real(struct row_writer *writer, double value)
{
    if (writer->ok) {
        db_put_real(&writer->row, value);
    }
}

void row_put_text(struct row_writer *writer, const char *text)
{
    if (writer->ok) {
        db_put_text(&writer->row, text);
        writer->batch_bytes += text == NULL ? 0 : strlen(text);
    }
}

void row_put_blob(struct row_writer *writer, const void *bytes, size_t len)
{
    if (writer->ok) {
        db_put_blob(&writer->row, bytes, len);
        writer->batch_bytes += len;
    }
}

static const char *const insert_text_sql[] = {
    [ROW_TEXTS_OF_TRACE] = "INSERT INTO text (trace_id, id, value) VALUES (?, ?, ?)",
    [ROW_TEXTS_OF_COMPARISON] =
        "INSERT INTO comparison_text (comparison_id, id, value) VALUES (?, ?, ?)",
};

static void write_text(struct row_writer *writer, uint32_t id)
{
    const char *text = strtab_text(writer->texts, id);
    struct db_stmt st;
    db_prepare(&st, writer->db, insert_text_sql[writer->texts_of]);
    db_put_int(&st, writer->texts_owner_id);
    db_put_int(&st, id);
    db_put_text(&st, text);
    writer->ok = db_run(&st, writer->err);
    writer->texts_written = id + 1;
    writer->batch_rows++;
    writer->batch_bytes += strtab_len(writer->texts, id);
}

void row_put_shared(struct row_writer *writer, const char *text)
{
    if (!writer->ok) {
        return;
    }
    if (text == NULL) {
        db_put_optional(&writer->row, INT64_MIN);
        return;
    }
    uint32_t id = strtab_intern(writer->texts, text, strlen(text));
    if (id == STRTAB_NONE) {
        writer->ok = err_set(writer->err, ERR_NO_MEMORY, "no memory for the texts of the rows");
        return;
    }
    /* Ids grow by one with each new text. The table is born with the empty text as id 0. */
    while (writer->ok && writer->texts_written <= id) {
        write_text(writer, writer->texts_written);
    }
    db_put_int(&writer->row, id);
}

static void
put_column(struct row_writer *writer, const struct table_column *column, const void *row)
{
    switch (column->kind) {
    case TABLE_INT:
    case TABLE_SIZE:
    case TABLE_FLAG:
    case TABLE_BITS:
    case TABLE_WORD:
    case TABLE_MAYBE:
    case TABLE_ADDRESS:
        row_put_int(writer, table_int(column, row));
        break;
    case TABLE_INT_OR_NULL:
        row_put_optional(writer, table_int(column, row));
        break;
    case TABLE_REAL:
    case TABLE_REAL_OR_NULL:
        row_put_real(writer, table_real(column, row));
        break;
    case TABLE_TEXT:
        row_put_text(writer, table_text(column, row));
        break;
    case TABLE_SHARED:
        row_put_shared(writer, table_text(column, row));
        break;
    case TABLE_SHARED_4: /* in blocks alone, or in memory */
    case TABLE_NUMBER:
    case TABLE_WIDE:
    case TABLE_JSON:
    case TABLE_RATIO: /* never stored */
    case TABLE_DELTA:
        break;
    }
}

void row_put_columns(struct row_writer *writer, const struct row_table *table, const void *row)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].is_stored) {
            put_column(writer, &table->columns[i], row);
        }
    }
}

void row_write_table(struct row_writer *writer,
                     const struct row_table *table,
                     const void *rows,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        row_begin(writer, table->insert_sql);
        row_put_int(writer, (int64_t)i);
        row_put_columns(writer, table, (const unsigned char *)rows + i * table->row_bytes);
        row_end(writer);
    }
}

bool row_writer_finish(struct row_writer *writer)
{
    end_batch(writer);
    strtab_destroy(writer->texts);
    writer->texts = NULL;
    return writer->ok;
}

#include "ingest/store/timeline/row_writer.h"

#include "ingest/store/timeline/sql.h"

#include <stdlib.h>

/* So much at a time, so that it stays small. */
#define PENDING_BYTES ((size_t)1 << 20)
#define PENDING_ROWS 512u
#define PENDING_MAX_BYTES ((size_t)2 << 30)

struct pending_row {
    struct timeline_row row;
    size_t offset; /* of its bytes */
    size_t len;
};

struct timeline_row_writer {
    struct results_file *file;
    struct buf bytes; /* of the pending rows, one behind the other */
    struct pending_row pending[PENDING_ROWS];
    size_t pending_count;
};

/* ---- rows ---- */

static bool insert_block(struct db *db,
                         const struct timeline_row_writer *row_writer,
                         const struct pending_row *pending,
                         struct err *err)
{
    const struct timeline_row *row = &pending->row;
    struct db_stmt st;
    db_prepare(&st, db,
               "INSERT INTO timeline_block (log_id, kind, level, position, first_track, last_track,"
               " first_start_ns, max_end_ns, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    db_put_int(&st, RESULTS_LOG_ID);
    db_put_text(&st, row->kind);
    db_put_int(&st, row->level);
    db_put_int(&st, row->position);
    db_put_int(&st, row->extent.first_track);
    db_put_int(&st, row->extent.last_track);
    db_put_int(&st, row->extent.first_start_ns);
    db_put_int(&st, row->extent.max_end_ns);
    db_put_blob(&st, row_writer->bytes.ptr + pending->offset, pending->len);
    return db_run(&st, err);
}

static bool insert_other(struct db *db,
                         const struct timeline_row_writer *row_writer,
                         const struct pending_row *pending,
                         struct err *err)
{
    const struct timeline_row *row = &pending->row;
    struct db_stmt st;
    db_prepare(&st, db,
               "INSERT INTO timeline (log_id, kind, first_id, label_count, bytes)"
               " VALUES (?, ?, ?, ?, ?)");
    db_put_int(&st, RESULTS_LOG_ID);
    db_put_text(&st, row->kind);
    db_put_int(&st, row->position);
    db_put_int(&st, row->label_count);
    db_put_blob(&st, row_writer->bytes.ptr + pending->offset, pending->len);
    return db_run(&st, err);
}

static bool
insert_pending(struct db *db, const struct timeline_row_writer *row_writer, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; i < row_writer->pending_count && ok; i++) {
        const struct pending_row *row = &row_writer->pending[i];
        ok = row->row.is_block ? insert_block(db, row_writer, row, err)
                               : insert_other(db, row_writer, row, err);
    }
    return ok;
}

static bool flush(struct timeline_row_writer *row_writer, struct err *err)
{
    if (row_writer->pending_count == 0) {
        return true;
    }
    struct db *db;
    bool ok = results_file_begin(row_writer->file, row_writer->bytes.len, &db, err);
    if (ok) {
        ok = insert_pending(db, row_writer, err);
        results_file_end(row_writer->file);
    }
    row_writer->pending_count = 0;
    buf_clear(&row_writer->bytes);
    return ok;
}

/* ---- packing ---- */

static bool append(struct timeline_row_writer *row_writer,
                   bool is_packed,
                   struct column_writer *columns,
                   struct err *err)
{
    const struct buf *raw = &columns->raw;
    if (!is_packed) {
        return column_writer_finish(columns, &row_writer->bytes, err);
    }
    buf_append(&row_writer->bytes, raw->ptr, raw->len);
    return (!raw->failed && !row_writer->bytes.failed) ||
           err_set(err, ERR_NO_MEMORY, "no memory to store a timeline");
}

bool timeline_row_writer_add(struct timeline_row_writer *row_writer,
                             const struct timeline_row *row,
                             struct column_writer *columns,
                             struct err *err)
{
    struct pending_row *pending = &row_writer->pending[row_writer->pending_count];
    *pending = (struct pending_row){.row = *row, .offset = row_writer->bytes.len};
    if (!append(row_writer, row->is_packed, columns, err)) {
        return false;
    }
    pending->len = row_writer->bytes.len - pending->offset;
    row_writer->pending_count++;
    return (row_writer->pending_count < PENDING_ROWS && row_writer->bytes.len < PENDING_BYTES) ||
           flush(row_writer, err);
}

bool timeline_row_writer_finish(struct timeline_row_writer *row_writer, struct err *err)
{
    return flush(row_writer, err);
}

const struct results_file *timeline_row_writer_file(const struct timeline_row_writer *row_writer)
{
    return row_writer->file;
}

/* ---- life ---- */

struct timeline_row_writer *timeline_row_writer_create(struct results_file *file)
{
    struct timeline_row_writer *row_writer = calloc(1, sizeof *row_writer);
    if (row_writer == NULL) {
        return NULL;
    }
    row_writer->file = file;
    buf_init(&row_writer->bytes, PENDING_MAX_BYTES);
    return row_writer;
}

void timeline_row_writer_destroy(struct timeline_row_writer *row_writer)
{
    if (row_writer != NULL) {
        buf_free(&row_writer->bytes);
        free(row_writer);
    }
}

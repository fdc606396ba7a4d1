#include "ingest/store/timeline/press.h"

#include "ingest/store/timeline/sql.h"

#include <stdlib.h>

/* A transaction holds the writer for some 5 ms: what another upload waits for its turn at the
 * most. */
#define PENDING_BYTES ((size_t)1 << 20)
#define PENDING_ROWS 512u
#define PENDING_MAX_BYTES ((size_t)2 << 30)

struct pending_row {
    struct timeline_row row;
    size_t offset; /* of its bytes */
    size_t len;
};

struct timeline_press {
    struct store *store;
    int64_t log_id;
    struct buf bytes; /* of the pending rows, one behind the other */
    struct pending_row pending[PENDING_ROWS];
    size_t pending_count;
};

/* ---- transactions ---- */

static bool insert_block(struct db *db,
                         const struct timeline_press *press,
                         const struct pending_row *pending,
                         struct err *err)
{
    const struct timeline_row *row = &pending->row;
    struct db_stmt st;
    db_prepare(&st, db,
               "INSERT INTO timeline_block (log_id, kind, level, position, first_track, last_track,"
               " first_start_ns, max_end_ns, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    db_put_int(&st, press->log_id);
    db_put_text(&st, row->kind);
    db_put_int(&st, row->level);
    db_put_int(&st, row->position);
    db_put_int(&st, row->extent.first_track);
    db_put_int(&st, row->extent.last_track);
    db_put_int(&st, row->extent.first_start_ns);
    db_put_int(&st, row->extent.max_end_ns);
    db_put_blob(&st, press->bytes.ptr + pending->offset, pending->len);
    return db_run(&st, err);
}

static bool insert_other(struct db *db,
                         const struct timeline_press *press,
                         const struct pending_row *pending,
                         struct err *err)
{
    const struct timeline_row *row = &pending->row;
    struct db_stmt st;
    db_prepare(&st, db,
               "INSERT INTO timeline (log_id, kind, first_id, label_count, bytes)"
               " VALUES (?, ?, ?, ?, ?)");
    db_put_int(&st, press->log_id);
    db_put_text(&st, row->kind);
    db_put_int(&st, row->position);
    db_put_int(&st, row->label_count);
    db_put_blob(&st, press->bytes.ptr + pending->offset, pending->len);
    return db_run(&st, err);
}

static bool insert_pending(struct db *db, const struct timeline_press *press, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; i < press->pending_count && ok; i++) {
        const struct pending_row *row = &press->pending[i];
        ok = row->row.is_block ? insert_block(db, press, row, err)
                               : insert_other(db, press, row, err);
    }
    return ok;
}

static bool flush(struct timeline_press *press, struct err *err)
{
    struct store *store = press->store;
    if (press->pending_count == 0) {
        return true;
    }
    if (!store_write_begin(store, STORE_BATCH, err)) {
        return false;
    }
    bool ok = store_write_end(store, insert_pending(store->writer, press, err), err);
    press->pending_count = 0;
    buf_clear(&press->bytes);
    return ok;
}

/* ---- packing ---- */

static bool
append(struct timeline_press *press, bool is_packed, struct column_writer *columns, struct err *err)
{
    const struct buf *raw = &columns->raw;
    if (!is_packed) {
        return column_writer_finish(columns, &press->bytes, err);
    }
    buf_append(&press->bytes, raw->ptr, raw->len);
    return (!raw->failed && !press->bytes.failed) ||
           err_set(err, ERR_NO_MEMORY, "no memory to store a timeline");
}

bool timeline_press_take(struct timeline_press *press,
                         const struct timeline_row *row,
                         struct column_writer *columns,
                         struct err *err)
{
    struct pending_row *pending = &press->pending[press->pending_count];
    *pending = (struct pending_row){.row = *row, .offset = press->bytes.len};
    if (!append(press, row->is_packed, columns, err)) {
        return false;
    }
    pending->len = press->bytes.len - pending->offset;
    press->pending_count++;
    return (press->pending_count < PENDING_ROWS && press->bytes.len < PENDING_BYTES) ||
           flush(press, err);
}

bool timeline_press_finish(struct timeline_press *press, struct err *err)
{
    return flush(press, err);
}

int64_t timeline_press_log(const struct timeline_press *press)
{
    return press->log_id;
}

/* ---- life ---- */

struct timeline_press *timeline_press_create(struct store *store, int64_t log_id)
{
    struct timeline_press *press = calloc(1, sizeof *press);
    if (press == NULL) {
        return NULL;
    }
    press->store = store;
    press->log_id = log_id;
    buf_init(&press->bytes, PENDING_MAX_BYTES);
    return press;
}

void timeline_press_destroy(struct timeline_press *press)
{
    if (press != NULL) {
        buf_free(&press->bytes);
        free(press);
    }
}

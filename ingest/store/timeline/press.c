#include "ingest/store/timeline/press.h"

#include "ingest/base/thread.h"
#include "ingest/store/timeline/sql.h"

#include <pthread.h>
#include <stdlib.h>

/* A transaction holds the writer for some 5 ms: what another upload waits for its turn at the
 * most. */
#define PENDING_BYTES ((size_t)1 << 20)
#define PENDING_ROWS 512u
#define PENDING_MAX_BYTES ((size_t)2 << 30)
/* Rows that wait for the thread. */
#define QUEUE_ROWS 4u
/* Fewer are packed sooner than a thread is there. */
#define ROWS_WORTH_A_THREAD 4u

struct pending_row {
    struct timeline_row row;
    size_t offset; /* of its bytes */
    size_t len;
};

struct waiting_row {
    struct timeline_row row;
    struct column_writer columns;
};

struct timeline_press {
    struct store *store;
    int64_t log_id;
    uint64_t taken_count;
    /* Of who packs and writes: the thread, while it runs. */
    struct column_writer columns;
    struct buf bytes; /* of the pending rows, one behind the other */
    struct pending_row pending[PENDING_ROWS];
    size_t pending_count;
    /* Between the two; `mutex` guards what stands below it, and each row of the queue is owned by
     * the thread from filled to done. */
    struct waiting_row queue[QUEUE_ROWS];
    pthread_t thread;
    bool runs;
    pthread_mutex_t mutex;
    pthread_cond_t has_filled;
    pthread_cond_t has_done;
    uint64_t filled;
    uint64_t done;
    bool stops;
    bool failed;
    struct err err;
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

/* What they hold, not what they compress with. */
static void swap_columns(struct column_writer *a, struct column_writer *b)
{
    struct column_writer kept = *a;
    struct ZSTD_CCtx_s *zstd = b->zstd;
    *a = *b;
    a->zstd = kept.zstd;
    *b = kept;
    b->zstd = zstd;
}

static bool append(struct timeline_press *press, bool is_packed, struct err *err)
{
    const struct buf *raw = &press->columns.raw;
    if (!is_packed) {
        return column_writer_finish(&press->columns, &press->bytes, err);
    }
    buf_append(&press->bytes, raw->ptr, raw->len);
    return (!raw->failed && !press->bytes.failed) ||
           err_set(err, ERR_NO_MEMORY, "no memory to store a timeline");
}

static bool pack(struct timeline_press *press,
                 const struct timeline_row *row,
                 struct column_writer *columns,
                 struct err *err)
{
    struct pending_row *pending = &press->pending[press->pending_count];
    *pending = (struct pending_row){.row = *row, .offset = press->bytes.len};
    swap_columns(&press->columns, columns);
    bool ok = append(press, row->is_packed, err);
    swap_columns(&press->columns, columns);
    if (!ok) {
        return false;
    }
    pending->len = press->bytes.len - pending->offset;
    press->pending_count++;
    return (press->pending_count < PENDING_ROWS && press->bytes.len < PENDING_BYTES) ||
           flush(press, err);
}

/* ---- the thread ---- */

/* The next row, NULL when there is none and none comes. */
static struct waiting_row *await_row(struct timeline_press *press)
{
    (void)pthread_mutex_lock(&press->mutex);
    while (press->filled == press->done && !press->stops) {
        (void)pthread_cond_wait(&press->has_filled, &press->mutex);
    }
    bool has_row = press->filled != press->done;
    struct waiting_row *row = has_row ? &press->queue[press->done % QUEUE_ROWS] : NULL;
    (void)pthread_mutex_unlock(&press->mutex);
    return row;
}

static void tell_done(struct timeline_press *press, const struct err *err)
{
    (void)pthread_mutex_lock(&press->mutex);
    press->done++;
    if (err != NULL) {
        press->failed = true;
        press->err = *err;
    }
    (void)pthread_cond_signal(&press->has_done);
    (void)pthread_mutex_unlock(&press->mutex);
}

/* Behind a failure rows are only taken away. */
static void *run(void *argument)
{
    struct timeline_press *press = argument;
    struct err err = ERR_INIT;
    bool ok = true;
    for (struct waiting_row *row = await_row(press); row != NULL; row = await_row(press)) {
        bool was_ok = ok;
        ok = ok && pack(press, &row->row, &row->columns, &err);
        tell_done(press, was_ok && !ok ? &err : NULL);
    }
    return NULL;
}

/* Without a thread everything goes on as before. */
static void start(struct timeline_press *press)
{
    press->stops = false;
    press->runs = thread_start(&press->thread, run, press) == 0;
}

static bool has_failed(const struct timeline_press *press, struct err *err)
{
    if (press->failed) {
        *err = press->err;
    }
    return press->failed;
}

static void stop(struct timeline_press *press)
{
    if (!press->runs) {
        return;
    }
    (void)pthread_mutex_lock(&press->mutex);
    press->stops = true;
    (void)pthread_cond_signal(&press->has_filled);
    (void)pthread_mutex_unlock(&press->mutex);
    (void)pthread_join(press->thread, NULL);
    press->runs = false;
}

static bool enqueue(struct timeline_press *press,
                    const struct timeline_row *row,
                    struct column_writer *columns,
                    struct err *err)
{
    (void)pthread_mutex_lock(&press->mutex);
    while (press->filled - press->done == QUEUE_ROWS) {
        (void)pthread_cond_wait(&press->has_done, &press->mutex);
    }
    bool ok = !has_failed(press, err);
    if (ok) {
        struct waiting_row *waiting = &press->queue[press->filled % QUEUE_ROWS];
        waiting->row = *row;
        swap_columns(&waiting->columns, columns);
        press->filled++;
        (void)pthread_cond_signal(&press->has_filled);
    }
    (void)pthread_mutex_unlock(&press->mutex);
    return ok;
}

/* ---- the other side ---- */

int64_t timeline_press_log(const struct timeline_press *press)
{
    return press->log_id;
}

bool timeline_press_take(struct timeline_press *press,
                         const struct timeline_row *row,
                         struct column_writer *columns,
                         struct err *err)
{
    if (++press->taken_count == ROWS_WORTH_A_THREAD) {
        start(press);
    }
    return press->runs ? enqueue(press, row, columns, err) : pack(press, row, columns, err);
}

bool timeline_press_finish(struct timeline_press *press, struct err *err)
{
    stop(press);
    return !has_failed(press, err) && flush(press, err);
}

/* ---- life ---- */

static bool init_locks(struct timeline_press *press)
{
    bool has_mutex = pthread_mutex_init(&press->mutex, NULL) == 0;
    bool has_filled = has_mutex && pthread_cond_init(&press->has_filled, NULL) == 0;
    bool has_done = has_filled && pthread_cond_init(&press->has_done, NULL) == 0;
    if (has_filled && !has_done) {
        (void)pthread_cond_destroy(&press->has_filled);
    }
    if (has_mutex && !has_done) {
        (void)pthread_mutex_destroy(&press->mutex);
    }
    return has_done;
}

struct timeline_press *timeline_press_create(struct store *store, int64_t log_id)
{
    struct timeline_press *press = calloc(1, sizeof *press);
    if (press == NULL || !init_locks(press)) {
        free(press);
        return NULL;
    }
    press->store = store;
    press->log_id = log_id;
    column_writer_init(&press->columns);
    buf_init(&press->bytes, PENDING_MAX_BYTES);
    for (size_t i = 0; i < QUEUE_ROWS; i++) {
        column_writer_init(&press->queue[i].columns);
    }
    return press;
}

void timeline_press_destroy(struct timeline_press *press)
{
    if (press == NULL) {
        return;
    }
    stop(press);
    for (size_t i = 0; i < QUEUE_ROWS; i++) {
        column_writer_free(&press->queue[i].columns);
    }
    column_writer_free(&press->columns);
    buf_free(&press->bytes);
    (void)pthread_cond_destroy(&press->has_done);
    (void)pthread_cond_destroy(&press->has_filled);
    (void)pthread_mutex_destroy(&press->mutex);
    free(press);
}

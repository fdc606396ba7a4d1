/* The queue and the log of webhooks. */
#include "ingest/base/wall_clock.h"
#include "ingest/store/internal.h"
#include "ingest/store/store_webhooks.h"

static const char *const state_texts[] = {"waiting", "delivered", "given_up"};

const char *store_delivery_state_text(enum store_delivery_state state)
{
    return state_texts[state];
}

/* ---- writing ---- */

/* The log keeps the newest five thousand; what waits stays. */
static bool forget_old(struct db *db, struct err *err)
{
    return db_exec(db,
                   "DELETE FROM webhook_delivery WHERE state <> 'waiting' AND id <="
                   " (SELECT max(id) FROM webhook_delivery) - 5000",
                   err);
}

static bool queue(struct db *db, const struct store_delivery *delivery, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "INSERT INTO webhook_delivery (hook, place, metric, run, body, state, created_at_s,"
               " next_at_s) VALUES (?1, ?2, ?3, ?4, ?5, 'waiting', ?6, ?6)");
    db_put_text(&st, delivery->hook);
    db_put_text(&st, delivery->place);
    db_put_text(&st, delivery->metric);
    db_put_text(&st, delivery->run);
    db_put_text(&st, delivery->body);
    db_put_int(&st, wall_clock_s());
    return db_run(&st, err) && forget_old(db, err);
}

static bool has_crossed(struct store *store,
                        const struct store_delivery *delivery,
                        bool *crossed,
                        struct err *err)
{
    struct db *db;
    struct db_stmt st;
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    db_prepare(&st, db, "SELECT 1 FROM webhook_crossing WHERE hook = ? AND run = ?");
    db_put_text(&st, delivery->hook);
    db_put_text(&st, delivery->run);
    *crossed = db_next(&st);
    bool ok = db_done(&st, err);
    store_read_end(store, db);
    return ok;
}

bool store_webhook_cross(struct store *store,
                         const struct store_delivery *delivery,
                         struct err *err)
{
    struct db_stmt st;
    bool crossed = false;
    /* Nearly always it did: that takes no turn of the writer. */
    if (!has_crossed(store, delivery, &crossed, err) || crossed) {
        return crossed;
    }
    if (!store_write_begin(store, STORE_DURABLE, err)) {
        return false;
    }
    db_prepare(&st, store->writer,
               "INSERT INTO webhook_crossing (hook, run) VALUES (?, ?) ON CONFLICT DO NOTHING");
    db_put_text(&st, delivery->hook);
    db_put_text(&st, delivery->run);
    bool ok = db_run(&st, err);
    ok = ok && (db_changes(store->writer) == 0 || queue(store->writer, delivery, err));
    return store_write_end(store, ok, err);
}

bool store_webhook_attempted(struct store *store,
                             const struct store_delivery *delivery,
                             struct err *err)
{
    struct db_stmt st;
    if (!store_write_begin(store, STORE_DURABLE, err)) {
        return false;
    }
    db_prepare(&st, store->writer,
               "UPDATE webhook_delivery SET state = ?, attempts = ?, next_at_s = ?, status = ?,"
               " error = ? WHERE id = ?");
    db_put_text(&st, state_texts[delivery->state]);
    db_put_int(&st, delivery->attempts);
    db_put_int(&st, delivery->next_at_s);
    db_put_optional(&st, delivery->status == 0 ? INT64_MIN : delivery->status);
    db_put_text(&st, delivery->error);
    db_put_int(&st, delivery->id);
    bool ok = db_run(&st, err);
    return store_write_end(store, ok, err);
}

/* ---- reading ---- */

static enum store_delivery_state state_of(const char *text)
{
    return text == NULL || *text == 'w' ? DELIVERY_WAITING
           : *text == 'd'               ? DELIVERY_DELIVERED
                                        : DELIVERY_GIVEN_UP;
}

#define DELIVERY_COLUMNS                                                             \
    "SELECT id, hook, place, metric, run, state, attempts, created_at_s, next_at_s," \
    " coalesce(status, 0), error"

static bool read_rows(struct db_stmt *st,
                      struct arena *arena,
                      size_t limit,
                      bool with_body,
                      struct store_delivery **rows,
                      size_t *count,
                      struct err *err)
{
    *count = 0;
    *rows = arena_calloc(arena, limit + 1, sizeof **rows);
    if (*rows == NULL) {
        db_fail_memory(st);
    }
    while (*rows != NULL && *count < limit && db_next(st)) {
        struct store_delivery *row = &(*rows)[(*count)++];
        size_t len;
        row->id = db_get_int(st);
        row->hook = db_get_text(st, arena);
        row->place = db_get_text(st, arena);
        row->metric = db_get_text(st, arena);
        row->run = db_get_text(st, arena);
        row->state = state_of(db_peek_text(st, &len));
        row->attempts = db_get_int(st);
        row->created_at_s = db_get_int(st);
        row->next_at_s = db_get_int(st);
        row->status = db_get_int(st);
        row->error = db_get_text(st, arena);
        row->body = with_body ? db_get_text(st, arena) : NULL;
    }
    return db_done(st, err);
}

bool store_webhook_due(struct store *store,
                       struct arena *arena,
                       int64_t now_s,
                       size_t limit,
                       struct store_delivery **rows,
                       size_t *count,
                       struct err *err)
{
    struct db *db;
    struct db_stmt st;
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    db_prepare(&st, db,
               DELIVERY_COLUMNS ", body FROM webhook_delivery WHERE state = 'waiting'"
                                " AND next_at_s <= ? ORDER BY next_at_s, id LIMIT ?");
    db_put_int(&st, now_s);
    db_put_int(&st, (int64_t)limit);
    bool ok = read_rows(&st, arena, limit, true, rows, count, err);
    store_read_end(store, db);
    return ok;
}

bool store_webhook_log(struct store_snapshot *snapshot,
                       struct arena *arena,
                       int64_t limit,
                       int64_t offset,
                       struct store_delivery **rows,
                       size_t *count,
                       int64_t *total,
                       struct err *err)
{
    struct db *db;
    struct db_stmt st;
    if (!store_snapshot_read(snapshot, &db, err)) {
        return false;
    }
    db_prepare(&st, db, "SELECT count(*) FROM webhook_delivery");
    *total = db_next(&st) ? db_get_int(&st) : 0;
    bool ok = db_done(&st, err);
    if (ok) {
        db_prepare(&st, db,
                   DELIVERY_COLUMNS " FROM webhook_delivery ORDER BY id DESC LIMIT ? OFFSET ?");
        db_put_int(&st, limit);
        db_put_int(&st, offset);
        ok = read_rows(&st, arena, (size_t)limit, false, rows, count, err);
    }
    return ok;
}

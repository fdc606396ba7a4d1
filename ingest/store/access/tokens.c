/* Tokens and sessions in the open store. */
#include "ingest/store/access/token_rows.h"
#include "ingest/store/internal.h"
#include "ingest/store/store_access.h"

#include <string.h>

/* ---- tokens ---- */

bool store_tokens(struct store *store,
                  struct arena *arena,
                  struct store_token **rows,
                  size_t *count,
                  struct err *err)
{
    struct db *db;
    if (!store_read_begin_recent(store, &db, STORE_RECENT_ACCESS_MS, err)) {
        return false;
    }
    bool ok = token_rows_list(db, arena, rows, count, err);
    store_read_end(store, db);
    return ok;
}

uint64_t store_tokens_version(const struct store *store)
{
    return atomic_load(&store->token_changes);
}

static bool tokens_changed(struct store *store, bool ok, struct err *err)
{
    ok = store_write_end(store, ok, err);
    if (ok) {
        (void)atomic_fetch_add(&store->token_changes, 1);
    }
    return ok;
}

bool store_token_add(struct store *store, const struct store_token *token, struct err *err)
{
    return store_write_begin(store, STORE_DURABLE, err) &&
           tokens_changed(store, token_rows_add(store->writer, token, err), err);
}

bool store_token_revoke(struct store *store, const char *name, struct err *err)
{
    return store_write_begin(store, STORE_DURABLE, err) &&
           tokens_changed(store, token_rows_revoke(store->writer, name, err), err);
}

bool store_token_used(struct store *store, int64_t id, int64_t now_s, struct err *err)
{
    if (!store_write_begin(store, STORE_BATCH, err)) {
        return false;
    }
    struct db_stmt st;
    db_prepare(&st, store->writer, "UPDATE token SET last_used_at_s = ? WHERE id = ?");
    db_put_int(&st, now_s);
    db_put_int(&st, id);
    return store_write_end(store, db_run(&st, err), err);
}

/* ---- sessions ---- */

static bool make_room(struct db *db, const char *token_sha256_hex, int64_t now_s, struct err *err)
{
    return db_run_id(db, "DELETE FROM session WHERE expires_at_s <= ?", now_s, err) &&
           db_run_text(db,
                       "DELETE FROM session WHERE token_sha256 = ?1 AND sha256 NOT IN"
                       " (SELECT sha256 FROM session WHERE token_sha256 = ?1"
                       " ORDER BY created_at_s DESC, sha256 LIMIT 99)",
                       token_sha256_hex, err);
}

bool store_session_add(struct store *store,
                       const char *sha256_hex,
                       const char *token_sha256_hex,
                       int64_t now_s,
                       int64_t expires_at_s,
                       struct err *err)
{
    /* What a power cut takes of it is one more login. */
    if (!store_write_begin(store, STORE_BATCH, err)) {
        return false;
    }
    bool ok = make_room(store->writer, token_sha256_hex, now_s, err);
    if (ok) {
        struct db_stmt st;
        db_prepare(&st, store->writer,
                   "INSERT INTO session (sha256, token_sha256, created_at_s, expires_at_s)"
                   " VALUES (?, ?, ?, ?)");
        db_put_text(&st, sha256_hex);
        db_put_text(&st, token_sha256_hex);
        db_put_int(&st, now_s);
        db_put_int(&st, expires_at_s);
        ok = db_run(&st, err);
    }
    return store_write_end(store, ok, err);
}

bool store_session_find(struct store *store,
                        const char *sha256_hex,
                        int64_t now_s,
                        char token_sha256_hex[SHA256_HEX_BYTES],
                        struct err *err)
{
    struct db *db;
    token_sha256_hex[0] = '\0';
    if (!store_read_begin_recent(store, &db, STORE_RECENT_ACCESS_MS, err)) {
        return false;
    }
    struct db_stmt st;
    size_t len = 0;
    /* The same statement at any time, so that it is known while the database is away. */
    db_prepare(&st, db, "SELECT expires_at_s, token_sha256 FROM session WHERE sha256 = ?");
    db_put_text(&st, sha256_hex);
    bool is_valid = db_next(&st) && db_get_int(&st) > now_s;
    const char *text = is_valid ? db_peek_text(&st, &len) : NULL;
    if (text != NULL && len == SHA256_HEX_BYTES - 1) {
        memcpy(token_sha256_hex, text, len + 1);
    }
    bool ok = db_done(&st, err);
    store_read_end(store, db);
    return ok;
}

bool store_session_end(struct store *store, const char *sha256_hex, struct err *err)
{
    return store_write_begin(store, STORE_DURABLE, err) &&
           store_write_end(
               store,
               db_run_text(store->writer, "DELETE FROM session WHERE sha256 = ?", sha256_hex, err),
               err);
}

#include "ingest/store/internal.h"
#include "ingest/store/store_access.h"

#include <stdio.h>

static bool add(struct db *db, const struct store_wrong_tokens *row, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "INSERT INTO wrong_token (address, forgiven_at_s) VALUES (?1, unixepoch() + ?2)"
               " ON CONFLICT (address) DO UPDATE SET forgiven_at_s = ?2 + CASE WHEN"
               " wrong_token.forgiven_at_s > unixepoch() THEN wrong_token.forgiven_at_s"
               " ELSE unixepoch() END");
    db_put_text(&st, row->address);
    db_put_int(&st, row->count);
    return db_run(&st, err);
}

/* Not in the transaction of `add`: it locks rows in another order. */
static bool forget(struct store *store, struct err *err)
{
    return store_write_begin(store, STORE_BATCH, err) &&
           store_write_end(store,
                           db_exec(store->writer,
                                   "DELETE FROM wrong_token WHERE forgiven_at_s <= unixepoch()",
                                   err),
                           err);
}

bool store_wrong_tokens_add(struct store *store,
                            const struct store_wrong_tokens *rows,
                            size_t count,
                            struct err *err)
{
    bool ok = forget(store, err) && store_write_begin(store, STORE_BATCH, err);
    if (!ok) {
        return false;
    }
    for (size_t i = 0; ok && i < count; i++) {
        ok = add(store->writer, &rows[i], err);
    }
    return store_write_end(store, ok, err);
}

bool store_wrong_tokens_read(struct store *store,
                             void (*take)(void *context, const struct store_wrong_tokens *row),
                             void *context,
                             struct err *err)
{
    struct db *db;
    struct db_stmt st;
    size_t len;
    if (!store_read_begin_recent(store, &db, STORE_RECENT_ACCESS_MS, err)) {
        return false;
    }
    db_prepare(&st, db,
               "SELECT address, forgiven_at_s - unixepoch() FROM wrong_token"
               " WHERE forgiven_at_s > unixepoch() ORDER BY forgiven_at_s DESC LIMIT ?");
    db_put_int(&st, STORE_WRONG_TOKENS_MAX);
    while (db_next(&st)) {
        struct store_wrong_tokens row;
        (void)snprintf(row.address, sizeof row.address, "%s", db_peek_text(&st, &len));
        row.count = db_get_int(&st);
        take(context, &row);
    }
    bool ok = db_done(&st, err);
    store_read_end(store, db);
    return ok;
}

/* Removing the rows of traces that no upload holds any more: after a deletion, a replaced or
 * given-up upload, a crash. Such a trace is invisible already, so its rows may go in many small
 * transactions, and uploads get their turn in between. */
#include "ingest/store/internal.h"

#define PURGE_BATCH_ROWS 5000

/* The tables that can have many rows a trace; the rest goes with the trace row by its foreign keys.
 */
static const char *const purge_batch_sql[] = {
    "DELETE FROM operator WHERE trace_id = ?1 AND (grouping, position) IN"
    " (SELECT grouping, position FROM operator WHERE trace_id = ?1 LIMIT ?2)",
    "DELETE FROM kernel_launch WHERE trace_id = ?1 AND position IN"
    " (SELECT position FROM kernel_launch WHERE trace_id = ?1 LIMIT ?2)",
    "DELETE FROM kernel WHERE trace_id = ?1 AND position IN"
    " (SELECT position FROM kernel WHERE trace_id = ?1 LIMIT ?2)",
    "DELETE FROM step WHERE trace_id = ?1 AND position IN"
    " (SELECT position FROM step WHERE trace_id = ?1 LIMIT ?2)",
    "DELETE FROM text WHERE trace_id = ?1 AND id IN"
    " (SELECT id FROM text WHERE trace_id = ?1 LIMIT ?2)",
};

static bool run_with_trace(
    struct store *store, const char *sql, int64_t trace_id, int64_t *changes, struct err *err)
{
    if (!store_write_begin(store, STORE_BATCH, err)) {
        return false;
    }
    struct db_stmt st;
    db_prepare(&st, store->writer, sql);
    db_put_int(&st, trace_id);
    if (sqlite3_bind_parameter_count(st.raw) > 1) {
        db_put_int(&st, PURGE_BATCH_ROWS);
    }
    bool ok = db_run(&st, err);
    *changes = ok ? db_changes(store->writer) : 0;
    return store_write_end(store, ok, err);
}

static bool purge_trace(struct store *store, int64_t trace_id, struct err *err)
{
    int64_t changes;
    for (size_t i = 0; i < sizeof purge_batch_sql / sizeof purge_batch_sql[0]; i++) {
        do {
            if (!run_with_trace(store, purge_batch_sql[i], trace_id, &changes, err)) {
                return false;
            }
        } while (changes == PURGE_BATCH_ROWS);
    }
    return run_with_trace(store, "DELETE FROM trace WHERE id = ?1 AND upload_id IS NULL", trace_id,
                          &changes, err);
}

/* The next trace to remove after `after`, or 0. */
static bool next_orphan(struct store *store, int64_t after, int64_t *trace_id, struct err *err)
{
    struct db *db;
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT id FROM trace WHERE upload_id IS NULL AND id > ? ORDER BY id LIMIT 1");
    db_put_int(&st, after);
    *trace_id = db_next(&st) ? db_get_int(&st) : 0;
    bool ok = db_done(&st, err);
    store_read_end(store, db);
    return ok;
}

bool store_purge(struct store *store, struct err *err)
{
    int64_t trace_id = 0;
    do {
        if (!next_orphan(store, trace_id, &trace_id, err) ||
            (trace_id != 0 && !purge_trace(store, trace_id, err))) {
            return false;
        }
    } while (trace_id != 0);
    return true;
}

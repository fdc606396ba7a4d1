/* Removing the files and rows of traces that no upload holds any more, and the rows of comparisons
 * that were removed: after a deletion, a replaced or given-up upload, a crash.
 * They are invisible already, so their rows may go in many small transactions, and uploads get
 * their turn in between. */
#include "ingest/base/wall_clock.h"
#include "ingest/store/internal.h"
#include "ingest/store/results_files.h"

#define PURGE_BATCH_ROWS 5000

#define DAY_S INT64_C(86400)
/* So long a client may ask what became of its job. */
#define JOBS_KEPT_S (30 * DAY_S)

/* The tables that can have many rows a trace; the rest goes with the trace row by its foreign keys.
 */
static const char *const purge_batch_sql[] = {
    "DELETE FROM series_value WHERE trace_id = ?1 AND metric_id IN"
    " (SELECT metric_id FROM series_value WHERE trace_id = ?1 LIMIT ?2)",
};

/* The same of a comparison. */
static const char *const purge_comparison_sql[] = {
    "DELETE FROM comparison_row WHERE comparison_id = ?1 AND position IN"
    " (SELECT position FROM comparison_row WHERE comparison_id = ?1 LIMIT ?2)",
    "DELETE FROM comparison_cycle WHERE comparison_id = ?1 AND position IN"
    " (SELECT position FROM comparison_cycle WHERE comparison_id = ?1 LIMIT ?2)",
    "DELETE FROM comparison_appeared WHERE comparison_id = ?1 AND position IN"
    " (SELECT position FROM comparison_appeared WHERE comparison_id = ?1 LIMIT ?2)",
    "DELETE FROM comparison_text WHERE comparison_id = ?1 AND id IN"
    " (SELECT id FROM comparison_text WHERE comparison_id = ?1 LIMIT ?2)",
};

struct purge {
    struct store *store;
    const _Atomic bool *stop; /* NULL: nobody stops it */
};

/* ?1 is the id, ?2 the number of rows; 0: `sql` has none. */
static bool run_with_id(struct store *store,
                        const char *sql,
                        int64_t id,
                        int64_t rows,
                        int64_t *changes,
                        struct err *err)
{
    if (!store_write_begin(store, STORE_BATCH, err)) {
        return false;
    }
    struct db_stmt st;
    db_prepare(&st, store->writer, sql);
    db_put_int(&st, id);
    if (rows > 0) {
        db_put_int(&st, rows);
    }
    bool ok = db_run(&st, err);
    *changes = ok ? db_changes(store->writer) : 0;
    return store_write_end(store, ok, err);
}

/* Who stops a purge wants the turn at once: the rest is as invisible at the next start. */
static bool is_stopped(const struct purge *purge)
{
    return purge->stop != NULL && atomic_load(purge->stop);
}

/* Each statement again and again until nothing is left for it, and then `last_sql` for the row that
 * all of it hung on. */
static bool run_batches(const struct purge *purge,
                        const char *const *sql,
                        size_t sql_count,
                        const char *last_sql,
                        int64_t id,
                        int64_t rows,
                        struct err *err)
{
    int64_t changes;
    for (size_t i = 0; i < sql_count; i++) {
        do {
            if (is_stopped(purge)) {
                return true;
            }
            if (!run_with_id(purge->store, sql[i], id, rows, &changes, err)) {
                return false;
            }
        } while (changes == rows);
    }
    return run_with_id(purge->store, last_sql, id, 0, &changes, err);
}

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static bool purge_trace(const struct purge *purge, int64_t trace_id, struct err *err)
{
    return results_files_remove(purge->store, trace_id, err) &&
           run_batches(purge, purge_batch_sql, COUNT_OF(purge_batch_sql),
                       "DELETE FROM trace WHERE id = ?1 AND upload_id IS NULL", trace_id,
                       PURGE_BATCH_ROWS, err);
}

static bool purge_comparison(const struct purge *purge, int64_t id, struct err *err)
{
    return run_batches(purge, purge_comparison_sql, COUNT_OF(purge_comparison_sql),
                       "DELETE FROM comparison WHERE id = ?1", id, PURGE_BATCH_ROWS, err);
}

/* The next id to remove beyond `from`, or 0, also when it is time to stop. */
static bool
next_orphan(const struct purge *purge, const char *sql, int64_t from, int64_t *id, struct err *err)
{
    struct db *db;
    *id = 0;
    if (is_stopped(purge)) {
        return true;
    }
    if (!store_read_begin(purge->store, &db, err)) {
        return false;
    }
    struct db_stmt st;
    db_prepare(&st, db, sql);
    db_put_int(&st, from);
    *id = db_next(&st) ? db_get_int(&st) : 0;
    bool ok = db_done(&st, err);
    store_read_end(purge->store, db);
    return ok;
}

/* Downwards, because the first one of a group would take all others along in one transaction. */
static bool purge_comparisons(const struct purge *purge, struct err *err)
{
    int64_t id = INT64_MAX;
    do {
        if (!next_orphan(purge,
                         "SELECT id FROM comparison WHERE id < ? AND (state = 'removed' OR trace_id"
                         " IN (SELECT id FROM trace WHERE upload_id IS NULL))"
                         " ORDER BY id DESC LIMIT 1",
                         id, &id, err) ||
            (id != 0 && !purge_comparison(purge, id, err))) {
            return false;
        }
    } while (id != 0);
    return true;
}

static bool purge_traces(const struct purge *purge, struct err *err)
{
    int64_t trace_id = 0;
    do {
        if (!next_orphan(
                purge,
                "SELECT id FROM trace WHERE upload_id IS NULL AND id > ? ORDER BY id LIMIT 1",
                trace_id, &trace_id, err) ||
            (trace_id != 0 && !purge_trace(purge, trace_id, err))) {
            return false;
        }
    } while (trace_id != 0);
    return true;
}

/* Those that failed, and those whose upload is gone: the job of an upload stays with it, and that
 * of a taken-over upload, whose bytes it holds. */
bool store_purge_jobs(struct store *store, struct err *err)
{
    struct db *db;
    int64_t now_s = wall_clock_s();
    int64_t changes;
    if (now_s - atomic_load(&store->jobs_purged_at_s) < DAY_S) {
        return true;
    }
    atomic_store(&store->jobs_purged_at_s, now_s);
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    bool ok = db_clock(db, &now_s, err);
    store_read_end(store, db);
    if (!ok) {
        return false;
    }
    do {
        if (!run_with_id(store,
                         "DELETE FROM job WHERE id IN (SELECT id FROM job WHERE state IN ('done',"
                         " 'failed') AND received_at_s < ?1 AND NOT EXISTS (SELECT 1 FROM upload"
                         " WHERE job_id = job.id) AND id NOT IN (SELECT job_id FROM taken_over)"
                         " LIMIT ?2)",
                         now_s - JOBS_KEPT_S, PURGE_BATCH_ROWS, &changes, err)) {
            return false;
        }
    } while (changes == PURGE_BATCH_ROWS);
    return true;
}

bool store_purge_until(struct store *store, const _Atomic bool *stop, struct err *err)
{
    const struct purge purge = {store, stop};
    return purge_comparisons(&purge, err) && purge_traces(&purge, err);
}

bool store_purge(struct store *store, struct err *err)
{
    return store_purge_until(store, NULL, err);
}

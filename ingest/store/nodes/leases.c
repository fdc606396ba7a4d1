#include "ingest/store/nodes/leases.h"

#include "ingest/base/monotonic.h"
#include "ingest/base/order.h"
#include "ingest/store/nodes/nodes.h"
#include "ingest/store/schema/schema.h"

#include <stdlib.h>
#include <string.h>

#define AS_TEXT(number) #number
#define NUMBER(macro) AS_TEXT(macro)

_Static_assert(STORE_ATTEMPTS_MAX == 3, "as in STORE_JOB_CRASHED and the schema");

#define UNFINISHED "state IN ('queued', 'running')"
#define NOBODY_HAS "received_at_s > 0 AND lease_until_s <= unixepoch()"

/* Of job j: a server of an older program leaves it to one that has analysed it already. */
#define MAY_ANALYSE                                                   \
    "NOT EXISTS (SELECT 1 FROM upload AS n WHERE n.job_id = j.id AND" \
    " n.published = 1 AND n.analysis_version > " NUMBER(ANALYSIS_VERSION) ")"

/* Uploads of one name are stored in the order in which they came. A server's own jobs are in its
 * queue. */
#define CLAIM(locking)                                                                           \
    "UPDATE job SET node = ?1, fence = fence + 1, attempts = attempts + 1,"                      \
    " lease_until_s = unixepoch() + " NUMBER(                                                    \
        STORE_LEASE_S) " WHERE id = (SELECT j.id FROM job"                                       \
                       " AS j WHERE j." UNFINISHED " AND j." NOBODY_HAS                          \
                       " AND j.node <> ?1 AND j.attempts < " NUMBER(                             \
                           STORE_ATTEMPTS_MAX) " AND " MAY_ANALYSE                               \
                                               " AND NOT EXISTS (SELECT 1 FROM job AS e WHERE "  \
                                               "e." UNFINISHED " AND e.run = j.run AND"          \
                                               " e.file_name = j.file_name AND e.id < j.id) "    \
                                               "ORDER BY CASE WHEN EXISTS (SELECT 1 FROM"        \
                                               " taken_over WHERE job_id = j.id) THEN 1 ELSE 0 " \
                                               "END, j.id LIMIT 1" locking ")"                   \
                                               " RETURNING id, fence"

bool lease_claim(struct db *db, const char *node, struct lease *out, struct err *err)
{
    struct db_stmt st;
    *out = (struct lease){0};
    if (db_is_server(db)) {
        db_prepare(&st, db, CLAIM(" FOR UPDATE OF j SKIP LOCKED"));
    } else {
        db_prepare(&st, db, CLAIM(""));
    }
    db_put_text(&st, node);
    if (db_next(&st)) {
        out->job_id = db_get_int(&st);
        out->fence = db_get_int(&st);
    }
    if (!db_done(&st, err) || out->job_id == 0) {
        return out->job_id == 0 && !st.failed;
    }
    /* What an earlier attempt has left. */
    return db_run_id(db, "DELETE FROM upload WHERE job_id = ? AND published = 0", out->job_id, err);
}

bool lease_fail_crashing(struct db *db, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "UPDATE job SET state = 'failed', node = '', error_code = ?, error_message = ?"
               " WHERE " UNFINISHED " AND " NOBODY_HAS
               " AND attempts >= " NUMBER(STORE_ATTEMPTS_MAX));
    db_put_text(&st, err_code_text(ERR_INTERNAL));
    db_put_text(&st, "the server that analysed this file ended in the middle of it, " NUMBER(
                         STORE_ATTEMPTS_MAX) " times; the uploaded bytes are kept");
    if (!db_run(&st, err)) {
        return false;
    }
    /* What was never told to have arrived, of a server that is gone. */
    return db_exec(db,
                   "DELETE FROM job WHERE " UNFINISHED
                   " AND received_at_s = 0 AND lease_until_s <= unixepoch() AND node <> ''",
                   err);
}

bool lease_renew(struct db *db,
                 const char *node,
                 struct arena *arena,
                 struct lease **leases,
                 size_t *count,
                 struct err *err)
{
    struct db_stmt st;
    size_t capacity = 0;
    *leases = NULL;
    *count = 0;
    db_prepare(&st, db,
               "UPDATE job SET lease_until_s = unixepoch() + " NUMBER(
                   STORE_LEASE_S) " WHERE " UNFINISHED " AND node = ? RETURNING id, fence");
    db_put_text(&st, node);
    while (db_next(&st)) {
        struct lease *grown = arena_grow(arena, *leases, *count, &capacity, sizeof *grown);
        if (grown == NULL) {
            db_fail_memory(&st);
            break;
        }
        grown[*count].job_id = db_get_int(&st);
        grown[(*count)++].fence = db_get_int(&st);
        *leases = grown;
    }
    return db_done(&st, err);
}

static bool
run_of_node(struct db *db, const char *sql, const char *node, int64_t job_id, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, sql);
    db_put_text(&st, node);
    db_put_int(&st, job_id);
    return db_run(&st, err);
}

bool lease_give_back(
    struct db *db, const char *node, int64_t job_id, enum lease_end_kind kind, struct err *err)
{
    if (kind == LEASE_UNUSED &&
        !run_of_node(db,
                     "UPDATE job SET attempts = attempts - 1 WHERE " UNFINISHED
                     " AND node = ?1 AND (?2 = 0 OR id = ?2) AND attempts > 0",
                     node, job_id, err)) {
        return false;
    }
    return run_of_node(db,
                       "DELETE FROM upload WHERE published = 0 AND job_id IN (SELECT id FROM job"
                       " WHERE " UNFINISHED " AND node = ?1 AND (?2 = 0 OR id = ?2))",
                       node, job_id, err) &&
           run_of_node(db,
                       "DELETE FROM job WHERE " UNFINISHED
                       " AND received_at_s = 0 AND node = ?1 AND (?2 = 0 OR id = ?2)",
                       node, job_id, err) &&
           run_of_node(
               db,
               "UPDATE job SET node = '', fence = fence + 1, lease_until_s = 0 WHERE " UNFINISHED
               " AND node = ?1 AND (?2 = 0 OR id = ?2)",
               node, job_id, err);
}

bool lease_end(
    struct db *db, const char *node, const struct lease *lease, bool *done, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "UPDATE job SET state = 'done' WHERE id = ? AND received_at_s > 0"
               " AND " UNFINISHED LEASE_IS_OURS);
    db_put_int(&st, lease->job_id);
    db_put_text(&st, node);
    db_put_int(&st, lease->fence);
    bool ok = db_run(&st, err);
    *done = ok && db_changes(db) == 1;
    return ok;
}

/* ---- the store ---- */

int64_t lease_fence(const struct store *store, int64_t job_id)
{
    for (size_t i = 0; i < store->lease_count; i++) {
        if (store->leases[i].job_id == job_id) {
            return store->leases[i].fence;
        }
    }
    return 0;
}

static bool make_room(struct store *store, size_t count, struct err *err)
{
    if (count <= store->lease_capacity) {
        return true;
    }
    size_t capacity = 2 * count + 8;
    struct lease *grown = realloc(store->leases, capacity * sizeof *grown);
    if (grown == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a job");
    }
    store->leases = grown;
    store->lease_capacity = capacity;
    return true;
}

bool lease_note(struct store *store, struct lease lease, struct err *err)
{
    size_t at = 0;
    while (at < store->lease_count && store->leases[at].job_id != lease.job_id) {
        at++;
    }
    if (!make_room(store, at + 1, err)) {
        return false;
    }
    store->lease_count += at == store->lease_count;
    store->leases[at] = lease;
    return true;
}

bool lease_hold(struct store *store, int64_t job_id, struct err *err)
{
    struct db_stmt st;
    if (store->database_url == NULL) {
        return true;
    }
    db_prepare(&st, store->writer,
               "UPDATE job SET fence = fence WHERE id = ? AND " UNFINISHED LEASE_IS_OURS);
    db_put_int(&st, job_id);
    db_put_text(&st, store->node);
    db_put_int(&st, lease_fence(store, job_id));
    return db_run(&st, err) &&
           (db_changes(store->writer) > 0 ||
            err_set(err, ERR_NOT_FOUND, "another server has the job %lld", (long long)job_id));
}

bool lease_is_fresh(const struct store *store, struct err *err)
{
    return store->database_url == NULL ||
           monotonic_ms() - atomic_load(&store->renewed_at_ms) < STORE_LATE_MS ||
           err_set(err, ERR_UNAVAILABLE,
                   "this server could not renew its claims of jobs and publishes nothing until it "
                   "can");
}

static bool run_claim(struct store *store, struct lease *lease, struct err *err)
{
    if (!store_write_begin(store, STORE_BATCH, err)) {
        return false;
    }
    bool ok = lease_fail_crashing(store->writer, err) &&
              lease_claim(store->writer, store->node, lease, err) &&
              (lease->job_id == 0 || lease_note(store, *lease, err));
    return store_write_end(store, ok, err);
}

/* Who looks writes nothing. */
static bool is_claimable(struct store *store, bool *any, struct err *err)
{
    struct db *db;
    struct db_stmt st;
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    db_prepare(&st, db,
               "SELECT 1 FROM job AS j WHERE j." UNFINISHED
               " AND j.lease_until_s <= unixepoch() AND j.node <> ? AND " MAY_ANALYSE " LIMIT 1");
    db_put_text(&st, store->node);
    *any = db_next(&st);
    bool ok = db_done(&st, err);
    store_read_end(store, db);
    return ok;
}

bool store_jobs_unclaimed(struct store *store, uint64_t *uploads, uint64_t *again, struct err *err)
{
    struct db *db;
    struct db_stmt st;
    *uploads = 0;
    *again = 0;
    if (store->database_url == NULL) {
        return true;
    }
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    db_prepare(&st, db,
               "SELECT count(*) - count(t.job_id), count(t.job_id) FROM job AS j"
               " LEFT JOIN taken_over AS t ON t.job_id = j.id"
               " WHERE j." UNFINISHED " AND j." NOBODY_HAS);
    if (db_next(&st)) {
        *uploads = (uint64_t)db_get_int(&st);
        *again = (uint64_t)db_get_int(&st);
    }
    bool ok = db_done(&st, err);
    store_read_end(store, db);
    return ok;
}

bool store_job_claim(struct store *store,
                     struct arena *arena,
                     struct store_job **job,
                     struct err *err)
{
    struct lease lease = {0};
    struct store_snapshot snapshot;
    bool any = false;
    *job = NULL;
    if (!is_claimable(store, &any, err) || (any && !run_claim(store, &lease, err))) {
        return false;
    }
    if (lease.job_id == 0) {
        return true;
    }
    store_snapshot_init(&snapshot, store);
    bool ok = store_job_get(&snapshot, arena, lease.job_id, job, err);
    store_snapshot_close(&snapshot);
    return ok;
}

static bool
keep_leases(struct store *store, const struct lease *leases, size_t count, struct err *err)
{
    if (!make_room(store, count, err)) {
        return false;
    }
    if (count > 0) {
        memcpy(store->leases, leases, count * sizeof *leases);
    }
    store->lease_count = count;
    return true;
}

bool store_leases_renew(
    struct store *store, struct arena *arena, int64_t **ids, size_t *count, struct err *err)
{
    struct lease *leases = NULL;
    int64_t begin_ms = monotonic_ms();
    if (!store_write_begin(store, STORE_BATCH, err)) {
        return false;
    }
    bool ok = node_renew(store, err) &&
              lease_renew(store->writer, store->node, arena, &leases, count, err) &&
              keep_leases(store, leases, *count, err);
    if (!store_write_end(store, ok, err)) {
        return false;
    }
    atomic_store(&store->renewed_at_ms, begin_ms);
    *ids = arena_calloc(arena, *count + 1, sizeof **ids);
    if (*ids == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the jobs");
    }
    for (size_t i = 0; leases != NULL && i < *count; i++) {
        (*ids)[i] = leases[i].job_id;
    }
    qsort(*ids, *count, sizeof **ids, order_i64_at);
    return true;
}

bool store_leases_give_back(struct store *store, int64_t job_id, struct err *err)
{
    return store->database_url == NULL ||
           (store_write_begin(store, STORE_DURABLE, err) &&
            store_write_end(store,
                            lease_give_back(store->writer, store->node, job_id, LEASE_UNUSED, err),
                            err));
}

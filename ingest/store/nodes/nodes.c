#include "ingest/store/nodes/nodes.h"

#include "ingest/base/monotonic.h"
#include "ingest/store/nodes/leases.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define DUTY_LEASE_S 60
/* So often a duty is asked for. */
#define DUTY_ASK_MS 5000
#define FORGOTTEN_S 86400

static bool insert(struct store *store, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, store->writer,
               "INSERT INTO node (id, name, address, version, started_at_s, seen_at_s)"
               " VALUES (?, ?, ?, ?, unixepoch(), unixepoch()) ON CONFLICT (id) DO UPDATE SET"
               " name = excluded.name, address = excluded.address, version = excluded.version,"
               " started_at_s = excluded.started_at_s, seen_at_s = excluded.seen_at_s,"
               " draining = 0");
    db_put_text(&st, store->node);
    db_put_text(&st, store->node_name);
    db_put_text(&st, store->node_address);
    db_put_text(&st, KS_VERSION);
    return db_run(&st, err);
}

static bool join_now(struct store *store, struct err *err)
{
    return db_run_id(store->writer, "DELETE FROM node WHERE seen_at_s < unixepoch() - ?",
                     FORGOTTEN_S, err) &&
           insert(store, err);
}

bool node_join(struct store *store, const char *name, const char *address, struct err *err)
{
    store->started_at_s = (int64_t)time(NULL);
    if (name != NULL) {
        (void)snprintf(store->node_name, sizeof store->node_name, "%s", name);
    } else if (gethostname(store->node_name, sizeof store->node_name - 1) != 0) {
        (void)snprintf(store->node_name, sizeof store->node_name, "%.8s", store->node);
    }
    (void)snprintf(store->node_address, sizeof store->node_address, "%s",
                   address == NULL ? "" : address);
    if (store->database_url == NULL) {
        return true;
    }
    return store_write_begin(store, STORE_BATCH, err) &&
           store_write_end(store, join_now(store, err), err);
}

bool node_renew(struct store *store, struct err *err)
{
    /* Others may have forgotten it. */
    return db_run_text(store->writer, "UPDATE node SET seen_at_s = unixepoch() WHERE id = ?",
                       store->node, err) &&
           (db_changes(store->writer) > 0 || insert(store, err));
}

static bool leave(struct store *store, struct err *err)
{
    return lease_give_back(store->writer, store->node, 0, LEASE_UNUSED, err) &&
           db_run_text(store->writer, "DELETE FROM duty WHERE node = ?", store->node, err) &&
           db_run_text(store->writer, "DELETE FROM node WHERE id = ?", store->node, err);
}

void node_leave(struct store *store)
{
    struct err err = ERR_INIT;
    if (store->database_url != NULL && store->node_name[0] != '\0' &&
        !(store_write_begin(store, STORE_BATCH, &err) &&
          store_write_end(store, leave(store, &err), &err))) {
        log_write(store->log, LOG_DEBUG, "the others were not told of the end: %s", err.msg);
    }
}

bool store_node_drain(struct store *store, struct err *err)
{
    atomic_store(&store->is_draining, true);
    if (store->database_url == NULL) {
        return true;
    }
    return store_write_begin(store, STORE_BATCH, err) &&
           store_write_end(
               store,
               db_run_text(store->writer, "UPDATE node SET draining = 1 WHERE id = ?", store->node,
                           err) &&
                   db_run_text(store->writer, "DELETE FROM duty WHERE node = ?", store->node, err),
               err);
}

/* ---- duties ---- */

static bool take_duty(struct store *store, const char *name, bool *has, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, store->writer,
               "INSERT INTO duty (name, node, lease_until_s) VALUES (?, ?, unixepoch() + ?)"
               " ON CONFLICT (name) DO UPDATE SET node = excluded.node,"
               " lease_until_s = excluded.lease_until_s WHERE duty.node = excluded.node OR"
               " duty.lease_until_s <= unixepoch()");
    db_put_text(&st, name);
    db_put_text(&st, store->node);
    db_put_int(&st, DUTY_LEASE_S);
    bool ok = db_run(&st, err);
    *has = ok && db_changes(store->writer) > 0;
    return ok;
}

bool store_has_duty(struct store *store, enum store_duty duty)
{
    static const char *const names[STORE_DUTIES] = {"retention", "objects", "webhooks"};
    int64_t now_ms = monotonic_ms();
    struct err ignored = ERR_INIT;
    bool has = false;
    if (store->database_url == NULL) {
        return true;
    }
    if (atomic_load(&store->is_draining)) {
        return false;
    }
    if (now_ms < atomic_load(&store->duty_ask_at_ms[duty])) {
        return now_ms < atomic_load(&store->duty_until_ms[duty]);
    }
    atomic_store(&store->duty_ask_at_ms[duty], now_ms + DUTY_ASK_MS);
    bool ok = store_write_begin(store, STORE_BATCH, &ignored);
    ok = ok && store_write_end(store, take_duty(store, names[duty], &has, &ignored), &ignored) &&
         has;
    if (ok) {
        atomic_store(&store->duty_until_ms[duty], now_ms + INT64_C(1000) * DUTY_LEASE_S);
    }
    return now_ms < atomic_load(&store->duty_until_ms[duty]);
}

/* ---- which there are ---- */

#define SELECT_FROM                                                                     \
    "SELECT n.name, n.address, n.version, n.started_at_s, unixepoch() - n.seen_at_s,"   \
    " (SELECT count(*) FROM job AS j WHERE j.state IN ('queued', 'running') AND j.node" \
    " = n.id), n.draining, CASE WHEN n.id = ?1 THEN 1 ELSE 0 END FROM "
/* An embedded catalogue has no row of its one server. */
#define THIS_ONE                                                                      \
    "(SELECT '' AS id, ?2 AS name, ?3 AS address, ?4 AS version, ?5 AS started_at_s," \
    " unixepoch() AS seen_at_s, ?6 AS draining) AS n"

static void prepare_rows(struct db_stmt *st, struct db *db, const struct store *store)
{
    if (store->database_url != NULL) {
        db_prepare(st, db, SELECT_FROM "node AS n ORDER BY n.name, n.id");
        db_put_text(st, store->node);
        return;
    }
    db_prepare(st, db, SELECT_FROM THIS_ONE);
    db_put_text(st, store->node);
    db_put_text(st, store->node_name);
    db_put_text(st, store->node_address);
    db_put_text(st, KS_VERSION);
    db_put_int(st, store->started_at_s);
    db_put_int(st, atomic_load(&store->is_draining));
}

bool store_nodes(struct store_snapshot *snapshot,
                 struct arena *arena,
                 struct store_node **rows,
                 size_t *count,
                 struct err *err)
{
    struct db *db;
    struct db_stmt st;
    *count = 0;
    *rows = NULL;
    if (!store_snapshot_read(snapshot, &db, err)) {
        return false;
    }
    db_prepare(&st, db, "SELECT count(*) FROM node");
    size_t rows_max = 1 + (db_next(&st) ? (size_t)db_get_int(&st) : 0);
    if (!db_done(&st, err)) {
        return false;
    }
    *rows = arena_calloc(arena, rows_max, sizeof **rows);
    if (*rows == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the servers");
    }
    prepare_rows(&st, db, snapshot->store);
    while (*count < rows_max && db_next(&st)) {
        struct store_node *row = &(*rows)[(*count)++];
        row->name = db_get_text(&st, arena);
        row->address = db_get_text(&st, arena);
        row->version = db_get_text(&st, arena);
        row->started_at_s = db_get_int(&st);
        row->silent_s = db_get_int(&st);
        row->job_count = db_get_int(&st);
        row->is_draining = db_get_bool(&st);
        row->is_this = db_get_bool(&st);
    }
    return db_done(&st, err);
}

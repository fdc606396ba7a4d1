#include "ingest/store/schema/steps.h"

#include "ingest/store/schema/schema.h"
#include "ingest/store/schema/sums.h"

#include <assert.h>

const struct schema_step schema_steps[] = {
    {36,
     "CREATE TABLE wrong_token (address TEXT PRIMARY KEY, forgiven_at_s INTEGER NOT NULL\n"
     ") STRICT, WITHOUT ROWID",
     THEN_NOTHING},
    {37,
     "ALTER TABLE job ADD COLUMN twin TEXT;"
     "CREATE UNIQUE INDEX job_twin ON job (run, file_name, twin)"
     " WHERE state IN ('queued', 'running')",
     THEN_NOTHING},
    {38,
     "CREATE TABLE kept_sum (kind TEXT NOT NULL, project TEXT NOT NULL, part INTEGER NOT NULL,"
     " items INTEGER NOT NULL, traces INTEGER NOT NULL, size_bytes INTEGER NOT NULL,"
     " PRIMARY KEY (kind, project, part)) STRICT, WITHOUT ROWID",
     THEN_MAKE_SUMS},
    {39, "", THEN_RENEW_SUMS},
    {40, "", THEN_FREE_VALUES},
};
const size_t schema_step_count = SCHEMA_VERSION - SCHEMA_BASE;
static_assert(sizeof schema_steps / sizeof schema_steps[0] == SCHEMA_VERSION - SCHEMA_BASE,
              "every version after SCHEMA_BASE has its step");

/* Until the end of the transaction no other server changes the version. */
static bool hold(struct db *db, struct err *err)
{
    return !db_is_server(db) || db_exec(db, "LOCK TABLE kinetoscope IN EXCLUSIVE MODE", err);
}

static bool run_step(struct db *db, const struct schema_step *step, struct err *err)
{
    struct db_stmt st;
    int64_t version = 0;
    if (!hold(db, err) || !schema_read_version(db, &version, err)) {
        return false;
    }
    if (version >= step->version) {
        return true;
    }
    if (version != step->version - 1) {
        return err_set(err, ERR_STORE, "the database has schema %lld, to which there is no step",
                       (long long)version);
    }
    if (step->sql[0] != '\0' && !db_exec_schema(db, step->sql, err)) {
        return false;
    }
    bool ok = step->then == THEN_MAKE_SUMS     ? sums_make(db, err)
              : step->then == THEN_RENEW_SUMS  ? sums_renew(db, err)
              : step->then == THEN_FREE_VALUES ? schema_free_values(db, err)
                                               : true;
    if (!ok) {
        return false;
    }
    db_prepare(&st, db, "INSERT INTO schema_step (version, applied_at_s) VALUES (?, unixepoch())");
    db_put_int(&st, step->version);
    return db_run(&st, err) && schema_set_version(db, step->version, err);
}

bool schema_apply_steps(struct db *db,
                        const struct schema_step *steps,
                        size_t count,
                        struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!db_begin(db, err) || !db_end(db, run_step(db, &steps[i], err), err)) {
            return err_context(err, "bringing the database to schema %lld",
                               (long long)steps[i].version);
        }
    }
    return true;
}

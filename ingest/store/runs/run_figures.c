#include "ingest/store/runs/run_figures.h"

#include "ingest/model/results/environment.h"
#include "ingest/model/results/results.h"
#include "ingest/store/store.h"

/* ---- which trace's figures ---- */

/* A trace with steps before those without; newest span first; then the first worker. */
#define BEST_FIRST " ORDER BY steps_ns > 0 DESC, span_digits DESC, worker, id LIMIT 1"
#define RANKED                                                                  \
    "SELECT t.id AS id, t.steps_ns AS steps_ns, t.span_digits AS span_digits, " \
    "t.worker AS worker FROM trace AS t"

/* A run whose trace is not chosen chooses among all. */
static bool challenge(struct db *db, int64_t upload_id, struct err *err)
{
    return db_run_id(db,
                     "UPDATE run SET trace_id = (SELECT id FROM (" RANKED " WHERE t.id ="
                     " run.trace_id UNION ALL " RANKED " WHERE t.upload_id = ?1"
                     " AND t.derived_of IS NULL) AS c" BEST_FIRST
                     ") WHERE trace_id <> 0 AND id = (SELECT run_id FROM upload WHERE id = ?1)",
                     upload_id, err);
}

static bool resign(struct db *db, int64_t upload_id, int64_t trace_id, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "UPDATE run SET trace_id = 0 WHERE id = (SELECT run_id FROM upload WHERE id = ?1)"
               " AND trace_id IN (SELECT id FROM trace WHERE upload_id = ?1"
               " AND (?2 = 0 OR id = ?2))");
    db_put_int(&st, upload_id);
    db_put_int(&st, trace_id);
    return db_run(&st, err);
}

static bool choose(struct db *db, int64_t run_id, struct err *err)
{
    return db_run_id(db,
                     "UPDATE run SET trace_id = coalesce((SELECT id FROM (" RANKED
                     " JOIN upload AS u ON u.id = t.upload_id AND u.published = 1"
                     " WHERE u.run_id = run.id AND t.derived_of IS NULL) AS c" BEST_FIRST
                     "), 0) WHERE id = ? AND trace_id = 0",
                     run_id, err);
}

/* ---- counts ---- */

bool run_figures_count(
    struct db *db, int64_t upload_id, int64_t trace_id, enum run_change change, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "INSERT INTO run_part (run_id, kind, value, traces)"
               " SELECT u.run_id, k.column1, CASE k.column1 WHEN 0 THEN t.worker"
               " WHEN 1 THEN t.device_type ELSE CAST((t.views & (~?4)) |"
               " CASE WHEN t.collective_count > 0 THEN ?4 ELSE 0 END AS TEXT) END,"
               " ?3 * count(*) FROM upload AS u JOIN trace AS t ON t.upload_id = u.id"
               " CROSS JOIN (VALUES (0), (1), (2)) AS k"
               " WHERE u.id = ?1 AND (?2 = 0 OR t.id = ?2) AND t.derived_of IS NULL"
               " GROUP BY 1, 2, 3"
               " ON CONFLICT (run_id, kind, value) DO UPDATE SET traces = run_part.traces +"
               " excluded.traces");
    db_put_int(&st, upload_id);
    db_put_int(&st, trace_id);
    db_put_int(&st, (int64_t)change);
    db_put_int(&st, (int64_t)1 << VIEW_DISTRIBUTED);
    return db_run(&st, err) && (change == RUN_TRACES_COME ? challenge(db, upload_id, err)
                                                          : resign(db, upload_id, trace_id, err));
}

/* SQLite has no aggregate OR; the bits of enum view are taken one by one. */
_Static_assert(VIEW_COUNT == 18, "VIEWS lists every bit of enum view");
#define BIT(bit) "max(CAST(value AS BIGINT) & " #bit ")"
#define BITS(a, b, c, d) BIT(a) "|" BIT(b) "|" BIT(c) "|" BIT(d)
#define VIEWS                                                          \
    BITS(1, 2, 4, 8)                                                   \
    "|" BITS(16, 32, 64, 128) "|" BITS(256, 512, 1024, 2048) "|" BITS( \
        4096, 8192, 16384, 32768) "|" BIT(65536) "|" BIT(131072)

static bool sum_parts(struct db *db, int64_t run_id, struct err *err)
{
    return db_run_id(db, "DELETE FROM run_part WHERE run_id = ? AND traces = 0", run_id, err) &&
           db_run_id(
               db,
               "UPDATE run SET (newest_upload_id, uploaded_at_s, size_bytes) = (SELECT"
               " coalesce(max(id), 0), coalesce(max(uploaded_at_s), 0),"
               " coalesce(sum(size_bytes), 0) FROM upload WHERE run_id = run.id AND published = 1),"
               " (trace_count, worker_count) = (SELECT coalesce(sum(traces), 0), count(*)"
               " FROM run_part WHERE run_id = run.id AND kind = 0),"
               " device_types = (SELECT group_concat(value) FROM (SELECT value FROM run_part"
               " WHERE run_id = run.id AND kind = 1 ORDER BY traces DESC, value) AS d),"
               " views = (SELECT coalesce(" VIEWS ", 0) FROM run_part"
               " WHERE run_id = run.id AND kind = 2) WHERE id = ?",
               run_id, err);
}

/* The device by its properties, or by what all entries of
 * these agree on (results/environment.h). */
static bool copy_figures(struct db *db, int64_t run_id, struct err *err)
{
    struct db_stmt st;
    db_prepare(
        &st, db,
        "UPDATE run SET (steps_ns, step_count) = (SELECT t.steps_ns, CASE WHEN"
        " t.steps_ns > 0 THEN t.step_count ELSE 0 END FROM trace AS t WHERE t.id = run.trace_id),"
        " step_times_ns = (SELECT CASE WHEN t.steps_ns > 0 THEN t.step_times_ns ELSE '[]' END"
        " FROM trace AS t WHERE t.id = run.trace_id),"
        " device = coalesce((SELECT group_concat(name) FROM (SELECT d.name FROM device AS d"
        " WHERE d.trace_id = run.trace_id GROUP BY d.name ORDER BY min(d.position)) AS n), (SELECT "
        "e.value FROM environment AS e"
        " WHERE e.trace_id = run.trace_id AND e.name = '" ENVIRONMENT_KEY_DEVICE "'"
        " AND EXISTS (SELECT 1 FROM device AS d WHERE d.trace_id = run.trace_id))),"
        " utilisation = (SELECT avg(d.utilisation) FROM device AS d"
        " WHERE d.trace_id = run.trace_id)"
        " WHERE id = ?1 AND trace_id <> 0");
    db_put_int(&st, run_id);
    return db_run(&st, err);
}

bool run_figures_renew(struct db *db, int64_t run_id, struct err *err)
{
    return sum_parts(db, run_id, err) && choose(db, run_id, err) && copy_figures(db, run_id, err);
}

bool run_figures_forget(struct db *db, int64_t run_id, struct err *err)
{
    return db_run_id(db, "DELETE FROM run_part WHERE run_id = ?", run_id, err) &&
           db_run_id(db, "UPDATE run SET trace_id = 0 WHERE id = ?", run_id, err) &&
           run_figures_renew(db, run_id, err);
}

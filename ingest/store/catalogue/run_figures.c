/* What the list of runs says of each: the figures of one of its traces, of the newest span's first
 * worker that has steps. */
#include "ingest/model/results/environment.h"
#include "ingest/store/internal.h"

#include <math.h>

/* Newest span first; a trace with steps before those without. */
#define CHOSEN_TRACE                                                                         \
    "SELECT t.id, t.steps_ns, t.step_count FROM upload AS u JOIN trace AS t"                 \
    " ON t.upload_id = u.id AND t.derived_of IS NULL WHERE u.run_id = ? AND u.published = 1" \
    " ORDER BY t.steps_ns > 0 DESC, t.span_digits DESC, t.worker, t.id LIMIT 1"

static bool
read_trace(struct db *db, int64_t run_id, struct store_run_figures *out, struct err *err)
{
    struct db_stmt st;
    *out = (struct store_run_figures){.step_ns = (double)NAN, .utilisation = (double)NAN};
    db_prepare(&st, db, CHOSEN_TRACE);
    db_put_int(&st, run_id);
    if (db_next(&st)) {
        out->trace_id = db_get_int(&st);
        int64_t steps_ns = db_get_int(&st);
        int64_t count = db_get_int(&st);
        if (steps_ns > 0 && count > 0) {
            out->step_count = count;
            out->step_ns = (double)steps_ns / (double)count;
        }
    }
    return db_done(&st, err);
}

/* The first ones, for a curve. */
static bool
read_steps(struct db *db, struct arena *arena, struct store_run_figures *out, struct err *err)
{
    struct db_stmt st;
    if (out->step_count == 0) {
        return true;
    }
    out->step_times_ns = arena_calloc(arena, STORE_RUN_STEPS_MAX, sizeof *out->step_times_ns);
    if (out->step_times_ns == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the steps of a run");
    }
    db_prepare(&st, db,
               "SELECT end_ns - start_ns FROM step WHERE trace_id = ? ORDER BY position LIMIT ?");
    db_put_int(&st, out->trace_id);
    db_put_int(&st, STORE_RUN_STEPS_MAX);
    while (out->step_time_count < STORE_RUN_STEPS_MAX && db_next(&st)) {
        out->step_times_ns[out->step_time_count++] = db_get_int(&st);
    }
    return db_done(&st, err);
}

/* By their properties, or by what all entries of these agree on (results/environment.h). */
static bool
read_device(struct db *db, struct arena *arena, struct store_run_figures *out, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db,
               "SELECT coalesce((SELECT group_concat(DISTINCT d.name) FROM device AS d"
               " WHERE d.trace_id = ?1), (SELECT e.value FROM environment AS e"
               " WHERE e.trace_id = ?1 AND e.name = '" ENVIRONMENT_KEY_DEVICE "'"
               " AND EXISTS (SELECT 1 FROM device AS d WHERE d.trace_id = ?1))),"
               " (SELECT avg(d.utilisation) FROM device AS d"
               " WHERE d.trace_id = ?1 AND (d.has & ?2) != 0)");
    db_put_int(&st, out->trace_id);
    db_put_int(&st, (int64_t)DEVICE_SUM_HAS_UTILISATION);
    if (db_next(&st)) {
        out->device = db_get_text(&st, arena);
        out->utilisation = db_get_real(&st);
    }
    return db_done(&st, err);
}

bool store_run_figures(struct store *store,
                       struct arena *arena,
                       const struct store_run *runs,
                       size_t count,
                       struct store_run_figures **out,
                       struct err *err)
{
    struct db *db;
    *out = arena_calloc(arena, count, sizeof **out);
    if (*out == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the figures of runs");
    }
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        struct store_run_figures *figures = &(*out)[i];
        ok = read_trace(db, runs[i].id, figures, err) && read_steps(db, arena, figures, err) &&
             read_device(db, arena, figures, err);
    }
    store_read_end(store, db);
    return ok;
}

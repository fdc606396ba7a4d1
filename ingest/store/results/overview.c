#include "ingest/model/tables.h"
#include "ingest/store/db/rows_reader.h"
#include "ingest/store/internal.h"
#include "ingest/store/results/row_blocks.h"

static bool read_scalars(const struct rows_reader *in, struct trace_results *row, struct err *err)
{
    struct arena *arena = in->arena;
    struct db_stmt only;
    struct db_stmt *st = &only;
    db_prepare(st, in->db,
               "SELECT device_type" TRACE_FIELDS(FIELD_COLUMN) TRACE_COUNT_COLUMNS
               " FROM trace WHERE id = ?");
    db_put_int(st, in->owner_id);
    if (db_next(st)) {
        row->device_type = db_get_text(st, arena);
        TRACE_FIELDS(FIELD_READ)
        row->step_count = (size_t)db_get_int(st);
        for (int group = 0; group < OPERATOR_GROUP_COUNT; group++) {
            row->operator_count[group] = (size_t)db_get_int(st);
        }
        row->kernel_count = (size_t)db_get_int(st);
        row->kernel_launch_count = (size_t)db_get_int(st);
        row->kernel_utilisation_count = (size_t)db_get_int(st);
        row->kernel_utilisation_launch_count = (size_t)db_get_int(st);
        row->cycle_count = (size_t)db_get_int(st);
        row->cycle_use_count = (size_t)db_get_int(st);
    }
    return db_done(st, err);
}

ROWS_DEFINE_READER(read_devices, "device", DEVICE_FIELDS, devices, device_count, device_row)
ROWS_DEFINE_READER(read_gpus, "gpu", GPU_FIELDS, gpus, gpu_count, gpu_row)
ROWS_DEFINE_READER(read_recommendations,
                   "recommendation",
                   RECOMMENDATION_FIELDS,
                   recommendations,
                   recommendation_count,
                   recommendation_row)
ROWS_DEFINE_READER(read_environment,
                   "environment",
                   ENVIRONMENT_FIELDS,
                   environment,
                   environment_count,
                   environment_row)
ROWS_DEFINE_READER(read_missing, "missing", MISSING_FIELDS, missing, missing_count, missing_row)
ROWS_DEFINE_READER(read_uploaded_answers,
                   "uploaded_answer",
                   UPLOADED_ANSWER_FIELDS,
                   uploaded_answers,
                   uploaded_answer_count,
                   uploaded_answer_row)

ROWS_DEFINE_READER(read_kernel_utilisation_metrics,
                   "kernel_use_metric",
                   KERNEL_UTILISATION_METRIC_FIELDS,
                   kernel_utilisation_metrics,
                   kernel_utilisation_metric_count,
                   kernel_utilisation_metric_row)
static bool read_steps(const struct rows_reader *in, struct trace_results *out, struct err *err)
{
    void *rows = NULL;
    bool ok =
        row_blocks_read(in->db, in->arena, in->owner_id, &table_step, &rows, &out->step_count, err);
    out->steps = rows;
    return ok;
}

static bool read_transfers(const struct rows_reader *in, struct trace_results *out, struct err *err)
{
    void *rows = NULL;
    bool ok = row_blocks_read(in->db, in->arena, in->owner_id, &table_transfer, &rows,
                              &out->transfer_count, err);
    out->transfers = rows;
    return ok;
}

static bool read_kernel_utilisation_totals(const struct rows_reader *in,
                                           struct trace_results *results,
                                           struct err *err)
{
    struct kernel_utilisation_totals *row = &results->kernel_utilisation_totals;
    struct db_stmt only;
    struct db_stmt *st = &only;
    db_prepare(st, in->db,
               "SELECT trace_id" KERNEL_UTILISATION_TOTAL_FIELDS(FIELD_COLUMN)
                   KERNEL_UTILISATION_CLASS_COLUMNS " FROM kernel_use_total WHERE trace_id = ?");
    db_put_int(st, in->owner_id);
    if (rows_next(st)) {
        KERNEL_UTILISATION_TOTAL_FIELDS(FIELD_READ)
        for (int use = 0; use < USE_CLASS_COUNT; use++) {
            row->class_ns[use] = db_get_int(st);
        }
        for (int use = 0; use < USE_CLASS_COUNT; use++) {
            row->class_launches[use] = db_get_int(st);
        }
    }
    return db_done(st, err);
}

static bool
read_bad_rows(const struct rows_reader *in, struct trace_results *results, struct err *err)
{
    struct db_stmt st;
    if (!rows_count(in, "SELECT count(*) FROM bad_row WHERE trace_id = ?", &results->bad_row_count,
                    err)) {
        return false;
    }
    results->bad_rows = rows_begin(
        in, &st, "SELECT position, text FROM bad_row WHERE trace_id = ? ORDER BY position",
        results->bad_row_count, sizeof *results->bad_rows);
    for (size_t i = 0; i < results->bad_row_count && rows_next(&st); i++) {
        results->bad_rows[i] = db_get_text(&st, in->arena);
    }
    return db_done(&st, err);
}

static bool
read_kernel_table(const struct rows_reader *in, struct trace_results *results, struct err *err)
{
    return read_kernel_utilisation_totals(in, results, err) &&
           read_kernel_utilisation_metrics(in, results, err) && read_transfers(in, results, err) &&
           read_bad_rows(in, results, err);
}

static bool read_all(const struct rows_reader *in, struct trace_results *out, struct err *err)
{
    return store_check_figures(in->db, in->owner_id, err) && read_scalars(in, out, err) &&
           read_steps(in, out, err) && read_devices(in, out, err) && read_gpus(in, out, err) &&
           read_recommendations(in, out, err) && read_environment(in, out, err) &&
           read_missing(in, out, err) && read_uploaded_answers(in, out, err) &&
           (!out->has_kernel_use || read_kernel_table(in, out, err)) &&
           store_read_warnings(in->db, in->owner_id, &out->warnings, err);
}

bool store_overview(struct store *store,
                    struct arena *arena,
                    int64_t trace_id,
                    struct trace_results **out,
                    struct err *err)
{
    struct text_cache texts;
    struct rows_reader in = {.arena = arena, .texts = &texts, .owner_id = trace_id};
    *out = arena_calloc(arena, 1, sizeof **out);
    if (*out == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the overview of a trace");
    }
    if (!store_read_begin(store, &in.db, err)) {
        return false;
    }
    text_cache_init(&texts, in.db, arena, trace_id);
    bool ok = read_all(&in, *out, err);
    text_cache_free(&texts);
    store_read_end(store, in.db);
    return ok;
}

bool store_uploaded_answer(struct store *store,
                           struct arena *arena,
                           int64_t trace_id,
                           const char *route,
                           const char *group_by,
                           const char **json,
                           struct err *err)
{
    struct db *db;
    *json = NULL;
    if (!store_read_begin(store, &db, err)) {
        return false;
    }
    bool ok = store_check_figures(db, trace_id, err);
    if (ok) {
        struct db_stmt st;
        db_prepare(
            &st, db,
            "SELECT json FROM uploaded_answer WHERE trace_id = ? AND route = ? AND group_by = ?"
            " ORDER BY position LIMIT 1");
        db_put_int(&st, trace_id);
        db_put_text(&st, route);
        db_put_text(&st, group_by);
        if (db_next(&st)) {
            *json = db_get_text(&st, arena);
        }
        ok = db_done(&st, err);
    }
    store_read_end(store, db);
    return ok;
}

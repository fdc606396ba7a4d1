#include "ingest/store/fields.h"
#include "ingest/store/internal.h"

/* What a function that reads one table needs. */
struct overview {
    struct db *db;
    struct arena *arena;
    int64_t trace_id;
    struct trace_results *results;
};

#define SELECT_POSITIONED(table, fields, more_columns)                 \
    "SELECT position" fields(FIELD_COLUMN) more_columns " FROM " table \
                                                        " WHERE trace_id = ? ORDER BY position"

static bool read_scalars(const struct overview *in, struct err *err)
{
    struct arena *arena = in->arena;
    struct trace_results *row = in->results;
    struct db_stmt only;
    struct db_stmt *st = &only;
    db_prepare(st, in->db,
               "SELECT device_type" TRACE_FIELDS(FIELD_COLUMN) TRACE_COUNT_COLUMNS
               " FROM trace WHERE id = ?");
    db_put_int(st, in->trace_id);
    if (db_next(st)) {
        row->device_type = db_get_text(st, arena);
        TRACE_FIELDS(FIELD_READ)
        row->step_count = (size_t)db_get_int(st);
        for (int group = 0; group < OPERATOR_GROUP_COUNT; group++) {
            row->operator_count[group] = (size_t)db_get_int(st);
        }
        row->kernel_count = (size_t)db_get_int(st);
        row->kernel_launch_count = (size_t)db_get_int(st);
    }
    return db_done(st, err);
}

static bool count_rows(const struct overview *in, const char *sql, size_t *count, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, in->db, sql);
    db_put_int(&st, in->trace_id);
    *count = db_next(&st) ? (size_t)db_get_int(&st) : 0;
    return db_done(&st, err);
}

/* Prepares the SELECT of a table and takes memory for its rows: NULL when there are none, and when
 * there is no memory, which the statement then tells. */
static void *begin_rows(
    const struct overview *in, struct db_stmt *st, const char *sql, size_t count, size_t row_bytes)
{
    db_prepare(st, in->db, sql);
    db_put_int(st, in->trace_id);
    if (count == 0) {
        return NULL;
    }
    void *rows = arena_calloc(in->arena, count, row_bytes);
    if (rows == NULL) {
        db_fail_memory(st);
    }
    return rows;
}

/* Goes to the next row and past its position. */
static bool next_row(struct db_stmt *st)
{
    if (!db_next(st)) {
        return false;
    }
    (void)db_get_int(st);
    return true;
}

static bool read_steps(const struct overview *in, struct err *err)
{
    struct arena *arena = in->arena;
    struct trace_results *results = in->results;
    struct db_stmt only;
    struct db_stmt *st = &only;
    results->steps = begin_rows(in, st, SELECT_POSITIONED("step", STEP_FIELDS, STEP_COST_COLUMNS),
                                results->step_count, sizeof *results->steps);
    for (size_t i = 0; i < results->step_count && next_row(st); i++) {
        struct step_row *row = &results->steps[i];
        STEP_FIELDS(FIELD_READ)
        for (int role = 0; role < ROLE_COUNT; role++) {
            row->cost_ns[role] = db_get_int(st);
        }
    }
    return db_done(st, err);
}

/* A table of which every column is a field. */
#define DEFINE_READER(function, table, fields, rows, row_count, row_struct)        \
    static bool function(const struct overview *in, struct err *err)               \
    {                                                                              \
        struct arena *arena = in->arena;                                           \
        struct trace_results *results = in->results;                               \
        struct db_stmt only;                                                       \
        struct db_stmt *st = &only;                                                \
        if (!count_rows(in, "SELECT count(*) FROM " table " WHERE trace_id = ?",   \
                        &results->row_count, err)) {                               \
            return false;                                                          \
        }                                                                          \
        results->rows = begin_rows(in, st, SELECT_POSITIONED(table, fields, ""),   \
                                   results->row_count, sizeof(struct row_struct)); \
        for (size_t i = 0; i < results->row_count && next_row(st); i++) {          \
            struct row_struct *row = &results->rows[i];                            \
            fields(FIELD_READ)                                                     \
        }                                                                          \
        return db_done(st, err);                                                   \
    }

DEFINE_READER(read_devices, "device", DEVICE_FIELDS, devices, device_count, device_row)
DEFINE_READER(read_recommendations,
              "recommendation",
              RECOMMENDATION_FIELDS,
              recommendations,
              recommendation_count,
              recommendation_row)
DEFINE_READER(read_environment,
              "environment",
              ENVIRONMENT_FIELDS,
              environment,
              environment_count,
              environment_row)
DEFINE_READER(read_missing, "missing", MISSING_FIELDS, missing, missing_count, missing_row)
DEFINE_READER(read_plugin_answers,
              "plugin_answer",
              PLUGIN_ANSWER_FIELDS,
              plugin_answers,
              plugin_answer_count,
              plugin_answer_row)

static bool read_all(const struct overview *in, struct err *err)
{
    return read_scalars(in, err) && read_steps(in, err) && read_devices(in, err) &&
           read_recommendations(in, err) && read_environment(in, err) && read_missing(in, err) &&
           read_plugin_answers(in, err) &&
           store_read_warnings(in->db, in->trace_id, &in->results->warnings, err);
}

bool store_overview(struct store *store,
                    struct arena *arena,
                    int64_t trace_id,
                    struct trace_results **out,
                    struct err *err)
{
    struct overview in = {.arena = arena, .trace_id = trace_id};
    in.results = arena_calloc(arena, 1, sizeof *in.results);
    if (in.results == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the overview of a trace");
    }
    if (!store_read_begin(store, &in.db, err)) {
        return false;
    }
    bool ok = store_check_figures(in.db, trace_id, err) && read_all(&in, err);
    store_read_end(store, in.db);
    *out = in.results;
    return ok;
}

bool store_plugin_answer(struct store *store,
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
            "SELECT json FROM plugin_answer WHERE trace_id = ? AND route = ? AND group_by = ?"
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

#include "ingest/model/results/kernel_table.h"
#include "ingest/model/tables.h"
#include "ingest/store/db/rows_reader.h"
#include "ingest/store/results/ingest_rows.h"
#include "ingest/store/results/packed/row_blocks.h"
#include "ingest/store/results_files.h"

bool results_read_parts(const struct rows_reader *in,
                        enum results_part first,
                        enum results_part last,
                        struct trace_results *out,
                        struct err *err)
{
    bool ok = true;
    for (int i = (int)first; ok && i <= (int)last; i++) {
        const struct row_table *table = results_parts[i].table;
        void *rows;
        size_t count;
        ok = table->select_sql != NULL
                 ? rows_read_table(in, table, &rows, &count, err)
                 : row_blocks_read(in->db, in->arena, table, &rows, &count, err);
        rows_part_set(&results_parts[i], out, rows, count);
    }
    return ok;
}

static bool read_trace(const struct rows_reader *in,
                       struct db *catalogue,
                       int64_t trace_id,
                       struct trace_results *out,
                       struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, catalogue, table_trace.select_sql);
    db_put_int(&st, trace_id);
    if (db_next(&st)) {
        out->device_type = db_get_text(&st, in->arena);
        rows_read_columns(&st, in->texts, &table_trace, out);
    }
    return db_done(&st, err);
}

static bool read_totals(const struct rows_reader *in, struct trace_results *out, struct err *err)
{
    void *rows;
    size_t count;
    bool ok = rows_read_table(in, &table_kernel_utilisation_total, &rows, &count, err);
    if (ok && count > 0) {
        out->kernel_utilisation_totals = *(const struct kernel_utilisation_totals *)rows;
    }
    return ok;
}

static bool read_bad_rows(const struct rows_reader *in, struct trace_results *out, struct err *err)
{
    struct db_stmt st;
    out->bad_rows = arena_calloc(in->arena, KERNEL_TABLE_BAD_ROWS_MAX, sizeof *out->bad_rows);
    db_prepare(&st, in->db, "SELECT text FROM bad_row WHERE trace_id = ? ORDER BY position");
    db_put_int(&st, in->owner_id);
    if (out->bad_rows == NULL) {
        db_fail_memory(&st);
        return db_done(&st, err);
    }
    while (out->bad_row_count < KERNEL_TABLE_BAD_ROWS_MAX && db_next(&st)) {
        out->bad_rows[out->bad_row_count++] = db_get_text(&st, in->arena);
    }
    return db_done(&st, err);
}

static bool
read_kernel_table(const struct rows_reader *in, struct trace_results *out, struct err *err)
{
    return results_read_parts(in, PART_TRANSFER, PART_UTILISATION_METRIC, out, err) &&
           read_totals(in, out, err) && read_bad_rows(in, out, err);
}

static bool read_all(const struct rows_reader *in,
                     struct db *catalogue,
                     int64_t trace_id,
                     struct trace_results *out,
                     struct err *err)
{
    return read_trace(in, catalogue, trace_id, out, err) &&
           results_read_parts(in, PART_STEP, PART_UPLOADED_ANSWER, out, err) &&
           (!out->has_kernel_use || read_kernel_table(in, out, err)) &&
           store_read_warnings(catalogue, trace_id, &out->warnings, err);
}

bool store_overview(struct store_snapshot *snapshot,
                    struct arena *arena,
                    int64_t trace_id,
                    struct trace_results **out,
                    struct err *err)
{
    struct text_cache texts;
    struct db *catalogue;
    struct rows_reader in = {.arena = arena, .texts = &texts, .owner_id = RESULTS_LOG_ID};
    *out = arena_calloc(arena, 1, sizeof **out);
    if (*out == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the overview of a trace");
    }
    if (!store_snapshot_read(snapshot, &catalogue, err) ||
        !store_check_figures(catalogue, trace_id, err) ||
        !store_snapshot_tables(snapshot, trace_id, &in.db, err)) {
        return false;
    }
    text_cache_init(&texts, in.db, arena, RESULTS_LOG_ID);
    bool ok = read_all(&in, catalogue, trace_id, *out, err);
    text_cache_free(&texts);
    return ok;
}

bool store_uploaded_answer(struct store_snapshot *snapshot,
                           struct arena *arena,
                           int64_t trace_id,
                           const char *route,
                           const char *group_by,
                           const char **json,
                           struct err *err)
{
    struct db *db;
    struct db_stmt st;
    *json = NULL;
    if (!store_snapshot_read(snapshot, &db, err) || !store_check_figures(db, trace_id, err) ||
        !store_snapshot_tables(snapshot, trace_id, &db, err)) {
        return false;
    }
    db_prepare(&st, db,
               "SELECT json FROM uploaded_answer WHERE trace_id = ? AND route = ? AND group_by = ?"
               " ORDER BY position LIMIT 1");
    db_put_int(&st, RESULTS_LOG_ID);
    db_put_text(&st, route);
    db_put_text(&st, group_by);
    if (db_next(&st)) {
        *json = db_get_text(&st, arena);
    }
    return db_done(&st, err);
}

#include "ingest/store/results/ingest_rows.h"

#include "ingest/base/saturating.h"
#include "ingest/model/tables.h"
#include "ingest/store/db/row_writer.h"
#include "ingest/store/results/comparison_rows.h"
#include "ingest/store/results/packed/blocks.h"
#include "ingest/store/results/packed/row_blocks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARNINGS_MAX_BYTES ((size_t)16 << 10)

const struct rows_part results_parts[RESULTS_PART_COUNT] = {
    [PART_STEP] = ROWS_PART(table_step, trace_results, steps, step_count),
    [PART_DEVICE] = ROWS_PART(table_device, trace_results, devices, device_count),
    [PART_GPU] = ROWS_PART(table_gpu, trace_results, gpus, gpu_count),
    [PART_RECOMMENDATION] =
        ROWS_PART(table_recommendation, trace_results, recommendations, recommendation_count),
    [PART_ENVIRONMENT] =
        ROWS_PART(table_environment, trace_results, environment, environment_count),
    [PART_MISSING] = ROWS_PART(table_missing, trace_results, missing, missing_count),
    [PART_UPLOADED_ANSWER] =
        ROWS_PART(table_uploaded_answer, trace_results, uploaded_answers, uploaded_answer_count),
    [PART_TRANSFER] = ROWS_PART(table_transfer, trace_results, transfers, transfer_count),
    [PART_UTILISATION_METRIC] = ROWS_PART(table_kernel_utilisation_metric,
                                          trace_results,
                                          kernel_utilisation_metrics,
                                          kernel_utilisation_metric_count),
    [PART_CYCLE] = ROWS_PART(table_cycle, trace_results, cycles, cycle_count),
    [PART_COUNTER] = ROWS_PART(table_counter, trace_results, counters, counter_count),
    [PART_MODULE] = ROWS_PART(table_module, trace_results, modules, module_count),
    [PART_KERNEL] = ROWS_PART(table_kernel, trace_results, kernels, kernel_count),
    [PART_KERNEL_LAUNCH] =
        ROWS_PART(table_kernel_launch, trace_results, kernel_launches, kernel_launch_count),
    [PART_UTILISATION] = ROWS_PART(
        table_kernel_utilisation, trace_results, kernel_utilisation, kernel_utilisation_count),
    [PART_UTILISATION_LAUNCH] = ROWS_PART(table_kernel_utilisation_launch,
                                          trace_results,
                                          kernel_utilisation_launches,
                                          kernel_utilisation_launch_count),
    [PART_UTILISATION_VALUE] = ROWS_PART(table_kernel_utilisation_value,
                                         trace_results,
                                         kernel_utilisation_values,
                                         kernel_utilisation_value_count),
};

static void write_kernel_utilisation_total(struct row_writer *writer,
                                           const struct trace_results *results)
{
    if (results->has_kernel_use) {
        row_begin(writer, table_kernel_utilisation_total.insert_sql);
        row_put_columns(writer, &table_kernel_utilisation_total,
                        &results->kernel_utilisation_totals);
        row_end(writer);
    }
}

static void write_bad_rows(struct row_writer *writer, const struct trace_results *results)
{
    for (size_t i = 0; i < results->bad_row_count; i++) {
        row_begin(writer, "INSERT INTO bad_row (trace_id, position, text) VALUES (?, ?, ?)");
        row_put_int(writer, (int64_t)i);
        row_put_text(writer, results->bad_rows[i]);
        row_end(writer);
    }
}

static void write_parts(struct row_writer *writer, const struct trace_results *results)
{
    struct row_packer packer;
    if (!row_packer_init(&packer) && writer->ok) {
        writer->ok = err_set(writer->err, ERR_NO_MEMORY, "no memory to store rows");
    }
    for (size_t i = 0; i < RESULTS_PART_COUNT; i++) {
        const struct rows_part *part = &results_parts[i];
        const void *rows;
        size_t count = rows_part_get(part, results, &rows);
        if (part->table->insert_sql != NULL) {
            row_write_table(writer, part->table, rows, count);
        } else {
            row_packer_write(&packer, writer, part->table, 0, rows, count);
        }
    }
    for (int group = 0; group < OPERATOR_GROUP_COUNT; group++) {
        row_packer_write(&packer, writer, &table_operator, group, results->operators[group],
                         results->operator_count[group]);
    }
    row_packer_free(&packer);
}

/* One statement stores so many: on a server each costs a turn there and back. */
#define SERIES_AT_ONCE 128
#define FOUR_VALUES "(?, ?), (?, ?), (?, ?), (?, ?)"
#define SIXTEEN_VALUES FOUR_VALUES ", " FOUR_VALUES ", " FOUR_VALUES ", " FOUR_VALUES
#define SIXTY_FOUR_VALUES SIXTEEN_VALUES ", " SIXTEEN_VALUES ", " SIXTEEN_VALUES ", " SIXTEEN_VALUES
#define FROM_SERIES                                                                             \
    " FROM (SELECT ?1 AS id) AS t CROSS JOIN (VALUES " SIXTY_FOUR_VALUES ", " SIXTY_FOUR_VALUES \
    ") AS v WHERE v.column1 IS NOT NULL"

/* Rows from `begin` on; NULL where there is none. */
static void write_some_series(struct row_writer *writer,
                              const char *sql,
                              const struct trace_results *results,
                              size_t begin)
{
    row_begin(writer, sql);
    for (size_t i = begin; i < begin + SERIES_AT_ONCE; i++) {
        bool is_there = i < results->series_count;
        row_put_text(writer, is_there ? results->series[i].metric : NULL);
        row_put_real(writer, is_there ? results->series[i].value : (double)NAN);
    }
    row_end(writer);
}

static void write_series(struct row_writer *writer, const struct trace_results *results)
{
    for (size_t i = 0; i < results->series_count; i += SERIES_AT_ONCE) {
        write_some_series(writer,
                          "INSERT INTO series_metric (name) SELECT v.column1" FROM_SERIES
                          " AND NOT EXISTS (SELECT 1 FROM series_metric WHERE name = v.column1)"
                          " ON CONFLICT DO NOTHING",
                          results, i);
        write_some_series(
            writer,
            "INSERT INTO series_value (trace_id, metric_id, value) SELECT t.id,"
            " (SELECT id FROM series_metric WHERE name = v.column1), v.column2" FROM_SERIES
            " ON CONFLICT DO NOTHING",
            results, i);
    }
}

bool ingest_rows_write(struct results_file *file,
                       const struct trace_results *results,
                       struct err *err)
{
    struct row_writer writer;
    row_writer_init_file(&writer, file, 0, err);
    if (!row_writer_share_texts(&writer, ROW_TEXTS_OF_TRACE, RESULTS_LOG_ID)) {
        return false;
    }
    write_parts(&writer, results);
    write_kernel_utilisation_total(&writer, results);
    write_bad_rows(&writer, results);
    blocks_write(&writer, results);
    return row_writer_finish(&writer);
}

/* A trace has 5 to 30 of them. */
#define FACTS_4 "(?, ?, ?), (?, ?, ?), (?, ?, ?), (?, ?, ?)"
#define FACTS_16 FACTS_4 ", " FACTS_4 ", " FACTS_4 ", " FACTS_4
#define FACTS_AT_ONCE 16

static void write_environment(struct row_writer *writer, const struct trace_results *results)
{
    for (size_t begin = 0; begin < results->environment_count; begin += FACTS_AT_ONCE) {
        row_begin(writer, "INSERT INTO environment (trace_id, position, name, value) SELECT t.id,"
                          " v.column1, v.column2, v.column3 FROM (SELECT ?1 AS id) AS t CROSS"
                          " JOIN (VALUES " FACTS_16 ") AS v WHERE v.column1 IS NOT NULL");
        for (size_t i = begin; i < begin + FACTS_AT_ONCE; i++) {
            const struct environment_row *row =
                i < results->environment_count ? &results->environment[i] : NULL;
            row_put_optional(writer, row != NULL ? (int64_t)i : INT64_MIN);
            row_put_text(writer, row != NULL ? row->name : NULL);
            row_put_text(writer, row != NULL ? row->value : NULL);
        }
        row_end(writer);
    }
}

static void write_listed(struct row_writer *writer, const struct trace_results *results)
{
    row_write_table(writer, &table_device, results->devices, results->device_count);
    write_environment(writer, results);
}

static bool insert_listed(struct store *store,
                          int64_t trace_id,
                          const struct trace_results *results,
                          struct err *err)
{
    struct row_writer writer;
    row_writer_init_inside(&writer, store, trace_id, err);
    write_listed(&writer, results);
    write_series(&writer, results);
    return row_writer_finish(&writer);
}

/* NULL for an empty text. */
static void put_buf(struct db_stmt *st, const struct buf *text)
{
    if (text->failed) {
        db_fail_memory(st);
    }
    db_put_text(st, text->len == 0 ? NULL : text->ptr);
}

bool ingest_rows_warnings(struct store *store,
                          int64_t trace_id,
                          const struct trace_results *results,
                          struct err *err)
{
    struct buf text;
    struct db_stmt st;
    buf_init(&text, WARNINGS_MAX_BYTES);
    store_put_warnings(&text, &results->warnings);
    bool ok = text.len == 0 && !text.failed;
    if (!ok && store_write_begin(store, STORE_BATCH, err)) {
        db_prepare(&st, store->writer, "UPDATE trace SET warnings = ? WHERE id = ?");
        put_buf(&st, &text);
        db_put_int(&st, trace_id);
        ok = store_write_end(store, db_run(&st, err), err);
    }
    buf_free(&text);
    return ok;
}

bool ingest_rows_comparison(struct store *store,
                            int64_t trace_id,
                            const struct trace_results *results,
                            struct err *err)
{
    struct row_writer writer;
    if (results->comparison == NULL) {
        return true;
    }
    if (!row_writer_init(&writer, store, trace_id, err)) {
        return false;
    }
    comparison_rows_of_trace(&writer, trace_id, results->comparison);
    return row_writer_finish(&writer);
}

/* distributedInfo.rank, or else `given`. */
static int64_t rank_of(const struct trace_results *results, int64_t given)
{
    for (size_t i = 0; i < results->environment_count; i++) {
        const struct environment_row *row = &results->environment[i];
        if (row->name != NULL && row->value != NULL && row->value[0] >= '0' &&
            row->value[0] <= '9' && strcmp(row->name, "distributedInfo.rank") == 0) {
            return strtoll(row->value, NULL, 10);
        }
    }
    return given;
}

/* The id, note and tags that the trace had in an older database (catalogue/takeover.h), if it was
 * there; and the rank that was told with the upload. */
struct given {
    int64_t rank;
    int64_t former_id; /* 0: it was not there */
    const char *note, *tags;
};

static bool read_given(struct given *out,
                       struct arena *arena,
                       struct db *db,
                       const struct trace_place *place,
                       struct err *err)
{
    struct db_stmt st;
    *out = (struct given){.rank = STORE_NO_RANK};
    db_prepare(&st, db,
               "SELECT coalesce(j.rank, -1), k.trace_id, k.note, k.tags FROM upload AS u"
               " JOIN job AS j ON j.id = u.job_id LEFT JOIN taken_over AS k ON k.job_id = j.id"
               " AND ?2 = 0 AND k.worker = ?3 AND k.span_digits = ?4"
               " AND NOT EXISTS (SELECT 1 FROM trace WHERE id = k.trace_id) WHERE u.id = ?1");
    db_put_int(&st, place->upload_id);
    db_put_int(&st, place->derived_of);
    db_put_text(&st, place->worker);
    db_put_text(&st, place->span_digits);
    if (db_next(&st)) {
        out->rank = db_get_int(&st);
        out->former_id = db_get_int(&st);
        out->note = db_get_text(&st, arena);
        out->tags = db_get_text(&st, arena);
    }
    return db_done(&st, err);
}

/* Nothing refers to the new row yet. */
static bool
become_former(struct db *db, const struct given *given, int64_t *trace_id, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, "UPDATE trace SET id = ?, note = ?, tags = ? WHERE id = ?");
    db_put_int(&st, given->former_id);
    db_put_text(&st, given->note);
    db_put_text(&st, given->tags);
    db_put_int(&st, *trace_id);
    *trace_id = given->former_id;
    return db_run(&st, err);
}

#define STEP_TIME_BYTES ((size_t)24)

/* A JSON array. */
static const char *first_step_times(char out[STEP_TIME_BYTES * (STORE_RUN_STEPS_MAX + 1)],
                                    const struct trace_results *results)
{
    size_t len = 0;
    out[len++] = '[';
    for (size_t i = 0; i < results->step_count && i < STORE_RUN_STEPS_MAX; i++) {
        const struct step_row *step = &results->steps[i];
        len += (size_t)snprintf(out + len, STEP_TIME_BYTES, "%s%lld", i == 0 ? "" : ",",
                                (long long)saturating_sub(step->end_ns, step->start_ns));
    }
    memcpy(out + len, "]", 2);
    return out;
}

bool ingest_rows_trace(struct store *store,
                       const struct trace_place *place,
                       const struct trace_results *results,
                       int64_t *trace_id,
                       struct err *err)
{
    struct db *db = store->writer;
    struct row_writer writer = {.ok = true, .err = err};
    struct given given;
    struct arena arena;
    struct buf warnings;
    char step_times[STEP_TIME_BYTES * (STORE_RUN_STEPS_MAX + 1)];
    buf_init(&warnings, WARNINGS_MAX_BYTES);
    store_put_warnings(&warnings, &results->warnings);
    arena_init(&arena, 0);
    bool ok = read_given(&given, &arena, db, place, err);
    if (ok) {
        db_prepare(&writer.row, db, table_trace.insert_sql);
        row_put_int(&writer, rank_of(results, given.rank));
        row_put_int(&writer, place->upload_id);
        row_put_int(&writer, place->derived_of);
        row_put_int(&writer, place->has_events);
        row_put_text(&writer, place->worker);
        row_put_text(&writer, place->span_digits);
        row_put_text(&writer, place->format);
        row_put_text(&writer, first_step_times(step_times, results));
        put_buf(&writer.row, &warnings);
        row_put_text(&writer, results->device_type);
        row_put_columns(&writer, &table_trace, results);
        ok = db_run_returning(&writer.row, trace_id, err) &&
             (given.former_id == 0 || become_former(db, &given, trace_id, err));
    }
    arena_free(&arena);
    buf_free(&warnings);
    return ok && insert_listed(store, *trace_id, results, err);
}

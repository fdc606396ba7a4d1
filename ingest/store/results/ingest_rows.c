#include "ingest/store/results/ingest_rows.h"

#include "ingest/base/saturating.h"
#include "ingest/model/tables.h"
#include "ingest/store/db/row_writer.h"
#include "ingest/store/results/blocks.h"
#include "ingest/store/results/comparison_rows.h"
#include "ingest/store/results/row_blocks.h"

#include <stdio.h>
#include <string.h>

static void write_warnings(struct row_writer *writer, const struct warnings *warnings)
{
    for (int code = 0; code < WARNING_CODE_COUNT; code++) {
        const struct warning_count *entry = &warnings->by_code[code];
        if (entry->count == 0) {
            continue;
        }
        row_begin(writer, "INSERT INTO warning (trace_id, code, count, first_offset)"
                          " VALUES (?, ?, ?, nullif(?, -1))");
        row_put_text(writer, warning_code_text((enum warning_code)code));
        row_put_int(writer, (int64_t)entry->count);
        _Static_assert(WARNING_NO_OFFSET == UINT64_MAX, "-1 stands for no offset");
        row_put_int(writer, (int64_t)entry->first_offset);
        row_end(writer);
    }
}

/* A table of which every column is a field. */
#define DEFINE_WRITER(function, table, fields, rows, row_count, row_struct)              \
    static void function(struct row_writer *writer, const struct trace_results *results) \
    {                                                                                    \
        for (size_t i = 0; i < results->row_count; i++) {                                \
            const struct row_struct *row = &results->rows[i];                            \
            row_begin(writer, ROW_INSERT(table, fields, "", ""));                        \
            row_put_int(writer, (int64_t)i);                                             \
            fields(ROW_WRITE) row_end(writer);                                           \
        }                                                                                \
    }

DEFINE_WRITER(write_devices, "device", DEVICE_FIELDS, devices, device_count, device_row)
DEFINE_WRITER(write_recommendations,
              "recommendation",
              RECOMMENDATION_FIELDS,
              recommendations,
              recommendation_count,
              recommendation_row)
DEFINE_WRITER(write_environment,
              "environment",
              ENVIRONMENT_FIELDS,
              environment,
              environment_count,
              environment_row)
DEFINE_WRITER(write_gpus, "gpu", GPU_FIELDS, gpus, gpu_count, gpu_row)
DEFINE_WRITER(write_missing, "missing", MISSING_FIELDS, missing, missing_count, missing_row)
DEFINE_WRITER(write_uploaded_answers,
              "uploaded_answer",
              UPLOADED_ANSWER_FIELDS,
              uploaded_answers,
              uploaded_answer_count,
              uploaded_answer_row)

DEFINE_WRITER(write_kernel_utilisation_metrics,
              "kernel_use_metric",
              KERNEL_UTILISATION_METRIC_FIELDS,
              kernel_utilisation_metrics,
              kernel_utilisation_metric_count,
              kernel_utilisation_metric_row)
DEFINE_WRITER(write_kernel_utilisation_values,
              "kernel_use_value",
              KERNEL_UTILISATION_VALUE_FIELDS,
              kernel_utilisation_values,
              kernel_utilisation_value_count,
              kernel_utilisation_value_row)
DEFINE_WRITER(write_cycles, "cycle", CYCLE_FIELDS, cycles, cycle_count, cycle_row)
DEFINE_WRITER(write_counters, "counter", COUNTER_FIELDS, counters, counter_count, counter_row)

static void write_kernel_utilisation_totals(struct row_writer *writer,
                                            const struct trace_results *results)
{
    if (!results->has_kernel_use) {
        return;
    }
    _Static_assert(USE_CLASS_COUNT == 5, "KERNEL_USE_CLASS_COLUMNS names every class");
    const struct kernel_utilisation_totals *row = &results->kernel_utilisation_totals;
    row_begin(writer,
              "INSERT INTO kernel_use_total (trace_id" KERNEL_UTILISATION_TOTAL_FIELDS(FIELD_COLUMN)
                  KERNEL_UTILISATION_CLASS_COLUMNS ") VALUES (?" KERNEL_UTILISATION_TOTAL_FIELDS(
                      FIELD_PARAM) ", ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    KERNEL_UTILISATION_TOTAL_FIELDS(ROW_WRITE)
    for (int use = 0; use < USE_CLASS_COUNT; use++) {
        row_put_int(writer, row->class_ns[use]);
    }
    for (int use = 0; use < USE_CLASS_COUNT; use++) {
        row_put_int(writer, row->class_launches[use]);
    }
    row_end(writer);
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

/* The declared tables. */
static void write_blocks(struct row_writer *writer, const struct trace_results *results)
{
    const struct {
        const struct row_table *table;
        const void *rows;
        size_t count;
    } tables[] = {
        {&table_step, results->steps, results->step_count},
        {&table_kernel, results->kernels, results->kernel_count},
        {&table_kernel_launch, results->kernel_launches, results->kernel_launch_count},
        {&table_module, results->modules, results->module_count},
        {&table_transfer, results->transfers, results->transfer_count},
        {&table_kernel_utilisation, results->kernel_utilisation, results->kernel_utilisation_count},
        {&table_kernel_utilisation_launch, results->kernel_utilisation_launches,
         results->kernel_utilisation_launch_count},
    };
    struct row_packer packer;
    if (!row_packer_init(&packer) && writer->ok) {
        writer->ok = err_set(writer->err, ERR_NO_MEMORY, "no memory to store rows");
    }
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        row_packer_write(&packer, writer, tables[i].table, 0, tables[i].rows, tables[i].count);
    }
    for (int group = 0; group < OPERATOR_GROUP_COUNT; group++) {
        row_packer_write(&packer, writer, &table_operator, group, results->operators[group],
                         results->operator_count[group]);
    }
    row_packer_free(&packer);
}

bool ingest_rows_write(struct store *store,
                       int64_t trace_id,
                       const struct trace_results *results,
                       struct err *err)
{
    struct row_writer only;
    struct row_writer *writer = &only;
    if (!row_writer_init(writer, store, trace_id, err)) {
        return false;
    }
    write_blocks(writer, results);
    write_devices(writer, results);
    write_recommendations(writer, results);
    write_environment(writer, results);
    write_missing(writer, results);
    write_uploaded_answers(writer, results);
    write_kernel_utilisation_totals(writer, results);
    write_bad_rows(writer, results);
    write_kernel_utilisation_metrics(writer, results);
    write_kernel_utilisation_values(writer, results);
    write_cycles(writer, results);
    write_counters(writer, results);
    write_gpus(writer, results);
    blocks_write(writer, results);
    if (results->comparison != NULL) {
        comparison_rows_of_trace(writer, trace_id, results->comparison);
    }
    return row_writer_finish(writer);
}

bool ingest_rows_warnings(struct store *store,
                          int64_t trace_id,
                          const struct trace_results *results,
                          struct err *err)
{
    struct row_writer writer;
    if (!row_writer_init(&writer, store, trace_id, err)) {
        return false;
    }
    write_warnings(&writer, &results->warnings);
    return row_writer_finish(&writer);
}

/* The id, note and tags that the trace had in an older database (catalogue/takeover.h), if it was
 * there. */
#define KEPT_FROM                                                                               \
    " FROM taken_over AS k JOIN upload AS u ON u.job_id = k.job_id WHERE u.id = ?1 AND ?2 = 0"  \
    " AND k.worker = ?4 AND k.span_digits = ?5 AND NOT EXISTS (SELECT 1 FROM trace WHERE id = " \
    "k.trace_id)"

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

bool ingest_rows_trace(struct db *db,
                       const struct trace_place *place,
                       const struct trace_results *results,
                       int64_t *trace_id,
                       struct err *err)
{
    const struct trace_results *row = results;
    struct row_writer only = {.ok = true, .err = err};
    struct row_writer *writer = &only;
    char step_times[STEP_TIME_BYTES * (STORE_RUN_STEPS_MAX + 1)];
    db_prepare(&only.row, db,
               "INSERT INTO trace (id, note, tags, upload_id, derived_of, log_id, worker, "
               "span_digits, format, step_times_ns, device_type" TRACE_FIELDS(FIELD_COLUMN)
                   TRACE_COUNT_COLUMNS
               ") VALUES ((SELECT k.trace_id" KEPT_FROM "), coalesce((SELECT k.note" KEPT_FROM
               "), ''), coalesce((SELECT k.tags" KEPT_FROM
               "), '[]'), ?1, nullif(?2, 0), nullif(?3, 0), ?4, ?5, ?, ?, ?" TRACE_FIELDS(
                   FIELD_PARAM) ", ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    row_put_int(writer, place->upload_id);
    row_put_int(writer, place->derived_of);
    row_put_int(writer, place->log_id);
    row_put_text(writer, place->worker);
    row_put_text(writer, place->span_digits);
    row_put_text(writer, place->format);
    row_put_text(writer, first_step_times(step_times, results));
    row_put_text(writer, results->device_type == NULL ? "" : results->device_type);
    TRACE_FIELDS(ROW_WRITE)
    row_put_int(writer, (int64_t)results->step_count);
    for (int group = 0; group < OPERATOR_GROUP_COUNT; group++) {
        row_put_int(writer, (int64_t)results->operator_count[group]);
    }
    row_put_int(writer, (int64_t)results->kernel_count);
    row_put_int(writer, (int64_t)results->kernel_launch_count);
    row_put_int(writer, (int64_t)results->kernel_utilisation_count);
    row_put_int(writer, (int64_t)results->kernel_utilisation_launch_count);
    row_put_int(writer, (int64_t)results->cycle_count);
    row_put_int(writer, (int64_t)results->cycle_use_count);
    if (!db_run(&only.row, err)) {
        return false;
    }
    *trace_id = db_last_id(db);
    return true;
}

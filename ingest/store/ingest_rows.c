#include "ingest/store/ingest_rows.h"

#include "ingest/base/strtab.h"
#include "ingest/store/fields.h"

#include <string.h>

/* A batch holds the writer for some 20 ms: what another upload waits for its turn at the most. */
#define BATCH_ROWS 5000
#define BATCH_BYTES ((size_t)8 << 20)

/* Rows are written one after another; the first failure makes the rest do nothing. */
struct row_writer {
    struct store *store;
    int64_t trace_id;
    struct strtab *texts; /* ids are those of the table `text` */
    uint32_t texts_written;
    struct db_stmt row;
    bool in_batch;
    size_t batch_rows;
    size_t batch_bytes;
    bool ok;
    struct err *err;
};

static void begin_row(struct row_writer *writer, const char *sql)
{
    if (writer->ok && !writer->in_batch) {
        writer->ok = store_write_begin(writer->store, STORE_BATCH, writer->err);
        writer->in_batch = writer->ok;
        writer->batch_rows = 0;
        writer->batch_bytes = 0;
    }
    if (writer->ok) {
        db_prepare(&writer->row, writer->store->writer, sql);
        db_put_int(&writer->row, writer->trace_id);
    }
}

static void end_batch(struct row_writer *writer)
{
    if (writer->in_batch) {
        writer->ok = store_write_end(writer->store, writer->ok, writer->err);
        writer->in_batch = false;
    }
}

static void end_row(struct row_writer *writer)
{
    if (!writer->ok) {
        return;
    }
    writer->ok = db_run(&writer->row, writer->err);
    writer->batch_rows++;
    if (writer->batch_rows >= BATCH_ROWS || writer->batch_bytes >= BATCH_BYTES) {
        end_batch(writer);
    }
}

static void put_int(struct row_writer *writer, int64_t value)
{
    if (writer->ok) {
        db_put_int(&writer->row, value);
    }
}

static void put_real(struct row_writer *writer, double value)
{
    if (writer->ok) {
        db_put_real(&writer->row, value);
    }
}

static void put_text(struct row_writer *writer, const char *text)
{
    if (writer->ok) {
        db_put_text(&writer->row, text);
        writer->batch_bytes += text == NULL ? 0 : strlen(text);
    }
}

static void write_text(struct row_writer *writer, uint32_t id)
{
    const char *text = strtab_text(writer->texts, id);
    struct db_stmt st;
    db_prepare(&st, writer->store->writer,
               "INSERT INTO text (trace_id, id, value) VALUES (?, ?, ?)");
    db_put_int(&st, writer->trace_id);
    db_put_int(&st, id);
    db_put_text(&st, text);
    writer->ok = db_run(&st, writer->err);
    writer->texts_written = id + 1;
    writer->batch_rows++;
    writer->batch_bytes += strtab_len(writer->texts, id);
}

/* A text that stands in the table once; the row holds its id. */
static void put_shared(struct row_writer *writer, const char *text)
{
    if (!writer->ok) {
        return;
    }
    if (text == NULL) {
        db_put_null(&writer->row);
        return;
    }
    uint32_t id = strtab_intern(writer->texts, text, strlen(text));
    if (id == STRTAB_NONE) {
        writer->ok = err_set(writer->err, ERR_NO_MEMORY, "no memory for the texts of the trace");
        return;
    }
    /* Ids grow by one with each new text. The table is born with the empty text as id 0. */
    while (writer->ok && writer->texts_written <= id) {
        write_text(writer, writer->texts_written);
    }
    db_put_int(&writer->row, id);
}

#define WRITE_INT(field) put_int(writer, row->field);
#define WRITE_FLAG(field) put_int(writer, row->field);
#define WRITE_BITS(field) put_int(writer, row->field);
#define WRITE_REAL(field) put_real(writer, row->field);
#define WRITE_TEXT(field) put_text(writer, row->field);
#define WRITE_SHARED(field) put_shared(writer, row->field);
#define WRITE(kind, field) WRITE_##kind(field)

#define INSERT_POSITIONED(table, fields, more_columns, more_params)               \
    "INSERT INTO " table " (trace_id, position" fields(FIELD_COLUMN) more_columns \
        ") VALUES (?, ?" fields(FIELD_PARAM) more_params ")"

static void write_warnings(struct row_writer *writer, const struct warnings *warnings)
{
    for (int code = 0; code < WARNING_CODE_COUNT; code++) {
        const struct warning_count *entry = &warnings->by_code[code];
        if (entry->count == 0) {
            continue;
        }
        begin_row(writer, "INSERT INTO warning (trace_id, code, count, first_offset)"
                          " VALUES (?, ?, ?, nullif(?, -1))");
        put_text(writer, warning_code_text((enum warning_code)code));
        put_int(writer, (int64_t)entry->count);
        _Static_assert(WARNING_NO_OFFSET == UINT64_MAX, "-1 stands for no offset");
        put_int(writer, (int64_t)entry->first_offset);
        end_row(writer);
    }
}

static void write_steps(struct row_writer *writer, const struct trace_results *results)
{
    _Static_assert(ROLE_COUNT == 8, "STEP_COST_COLUMNS and the parameters name every role");
    for (size_t i = 0; i < results->step_count; i++) {
        const struct step_row *row = &results->steps[i];
        begin_row(writer, INSERT_POSITIONED("step", STEP_FIELDS, STEP_COST_COLUMNS,
                                            ", ?, ?, ?, ?, ?, ?, ?, ?"));
        put_int(writer, (int64_t)i);
        STEP_FIELDS(WRITE)
        for (int role = 0; role < ROLE_COUNT; role++) {
            put_int(writer, row->cost_ns[role]);
        }
        end_row(writer);
    }
}

static void write_operators(struct row_writer *writer, const struct trace_results *results)
{
    for (int group = 0; group < OPERATOR_GROUP_COUNT; group++) {
        for (size_t i = 0; i < results->operator_count[group]; i++) {
            const struct operator_row *row = &results->operators[group][i];
            begin_row(writer,
                      "INSERT INTO operator (trace_id, grouping, position" OPERATOR_FIELDS(
                          FIELD_COLUMN) ") VALUES (?, ?, ?" OPERATOR_FIELDS(FIELD_PARAM) ")");
            put_int(writer, group);
            put_int(writer, (int64_t)i);
            OPERATOR_FIELDS(WRITE)
            end_row(writer);
        }
    }
}

static void write_kernel_launches(struct row_writer *writer, const struct trace_results *results)
{
    for (size_t i = 0; i < results->kernel_launch_count; i++) {
        const struct kernel_launch_row *row = &results->kernel_launches[i];
        begin_row(writer, INSERT_POSITIONED("kernel_launch", LAUNCH_FIELDS, LAUNCH_CONFIG_COLUMNS,
                                            ", ?, ?, ?, ?"));
        put_int(writer, (int64_t)i);
        LAUNCH_FIELDS(WRITE)
        for (int k = 0; k < LAUNCH_CONFIGS; k++) {
            put_shared(writer, row->config[k]);
        }
        end_row(writer);
    }
}

/* A table of which every column is a field. */
#define DEFINE_WRITER(function, table, fields, rows, row_count, row_struct)              \
    static void function(struct row_writer *writer, const struct trace_results *results) \
    {                                                                                    \
        for (size_t i = 0; i < results->row_count; i++) {                                \
            const struct row_struct *row = &results->rows[i];                            \
            begin_row(writer, INSERT_POSITIONED(table, fields, "", ""));                 \
            put_int(writer, (int64_t)i);                                                 \
            fields(WRITE) end_row(writer);                                               \
        }                                                                                \
    }

DEFINE_WRITER(write_kernels, "kernel", KERNEL_FIELDS, kernels, kernel_count, kernel_row)
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
DEFINE_WRITER(write_missing, "missing", MISSING_FIELDS, missing, missing_count, missing_row)
DEFINE_WRITER(write_plugin_answers,
              "plugin_answer",
              PLUGIN_ANSWER_FIELDS,
              plugin_answers,
              plugin_answer_count,
              plugin_answer_row)

bool ingest_rows_write(struct store *store,
                       int64_t trace_id,
                       const struct trace_results *results,
                       struct err *err)
{
    struct row_writer writer = {
        .store = store, .trace_id = trace_id, .texts = strtab_create(), .ok = true, .err = err};
    if (writer.texts == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the texts of the trace");
    }
    write_warnings(&writer, &results->warnings);
    write_steps(&writer, results);
    write_devices(&writer, results);
    write_recommendations(&writer, results);
    write_environment(&writer, results);
    write_missing(&writer, results);
    write_plugin_answers(&writer, results);
    write_kernels(&writer, results);
    write_kernel_launches(&writer, results);
    write_operators(&writer, results);
    end_batch(&writer);
    strtab_destroy(writer.texts);
    return writer.ok;
}

bool ingest_rows_trace(struct db *db,
                       int64_t upload_id,
                       int64_t plugin_of,
                       const char *worker,
                       const char *span_digits,
                       const char *format,
                       const struct trace_results *results,
                       int64_t *trace_id,
                       struct err *err)
{
    const struct trace_results *row = results;
    struct row_writer only = {.ok = true, .err = err};
    struct row_writer *writer = &only;
    db_prepare(
        &only.row, db,
        "INSERT INTO trace (upload_id, plugin_of, worker, span_digits, format, "
        "device_type" TRACE_FIELDS(FIELD_COLUMN) TRACE_COUNT_COLUMNS
        ") VALUES (?, nullif(?, 0), ?, ?, ?, ?" TRACE_FIELDS(FIELD_PARAM) ", ?, ?, ?, ?, ?, ?, ?)");
    put_int(writer, upload_id);
    put_int(writer, plugin_of);
    put_text(writer, worker);
    put_text(writer, span_digits);
    put_text(writer, format);
    put_text(writer, results->device_type == NULL ? "" : results->device_type);
    TRACE_FIELDS(WRITE)
    put_int(writer, (int64_t)results->step_count);
    for (int group = 0; group < OPERATOR_GROUP_COUNT; group++) {
        put_int(writer, (int64_t)results->operator_count[group]);
    }
    put_int(writer, (int64_t)results->kernel_count);
    put_int(writer, (int64_t)results->kernel_launch_count);
    if (!db_run(&only.row, err)) {
        return false;
    }
    *trace_id = db_last_id(db);
    return true;
}

#include "ingest/formats/operations/operations_csv.h"

#include "ingest/formats/csv/row_list.h"
#include "ingest/formats/csv/scan.h"
#include "ingest/formats/csv/table_results.h"
#include "ingest/model/operations.h"

#include <math.h>
#include <string.h>

/* Far beyond any job; what counts per stage or replica stays small. */
#define PLACE_MAX 1000000
#define DIGITS_MAX 18
/* Times are taken in nanoseconds too: 292 years. */
#define TIME_MAX_S 9.2e9
#define NS_PER_S 1e9

enum column {
    DP_RANK,
    STAGE,
    RANK,
    STEP,
    TYPE,
    START,
    DURATION,
    SEQUENCE,
    CHUNK,
    MODEL_CHUNK,
    MICROBATCH,
    COLUMN_COUNT
};

static const char *const column_names[COLUMN_COUNT + 1] = {
    "dp_rank",  "stage",  "rank", "step", "optype", "start_ts",
    "duration", "seq_id", "mc",   "gmc",  "mb_id",  NULL};

struct reading {
    struct table_results table;
    struct csv_scan scan;
    struct row_list operations; /* struct operation */
    size_t columns[COLUMN_COUNT];
    size_t column_count;
};

bool operations_csv_recognises(const char *window, size_t len)
{
    return csv_is_header(window, len, ',', column_names);
}

static struct csv_cell cell_of(const struct reading *reading, enum column column)
{
    return csv_trim(reading->scan.row.cells[reading->columns[column]]);
}

/* Digits with a sign, and nothing else. */
static bool read_int(const struct reading *reading, enum column column, int64_t min, int64_t *value)
{
    struct csv_cell cell = cell_of(reading, column);
    size_t sign = cell.len > 0 && (*cell.text == '-' || *cell.text == '+');
    int64_t number = 0;
    if (cell.len == sign || cell.len - sign > DIGITS_MAX) {
        return false;
    }
    for (size_t i = sign; i < cell.len; i++) {
        if (cell.text[i] < '0' || cell.text[i] > '9') {
            return false;
        }
        number = number * 10 + (cell.text[i] - '0');
    }
    *value = sign != 0 && *cell.text == '-' ? -number : number;
    return *value >= min;
}

static bool read_time(const struct reading *reading, enum column column, double *seconds)
{
    struct csv_cell cell = cell_of(reading, column);
    return csv_printed_number(&cell, seconds) && fabs(*seconds) < TIME_MAX_S;
}

static bool read_place(const struct reading *reading, enum column column, uint32_t *place)
{
    int64_t value;
    if (!read_int(reading, column, 0, &value) || value > PLACE_MAX) {
        return false;
    }
    *place = (uint32_t)value;
    return true;
}

/* The column that cannot be read, or COLUMN_COUNT. */
static enum column read_operation(const struct reading *reading, struct operation *out)
{
    int64_t microbatch;
    const struct {
        bool ok;
        enum column column;
    } cells[] = {
        {read_place(reading, DP_RANK, &out->dp_rank), DP_RANK},
        {read_place(reading, STAGE, &out->stage), STAGE},
        {read_int(reading, RANK, 0, &out->rank), RANK},
        {read_int(reading, STEP, INT64_MIN, &out->step), STEP},
        {read_time(reading, START, &out->start_s), START},
        {read_time(reading, DURATION, &out->duration_s), DURATION},
        {read_int(reading, SEQUENCE, 0, &out->seq_id), SEQUENCE},
        {read_int(reading, CHUNK, -1, &out->chunk), CHUNK},
        {read_int(reading, MODEL_CHUNK, -1, &out->model_chunk), MODEL_CHUNK},
        {read_int(reading, MICROBATCH, -1, &microbatch), MICROBATCH},
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        if (!cells[i].ok) {
            return cells[i].column;
        }
    }
    return COLUMN_COUNT;
}

static bool read_type(const struct reading *reading, uint8_t *type)
{
    struct csv_cell cell = cell_of(reading, TYPE);
    for (int i = 0; i < OPERATION_TYPE_COUNT; i++) {
        if (csv_cell_equals(&cell, operation_type_name((enum operation_type)i))) {
            *type = (uint8_t)i;
            return true;
        }
    }
    return false;
}

static bool read_row(void *context, const struct csv_row *row, struct err *err)
{
    struct reading *reading = context;
    struct operation operation = {.type = 0};
    bool is_bad;
    if (!table_check_row(&reading->table, row, reading->column_count, &is_bad)) {
        return table_no_memory(err);
    }
    if (is_bad) {
        return true;
    }
    enum column bad = read_operation(reading, &operation);
    if (bad != COLUMN_COUNT) {
        return table_bad_line(&reading->table, row->line, row->byte_off, "%s cannot be read",
                              column_names[bad]) ||
               table_no_memory(err);
    }
    if (!read_type(reading, &operation.type)) {
        warning_add(&reading->table.results->warnings, WARN_OPERATION_TYPE, row->byte_off);
        return true;
    }
    struct operation *added = row_list_add(&reading->operations);
    if (added == NULL) {
        return table_no_memory(err);
    }
    *added = operation;
    reading->table.results->event_count++;
    return table_within_budget(&reading->table, reading->operations.capacity * sizeof *added, err);
}

static bool read_all(struct reading *reading, struct err *err)
{
    if (!table_read_header(&reading->scan, column_names, COLUMN_COUNT, COLUMN_COUNT,
                           reading->columns, err)) {
        return false;
    }
    reading->column_count = reading->scan.row.cell_count;
    return csv_each_row(&reading->scan, read_row, reading, err) &&
           (reading->operations.count > 0 ||
            table_no_row(&reading->table, "the table has no operation", err));
}

static bool finish(struct reading *reading, struct err *err)
{
    struct trace_results *results = reading->table.results;
    size_t count = reading->operations.count;
    struct operation_table *table = arena_calloc(&results->arena, 1, sizeof *table);
    struct operation *items = arena_calloc(&results->arena, count, sizeof *items);
    if (table == NULL || items == NULL || count >= UINT32_MAX) {
        return table_no_memory(err);
    }
    memcpy(items, reading->operations.rows, count * sizeof *items);
    *table = (struct operation_table){.items = items, .count = (uint32_t)count};
    double start_s = items[0].start_s;
    double end_s = start_s;
    for (size_t i = 0; i < count; i++) {
        start_s = fmin(start_s, items[i].start_s);
        end_s = fmax(end_s, items[i].start_s + items[i].duration_s);
    }
    results->operations = table;
    results->views = 1U << VIEW_PIPELINE;
    results->start_ns = llrint(start_s * NS_PER_S);
    results->first_event_ns = results->start_ns;
    results->duration_ns = llrint(fmin(end_s - start_s, TIME_MAX_S) * NS_PER_S);
    return true;
}

bool operations_csv_read(struct text_stream *stream,
                         const struct format_options *options,
                         struct format_bundle *bundle,
                         struct err *err)
{
    struct reading reading = {.operations = {.row_bytes = sizeof(struct operation)}};
    csv_open(&reading.scan, stream, ',', 1);
    bool good = table_results_init(&reading.table, stream, options->memory_budget_bytes, err) &&
                read_all(&reading, err) && finish(&reading, err) &&
                table_results_finish(&reading.table, bundle, err);
    csv_close(&reading.scan);
    row_list_free(&reading.operations);
    table_results_free(&reading.table);
    return good;
}

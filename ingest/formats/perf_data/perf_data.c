#include "ingest/formats/perf_data/perf_data.h"

#include "ingest/formats/csv/row_list.h"
#include "ingest/formats/csv/scan.h"
#include "ingest/formats/csv/table_results.h"
#include "ingest/formats/json/text.h"
#include "ingest/formats/perf_data/cycles.h"

#include <math.h>
#include <string.h>

#define SHOWN_BYTES 40 /* of a cell, in a message */

enum column {
    CYCLE,
    PID,
    BETA,
    ANCHOR_DUR,
    FUNCTION,
    METRIC,
    DEVICE,
    MU,
    NEEDED_COUNT,
    HOST = NEEDED_COUNT,
    TYPE,
    SIGMA,
    DURATION,
    INTERPOLATION,
    ANCHOR,
    START,
    INSTANCES,
    SIMPLE_NAME,
    KIND,
    COLUMN_COUNT
};

static const char *const column_names[COLUMN_COUNT + 1] = {
    [CYCLE] = "cycle",
    [PID] = "pid",
    [BETA] = "beta_pct",
    [ANCHOR_DUR] = "anchor_dur_us",
    [FUNCTION] = "function_name",
    [METRIC] = "metric_name",
    [DEVICE] = "device",
    [MU] = "mu_pct",
    [HOST] = "hostname",
    [TYPE] = "func_type",
    [SIGMA] = "sigma_pct",
    [DURATION] = "duration",
    [INTERPOLATION] = "interpolation_status",
    [ANCHOR] = "anchor_name",
    [START] = "cycle_start_ts",
    [INSTANCES] = "instances_count",
    [SIMPLE_NAME] = "simple_name",
    [KIND] = "cycle_kind",
};

struct reading {
    struct table_results table;
    struct csv_scan scan;
    struct row_list uses; /* struct cycle_use_row; `cycle` indexes into `cycles` */
    struct perf_cycles cycles;
    size_t columns[COLUMN_COUNT];
    size_t column_count; /* of the header */
};

bool perf_data_recognises(const char *window, size_t len)
{
    const char *needed[NEEDED_COUNT + 1] = {NULL};
    memcpy(needed, column_names, NEEDED_COUNT * sizeof *needed);
    return csv_is_header(window, len, ',', needed);
}

/* --- cells --- */

/* The cell of a column; "" where the table has no such column. */
static struct csv_cell cell_of(const struct reading *reading, enum column column)
{
    size_t at = reading->columns[column];
    return at == CSV_NO_COLUMN ? (struct csv_cell){.text = ""} : reading->scan.row.cells[at];
}

/* False without memory. Missing cells are NULL. */
static bool text_of(struct reading *reading, enum column column, const char **text)
{
    struct csv_cell cell = cell_of(reading, column);
    *text = NULL;
    if (csv_is_missing(&cell)) {
        return true;
    }
    *text = text_pool_add(&reading->table.texts, cell.text, cell.len);
    return *text != NULL;
}

/* False when there is no finite number. */
static bool number_of(const struct reading *reading, enum column column, double *number)
{
    struct csv_cell cell = cell_of(reading, column);
    return csv_number(&cell, number) && isfinite(*number);
}

static double number_or_nan(const struct reading *reading, enum column column)
{
    double number;
    return number_of(reading, column, &number) ? number : (double)NAN;
}

static enum cycle_kind kind_of(const struct reading *reading)
{
    struct csv_cell cell = cell_of(reading, KIND);
    for (int kind = 0; kind < CYCLE_KIND_COUNT; kind++) {
        if (csv_cell_equals(&cell, cycle_kind_name((enum cycle_kind)kind))) {
            return (enum cycle_kind)kind;
        }
    }
    return CYCLE_STEP;
}

/* Microseconds as exact nanoseconds; 0 where there are none. */
static int64_t start_of(const struct reading *reading)
{
    struct csv_cell cell = csv_trim(cell_of(reading, START));
    if (cell.len == 0 || cell.len > UINT32_MAX) {
        return 0;
    }
    struct json_value value = {
        .ptr = cell.text, .len = (uint32_t)cell.len, .kind = JSON_KIND_STRING};
    int64_t ns;
    bool is_decimal = false;
    return json_text_time(&value, &ns, &is_decimal) == JSON_TIME_OK ? ns : 0;
}

/* --- rows --- */

/* What a row must have. */
struct keys {
    int64_t cycle;
    int64_t pid;
    double beta_pct;
    double dur_us;
};

/* The column that cannot be read, or COLUMN_COUNT. */
static enum column read_keys(const struct reading *reading, struct keys *keys)
{
    struct csv_cell cycle = cell_of(reading, CYCLE);
    struct csv_cell pid = cell_of(reading, PID);
    if (!csv_integer(&cycle, &keys->cycle)) {
        return CYCLE;
    }
    if (!csv_integer(&pid, &keys->pid)) {
        return PID;
    }
    if (!number_of(reading, BETA, &keys->beta_pct)) {
        return BETA;
    }
    if (!number_of(reading, ANCHOR_DUR, &keys->dur_us)) {
        return ANCHOR_DUR;
    }
    return COLUMN_COUNT;
}

static bool bad_cell(struct reading *reading, enum column column)
{
    const struct csv_row *row = &reading->scan.row;
    struct csv_cell cell = cell_of(reading, column);
    const char *name = column_names[column];
    if (csv_is_missing(&cell)) {
        return table_bad_line(&reading->table, row->line, row->byte_off, "%s is missing", name);
    }
    bool is_long = cell.len > SHOWN_BYTES;
    return table_bad_line(&reading->table, row->line, row->byte_off, "%s \"%.*s%s\" is no %s", name,
                          is_long ? SHOWN_BYTES : (int)cell.len, cell.text, is_long ? "..." : "",
                          column == CYCLE || column == PID ? "integer" : "number");
}

static bool fill_texts(struct reading *reading, struct cycle_use_row *use)
{
    if (!text_of(reading, HOST, &use->host) || !text_of(reading, FUNCTION, &use->function) ||
        !text_of(reading, SIMPLE_NAME, &use->simple_name) || !text_of(reading, TYPE, &use->type) ||
        !text_of(reading, METRIC, &use->metric) || !text_of(reading, DEVICE, &use->device) ||
        !text_of(reading, INTERPOLATION, &use->interpolation)) {
        return false;
    }
    use->host = use->host == NULL ? "" : use->host;
    use->function = use->function == NULL ? "" : use->function;
    use->simple_name = use->simple_name == NULL ? use->function : use->simple_name;
    use->type = use->type == NULL ? "" : use->type;
    use->interpolation = use->interpolation == NULL ? " " : use->interpolation;
    return true;
}

static void
fill_numbers(const struct reading *reading, const struct keys *keys, struct cycle_use_row *use)
{
    struct csv_cell instances = cell_of(reading, INSTANCES);
    use->pid = keys->pid;
    use->beta_pct = keys->beta_pct;
    use->mu_pct = number_or_nan(reading, MU);
    use->sigma_pct = number_or_nan(reading, SIGMA);
    if (!number_of(reading, DURATION, &use->duration_us)) {
        use->duration_us = keys->beta_pct / 100 * keys->dur_us;
    }
    if (!csv_integer(&instances, &use->instances)) {
        use->instances = 0;
    }
}

static bool add_row(struct reading *reading, const struct keys *keys)
{
    const char *anchor;
    struct cycle_use_row *use = row_list_add(&reading->uses);
    if (use == NULL || !fill_texts(reading, use) || !text_of(reading, ANCHOR, &anchor)) {
        return false;
    }
    fill_numbers(reading, keys, use);
    if (use->device != NULL && strncmp(use->device, "GPU", 3) == 0) {
        reading->table.results->device_type = "GPU";
    }
    struct cycle_row cycle = {
        .number = keys->cycle, .dur_us = keys->dur_us, .anchor = anchor == NULL ? "" : anchor};
    if (perf_cycles_is_last(&reading->cycles, &cycle)) {
        use->cycle = perf_cycles_last(&reading->cycles);
        return true;
    }
    cycle.kind = kind_of(reading);
    cycle.start_ns = start_of(reading);
    return perf_cycles_add(&reading->cycles, &cycle, &use->cycle);
}

/* While reading, and once more when the rows are moved to the results. */
static bool within_budget(const struct reading *reading, struct err *err)
{
    const struct row_list *uses = &reading->uses;
    size_t list_bytes = (uses->capacity + uses->count) * uses->row_bytes;
    return table_within_budget(&reading->table, list_bytes + perf_cycles_bytes(&reading->cycles),
                               err);
}

static bool read_row(void *context, const struct csv_row *row, struct err *err)
{
    struct reading *reading = context;
    struct keys keys;
    bool is_bad;
    bool ok = table_check_row(&reading->table, row, reading->column_count, &is_bad);
    if (ok && !is_bad) {
        enum column unreadable = read_keys(reading, &keys);
        ok = unreadable == COLUMN_COUNT ? add_row(reading, &keys) : bad_cell(reading, unreadable);
    }
    return ok ? within_budget(reading, err) : table_no_memory(err);
}

/* --- the whole --- */

static bool read_header(struct reading *reading, struct err *err)
{
    if (!table_read_header(&reading->scan, column_names, NEEDED_COUNT, COLUMN_COUNT,
                           reading->columns, err)) {
        return false;
    }
    reading->column_count = reading->scan.row.cell_count;
    return true;
}

static bool read_rows(struct reading *reading, struct err *err)
{
    return csv_each_row(&reading->scan, read_row, reading, err) &&
           (reading->uses.count > 0 || table_no_row(&reading->table, "the table has no row", err));
}

static bool finish(struct reading *reading, struct err *err)
{
    struct trace_results *results = reading->table.results;
    if (!row_list_finish(&reading->uses, &results->arena, &results->cycle_uses,
                         &results->cycle_use_count) ||
        !perf_cycles_finish(&reading->cycles, results)) {
        return table_no_memory(err);
    }
    results->event_count = (int64_t)results->cycle_use_count;
    results->cycle_source = CYCLES_TABLE;
    results->views = 1U << VIEW_CYCLES;
    return true;
}

bool perf_data_read(struct text_stream *stream,
                    const struct format_options *options,
                    struct format_bundle *bundle,
                    struct err *err)
{
    struct reading reading = {.uses = {.row_bytes = sizeof(struct cycle_use_row)}};
    perf_cycles_init(&reading.cycles);
    csv_open(&reading.scan, stream, ',', 1);
    bool good = table_results_init(&reading.table, stream, options->memory_budget_bytes, err) &&
                read_header(&reading, err) && read_rows(&reading, err) && finish(&reading, err) &&
                table_results_finish(&reading.table, bundle, err);
    csv_close(&reading.scan);
    row_list_free(&reading.uses);
    perf_cycles_free(&reading.cycles);
    table_results_free(&reading.table);
    return good;
}

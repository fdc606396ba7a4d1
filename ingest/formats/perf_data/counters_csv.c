#include "ingest/formats/perf_data/counters_csv.h"

#include "ingest/formats/csv/row_list.h"
#include "ingest/formats/csv/scan.h"
#include "ingest/formats/csv/table_results.h"
#include "ingest/formats/json/text.h"

#include <math.h>

enum column { NAME, TIMESTAMP, VALUE, NEEDED_COUNT, HOST = NEEDED_COUNT, COLUMN_COUNT };

static const char *const column_names[COLUMN_COUNT] = {"counter_name", "timestamp", "value",
                                                       "hostname"};

/* A counter while its samples come in. */
struct running {
    struct counter_row row;
    double squares; /* sum of squared deviations from the mean so far */
};

struct reading {
    struct table_results table;
    struct csv_scan scan;
    struct row_list counters; /* struct running */
    struct strtab *keys;      /* name, NUL, host: the id less one is the counter's place */
    struct buf key;
    size_t columns[COLUMN_COUNT];
    size_t column_count;
    int64_t start_ns, end_ns;
};

bool counters_csv_recognises(const char *window, size_t len)
{
    const char *const needed[] = {column_names[NAME], column_names[TIMESTAMP], column_names[VALUE],
                                  NULL};
    return csv_is_header(window, len, ',', needed);
}

/* A missing cell and one of a column that the table has not are empty. */
static struct csv_cell cell_of(const struct reading *reading, enum column column)
{
    size_t at = reading->columns[column];
    struct csv_cell cell = {.text = ""};
    if (at != CSV_NO_COLUMN) {
        cell = reading->scan.row.cells[at];
    }
    return csv_is_missing(&cell) ? (struct csv_cell){.text = ""} : cell;
}

/* The counter of the row, added when new; NULL without memory. */
static struct running *
counter_of(struct reading *reading, const struct csv_cell *name, const struct csv_cell *host)
{
    buf_clear(&reading->key);
    buf_append(&reading->key, name->text, name->len);
    buf_putc(&reading->key, '\0');
    buf_append(&reading->key, host->text, host->len);
    if (reading->key.failed) {
        return NULL;
    }
    uint32_t id = strtab_intern(reading->keys, reading->key.ptr, reading->key.len);
    if (id == STRTAB_NONE) {
        return NULL;
    }
    if (id > reading->counters.count) {
        struct running *added = row_list_add(&reading->counters);
        if (added == NULL) {
            return NULL;
        }
        added->row.name = text_pool_add(&reading->table.texts, name->text, name->len);
        added->row.host = text_pool_add(&reading->table.texts, host->text, host->len);
        return added->row.name == NULL || added->row.host == NULL ? NULL : added;
    }
    return (struct running *)(void *)reading->counters.rows + (id - 1);
}

/* Welford's running mean and variance: no second pass, no difference of large sums. */
static void add_sample(struct running *counter, double value)
{
    struct counter_row *row = &counter->row;
    bool is_first = row->samples++ == 0;
    double off = value - row->mean;
    row->mean += off / (double)row->samples;
    counter->squares += off * (value - row->mean);
    row->min = is_first || value < row->min ? value : row->min;
    row->max = is_first || value > row->max ? value : row->max;
}

static void note_time(struct reading *reading)
{
    struct csv_cell cell = csv_trim(cell_of(reading, TIMESTAMP));
    struct json_value value = {
        .ptr = cell.text, .len = (uint32_t)cell.len, .kind = JSON_KIND_STRING};
    int64_t ns;
    bool is_decimal = false;
    if (cell.len == 0 || json_text_time(&value, &ns, &is_decimal) != JSON_TIME_OK) {
        return;
    }
    reading->start_ns = ns < reading->start_ns ? ns : reading->start_ns;
    reading->end_ns = ns > reading->end_ns ? ns : reading->end_ns;
}

/* --- the whole --- */

static bool read_row(void *context, const struct csv_row *row, struct err *err)
{
    struct reading *reading = context;
    double number;
    bool is_bad;
    if (!table_check_row(&reading->table, row, reading->column_count, &is_bad)) {
        return table_no_memory(err);
    }
    if (is_bad) {
        return true;
    }
    struct csv_cell name = cell_of(reading, NAME);
    struct csv_cell value = cell_of(reading, VALUE);
    struct csv_cell host = cell_of(reading, HOST);
    if (name.len == 0 || !csv_number(&value, &number) || !isfinite(number)) {
        const char *what = name.len == 0 ? "counter_name is missing" : "the value is no number";
        return table_bad_line(&reading->table, row->line, row->byte_off, "%s", what) ||
               table_no_memory(err);
    }
    struct running *counter = counter_of(reading, &name, &host);
    if (counter == NULL) {
        return table_no_memory(err);
    }
    add_sample(counter, number);
    note_time(reading);
    reading->table.results->event_count++;
    return table_within_budget(
        &reading->table, reading->counters.capacity * sizeof *counter + strtab_bytes(reading->keys),
        err);
}

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
           (reading->counters.count > 0 ||
            table_no_row(&reading->table, "the table has no sample", err));
}

static bool finish(struct reading *reading, struct err *err)
{
    struct trace_results *results = reading->table.results;
    const struct running *counters = (const struct running *)(void *)reading->counters.rows;
    size_t count = reading->counters.count;
    results->counters = arena_calloc(&results->arena, count, sizeof *results->counters);
    if (results->counters == NULL) {
        return table_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        results->counters[i] = counters[i].row;
        results->counters[i].std = sqrt(counters[i].squares / (double)counters[i].row.samples);
    }
    results->counter_count = count;
    if (reading->start_ns <= reading->end_ns) {
        results->start_ns = reading->start_ns;
        results->first_event_ns = reading->start_ns;
        results->duration_ns = reading->end_ns - reading->start_ns;
    }
    return true;
}

bool counters_csv_read(struct text_stream *stream,
                       const struct format_options *options,
                       struct format_bundle *bundle,
                       struct err *err)
{
    struct reading reading = {.counters = {.row_bytes = sizeof(struct running)},
                              .keys = strtab_create(),
                              .start_ns = INT64_MAX,
                              .end_ns = INT64_MIN};
    buf_init(&reading.key, CSV_ROW_BYTES_MAX * 2);
    csv_open(&reading.scan, stream, ',', 1);
    bool good = (reading.keys != NULL || table_no_memory(err)) &&
                table_results_init(&reading.table, stream, options->memory_budget_bytes, err) &&
                read_header(&reading, err) && read_rows(&reading, err) && finish(&reading, err) &&
                table_results_finish(&reading.table, bundle, err);
    csv_close(&reading.scan);
    buf_free(&reading.key);
    row_list_free(&reading.counters);
    strtab_destroy(reading.keys);
    table_results_free(&reading.table);
    return good;
}

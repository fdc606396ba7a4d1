#include "ingest/formats/nsight/ncu_csv.h"

#include "ingest/formats/csv/line_scan.h"
#include "ingest/formats/csv/scan.h"
#include "ingest/formats/json/scan.h"
#include "ingest/formats/nsight/ncu_launches.h"
#include "ingest/formats/nsight/quantity.h"

#include <stdlib.h>
#include <string.h>

#define KERNEL_NAME "Kernel Name"

enum form { FORM_NONE, FORM_LONG, FORM_WIDE, FORM_SUMMARY };

/* Columns that describe a launch. */
enum column { KERNEL, ID, PROCESS, GRID, BLOCK, DEVICE, STREAM, METRIC, UNIT, VALUE, COLUMN_COUNT };

struct reader {
    struct ncu_launches launches;
    struct csv_scan csv;
    enum form form;
    size_t columns[COLUMN_COUNT]; /* CSV_NO_COLUMN: absent */
    size_t needed;                /* cells that a row must have */
    uint64_t parts;               /* headers so far */
    bool wants_units;             /* the row of units comes next, if there is one */
    struct ncu_metric *metrics;   /* wide: by column; the name is STRTAB_NONE for none */
    size_t metric_count;
    struct buf
        names; /* wide: of the metrics, each with a NUL behind it, until the units are known */
};

/* ---- headers ---- */

static bool contains(const char *text, size_t len, const char *word)
{
    size_t word_len = strlen(word);
    const char *end = text + len;
    while ((size_t)(end - text) >= word_len) {
        const char *at = memchr(text, *word, (size_t)(end - text) - word_len + 1);
        if (at == NULL) {
            return false;
        }
        if (memcmp(at, word, word_len) == 0) {
            return true;
        }
        text = at + 1;
    }
    return false;
}

static enum form form_of(const char *line, size_t len, char separator)
{
    static const char *const long_form[] = {"ID",          KERNEL_NAME,    "Metric Name",
                                            "Metric Unit", "Metric Value", NULL};
    static const char *const summary[] = {KERNEL_NAME, "Metric Name", "Metric Unit", "Average",
                                          NULL};
    static const char *const wide[] = {KERNEL_NAME, NULL};
    if (csv_is_header(line, len, separator, long_form)) {
        return FORM_LONG;
    }
    if (csv_is_header(line, len, separator, summary)) {
        return FORM_SUMMARY;
    }
    bool has_metric = contains(line, len, "__");
    return has_metric && csv_is_header(line, len, separator, wide) ? FORM_WIDE : FORM_NONE;
}

/* What header this line is, and its separator: spreadsheets save tables with others. */
static enum form header_at(const char *line, size_t len, char *separator)
{
    static const char separators[] = {',', ';', '\t'};
    if (!contains(line, len, KERNEL_NAME)) {
        return FORM_NONE;
    }
    for (size_t i = 0; i < sizeof separators; i++) {
        enum form form = form_of(line, len, separators[i]);
        if (form != FORM_NONE) {
            *separator = separators[i];
            return form;
        }
    }
    return FORM_NONE;
}

bool ncu_csv_recognises(const char *window, size_t len)
{
    const char *end = window + len;
    while (window < end) {
        char separator;
        const char *newline = memchr(window, '\n', (size_t)(end - window));
        const char *line_end = newline == NULL ? end : newline;
        if (header_at(window, (size_t)(line_end - window), &separator) != FORM_NONE) {
            return true;
        }
        window = newline == NULL ? end : newline + 1;
    }
    return false;
}

/* ---- a header in place ---- */

static void find_columns(struct reader *reader, const struct csv_row *header)
{
    static const char *const names[COLUMN_COUNT] = {
        [KERNEL] = KERNEL_NAME,   [ID] = "ID",
        [PROCESS] = "Process ID", [GRID] = "Grid Size",
        [BLOCK] = "Block Size",   [DEVICE] = "Device",
        [STREAM] = "Stream",      [METRIC] = "Metric Name",
        [UNIT] = "Metric Unit",   [VALUE] = "Metric Value",
    };
    reader->needed = 0;
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        size_t column = csv_column(header, names[i]);
        reader->columns[i] = column;
        if (column != CSV_NO_COLUMN && column >= reader->needed) {
            reader->needed = column + 1;
        }
    }
}

/* Metrics are called unit__what.rollup, nothing else has two underscores. */
static bool is_metric_name(const struct csv_cell *cell)
{
    return contains(cell->text, cell->len, "__");
}

/* Keeps the names of all columns until the row below tells whether there are units. */
static bool keep_names(struct reader *reader, const struct csv_row *header, struct err *err)
{
    buf_clear(&reader->names);
    for (size_t i = 0; i < header->cell_count; i++) {
        const struct csv_cell *cell = &header->cells[i];
        if (is_metric_name(cell)) {
            buf_append(&reader->names, cell->text, cell->len);
            reader->needed = i + 1 > reader->needed ? i + 1 : reader->needed;
        }
        buf_putc(&reader->names, '\0');
    }
    free(reader->metrics);
    reader->metrics = calloc(header->cell_count + 1, sizeof *reader->metrics);
    reader->metric_count = reader->metrics == NULL ? 0 : header->cell_count;
    reader->wants_units = true;
    return (reader->metrics != NULL && !reader->names.failed) ||
           err_set(err, ERR_NO_MEMORY, "no memory for the header of the table");
}

static bool take_header(struct reader *reader, struct err *err)
{
    const struct csv_row *header = &reader->csv.row;
    find_columns(reader, header);
    bool is_long = reader->columns[METRIC] != CSV_NO_COLUMN;
    reader->form = is_long ? FORM_LONG : FORM_WIDE;
    reader->parts++;
    return is_long || keep_names(reader, header, err);
}

/* `units` NULL: there are none. */
static bool find_metrics(struct reader *reader, const struct csv_row *units, struct err *err)
{
    const char *name = reader->names.ptr;
    for (size_t i = 0; i < reader->metric_count; i++) {
        struct csv_cell cell = {name, strlen(name)};
        struct csv_cell unit = {"", 0};
        if (units != NULL && i < units->cell_count) {
            unit = units->cells[i];
        }
        reader->metrics[i].name = STRTAB_NONE;
        if (cell.len > 0 &&
            !ncu_metric_find(&reader->launches, &cell, &unit, &reader->metrics[i], err)) {
            return false;
        }
        name += cell.len + 1;
    }
    reader->wants_units = false;
    return true;
}

/* ---- what a row says of its launch ---- */

static struct csv_cell cell_of(const struct reader *reader, enum column column)
{
    size_t index = reader->columns[column];
    if (index == CSV_NO_COLUMN || index >= reader->csv.row.cell_count) {
        return (struct csv_cell){"", 0};
    }
    return csv_trim(reader->csv.row.cells[index]);
}

/* "(128, 1, 1)" */
static bool read_dim(struct csv_cell cell, int64_t dim[3])
{
    const char *end = cell.text + cell.len;
    const char *at = cell.text;
    for (int i = 0; i < 3; i++) {
        while (at < end && !json_is_digit(*at)) {
            at++;
        }
        const char *digits = at;
        while (at < end && json_is_digit(*at)) {
            at++;
        }
        if (quantity_read_integer(digits, (size_t)(at - digits), &dim[i]) != QUANTITY_NUMBER) {
            return false;
        }
    }
    return true;
}

static bool read_dim_text(struct reader *reader, enum column column, uint32_t *id, struct err *err)
{
    int64_t dim[3];
    char text[KERNEL_DIM_BYTES];
    if (!read_dim(cell_of(reader, column), dim)) {
        return true;
    }
    kernel_rows_dim(text, dim);
    return kernel_rows_text(&reader->launches.rows, text, strlen(text), id, err);
}

static int64_t number_of(const struct reader *reader, enum column column)
{
    int64_t number;
    struct csv_cell cell = cell_of(reader, column);
    bool is_number = quantity_read_integer(cell.text, cell.len, &number) == QUANTITY_NUMBER;
    return is_number ? number : INT64_MIN;
}

static bool describe(struct reader *reader, uint32_t index, struct err *err)
{
    struct kernel_table_launch launch = reader->launches.rows.table->launches[index];
    launch.device = number_of(reader, DEVICE);
    launch.stream = number_of(reader, STREAM);
    if (!read_dim_text(reader, GRID, &launch.grid, err) ||
        !read_dim_text(reader, BLOCK, &launch.block, err)) {
        return false;
    }
    reader->launches.rows.table->launches[index] = launch;
    return true;
}

static struct ncu_place place_of(const struct reader *reader)
{
    return (struct ncu_place){reader->csv.row.line, reader->csv.row.byte_off};
}

/* The launch of the row: in the long form one that may be there already. */
static bool find_launch(struct reader *reader, uint32_t *index, struct err *err)
{
    struct ncu_launch_key key = {.part = reader->parts};
    struct csv_cell kernel = cell_of(reader, KERNEL);
    struct csv_cell process = cell_of(reader, PROCESS);
    bool is_long = reader->form == FORM_LONG;
    bool is_new;
    if (!kernel_rows_text(&reader->launches.rows, kernel.text, kernel.len, &key.kernel, err) ||
        !kernel_rows_text(&reader->launches.rows, process.text, process.len, &key.process, err)) {
        return false;
    }
    key.id = number_of(reader, ID);
    return ncu_launches_get(&reader->launches, is_long ? &key : NULL, key.kernel, place_of(reader),
                            index, &is_new, err) &&
           (!is_new || describe(reader, *index, err));
}

static bool read_long_row(struct reader *reader, struct err *err)
{
    uint32_t launch;
    struct ncu_metric metric;
    struct csv_cell name = cell_of(reader, METRIC);
    struct csv_cell unit = cell_of(reader, UNIT);
    struct csv_cell value = cell_of(reader, VALUE);
    /* Advice of the profiler stands in rows without a metric. */
    return find_launch(reader, &launch, err) &&
           (name.len == 0 ||
            (ncu_metric_find(&reader->launches, &name, &unit, &metric, err) &&
             ncu_launches_set(&reader->launches, launch, &metric, &value, place_of(reader), err)));
}

static bool read_wide_row(struct reader *reader, struct err *err)
{
    uint32_t launch;
    if (!find_launch(reader, &launch, err)) {
        return false;
    }
    for (size_t i = 0; i < reader->metric_count; i++) {
        const struct ncu_metric *metric = &reader->metrics[i];
        if (metric->name != STRTAB_NONE &&
            !ncu_launches_set(&reader->launches, launch, metric, &reader->csv.row.cells[i],
                              place_of(reader), err)) {
            return false;
        }
    }
    return true;
}

/* ---- rows ---- */

static bool is_message(const struct csv_row *row)
{
    return row->cells[0].len >= 2 && memcmp(row->cells[0].text, "==", 2) == 0;
}

/* Output of the program begins with no ID and seldom has as many commas. */
static bool is_output(const struct reader *reader)
{
    bool has_id = reader->columns[ID] != CSV_NO_COLUMN && number_of(reader, ID) != INT64_MIN;
    return !has_id && reader->csv.row.cell_count < reader->needed;
}

static bool is_header(const struct reader *reader)
{
    return reader->form == FORM_NONE ||
           (number_of(reader, ID) == INT64_MIN &&
            csv_column(&reader->csv.row, KERNEL_NAME) != CSV_NO_COLUMN);
}

static bool bad_row(struct reader *reader, const char *why, struct err *err)
{
    return kernel_rows_bad(&reader->launches.rows, reader->csv.row.line, reader->csv.row.byte_off,
                           err, "%s", why);
}

static bool read_launch(struct reader *reader, struct err *err)
{
    if (reader->csv.row.cell_count < reader->needed) {
        return bad_row(reader, "the row breaks off", err);
    }
    if (cell_of(reader, KERNEL).len == 0) {
        return bad_row(reader, "the kernel has no name", err);
    }
    if (reader->columns[ID] != CSV_NO_COLUMN && number_of(reader, ID) == INT64_MIN) {
        return bad_row(reader, "the ID is no number", err);
    }
    return reader->form == FORM_LONG ? read_long_row(reader, err) : read_wide_row(reader, err);
}

static bool read_row(void *context, const struct csv_row *row, struct err *err)
{
    struct reader *reader = context;
    if (row->flaw != CSV_WHOLE) {
        return bad_row(reader, csv_flaw_text(row->flaw), err);
    }
    if (is_header(reader)) {
        return take_header(reader, err);
    }
    if (is_message(row) || is_output(reader)) {
        return true;
    }
    if (!reader->wants_units) {
        return read_launch(reader, err);
    }
    bool is_units = cell_of(reader, KERNEL).len == 0;
    return find_metrics(reader, is_units ? row : NULL, err) &&
           (is_units || read_launch(reader, err));
}

/* Leaves the stream at the first header, and the CSV reader before it. */
static bool find_header(struct reader *reader, struct text_stream *stream, struct err *err)
{
    struct line_scan line;
    bool more = true;
    line_open(&line, stream, 1);
    while (more) {
        char separator;
        if (!line_next(&line, &more, err)) {
            return false;
        }
        enum form form = more ? header_at(line.text, line.len, &separator) : FORM_NONE;
        if (form == FORM_SUMMARY) {
            return err_set(err, ERR_UNSUPPORTED,
                           "this is the summary that ncu --print-summary prints: print the "
                           "launches themselves (ncu --csv without --print-summary)");
        }
        if (form != FORM_NONE) {
            stream->at = line.text;
            csv_open(&reader->csv, stream, separator, line.line);
            return true;
        }
    }
    return err_set(err, ERR_BAD_INPUT, "no header row of Nsight Compute was found");
}

bool ncu_csv_read(struct text_stream *stream,
                  const struct format_options *options,
                  struct format_bundle *bundle,
                  struct err *err)
{
    struct reader reader = {.form = FORM_NONE};
    if (!ncu_launches_open(&reader.launches, options->memory_budget_bytes, err)) {
        return false;
    }
    buf_init(&reader.names, CSV_ROW_BYTES_MAX * 2);
    bool ok = find_header(&reader, stream, err) &&
              csv_each_row(&reader.csv, read_row, &reader, err) &&
              ncu_launches_finish(&reader.launches, err);
    if (ok) {
        kernel_rows_note_stream(&reader.launches.rows, stream);
        ok = kernel_rows_finish(&reader.launches.rows,
                                "the table of Nsight Compute has no launch: profile with ncu "
                                "--csv --metrics gpu__time_duration.sum",
                                bundle, err);
    }
    csv_close(&reader.csv);
    buf_free(&reader.names);
    free(reader.metrics);
    ncu_launches_close(&reader.launches);
    return ok;
}

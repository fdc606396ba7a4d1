#include "ingest/formats/nsight/nsys_csv.h"

#include "ingest/formats/csv/scan.h"
#include "ingest/formats/json/scan.h"
#include "ingest/formats/nsight/kernel_rows.h"
#include "ingest/formats/nsight/quantity.h"

#include <math.h>
#include <string.h>

#define SHOWN_BYTES 40
#define HEADER_CELLS_MAX 64
#define HEADER_BYTES_MAX 1024

enum table_kind { TABLE_NONE, TABLE_TRACE, TABLE_SUMMARY };

enum column {
    NAME,
    START,
    DURATION,
    GRID_X, /* y and z follow */
    BLOCK_X = GRID_X + 3,
    BYTES = BLOCK_X + 3,
    DEVICE,
    STREAM,
    TOTAL,
    INSTANCES,
    MEAN,
    MEDIAN,
    MIN,
    MAX,
    COLUMN_COUNT
};

struct layout {
    enum table_kind kind;
    size_t columns[COLUMN_COUNT]; /* CSV_NO_COLUMN: absent */
    double factor[COLUMN_COUNT];  /* to nanoseconds or bytes */
    size_t count;                 /* cells of the header */
};

/* ---- headers ---- */

static bool contains(struct csv_cell cell, const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; i + len <= cell.len; i++) {
        if (memcmp(cell.text + i, word, len) == 0) {
            return true;
        }
    }
    return false;
}

struct head {
    enum column column;
    const char *name;
};

/* As newer and older versions write them, without their units. */
static const struct head heads[] = {
    {NAME, "Name"},        {START, "Start"},         {DURATION, "Duration"}, {GRID_X, "GrdX"},
    {GRID_X + 1, "GrdY"},  {GRID_X + 2, "GrdZ"},     {BLOCK_X, "BlkX"},      {BLOCK_X + 1, "BlkY"},
    {BLOCK_X + 2, "BlkZ"}, {BYTES, "Bytes"},         {DEVICE, "Device"},     {STREAM, "Strm"},
    {TOTAL, "Total Time"}, {INSTANCES, "Instances"}, {MEAN, "Avg"},          {MEAN, "Average"},
    {MEDIAN, "Med"},       {MEDIAN, "Median"},       {MIN, "Min"},           {MIN, "Minimum"},
    {MAX, "Max"},          {MAX, "Maximum"},
};

/* "Total Time (ns)" is "Total Time" and "ns". */
static void split_head(struct csv_cell cell, struct csv_cell *name, struct csv_cell *unit)
{
    *name = csv_trim(cell);
    *unit = (struct csv_cell){"", 0};
    const char *open = name->len == 0 ? NULL : memchr(name->text, '(', name->len);
    if (open != NULL && name->text[name->len - 1] == ')') {
        unit->text = open + 1;
        unit->len = (size_t)(name->text + name->len - 1 - unit->text);
        name->len = (size_t)(open - name->text);
        *name = csv_trim(*name);
    }
}

static bool is_head(struct csv_cell name)
{
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        if (csv_cell_equals(&name, heads[i].name)) {
            return true;
        }
    }
    return false;
}

/* What one unit of the column is in nanoseconds or bytes; 0: it cannot be told. */
static double factor_of(enum column column, struct csv_cell unit)
{
    if (column == BYTES) {
        return quantity_size_bytes(unit.text, unit.len);
    }
    return unit.len == 0 ? 1 : quantity_time_ns(unit.text, unit.len);
}

static void place_head(struct layout *layout, size_t index, struct csv_cell cell)
{
    struct csv_cell name;
    struct csv_cell unit;
    split_head(cell, &name, &unit);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        enum column column = heads[i].column;
        if (csv_cell_equals(&name, heads[i].name) && layout->columns[column] == CSV_NO_COLUMN) {
            layout->columns[column] = index;
            layout->factor[column] = factor_of(column, unit);
        }
    }
}

/* Reports about the host and ranges have names too, but no grid and no instances. */
static enum table_kind kind_of(const struct layout *layout)
{
    const size_t *columns = layout->columns;
    bool has_name = columns[NAME] != CSV_NO_COLUMN;
    bool has_place = columns[STREAM] != CSV_NO_COLUMN || columns[GRID_X] != CSV_NO_COLUMN;
    if (has_name && has_place && columns[START] != CSV_NO_COLUMN &&
        columns[DURATION] != CSV_NO_COLUMN) {
        return TABLE_TRACE;
    }
    bool has_sums = columns[TOTAL] != CSV_NO_COLUMN && columns[INSTANCES] != CSV_NO_COLUMN;
    return has_name && has_sums ? TABLE_SUMMARY : TABLE_NONE;
}

static struct layout layout_of(const struct csv_cell *cells, size_t count)
{
    struct layout layout = {.count = count};
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        layout.columns[i] = CSV_NO_COLUMN;
        layout.factor[i] = 1;
    }
    for (size_t i = 0; i < count && i < HEADER_CELLS_MAX; i++) {
        place_head(&layout, i, cells[i]);
    }
    layout.kind = kind_of(&layout);
    return layout;
}

/* The heads hold no quotes that matter: cells are cut at every comma. */
static struct layout layout_of_line(const char *at, const char *end)
{
    struct csv_cell cells[HEADER_CELLS_MAX];
    size_t count = 0;
    while (at < end && count < HEADER_CELLS_MAX) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *cell_end = comma == NULL ? end : comma;
        struct csv_cell cell = {at, (size_t)(cell_end - at)};
        if (cell.len >= 2 && cell.text[0] == '"' && cell.text[cell.len - 1] == '"') {
            cell = (struct csv_cell){cell.text + 1, cell.len - 2};
        }
        cells[count++] = cell;
        at = comma == NULL ? end : comma + 1;
    }
    return layout_of(cells, count);
}

bool nsys_csv_recognises(const char *window, size_t len)
{
    const char *end = window + len;
    if (len > 0 && *window == '{') {
        return false; /* JSON, the usual upload: half a megabyte of lines would be looked at */
    }
    while (window < end) {
        const char *newline = memchr(window, '\n', (size_t)(end - window));
        const char *line_end = newline == NULL ? end : newline;
        struct csv_cell line = {window, (size_t)(line_end - window)};
        bool may_be_header = line.len <= HEADER_BYTES_MAX && contains(line, "Name");
        if (may_be_header && layout_of_line(window, line_end).kind != TABLE_NONE) {
            return true;
        }
        window = newline == NULL ? end : newline + 1;
    }
    return false;
}

/* ---- cells ---- */

struct reader {
    struct kernel_rows rows;
    struct csv_scan csv;
    struct layout layout;
    bool has_rows_of_trace;
};

static struct csv_cell cell_of(const struct reader *reader, enum column column)
{
    size_t index = reader->layout.columns[column];
    if (index >= reader->csv.row.cell_count) {
        return (struct csv_cell){"", 0};
    }
    return csv_trim(reader->csv.row.cells[index]);
}

/* NaN: there is no figure. */
static double quantity_of(const struct reader *reader, enum column column)
{
    double value;
    struct csv_cell cell = cell_of(reader, column);
    bool is_number = reader->layout.factor[column] > 0 &&
                     quantity_read(cell.text, cell.len, &value) == QUANTITY_NUMBER;
    return is_number ? value * reader->layout.factor[column] : (double)NAN;
}

/* INT64_MIN: there is no figure. */
static int64_t integer_of(const struct reader *reader, enum column column)
{
    double value = round(quantity_of(reader, column));
    return fabs(value) < 9.0e18 ? (int64_t)value : INT64_MIN;
}

/* "NVIDIA A100 (0)" or 0 */
static int64_t device_of(const struct reader *reader)
{
    struct csv_cell cell = cell_of(reader, DEVICE);
    int64_t device;
    if (cell.len > 2 && cell.text[cell.len - 1] == ')') {
        size_t at = cell.len - 1;
        while (at > 0 && cell.text[at - 1] != '(') {
            at--;
        }
        cell = (struct csv_cell){cell.text + at, cell.len - 1 - at};
    }
    return quantity_read_integer(cell.text, cell.len, &device) == QUANTITY_NUMBER ? device
                                                                                  : INT64_MIN;
}

static bool dim_of(struct reader *reader, enum column first, uint32_t *id, struct err *err)
{
    char text[KERNEL_DIM_BYTES];
    const int64_t dim[3] = {integer_of(reader, first), integer_of(reader, first + 1),
                            integer_of(reader, first + 2)};
    if (dim[0] == INT64_MIN || dim[1] == INT64_MIN || dim[2] == INT64_MIN) {
        return true;
    }
    kernel_rows_dim(text, dim);
    return kernel_rows_text(&reader->rows, text, strlen(text), id, err);
}

static enum kernel_table_kind kind_of_name(struct csv_cell name)
{
    bool is_operation = name.len > 0 && name.text[0] == '[';
    if (is_operation && contains(name, "memcpy")) {
        return KERNEL_TABLE_MEMCPY;
    }
    return is_operation && contains(name, "memset") ? KERNEL_TABLE_MEMSET : KERNEL_TABLE_KERNEL;
}

/* ---- rows ---- */

static bool bad_row(struct reader *reader, const char *why, struct csv_cell what, struct err *err)
{
    int shown = (int)(what.len < SHOWN_BYTES ? what.len : SHOWN_BYTES);
    return kernel_rows_bad(&reader->rows, reader->csv.row.line, reader->csv.row.byte_off, err,
                           "%s (%.*s)", why, shown, what.text);
}

static bool read_launch(struct reader *reader, struct csv_cell name, struct err *err)
{
    struct kernel_table_launch launch = kernel_rows_blank();
    launch.kind = kind_of_name(name);
    launch.start_ns = integer_of(reader, START);
    launch.dur_ns = integer_of(reader, DURATION);
    launch.device = device_of(reader);
    launch.stream = integer_of(reader, STREAM);
    launch.size_bytes = launch.kind == KERNEL_TABLE_KERNEL ? INT64_MIN : integer_of(reader, BYTES);
    if (launch.dur_ns < 0) {
        return bad_row(reader, "the duration is no time", name, err);
    }
    reader->has_rows_of_trace = true;
    return kernel_rows_text(&reader->rows, name.text, name.len, &launch.name, err) &&
           dim_of(reader, GRID_X, &launch.grid, err) &&
           dim_of(reader, BLOCK_X, &launch.block, err) &&
           kernel_rows_add(&reader->rows, &launch, err);
}

static bool read_summary(struct reader *reader, struct csv_cell name, struct err *err)
{
    struct kernel_table_summary summary = {.launches = integer_of(reader, INSTANCES),
                                           .total_ns = integer_of(reader, TOTAL),
                                           .min_ns = integer_of(reader, MIN),
                                           .max_ns = integer_of(reader, MAX),
                                           .mean_ns = quantity_of(reader, MEAN),
                                           .median_ns = quantity_of(reader, MEDIAN)};
    if (kind_of_name(name) != KERNEL_TABLE_KERNEL) {
        return true;
    }
    if (summary.launches <= 0) {
        return bad_row(reader, "the number of instances is no count", name, err);
    }
    if (summary.total_ns < 0) {
        return bad_row(reader, "the total is no time", name, err);
    }
    return kernel_rows_text(&reader->rows, name.text, name.len, &summary.name, err) &&
           kernel_rows_add_summary(&reader->rows, &summary, err);
}

/* Headings and messages: "Processing [...]", " ** CUDA GPU Trace (cuda_gpu_trace):", "SKIPPED: ..."
 */
static bool is_heading(const struct csv_row *row)
{
    static const char *const beginnings[] = {"Processing", "Generating", "Executing",
                                             "SKIPPED",    "NOTICE",     "**"};
    struct csv_cell first = csv_trim(row->cells[0]);
    if (first.len >= 2 && first.text[0] == '[' && json_is_digit(first.text[1])) {
        return true; /* "[5/8] Executing 'cuda_gpu_trace' stats report" */
    }
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        size_t len = strlen(beginnings[i]);
        if (first.len >= len && memcmp(first.text, beginnings[i], len) == 0) {
            return true;
        }
    }
    return false;
}

/* A row without a figure, but with at least two heads that all tables have. */
static bool is_header(const struct csv_row *row)
{
    size_t known = 0;
    for (size_t i = 0; i < row->cell_count; i++) {
        double value;
        struct csv_cell name;
        struct csv_cell unit;
        if (quantity_read(row->cells[i].text, row->cells[i].len, &value) != QUANTITY_NONE) {
            return false;
        }
        split_head(row->cells[i], &name, &unit);
        known += is_head(name);
    }
    return known >= 2;
}

/* Where names are not quoted, their commas cut them: the cells of a last column belong together. */
static struct csv_cell name_of(const struct reader *reader)
{
    const struct csv_row *row = &reader->csv.row;
    size_t index = reader->layout.columns[NAME];
    struct csv_cell name = cell_of(reader, NAME);
    if (index + 1 == reader->layout.count && row->cell_count > reader->layout.count) {
        const struct csv_cell *last = &row->cells[row->cell_count - 1];
        const char *end = last->text + last->len;
        bool is_one_text = true;
        for (size_t i = index + 1; i < row->cell_count; i++) {
            const struct csv_cell *before = &row->cells[i - 1];
            is_one_text = is_one_text && row->cells[i].text == before->text + before->len + 1;
        }
        if (is_one_text) {
            name.len = (size_t)(end - name.text);
        }
    }
    return csv_trim(name);
}

static bool read_row(void *context, const struct csv_row *row, struct err *err)
{
    struct reader *reader = context;
    bool is_known = reader->layout.kind != TABLE_NONE;
    if (row->flaw != CSV_WHOLE) {
        struct csv_cell nothing = {"", 0};
        return !is_known || bad_row(reader, csv_flaw_text(row->flaw), nothing, err);
    }
    if (is_heading(row)) {
        reader->layout.kind = TABLE_NONE;
        return true;
    }
    if (is_header(row)) {
        reader->layout = layout_of(row->cells, row->cell_count);
        return true;
    }
    if (!is_known) {
        return true;
    }
    struct csv_cell name = name_of(reader);
    if (name.len == 0) {
        return bad_row(reader, "the row breaks off", csv_trim(row->cells[0]), err);
    }
    return reader->layout.kind == TABLE_TRACE ? read_launch(reader, name, err)
                                              : read_summary(reader, name, err);
}

bool nsys_csv_read(struct text_stream *stream,
                   const struct format_options *options,
                   struct format_bundle *bundle,
                   struct err *err)
{
    struct reader reader = {.layout = {.kind = TABLE_NONE}};
    if (!kernel_rows_open(&reader.rows, options->memory_budget_bytes, err)) {
        return false;
    }
    csv_open(&reader.csv, stream, ',', 1);
    bool ok = csv_each_row(&reader.csv, read_row, &reader, err);
    if (ok) {
        if (reader.has_rows_of_trace) {
            reader.rows.table->summary_count = 0;
        }
        kernel_rows_note_stream(&reader.rows, stream);
        ok = kernel_rows_finish(&reader.rows,
                                "the tables of Nsight Systems have no kernel: print one that has "
                                "(nsys stats --report cuda_gpu_trace --format csv)",
                                bundle, err);
    }
    csv_close(&reader.csv);
    kernel_rows_close(&reader.rows);
    return ok;
}

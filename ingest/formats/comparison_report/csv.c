#include "ingest/formats/comparison_report/csv.h"

#include "ingest/formats/comparison_report/columns.h"
#include "ingest/formats/csv/row_list.h"
#include "ingest/formats/csv/scan.h"
#include "ingest/formats/csv/table_results.h"

#include <string.h>

/* Our own columns, which tell the pairs of one table apart. */
enum pair_column { KIND, BASE_PID, CANDIDATE_PID, PAIR_COLUMNS };

struct reading {
    struct table_results table;
    struct csv_scan scan;
    struct comparison *comparison;
    struct report_columns columns;
    struct row_list rows; /* struct comparison_row */
    size_t pair_columns[PAIR_COLUMNS];
    const char *pair[PAIR_COLUMNS]; /* of the first row */
};

bool report_csv_recognises(const char *window, size_t len)
{
    static const char *const needed[] = {"Function Name", "Metric Name", "Device",
                                         "Suspicion Score", NULL};
    return csv_is_header(window, len, ',', needed);
}

/* --- the pair --- */

static bool take_pair(struct reading *reading)
{
    for (size_t i = 0; i < PAIR_COLUMNS; i++) {
        size_t at = reading->pair_columns[i];
        if (at == CSV_NO_COLUMN) {
            continue;
        }
        const struct csv_cell *cell = &reading->scan.row.cells[at];
        reading->pair[i] = text_pool_add(&reading->table.texts, cell->text, cell->len);
        if (reading->pair[i] == NULL) {
            return false;
        }
        if (i != KIND && !csv_integer(cell, &reading->comparison->roles[i - BASE_PID].pid)) {
            reading->comparison->roles[i - BASE_PID].pid = COMPARISON_NO_PID;
        }
    }
    for (int kind = 0; reading->pair[KIND] != NULL && kind < CYCLE_KIND_COUNT; kind++) {
        if (strcmp(reading->pair[KIND], cycle_kind_name((enum cycle_kind)kind)) == 0) {
            reading->comparison->kind = (enum cycle_kind)kind;
        }
    }
    return true;
}

static bool is_of_pair(const struct reading *reading)
{
    for (size_t i = 0; i < PAIR_COLUMNS; i++) {
        if (reading->pair[i] != NULL &&
            !csv_cell_equals(&reading->scan.row.cells[reading->pair_columns[i]],
                             reading->pair[i])) {
            return false;
        }
    }
    return true;
}

/* --- rows --- */

/* False without memory. */
static bool read_row_of(struct reading *reading, const struct csv_row *row)
{
    struct comparison_row read;
    const char *unreadable;
    bool is_bad;
    if (!table_check_row(&reading->table, row, reading->columns.column_count, &is_bad)) {
        return false;
    }
    if (is_bad) {
        return true;
    }
    if (!report_columns_read(&reading->columns, row->cells, &reading->table.texts, &read,
                             &unreadable)) {
        return false;
    }
    if (unreadable != NULL) {
        return table_bad_line(&reading->table, row->line, row->byte_off, "%s is no number",
                              unreadable);
    }
    if (reading->rows.count == 0 && !take_pair(reading)) {
        return false;
    }
    if (!is_of_pair(reading)) {
        return table_bad_line(&reading->table, row->line, row->byte_off,
                              "a row of another pair of processes; only the first pair is read");
    }
    struct comparison_row *added = row_list_add(&reading->rows);
    if (added != NULL) {
        *added = read;
    }
    return added != NULL;
}

static bool read_row(void *context, const struct csv_row *row, struct err *err)
{
    struct reading *reading = context;
    if (!read_row_of(reading, row)) {
        return table_no_memory(err);
    }
    const struct row_list *rows = &reading->rows;
    return table_within_budget(&reading->table, (rows->capacity + rows->count) * rows->row_bytes,
                               err);
}

/* --- the whole --- */

static bool read_header(struct reading *reading, struct err *err)
{
    static const char *const names[PAIR_COLUMNS] = {"Kind", "Base PID", "Candidate PID"};
    bool more;
    if (!csv_next(&reading->scan, &more, err)) {
        return false;
    }
    const struct csv_row *header = &reading->scan.row;
    if (!more || !report_columns_find(header->cells, header->cell_count, &reading->columns)) {
        return err_set(err, ERR_BAD_INPUT,
                       "the first line is no header of a comparison (Function Name, Metric Name, "
                       "Device, Suspicion Score, ...)");
    }
    for (size_t i = 0; i < PAIR_COLUMNS; i++) {
        reading->pair_columns[i] = csv_column(header, names[i]);
    }
    reading->comparison = report_comparison_create(&reading->table.results->arena);
    if (reading->comparison == NULL) {
        return table_no_memory(err);
    }
    for (int side = 0; side < SIDE_COUNT; side++) {
        const struct csv_cell *label = &reading->columns.labels[side];
        const char *text =
            text_pool_add(&reading->table.texts, label->len == 0 ? "" : label->text, label->len);
        if (text == NULL) {
            return table_no_memory(err);
        }
        if (*text != '\0') {
            reading->comparison->roles[side].label = text;
        }
    }
    return true;
}

static bool read_rows(struct reading *reading, struct err *err)
{
    return csv_each_row(&reading->scan, read_row, reading, err) &&
           (reading->rows.count > 0 ||
            table_no_row(&reading->table, "the comparison has no row", err));
}

static bool finish(struct reading *reading, struct err *err)
{
    struct comparison *comparison = reading->comparison;
    if (!row_list_finish(&reading->rows, &reading->table.results->arena, &comparison->rows,
                         &comparison->row_count)) {
        return table_no_memory(err);
    }
    report_comparison_finish(comparison, reading->table.results);
    return true;
}

bool report_csv_read(struct text_stream *stream,
                     const struct format_options *options,
                     struct format_bundle *bundle,
                     struct err *err)
{
    struct reading reading = {.rows = {.row_bytes = sizeof(struct comparison_row)}};
    csv_open(&reading.scan, stream, ',', 1);
    bool good = table_results_init(&reading.table, stream, options->memory_budget_bytes, err) &&
                read_header(&reading, err) && read_rows(&reading, err) && finish(&reading, err) &&
                table_results_finish(&reading.table, bundle, err);
    csv_close(&reading.scan);
    row_list_free(&reading.rows);
    table_results_free(&reading.table);
    return good;
}

#include "ingest/formats/comparison_report/report.h"

#include "ingest/formats/comparison_report/appeared.h"
#include "ingest/formats/comparison_report/columns.h"
#include "ingest/formats/comparison_report/findings.h"
#include "ingest/formats/comparison_report/title.h"
#include "ingest/formats/comparison_report/verdict.h"
#include "ingest/formats/csv/line_scan.h"
#include "ingest/formats/csv/markdown_row.h"
#include "ingest/formats/csv/table_results.h"
#include "ingest/formats/json/scan.h"

#include <math.h>
#include <string.h>

#define SCORE_THRESHOLD 10.0 /* of findings [CMP-7a] */
#define TIME_SUFFIX " Time (us)"

enum table_kind {
    TABLE_NONE,
    TABLE_SUMMARY,
    TABLE_CYCLES,
    TABLE_ROWS,
    TABLE_APPEARED,
    TABLE_OTHER
};

enum section { SECTION_OTHER, SECTION_FINDINGS, SECTION_VERDICT };

struct reading {
    struct table_results table;
    struct line_scan lines;
    struct comparison *comparison;
    struct markdown_row cells;
    struct row_list cycles; /* struct comparison_cycle_row */
    struct row_list rows;   /* struct comparison_row */
    struct report_findings findings;
    struct report_appeared appeared;
    struct report_columns columns;
    enum section section;
    enum table_kind in_table; /* which one the line belongs to */
    size_t column_count;      /* of that one */
    bool has[TABLE_OTHER];    /* tables that have begun: a second one of a kind is another's */
    bool has_labels;
    bool has_title;
    bool has_verdict;
};

bool comparison_report_recognises(const char *window, size_t len)
{
    const char *end = window + len;
    while (window < end && json_is_space(*window)) {
        window++;
    }
    /* What changed may stand before it, with headings of its own. */
    bool is_titled = false;
    const char *line = window < end && *window == '#' ? window : end;
    while (line < end && !is_titled) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *line_end = newline == NULL ? end : newline;
        is_titled = report_title_is(line, (size_t)(line_end - line));
        line = newline == NULL ? end : newline + 1;
    }
    return is_titled;
}

/* --- labels --- */

static bool set_label(struct reading *reading, int side, struct csv_cell label)
{
    if (label.len == 0) {
        return true;
    }
    const char *text = text_pool_add(&reading->table.texts, label.text, label.len);
    reading->comparison->roles[side].label = text;
    return text != NULL;
}

/* The first table that has them names the sides. */
static bool set_labels(struct reading *reading, struct csv_cell base, struct csv_cell candidate)
{
    if (reading->has_labels) {
        return true;
    }
    reading->has_labels = base.len > 0 && candidate.len > 0;
    return set_label(reading, SIDE_BASE, base) && set_label(reading, SIDE_CANDIDATE, candidate);
}

static struct csv_cell without_suffix(struct csv_cell cell, const char *suffix)
{
    size_t len = strlen(suffix);
    if (cell.len > len && memcmp(cell.text + cell.len - len, suffix, len) == 0) {
        cell.len -= len;
    }
    return cell;
}

/* --- rows of tables --- */

static bool bad_line(struct reading *reading, const char *what)
{
    return table_bad_line(&reading->table, reading->lines.line, reading->lines.byte_off, "%s",
                          what);
}

static bool read_summary_row(struct reading *reading)
{
    const struct csv_cell *cells = reading->cells.cells;
    bool is_count = csv_cell_equals(&cells[0], "Total Cycles");
    if (!is_count && !csv_cell_equals(&cells[0], "Avg Cycle Time (us)")) {
        return true;
    }
    for (int side = 0; side < SIDE_COUNT; side++) {
        struct comparison_role *role = &reading->comparison->roles[side];
        const struct csv_cell *cell = &cells[1 + side];
        int64_t count;
        if (is_count && csv_integer(cell, &count) && count >= 0) {
            role->cycles = count;
        } else if (is_count || !report_figure(*cell, &role->mean_cycle_us)) {
            return bad_line(reading, "the summary of the cycles is no number");
        }
    }
    return true;
}

static bool read_cycle_row(struct reading *reading)
{
    struct comparison_cycle_row cycle;
    for (int side = 0; side < SIDE_COUNT; side++) {
        if (!report_figure(reading->cells.cells[1 + side], &cycle.dur_us[side])) {
            return bad_line(reading, "the time of a cycle is no number");
        }
    }
    struct comparison_cycle_row *row = row_list_add(&reading->cycles);
    if (row != NULL) {
        *row = cycle;
    }
    return row != NULL;
}

static bool read_comparison_row(struct reading *reading)
{
    struct comparison_row read;
    const char *unreadable;
    if (!report_columns_read(&reading->columns, reading->cells.cells, &reading->table.texts, &read,
                             &unreadable)) {
        return false;
    }
    if (unreadable != NULL) {
        return table_bad_line(&reading->table, reading->lines.line, reading->lines.byte_off,
                              "%s is no number", unreadable);
    }
    struct comparison_row *row = row_list_add(&reading->rows);
    if (row != NULL) {
        *row = read;
    }
    return row != NULL;
}

static bool read_table_row(struct reading *reading)
{
    if (reading->in_table == TABLE_OTHER) {
        return true;
    }
    if (!markdown_row_split(&reading->cells, reading->lines.text, reading->lines.len,
                            reading->column_count)) {
        return false;
    }
    if (markdown_row_is_rule(&reading->cells)) {
        return true;
    }
    if (reading->cells.cell_count != reading->column_count) {
        return bad_line(reading, reading->lines.is_last_line
                                     ? "the file breaks off within a row"
                                     : "the row has not as many cells as the header");
    }
    switch (reading->in_table) {
    case TABLE_SUMMARY:
        return read_summary_row(reading);
    case TABLE_CYCLES:
        return read_cycle_row(reading);
    case TABLE_APPEARED:
        return report_appeared_row(&reading->appeared, reading->cells.cells, &reading->table.texts);
    default:
        return read_comparison_row(reading);
    }
}

/* --- headers of tables --- */

/* The table that the cells are the header of. */
static enum table_kind kind_of(struct reading *reading)
{
    const struct csv_cell *cells = reading->cells.cells;
    size_t count = reading->cells.cell_count;
    struct report_columns columns;
    enum table_kind kind = TABLE_OTHER;
    if (count >= 3 && csv_cell_equals(&cells[0], "Metric")) {
        kind = TABLE_SUMMARY;
    } else if (count >= 3 && csv_cell_equals(&cells[0], "Time Rank")) {
        kind = TABLE_CYCLES;
    } else if (report_columns_find(cells, count, &columns)) {
        kind = TABLE_ROWS;
    } else if (report_appeared_header(&reading->appeared, cells, count)) {
        kind = TABLE_APPEARED;
    }
    return kind != TABLE_OTHER && reading->has[kind] ? TABLE_OTHER : kind;
}

static bool read_table_header(struct reading *reading)
{
    if (!markdown_row_split(&reading->cells, reading->lines.text, reading->lines.len, 0)) {
        return false;
    }
    const struct csv_cell *cells = reading->cells.cells;
    reading->in_table = kind_of(reading);
    reading->column_count = reading->cells.cell_count;
    if (reading->in_table == TABLE_OTHER) {
        return true;
    }
    reading->has[reading->in_table] = true;
    if (reading->in_table == TABLE_SUMMARY) {
        return set_labels(reading, cells[1], cells[2]);
    }
    if (reading->in_table == TABLE_CYCLES) {
        return set_labels(reading, without_suffix(cells[1], TIME_SUFFIX),
                          without_suffix(cells[2], TIME_SUFFIX));
    }
    if (reading->in_table == TABLE_APPEARED) {
        return true;
    }
    (void)report_columns_find(cells, reading->column_count, &reading->columns);
    return set_labels(reading, reading->columns.labels[SIDE_BASE],
                      reading->columns.labels[SIDE_CANDIDATE]);
}

/* --- lines --- */

static bool contains(const char *text, size_t len, const char *words)
{
    size_t words_len = strlen(words);
    for (size_t i = 0; i + words_len <= len; i++) {
        if (memcmp(text + i, words, words_len) == 0) {
            return true;
        }
    }
    return false;
}

static bool read_heading(struct reading *reading)
{
    const char *text = reading->lines.text;
    size_t len = reading->lines.len;
    reading->section = contains(text, len, "Key Findings") ? SECTION_FINDINGS
                       : contains(text, len, "Verdict")    ? SECTION_VERDICT
                                                           : SECTION_OTHER;
    if (reading->has_title || !report_title_is(text, len)) {
        return true;
    }
    reading->has_title = true;
    return report_title_read(text, len, &reading->table.texts, reading->comparison);
}

static bool read_text_line(struct reading *reading)
{
    const struct line_scan *lines = &reading->lines;
    if (reading->section == SECTION_VERDICT) {
        bool states = report_verdict_line(lines->text, lines->len, reading->comparison);
        reading->has_verdict = reading->has_verdict || states;
    } else if (reading->section == SECTION_FINDINGS) {
        return report_findings_line(&reading->findings, &reading->table.texts, lines->text,
                                    lines->len);
    }
    return true;
}

static bool read_line(struct reading *reading)
{
    const struct line_scan *lines = &reading->lines;
    bool is_heading = lines->len > 0 && *lines->text == '#';
    if (!reading->has_title && !is_heading) {
        return true;
    }
    if (lines->is_too_long) {
        return bad_line(reading, "the line is too long");
    }
    if (markdown_is_row(lines->text, lines->len)) {
        return reading->in_table == TABLE_NONE ? read_table_header(reading)
                                               : read_table_row(reading);
    }
    if (reading->in_table != TABLE_NONE && lines->len > 0 && !is_heading) {
        return bad_line(reading, "a line within a table that is no row");
    }
    reading->in_table = TABLE_NONE;
    return is_heading ? read_heading(reading) : read_text_line(reading);
}

/* --- the whole --- */

static bool within_budget(const struct reading *reading, struct err *err)
{
    const struct row_list *rows = &reading->rows;
    const struct row_list *cycles = &reading->cycles;
    return table_within_budget(&reading->table,
                               (rows->capacity + rows->count) * rows->row_bytes +
                                   (cycles->capacity + cycles->count) * cycles->row_bytes,
                               err);
}

static bool read_lines(struct reading *reading, struct err *err)
{
    bool more;
    for (;;) {
        if (!line_next(&reading->lines, &more, err)) {
            return false;
        }
        if (!more) {
            break;
        }
        if (!read_line(reading)) {
            return table_no_memory(err);
        }
        if (!within_budget(reading, err)) {
            return false;
        }
    }
    if (reading->rows.count == 0 && reading->cycles.count == 0 && !reading->has[TABLE_ROWS] &&
        !reading->has[TABLE_SUMMARY]) {
        return err_set(err, ERR_BAD_INPUT, "the report has none of the tables of a comparison");
    }
    return true;
}

/* What the summary does not say, the cycles do. */
static void complete_roles(struct comparison *comparison)
{
    for (int side = 0; side < SIDE_COUNT; side++) {
        struct comparison_role *role = &comparison->roles[side];
        int64_t count = 0;
        double sum = 0;
        for (size_t i = 0; i < comparison->cycle_count; i++) {
            double dur_us = comparison->cycles[i].dur_us[side];
            count += !isnan(dur_us);
            sum += isnan(dur_us) ? 0 : dur_us;
        }
        role->cycles = role->cycles > 0 ? role->cycles : count;
        if (isnan(role->mean_cycle_us) && count > 0) {
            role->mean_cycle_us = sum / (double)count;
        }
    }
}

/* After the table a report has a legend. */
static bool breaks_off(const struct reading *reading)
{
    return !reading->has[TABLE_ROWS] || reading->in_table != TABLE_NONE;
}

static enum comparison_verdict verdict_of(const struct reading *reading)
{
    const struct comparison *comparison = reading->comparison;
    if (reading->has_verdict) {
        return comparison->verdict;
    }
    if (comparison->finding_count > 0) {
        return VERDICT_DIFFERENT;
    }
    for (size_t i = 0; i < comparison->row_count; i++) {
        if (comparison->rows[i].score > SCORE_THRESHOLD) {
            return VERDICT_UNDECIDED;
        }
    }
    bool is_known = comparison->row_count > 0 || !breaks_off(reading);
    return is_known ? VERDICT_NO_DIFFERENCE : VERDICT_UNDECIDED;
}

static bool finish(struct reading *reading, struct err *err)
{
    struct trace_results *results = reading->table.results;
    struct comparison *comparison = reading->comparison;
    struct arena *arena = &results->arena;
    if (!row_list_finish(&reading->rows, arena, &comparison->rows, &comparison->row_count) ||
        !row_list_finish(&reading->cycles, arena, &comparison->cycles, &comparison->cycle_count) ||
        !row_list_finish(&reading->findings.list, arena, &comparison->findings,
                         &comparison->finding_count) ||
        !report_appeared_finish(&reading->appeared, comparison, arena)) {
        return table_no_memory(err);
    }
    if (breaks_off(reading)) {
        const struct text_stream *stream = reading->table.stream;
        warning_add(&results->warnings, WARN_TRUNCATED, text_stream_offset(stream, stream->at));
    }
    complete_roles(comparison);
    comparison->verdict = verdict_of(reading);
    report_comparison_finish(comparison, results);
    return true;
}

static bool start(struct reading *reading, struct err *err)
{
    reading->comparison = report_comparison_create(&reading->table.results->arena);
    return reading->comparison != NULL || table_no_memory(err);
}

bool comparison_report_read(struct text_stream *stream,
                            const struct format_options *options,
                            struct format_bundle *bundle,
                            struct err *err)
{
    struct reading reading = {.cycles = {.row_bytes = sizeof(struct comparison_cycle_row)},
                              .rows = {.row_bytes = sizeof(struct comparison_row)}};
    report_findings_init(&reading.findings);
    report_appeared_init(&reading.appeared);
    markdown_row_init(&reading.cells);
    line_open(&reading.lines, stream, 1);
    bool good = table_results_init(&reading.table, stream, options->memory_budget_bytes, err) &&
                start(&reading, err) && read_lines(&reading, err) && finish(&reading, err) &&
                table_results_finish(&reading.table, bundle, err);
    row_list_free(&reading.cycles);
    row_list_free(&reading.rows);
    row_list_free(&reading.findings.list);
    report_appeared_free(&reading.appeared);
    markdown_row_free(&reading.cells);
    table_results_free(&reading.table);
    return good;
}

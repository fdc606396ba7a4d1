#include "ingest/formats/csv/table_results.h"

#include "ingest/formats/reader.h"
#include "ingest/model/results/kernel_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BAD_LINE_BYTES 320

bool table_no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the table");
}

bool table_results_init(struct table_results *table,
                        struct text_stream *stream,
                        size_t memory_budget_bytes,
                        struct err *err)
{
    *table = (struct table_results){
        .results = results_create(), .stream = stream, .memory_budget_bytes = memory_budget_bytes};
    if (table->results == NULL || !text_pool_init(&table->texts, &table->results->arena)) {
        return table_no_memory(err);
    }
    table->results->device_type = "CPU";
    return true;
}

void table_results_free(struct table_results *table)
{
    text_pool_free(&table->texts);
    results_destroy(table->results);
    table->results = NULL;
}

static void warn_of_stream(struct table_results *table)
{
    struct warnings *warnings = &table->results->warnings;
    const struct text_stream *stream = table->stream;
    const char *why;
    warning_add_times(warnings, WARN_COMPRESSED_CUT, text_stream_offset(stream, stream->end),
                      input_cut(stream->in, &why));
    warning_add_times(warnings, WARN_UTF8, stream->first_invalid_off, stream->invalid_count);
    warning_add_times(warnings, WARN_NUL, WARNING_NO_OFFSET, table->texts.nul_count);
}

bool table_results_finish(struct table_results *table,
                          struct format_bundle *bundle,
                          struct err *err)
{
    warn_of_stream(table);
    struct format_item item = {.results = table->results};
    table->results = NULL;
    return format_bundle_one(bundle, item, err);
}

bool table_read_header(struct csv_scan *scan,
                       const char *const *names,
                       size_t needed,
                       size_t count,
                       size_t *columns,
                       struct err *err)
{
    bool more;
    if (!csv_next(scan, &more, err)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        columns[i] = csv_column(&scan->row, names[i]);
        if (i < needed && columns[i] == CSV_NO_COLUMN) {
            return err_set(err, ERR_BAD_INPUT, "the first line of the table has no column \"%s\"",
                           names[i]);
        }
    }
    return true;
}

/* --- lines that are left out --- */

bool table_bad_line(
    struct table_results *table, uint64_t line, uint64_t byte_off, const char *fmt, ...)
{
    struct trace_results *results = table->results;
    char text[BAD_LINE_BYTES];
    warning_add(&results->warnings, WARN_BAD_LINE, byte_off);
    if (results->bad_row_count == KERNEL_TABLE_BAD_ROWS_MAX) {
        return true;
    }
    int used = snprintf(text, sizeof text, "line %llu: ", (unsigned long long)line);
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text + used, sizeof text - (size_t)used, fmt, args);
    va_end(args);
    if (results->bad_rows == NULL) {
        results->bad_rows =
            arena_calloc(&results->arena, KERNEL_TABLE_BAD_ROWS_MAX, sizeof *results->bad_rows);
    }
    const char *copy = text_pool_add(&table->texts, text, strlen(text));
    if (results->bad_rows == NULL || copy == NULL) {
        return false;
    }
    results->bad_rows[results->bad_row_count++] = copy;
    return true;
}

bool table_check_row(struct table_results *table,
                     const struct csv_row *row,
                     size_t columns,
                     bool *is_bad)
{
    *is_bad = true;
    if (row->flaw != CSV_WHOLE) {
        return table_bad_line(table, row->line, row->byte_off, "%s", csv_flaw_text(row->flaw));
    }
    if (row->cell_count != columns) {
        return table_bad_line(table, row->line, row->byte_off,
                              "%zu cells where the header has %zu%s", row->cell_count, columns,
                              row->is_last_line ? " (the file breaks off here)" : "");
    }
    *is_bad = false;
    return true;
}

bool table_no_row(const struct table_results *table, const char *what, struct err *err)
{
    const struct trace_results *results = table->results;
    bool has_bad_rows = results->bad_row_count > 0;
    return err_set(err, ERR_BAD_INPUT, "%s that can be read%s%s", what, has_bad_rows ? ": " : "",
                   has_bad_rows ? results->bad_rows[0] : "");
}

/* --- memory --- */

bool table_within_budget(const struct table_results *table, size_t extra_bytes, struct err *err)
{
    size_t used = table->results->arena.held_bytes + text_pool_bytes(&table->texts) + extra_bytes;
    if (table->memory_budget_bytes == 0 || used <= table->memory_budget_bytes) {
        return true;
    }
    return err_set(
        err, ERR_TOO_LARGE,
        "the rows of the table take %zu MiB and the memory budget is %zu MiB (--ingest-memory)",
        used >> 20, table->memory_budget_bytes >> 20);
}

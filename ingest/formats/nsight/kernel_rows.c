#include "ingest/formats/nsight/kernel_rows.h"

#include "ingest/base/text/buf.h"
#include "ingest/base/text/utf8.h"
#include "ingest/formats/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BAD_ROW_BYTES 320

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for a kernel table");
}

bool kernel_rows_open(struct kernel_rows *rows, size_t budget_bytes, struct err *err)
{
    *rows = (struct kernel_rows){.table = kernel_table_create(), .budget_bytes = budget_bytes};
    return rows->table != NULL || no_memory(err);
}

void kernel_rows_close(struct kernel_rows *rows)
{
    kernel_table_destroy(rows->table);
    rows->table = NULL;
}

static bool within_budget(const struct kernel_rows *rows, struct err *err)
{
    const struct kernel_table *table = rows->table;
    size_t held = table->launch_capacity * sizeof *table->launches +
                  table->summary_capacity * sizeof *table->summaries +
                  table->metric_capacity * sizeof *table->metrics + table->arena.held_bytes +
                  strtab_bytes(table->strings);
    return rows->budget_bytes == 0 || held <= rows->budget_bytes ||
           err_set(err, ERR_TOO_LARGE,
                   "the kernel table needs more memory than an analysis may take (%zu MiB): upload "
                   "a shorter one, or raise --ingest-memory",
                   rows->budget_bytes >> 20);
}

/* ---- texts ---- */

static bool is_clean(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] >= 0x80 || text[i] == '\0') {
            return false;
        }
    }
    return true;
}

/* U+FFFD in place of what is no text. */
static void repair(struct buf *out, const char *text, size_t len)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    while (len > 0) {
        uint32_t code_point;
        size_t step = utf8_decode(text, len, &code_point);
        if (code_point == UTF8_INVALID || code_point == 0) {
            buf_puts(out, replacement);
        } else {
            buf_append(out, text, step);
        }
        text += step;
        len -= step;
    }
}

bool kernel_rows_text(
    struct kernel_rows *rows, const char *text, size_t len, uint32_t *id, struct err *err)
{
    struct strtab *strings = rows->table->strings;
    if (is_clean(text, len)) {
        *id = strtab_intern(strings, text, len);
    } else {
        struct buf repaired;
        if (memchr(text, '\0', len) != NULL) {
            warning_add(&rows->table->warnings, WARN_NUL, WARNING_NO_OFFSET);
        }
        buf_init(&repaired, len * 3 + 1);
        repair(&repaired, text, len);
        *id = repaired.failed ? STRTAB_NONE : strtab_intern(strings, repaired.ptr, repaired.len);
        buf_free(&repaired);
    }
    return *id == STRTAB_NONE ? no_memory(err) : within_budget(rows, err);
}

void kernel_rows_dim(char out[KERNEL_DIM_BYTES], const int64_t dim[3])
{
    (void)snprintf(out, KERNEL_DIM_BYTES, "[%" PRId64 ", %" PRId64 ", %" PRId64 "]", dim[0], dim[1],
                   dim[2]);
}

/* ---- rows ---- */

struct kernel_table_launch kernel_rows_blank(void)
{
    return (struct kernel_table_launch){.grid = STRTAB_NONE,
                                        .block = STRTAB_NONE,
                                        .kind = KERNEL_TABLE_KERNEL,
                                        .start_ns = INT64_MIN,
                                        .device = INT64_MIN,
                                        .stream = INT64_MIN,
                                        .size_bytes = INT64_MIN,
                                        .tensor = (double)NAN,
                                        .dram = (double)NAN,
                                        .sm = (double)NAN};
}

bool kernel_rows_add(struct kernel_rows *rows,
                     const struct kernel_table_launch *launch,
                     struct err *err)
{
    return (kernel_table_add_launch(rows->table, launch) || no_memory(err)) &&
           within_budget(rows, err);
}

bool kernel_rows_add_summary(struct kernel_rows *rows,
                             const struct kernel_table_summary *summary,
                             struct err *err)
{
    return (kernel_table_add_summary(rows->table, summary) || no_memory(err)) &&
           within_budget(rows, err);
}

bool kernel_rows_add_metric(struct kernel_rows *rows,
                            const struct kernel_table_metric *metric,
                            struct err *err)
{
    return (kernel_table_add_metric(rows->table, metric) || no_memory(err)) &&
           within_budget(rows, err);
}

/* The text for people is cut at a character's end and holds no control characters. */
static bool add_bad_row(struct kernel_rows *rows, uint64_t byte_off, char *what)
{
    struct buf text;
    size_t len = utf8_cut(what, strlen(what));
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)what[i] < 0x20) {
            what[i] = ' ';
        }
    }
    buf_init(&text, (size_t)BAD_ROW_BYTES * 4);
    repair(&text, what, len);
    bool ok = !text.failed && kernel_table_add_bad_row(rows->table, byte_off, text.ptr);
    buf_free(&text);
    return ok;
}

bool kernel_rows_bad(struct kernel_rows *rows,
                     uint64_t line,
                     uint64_t byte_off,
                     struct err *err,
                     const char *fmt,
                     ...)
{
    char text[BAD_ROW_BYTES];
    va_list args;
    int head = snprintf(text, sizeof text, "line %" PRIu64 ": ", line);
    va_start(args, fmt);
    (void)vsnprintf(text + head, sizeof text - (size_t)head, fmt, args);
    va_end(args);
    return add_bad_row(rows, byte_off, text) || no_memory(err);
}

/* ---- the end ---- */

void kernel_rows_note_stream(struct kernel_rows *rows, const struct text_stream *stream)
{
    const char *why;
    struct warnings *warnings = &rows->table->warnings;
    if (stream->invalid_count > 0) {
        warning_add_times(warnings, WARN_UTF8, stream->first_invalid_off, stream->invalid_count);
    }
    if (input_cut(stream->in, &why)) {
        warning_add(warnings, WARN_COMPRESSED_CUT, text_stream_offset(stream, stream->at));
    }
}

bool kernel_rows_finish(struct kernel_rows *rows,
                        const char *nothing,
                        struct format_bundle *bundle,
                        struct err *err)
{
    struct kernel_table *table = rows->table;
    if (table->launch_count == 0 && table->summary_count == 0) {
        return table->bad_row_count == 0
                   ? err_set(err, ERR_BAD_INPUT, "%s", nothing)
                   : err_set(err, ERR_BAD_INPUT, "no row of the kernel table can be read: %s",
                             table->bad_rows[0]);
    }
    rows->table = NULL;
    return format_bundle_one(bundle, (struct format_item){.kernel_table = table}, err);
}

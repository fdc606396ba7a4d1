#include "api/agents/markdown.h"

#include "api/table/markdown_table.h"
#include "ingest/base/text/utf8.h"

#include <stdlib.h>
#include <string.h>

/* A name is cut: kernels have names of thousands of bytes. */
#define TEXT_MAX_BYTES 120
#define ROW_MAX_BYTES ((size_t)4 << 10)
#define PART_BYTES 64

const json_t *agents_at(const json_t *value, const char *path)
{
    while (value != NULL && *path != '\0') {
        char part[PART_BYTES];
        size_t len = strcspn(path, ".");
        if (len >= sizeof part) {
            return NULL;
        }
        memcpy(part, path, len);
        part[len] = '\0';
        value = json_is_array(value) ? json_array_get(value, strtoul(part, NULL, 10))
                                     : json_object_get(value, part);
        path += len + (path[len] == '.');
    }
    return value;
}

static enum agents_unit unit_of(const char *name)
{
    return name == NULL                 ? AGENTS_INT
           : strcmp(name, "ns") == 0    ? AGENTS_NS
           : strcmp(name, "bytes") == 0 ? AGENTS_BYTES
           : strcmp(name, "ratio") == 0 ? AGENTS_SHARE
                                        : AGENTS_INT;
}

/* Tags and device types: their texts, with commas. */
static void put_list(struct buf *out, const json_t *list)
{
    size_t index = 0;
    const json_t *item = NULL;
    json_array_foreach(list, index, item)
    {
        const char *text = json_string_value(item);
        if (text != NULL && out->len < ROW_MAX_BYTES / 2) {
            buf_puts(out, index == 0 ? "" : ", ");
            markdown_table_cell(out, text);
        }
    }
}

static void put_text(struct buf *out, const char *text)
{
    char cut[TEXT_MAX_BYTES + 1];
    size_t len = strlen(text);
    if (len <= TEXT_MAX_BYTES) {
        markdown_table_cell(out, text);
        return;
    }
    size_t kept = utf8_cut(text, TEXT_MAX_BYTES);
    memcpy(cut, text, kept);
    cut[kept] = '\0';
    markdown_table_cell(out, cut);
    buf_puts(out, "...");
}

static void put_value(struct buf *out, const json_t *value, enum agents_unit unit)
{
    if (json_is_string(value)) {
        put_text(out, json_string_value(value));
    } else if (json_is_array(value)) {
        put_list(out, value);
    } else if (json_is_boolean(value)) {
        buf_puts(out, json_is_true(value) ? "yes" : "no");
    } else if (!json_is_number(value)) {
        buf_puts(out, "-");
    } else if (unit == AGENTS_SHARE) {
        buf_printf(out, "%.1f%%", 100 * json_number_value(value));
    } else if (unit != AGENTS_NS && unit != AGENTS_BYTES) {
        buf_printf(out, "%.10g", json_number_value(value));
    } else if (!markdown_table_scaled(out, json_number_value(value),
                                      unit == AGENTS_NS ? "ns" : "bytes")) {
        buf_printf(out, "%.4g %s", json_number_value(value), unit == AGENTS_NS ? "ns" : "B");
    }
}

void agents_put_figures(struct buf *out, const json_t *value, const struct agents_figure *figures)
{
    const char *before = "";
    for (; figures->path != NULL; figures++) {
        const json_t *member = agents_at(value, figures->path);
        if (member != NULL && !json_is_null(member)) {
            buf_printf(out, "%s%s: ", before, figures->title);
            put_value(out, member, figures->unit);
            before = "; ";
        }
    }
    buf_puts(out, *before == '\0' ? "" : "\n");
}

static void put_header(struct buf *out, const struct agents_figure *figures)
{
    buf_puts(out, "\n|");
    for (const struct agents_figure *at = figures; at->path != NULL; at++) {
        buf_printf(out, " %s |", at->title);
    }
    buf_puts(out, "\n|");
    for (const struct agents_figure *at = figures; at->path != NULL; at++) {
        buf_puts(out, at->unit == AGENTS_TEXT ? "---|" : "--:|");
    }
    buf_putc(out, '\n');
}

void agents_put_table(struct buf *out,
                      size_t max_bytes,
                      const json_t *rows,
                      const struct agents_figure *figures,
                      const char *unit)
{
    size_t index = 0;
    const json_t *row = NULL;
    struct buf line;
    size_t shown = 0;
    if (json_array_size(rows) == 0) {
        buf_puts(out, "\nNo rows.\n");
        return;
    }
    put_header(out, figures);
    buf_init(&line, ROW_MAX_BYTES);
    json_array_foreach(rows, index, row)
    {
        buf_clear(&line);
        buf_putc(&line, '|');
        for (const struct agents_figure *at = figures; at->path != NULL; at++) {
            buf_putc(&line, ' ');
            put_value(&line, agents_at(row, at->path),
                      at->unit == AGENTS_VALUE ? unit_of(unit) : at->unit);
            buf_puts(&line, " |");
        }
        if (line.failed || out->len + line.len > max_bytes) {
            break;
        }
        buf_append(out, line.ptr, line.len);
        buf_putc(out, '\n');
        shown++;
    }
    if (shown < json_array_size(rows)) {
        buf_printf(out, "%zu of %zu rows fit here.\n", shown, json_array_size(rows));
    }
    buf_free(&line);
}

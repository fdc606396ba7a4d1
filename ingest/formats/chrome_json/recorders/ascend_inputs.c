#include "ingest/formats/chrome_json/recorders/ascend_inputs.h"

#include "ingest/base/text/buf.h"
#include "ingest/formats/chrome_json/recorders/ascend.h"

#include <stdint.h>
#include <string.h>

#define BETWEEN ";\r\n"
#define GROWS_BY 4 /* a text is never so many times as long */

/* How a list is written: as Python does, or as JSON without spaces. */
struct style {
    const char *comma, *quote;
};
static const struct style python = {", ", "'"};
static const struct style json = {",", "\""};

/* The piece in front of the next BETWEEN, and what is behind it; NULL: nothing. */
static const char *next_piece(const char *text, size_t *len)
{
    const char *end = strstr(text, BETWEEN);
    *len = end == NULL ? strlen(text) : (size_t)(end - text);
    return end == NULL ? NULL : end + strlen(BETWEEN);
}

/* "32,1000", or nothing. */
static bool is_shape(const char *piece, size_t len)
{
    return strspn(piece, "0123456789,") >= len;
}

static bool is_type(const char *piece, size_t len)
{
    return strcspn(piece, "'\"\\[\n") >= len;
}

static void put_shape(struct buf *out, const char *piece, size_t len, const struct style *style)
{
    buf_putc(out, '[');
    for (size_t i = 0; i < len; i++) {
        if (piece[i] == ',') {
            buf_puts(out, style->comma);
        } else {
            buf_putc(out, piece[i]);
        }
    }
    buf_putc(out, ']');
}

static void put_type(struct buf *out, const char *piece, size_t len, const struct style *style)
{
    buf_puts(out, style->quote);
    buf_append(out, piece, len);
    buf_puts(out, style->quote);
}

struct pieces {
    bool (*is_one)(const char *piece, size_t len);
    void (*put)(struct buf *out, const char *piece, size_t len, const struct style *style);
};
static const struct pieces shapes = {is_shape, put_shape};
static const struct pieces types = {is_type, put_type};

static bool are_all(const char *text, const struct pieces *pieces)
{
    bool good = true;
    while (good && text != NULL) {
        size_t len;
        const char *piece = text;
        text = next_piece(piece, &len);
        good = pieces->is_one(piece, len);
    }
    return good;
}

/* False without memory. */
static bool turn(struct trace *trace,
                 const char *from,
                 const struct pieces *pieces,
                 const struct style *style,
                 uint32_t *id)
{
    struct buf out;
    bool is_first = true;
    buf_init(&out, GROWS_BY * (strlen(from) + 1));
    buf_putc(&out, '[');
    while (from != NULL) {
        size_t len;
        const char *piece = from;
        from = next_piece(piece, &len);
        buf_puts(&out, is_first ? "" : style->comma);
        pieces->put(&out, piece, len, style);
        is_first = false;
    }
    buf_putc(&out, ']');
    *id = out.failed ? STRTAB_NONE : strtab_intern(trace->strings, out.ptr, out.len);
    buf_free(&out);
    return *id != STRTAB_NONE;
}

/* `as_json`: NULL where nobody asked for it. */
static bool
settle_list(struct trace *trace, const struct pieces *pieces, uint32_t *as_text, uint32_t *as_json)
{
    const char *text = *as_text == STRTAB_NONE ? "" : strtab_text(trace->strings, *as_text);
    if (*text == '\0' || !are_all(text, pieces)) {
        return true;
    }
    /* Interning may move the texts. */
    struct buf copy;
    buf_init(&copy, strlen(text) + 1);
    buf_append(&copy, text, strlen(text) + 1);
    bool ok = !copy.failed && turn(trace, copy.ptr, pieces, &python, as_text) &&
              (*as_json == STRTAB_NONE || turn(trace, copy.ptr, pieces, &json, as_json));
    buf_free(&copy);
    return ok;
}

static bool settle_stack(struct trace *trace, uint32_t *stack)
{
    const char *text = strtab_text(trace->strings, *stack);
    struct buf out;
    if (strstr(text, BETWEEN) == NULL) {
        return true;
    }
    buf_init(&out, strlen(text) + 1);
    while (text != NULL) {
        size_t len;
        const char *piece = text;
        text = next_piece(piece, &len);
        buf_append(&out, piece, len);
        buf_puts(&out, text == NULL ? "" : ";");
    }
    *stack = out.failed ? STRTAB_NONE : strtab_intern(trace->strings, out.ptr, out.len);
    buf_free(&out);
    return *stack != STRTAB_NONE;
}

bool ascend_inputs_settle(struct trace *trace)
{
    const struct recorded *recorded = trace->recorded;
    bool is_ascend = recorded != NULL && recorded->recorder != NULL &&
                     strcmp(recorded->recorder, ASCEND_RECORDER) == 0;
    bool ok = true;
    for (uint32_t i = 0; is_ascend && ok && i < trace->op_args_count; i++) {
        struct op_args *args = &trace->op_args[i];
        ok = settle_list(trace, &shapes, &args->shape, &args->dims_json) &&
             settle_list(trace, &types, &args->input_types, &args->types_json) &&
             settle_stack(trace, &args->call_stack);
    }
    return ok;
}

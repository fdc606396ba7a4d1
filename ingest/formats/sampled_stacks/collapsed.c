#include "ingest/formats/sampled_stacks/collapsed.h"

#include "ingest/base/saturating.h"
#include "ingest/base/text/affix.h"
#include "ingest/formats/sampled_stacks/stack_slices.h"

#include <string.h>

#define WEIGHT_DIGITS_MAX 18
#define LINES_LOOKED_AT 64

struct line {
    const char *stack;
    size_t len;
    int64_t weight;
};

/* False for what is no stack. */
static bool parse_line(const char *text, size_t len, struct line *line)
{
    while (len > 0 && (text[len - 1] == '\r' || text[len - 1] == ' ')) {
        len--;
    }
    size_t digits = 0;
    while (digits < len && text_is_digit(text[len - 1 - digits])) {
        digits++;
    }
    size_t blank = len - digits;
    if (digits == 0 || digits > WEIGHT_DIGITS_MAX || blank < 2 || text[blank - 1] != ' ') {
        return false;
    }
    *line = (struct line){.stack = text, .len = blank - 1};
    for (size_t i = blank; i < len; i++) {
        line->weight = line->weight * 10 + (text[i] - '0');
    }
    return memchr(text, '\0', len) == NULL;
}

static const char *next_line(const char *at, const char *end, size_t *len)
{
    const char *newline = at == end ? NULL : memchr(at, '\n', (size_t)(end - at));
    *len = newline == NULL ? (size_t)(end - at) : (size_t)(newline - at);
    return newline == NULL ? end : newline + 1;
}

bool collapsed_recognises(const char *window, size_t len)
{
    const char *at = window;
    const char *end = window + len;
    size_t stacks = 0;
    size_t others = 0;
    bool has_caller = false;
    if (len == 0 || strchr("{[<\"", *window) != NULL) {
        return false;
    }
    while (at < end && stacks + others < LINES_LOOKED_AT) {
        size_t line_len;
        struct line line;
        const char *next = next_line(at, end, &line_len);
        bool is_cut = next == end && end[-1] != '\n' && stacks > 0;
        bool is_stack = parse_line(at, line_len, &line);
        stacks += is_stack;
        others += !is_stack && !is_cut && line_len > 0;
        has_caller = has_caller || (is_stack && memchr(line.stack, ';', line.len) != NULL);
        if (stacks == 0 && others > 0) {
            return false;
        }
        at = next;
    }
    return has_caller && others * 3 <= stacks;
}

static void take_line(struct stack_slices *slices, const struct line *line)
{
    uint32_t frames[STACK_DEPTH_MAX + 1];
    size_t count = 0;
    const char *at = line->stack;
    const char *end = at + line->len;
    while (at < end && count < sizeof frames / sizeof *frames) {
        const char *stop = memchr(at, ';', (size_t)(end - at));
        stop = stop == NULL ? end : stop;
        if (stop > at) {
            frames[count++] = stack_slices_name(slices, at, (size_t)(stop - at));
        }
        at = stop == end ? end : stop + 1;
    }
    stack_slices_set(slices, frames, count);
    slices->now_ns = saturating_add(slices->now_ns, line->weight);
}

bool collapsed_read(const struct whole *whole,
                    const struct format_options *options,
                    struct trace **out,
                    struct err *err)
{
    struct stack_slices slices;
    const char *at = whole->bytes;
    const char *end = at + whole->len;
    stack_slices_init(&slices, "collapsed stacks");
    while (at < end && !slices.failed) {
        size_t len;
        struct line line;
        const char *next = next_line(at, end, &len);
        if (parse_line(at, len, &line)) {
            take_line(&slices, &line);
        } else {
            slices.no_stacks += len > 0;
        }
        at = next;
    }
    bool ok = stack_slices_read(&slices, "the file has no stack", options, out, err);
    stack_slices_free(&slices);
    return ok;
}

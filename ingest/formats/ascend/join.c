#include "ingest/formats/ascend/join.h"

#include "ingest/formats/json/text.h"
#include "ingest/formats/json/walk.h"
#include "ingest/formats/relay/relay.h"
#include "ingest/input/input.h"

#include <string.h>

/* More is no event of this recorder. */
#define EVENT_BYTES_MAX ((size_t)16 << 20)
#define TEXT_BYTES_MAX ((size_t)512 << 20)

void ascend_join_init(struct ascend_join *join, const struct kernel_details *details)
{
    *join = (struct ascend_join){.details = details};
    buf_init(&join->held, TEXT_BYTES_MAX);
    buf_init(&join->out, TEXT_BYTES_MAX);
}

void ascend_join_free(struct ascend_join *join)
{
    buf_free(&join->held);
    buf_free(&join->out);
}

/* ---- an event ---- */

struct slice {
    struct json_value name, args;
    int64_t start_ns;
    bool is_whole;
};

static struct slice read_slice(const char *begin, const char *end)
{
    struct json_walk walk = {.at = begin, .end = end};
    struct slice slice = {.start_ns = RELAY_NONE};
    struct json_value key;
    struct json_value value;
    if (!json_walk_enter(&walk, '{')) {
        return slice;
    }
    while (json_walk_key(&walk, &key) && json_walk_value(&walk, &value)) {
        if (json_walk_text_is(&key, "name")) {
            slice.name = value;
        } else if (json_walk_text_is(&key, "args")) {
            slice.args = value;
        } else if (json_walk_text_is(&key, "ts")) {
            slice.start_ns = ascend_us(value.ptr, value.len, RELAY_NONE);
        }
    }
    slice.is_whole = !walk.failed && slice.name.kind == JSON_KIND_STRING &&
                     slice.start_ns != RELAY_NONE &&
                     json_walk_find(&slice.args, "Task Type", &value);
    return slice;
}

/* Between the last argument and the bracket behind it. */
static void pass_event(struct ascend_join *join, const char *begin, const char *end)
{
    struct slice slice = read_slice(begin, end);
    const struct detail_row *row =
        slice.is_whole
            ? kernel_details_find(join->details, slice.name.ptr, slice.name.len, slice.start_ns)
            : NULL;
    if (row == NULL) {
        buf_append(&join->out, begin, (size_t)(end - begin));
        return;
    }
    const char *bracket = slice.args.ptr + slice.args.len - 1;
    struct buf text;
    struct json_write w;
    buf_init(&text, EVENT_BYTES_MAX);
    jw_init(&w, &text, false);
    jw_object_begin(&w);
    kernel_details_write(join->details, row, &w);
    buf_append(&join->out, begin, (size_t)(bracket - begin));
    if (!text.failed && text.len > 1) { /* it has a Task Type in front */
        buf_puts(&join->out, ", ");
        buf_append(&join->out, text.ptr + 1, text.len - 1);
    }
    buf_append(&join->out, bracket, (size_t)(end - bracket));
    buf_free(&text);
}

/* ---- the list ---- */

/* What of the text is told; the rest waits for more. */
static size_t pass_events(struct ascend_join *join, const char *begin, const char *end)
{
    const char *at = begin;
    while (!join->is_over && at < end) {
        const char *first = at;
        while (first < end && (json_is_space(*first) || *first == ',')) {
            first++;
        }
        buf_append(&join->out, at, (size_t)(first - at));
        at = first;
        const char *behind = first;
        struct json_skip skip = {.depth = 0};
        enum json_status status = at == end    ? JSON_MORE
                                  : *at == '{' ? json_skip_value(&skip, &behind, end)
                                               : JSON_BAD;
        if (status == JSON_OK) {
            pass_event(join, at, behind);
            at = behind;
        } else if (status == JSON_MORE && (size_t)(end - at) < EVENT_BYTES_MAX) {
            break;
        } else {
            join->is_over = true;
        }
    }
    return (size_t)(at - begin);
}

/* Text must have some bytes behind it that can be read. */
static void pad(struct buf *text)
{
    char *padding = buf_room(text, INPUT_PADDING_BYTES);
    if (padding != NULL) {
        memset(padding, 0, INPUT_PADDING_BYTES);
    }
}

bool ascend_join_feed(struct ascend_join *join, const char *bytes, size_t len)
{
    struct buf *held = &join->held;
    buf_clear(&join->out);
    if (join->is_over && held->len == 0) {
        buf_append(&join->out, bytes, len);
        return !join->out.failed;
    }
    buf_append(held, bytes, len);
    pad(held);
    if (held->failed) {
        return false;
    }
    size_t told = pass_events(join, held->ptr, held->ptr + held->len);
    size_t rest = held->len - told;
    if (join->is_over) {
        buf_append(&join->out, held->ptr + told, rest);
        rest = 0;
    }
    memmove(held->ptr, held->ptr + held->len - rest, rest);
    held->len = rest;
    return !join->out.failed;
}

bool ascend_join_end(struct ascend_join *join)
{
    buf_clear(&join->out);
    buf_append(&join->out, join->held.ptr == NULL ? "" : join->held.ptr, join->held.len);
    join->held.len = 0;
    join->is_over = true;
    return !join->out.failed;
}

#include "ingest/formats/sampled_stacks/stack_slices.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/formats/json/text.h"
#include "ingest/formats/relay/relay.h"

#define SLICES_AT_ONCE 64

void stack_slices_init(struct stack_slices *slices, const char *recorder)
{
    *slices = (struct stack_slices){
        .recorder = recorder, .names = strtab_create(), .cut_at = WARNING_NO_OFFSET};
    slices->failed = slices->names == NULL;
}

void stack_slices_free(struct stack_slices *slices)
{
    strtab_destroy(slices->names);
    scratch_free(slices->items);
}

uint32_t stack_slices_name(struct stack_slices *slices, const char *text, size_t len)
{
    len = len < RELAY_NAME_BYTES_MAX ? len : RELAY_NAME_BYTES_MAX;
    uint32_t id = slices->failed ? STRTAB_NONE : strtab_intern(slices->names, text, len);
    slices->failed = slices->failed || id == STRTAB_NONE;
    return id;
}

uint32_t stack_slices_json_name(struct stack_slices *slices, const struct json_value *value)
{
    struct buf text;
    buf_init(&text, (size_t)value->len * 3 + 1);
    json_text_string(value, &text, NULL);
    slices->failed = slices->failed || text.failed;
    uint32_t id = stack_slices_name(slices, text.len == 0 ? "" : text.ptr, text.len);
    buf_free(&text);
    return id;
}

/* ---- slices ---- */

void stack_slices_add(struct stack_slices *slices, struct stack_slice slice)
{
    struct stack_slice *grown =
        scratch_grow(slices->items, slices->count, &slices->cap, sizeof *grown);
    slices->failed = slices->failed || grown == NULL || slices->count == UINT32_MAX;
    if (grown != NULL) {
        slices->items = grown;
        grown[slices->count++] = slice;
    }
}

void stack_slices_open(struct stack_slices *slices, uint32_t frame)
{
    if (slices->depth == STACK_DEPTH_MAX) {
        slices->below++;
        slices->too_deep++;
        return;
    }
    stack_slices_add(slices, (struct stack_slice){.name = frame,
                                                  .thread = slices->thread,
                                                  .begin_ns = slices->now_ns,
                                                  .end_ns = slices->now_ns});
    if (!slices->failed) {
        slices->open[slices->depth++] = (uint32_t)(slices->count - 1);
    }
}

static void close_top(struct stack_slices *slices)
{
    slices->items[slices->open[--slices->depth]].end_ns = slices->now_ns;
}

static bool is_open(const struct stack_slices *slices, size_t depth, uint32_t frame)
{
    return depth < slices->depth && slices->items[slices->open[depth]].name == frame;
}

void stack_slices_close(struct stack_slices *slices, uint32_t frame)
{
    if (slices->below > 0) {
        slices->below--;
    } else if (slices->depth == 0 || !is_open(slices, slices->depth - 1, frame)) {
        slices->unmatched++;
    } else {
        close_top(slices);
    }
}

void stack_slices_set(struct stack_slices *slices, const uint32_t *frames, size_t count)
{
    size_t shared = 0;
    while (shared < count && is_open(slices, shared, frames[shared])) {
        shared++;
    }
    while (slices->depth > shared) {
        close_top(slices);
    }
    for (size_t i = shared; i < count && !slices->failed; i++) {
        stack_slices_open(slices, frames[i]);
    }
    slices->below = 0;
}

/* ---- relaying ---- */

static bool more(void *context, struct relay *relay, bool *ended, struct err *err)
{
    struct stack_slices *slices = context;
    (void)err;
    for (int i = 0; i < SLICES_AT_ONCE && slices->relayed < slices->count; i++) {
        const struct stack_slice *slice = &slices->items[slices->relayed++];
        struct relay_event event = relay_blank(RELAY_HOST);
        relay_set_name(&event, strtab_text(slices->names, slice->name));
        event.category = "python_function"; /* what the flame graph calls a frame */
        event.process = "stacks";
        event.tid = slice->thread;
        event.start_ns = slice->begin_ns;
        event.dur_ns = saturating_sub(slice->end_ns, slice->begin_ns);
        relay_add(relay, &event);
    }
    *ended = slices->relayed == slices->count;
    return true;
}

static void tell_skips(const struct stack_slices *slices, struct relay *relay)
{
    const struct {
        const char *what, *reason;
        int64_t count;
    } skips[] = {
        {"frame too deep", "its stack has more than 512 frames", slices->too_deep},
        {"end without begin", "the frame that ends is not the innermost one", slices->unmatched},
        {"line that is no stack", "it does not end in a weight", slices->no_stacks}};
    for (size_t i = 0; i < sizeof skips / sizeof *skips; i++) {
        if (skips[i].count > 0) {
            relay_skip(relay, skips[i].what, skips[i].reason, skips[i].count);
        }
    }
    if (slices->cut_at != WARNING_NO_OFFSET) {
        warning_add(&relay->warnings, WARN_TRUNCATED, slices->cut_at);
    }
}

bool stack_slices_read(struct stack_slices *slices,
                       const char *nothing,
                       const struct format_options *options,
                       struct trace **out,
                       struct err *err)
{
    struct relay relay;
    stack_slices_set(slices, NULL, 0);
    if (slices->failed) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the frames of stacks");
    }
    if (slices->count == 0) {
        return err_set(err, ERR_BAD_INPUT, "%s", nothing);
    }
    relay_init(&relay, slices->recorder);
    tell_skips(slices, &relay);
    bool ok = relay_read(&relay, more, slices, options, out, err);
    relay_free(&relay);
    return ok;
}

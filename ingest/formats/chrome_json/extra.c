/* Counters, and arguments of recorders that follow a whole host: its name, devices of host events,
 * and a JSON text in the place of arguments. */
#include "ingest/formats/chrome_json/build.h"
#include "ingest/formats/json/text.h"
#include "ingest/input/input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_TEXT_BYTES 64

/* The four arguments that count, wherever they stand. NULL: absent or null. */
struct extra_args {
    const struct json_value *hostname;
    const struct json_value *device;
    const struct json_value *correlation;
    const struct json_value *value;
};

static void take(const struct kineto_event *event, enum arg arg, const struct json_value **where)
{
    if (kineto_event_has_arg(event, arg)) {
        uint8_t kind = event->args[arg].kind;
        bool is_missing = kind == JSON_KIND_NULL || kind == JSON_KIND_BARE;
        *where = is_missing ? NULL : &event->args[arg];
    }
}

static void take_all(const struct kineto_event *event, struct extra_args *args)
{
    take(event, ARG_HOSTNAME, &args->hostname);
    take(event, ARG_DEVICE, &args->device);
    take(event, ARG_CORRELATION, &args->correlation);
    take(event, ARG_VALUE, &args->value);
}

/* The text of the argument `args` as arguments of its own; values then lie in build->nested. False
 * when it is no JSON object, which is no reason to refuse the event. */
static bool
read_nested(struct kineto_build *build, const struct kineto_event *event, struct kineto_event *out)
{
    const struct json_value *text = &event->args[ARG_ARGS];
    if (!kineto_event_has_arg(event, ARG_ARGS) || text->kind != JSON_KIND_STRING) {
        return false;
    }
    buf_clear(&build->nested);
    json_text_string(text, &build->nested, NULL);
    size_t len = build->nested.len;
    char *padding = buf_reserve(&build->nested, INPUT_PADDING_BYTES);
    if (padding == NULL) {
        return false;
    }
    memset(padding, 0, INPUT_PADDING_BYTES);
    return kineto_event_scan_args(out, NULL, build->nested.ptr, build->nested.ptr + len);
}

/* An integer, or a text that is one. */
static bool take_integer(const struct json_value *value, int64_t *number)
{
    if (value->kind == JSON_KIND_STRING) {
        return json_text_parse_int(value->ptr, value->len, number);
    }
    return json_text_int(value, number);
}

static bool take_number(const struct json_value *value, double *number)
{
    char text[NUMBER_TEXT_BYTES];
    if (value->kind != JSON_KIND_STRING) {
        return json_text_double(value, number) && isfinite(*number);
    }
    if (value->len == 0 || value->len >= sizeof text) {
        return false;
    }
    memcpy(text, value->ptr, value->len);
    text[value->len] = '\0';
    char *end;
    *number = strtod(text, &end);
    return end == text + value->len && isfinite(*number);
}

static bool
set_host(struct kineto_build *build, const struct json_value *value, struct event_extra *extra)
{
    if (value == NULL) {
        return true;
    }
    struct buf *scratch = &build->lookup.scratch;
    buf_clear(scratch);
    json_text_python(value, scratch, NULL);
    if (scratch->failed) {
        return false;
    }
    extra->host = strtab_intern(build->trace->strings, scratch->ptr, scratch->len);
    extra->has |= EXTRA_HAS_HOST;
    return extra->host != STRTAB_NONE;
}

static void set_value(const struct json_value *value, struct event_extra *extra)
{
    if (value == NULL || !take_number(value, &extra->value)) {
        return;
    }
    extra->has |= EXTRA_HAS_VALUE;
    if (value->kind == JSON_KIND_NUMBER && (value->flags & JSON_DECIMAL) == 0) {
        extra->has |= EXTRA_VALUE_IS_INTEGER;
    }
}

/* --- counters --- */

static bool comes_again(const struct kineto_members *members, uint32_t number)
{
    const struct kineto_member *member = &members->args[number];
    for (uint32_t i = number + 1; i < members->arg_count; i++) {
        const struct kineto_member *other = &members->args[i];
        if (other->key_len == member->key_len &&
            memcmp(other->key, member->key, member->key_len) == 0) {
            return true;
        }
    }
    return false;
}

static bool
add_series(struct kineto_build *build, const struct kineto_member *member, uint32_t number)
{
    struct trace_counter counter = {.event = number};
    if (!json_text_double(&member->value, &counter.value) || !isfinite(counter.value)) {
        return true;
    }
    const struct json_value key = {.ptr = member->key,
                                   .len = member->key_len,
                                   .kind = JSON_KIND_STRING,
                                   .flags = JSON_ESCAPED};
    counter.series = kineto_lookup_text(&build->lookup, &key);
    return counter.series != STRTAB_NONE && trace_add_counter(build->trace, &counter);
}

bool kineto_build_counters(struct kineto_build *build,
                           const struct kineto_event *event,
                           uint32_t number)
{
    const struct json_value *args = &event->fields[FIELD_ARGS];
    const struct kineto_members *members = event->members;
    struct kineto_event again;
    if (!kineto_event_has(event, FIELD_ARGS) || args->kind != JSON_KIND_OBJECT) {
        return true;
    }
    if (members == NULL) {
        if (!kineto_event_scan_args(&again, &build->members, args->ptr, args->ptr + args->len)) {
            return true;
        }
        members = &build->members;
    }
    for (uint32_t i = 0; i < members->arg_count; i++) {
        if (!comes_again(members, i) && !add_series(build, &members->args[i], number)) {
            return false;
        }
    }
    return true;
}

/* --- the rest --- */

bool kineto_build_extra(struct kineto_build *build,
                        const struct kineto_event *event,
                        const struct trace_event *row,
                        uint32_t number)
{
    struct event_extra extra = {.event = number};
    struct extra_args args = {.hostname = NULL};
    struct kineto_event nested;
    take_all(event, &args);
    if (read_nested(build, event, &nested)) {
        take_all(&nested, &args);
    }
    if (!set_host(build, args.hostname, &extra)) {
        return false;
    }
    if (args.device != NULL && take_integer(args.device, &extra.device)) {
        extra.has |= EXTRA_HAS_DEVICE;
    }
    if (args.correlation != NULL && take_integer(args.correlation, &extra.correlation) &&
        (extra.correlation != 0 || args.correlation->kind == JSON_KIND_STRING)) {
        extra.has |= EXTRA_HAS_CORRELATION;
    }
    if (row->phase == 'C') {
        set_value(args.value, &extra);
    }
    return extra.has == 0 || trace_add_extra(build->trace, &extra);
}

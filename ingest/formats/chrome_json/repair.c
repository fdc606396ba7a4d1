#include "ingest/formats/event_log/event.h"
#include "ingest/formats/json/lenient.h"

#include <string.h>

/* A damaged event longer than this is given up. */
#define REPAIR_BYTES_MAX ((ptrdiff_t)1 << 20)

static void check_duplicate(struct json_lenient *lenient, bool there, const struct json_value *key)
{
    if (there) {
        warning_add(&lenient->found, WARN_DUPLICATE_KEY,
                    lenient->base_off + (uint64_t)(key->ptr - lenient->base));
    }
}

static enum json_status
take_arg(struct json_lenient *lenient, const struct json_value *key, void *context)
{
    struct kineto_event *event = context;
    struct json_value value;
    enum json_status status = json_lenient_value(lenient, &value);
    enum arg arg = kineto_arg_of(key->ptr, key->len);
    if (status == JSON_OK && arg != ARG_COUNT) {
        check_duplicate(lenient, kineto_event_has_arg(event, arg), key);
        kineto_event_set_arg(event, arg, &value);
    }
    if (status == JSON_OK) {
        kineto_event_note_arg(event, key, &value);
    }
    return status;
}

static enum json_status
take_field(struct json_lenient *lenient, const struct json_value *key, void *context)
{
    struct kineto_event *event = context;
    struct json_value value;
    enum field field = kineto_field_of(key->ptr, key->len);
    bool again = field != FIELD_COUNT && kineto_event_has(event, field);
    if (again && field == FIELD_PH) {
        return JSON_BAD; /* two events that have run into one */
    }
    check_duplicate(lenient, again, key);
    if (field == FIELD_ARGS && *lenient->at == '{') {
        value = (struct json_value){.ptr = lenient->at, .len = 1, .kind = JSON_KIND_OBJECT};
        event->has_args = 0;
        kineto_event_set(event, field, &value);
        kineto_event_note_args(event);
        enum json_status status = json_lenient_object(lenient, take_arg, event);
        event->fields[field].len = (uint32_t)(lenient->at - value.ptr);
        return status;
    }
    enum json_status status = json_lenient_value(lenient, &value);
    if (status == JSON_OK && field != FIELD_COUNT) {
        kineto_event_set(event, field, &value);
    }
    if (status == JSON_OK) {
        kineto_event_note(event, key, &value);
    }
    return status;
}

/* Without these something is lost that cannot be made up for. */
static bool is_plausible(const struct kineto_event *event)
{
    if (!kineto_event_has(event, FIELD_PH)) {
        return false;
    }
    const struct json_value *phase = &event->fields[FIELD_PH];
    bool is_label = phase->kind == JSON_KIND_STRING && phase->len == 1 && *phase->ptr == 'M';
    return is_label || kineto_event_has(event, FIELD_TS);
}

enum json_status kineto_event_repair(struct kineto_event *event,
                                     struct kineto_members *members,
                                     const char *begin,
                                     const struct text_stream *stream,
                                     struct warnings *warnings)
{
    struct json_lenient lenient = {.at = begin,
                                   .end = stream->end,
                                   .base = stream->window,
                                   .base_off = stream->window_off,
                                   .is_known_key = kineto_is_known_key};
    memset(event, 0, sizeof *event);
    kineto_members_clear(members, true);
    event->members = members;
    event->begin = begin;
    enum json_status status = json_lenient_object(&lenient, take_field, event);
    event->duplicate_keys = 0; /* counted here */
    event->end = lenient.at;
    if (status == JSON_MORE && stream->end - begin > REPAIR_BYTES_MAX) {
        return JSON_BAD;
    }
    if (status != JSON_OK) {
        return status;
    }
    if (!is_plausible(event)) {
        return JSON_BAD;
    }
    warnings_merge(warnings, &lenient.found);
    return JSON_OK;
}

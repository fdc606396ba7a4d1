#include "ingest/store/events/fields.h"

#include "ingest/store/events/documents/json_string.h"
#include "ingest/store/events/documents/print.h"
#include "ingest/store/events/reader.h"

/* Strings decoded; of anything else nothing, or, `any`, how it was written. */
static const char *copy_value(struct arena *arena, const struct event_value *value, bool any)
{
    char number[2 * PRINT_NUMBER_BYTES];
    bool is_text = value->kind == EVENT_SLOT_TEXT;
    if (!value->is_there || (!any && !(is_text && json_is_string(value->text, value->len)))) {
        return arena_strndup(arena, "", 0);
    }
    if (is_text) {
        return json_string_copy(arena, value->text, value->len);
    }
    const char *end = value->kind == EVENT_SLOT_INT
                          ? event_print_int(number, value->number)
                          : event_print_decimal(number, value->number, value->digits);
    return arena_strndup(arena, number, (size_t)(end - number));
}

bool event_fields_copy(struct store_event *out,
                       struct arena *arena,
                       const struct event_value fields[EVENT_FIELD_COUNT],
                       int64_t base_ns)
{
    struct event_when when;
    event_when_init(&when, fields);
    out->has_start = when.has_start;
    out->has_dur = when.has_dur;
    out->start_ns = when.has_start ? event_from_file_time(when.start_ns, base_ns) : 0;
    out->dur_ns = when.dur_ns;
    out->name = copy_value(arena, &fields[EVENT_NAME], false);
    out->category = copy_value(arena, &fields[EVENT_CATEGORY], false);
    out->phase = copy_value(arena, &fields[EVENT_PHASE], false);
    out->pid = copy_value(arena, &fields[EVENT_PID], true);
    out->tid = copy_value(arena, &fields[EVENT_TID], true);
    return out->name != NULL && out->category != NULL && out->phase != NULL && out->pid != NULL &&
           out->tid != NULL;
}

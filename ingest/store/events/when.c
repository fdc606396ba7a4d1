#include "ingest/store/events/when.h"

#include "ingest/store/events/documents/json_members.h"
#include "ingest/store/events/time.h"

#include <string.h>

static bool time_of(const struct event_value *value, int64_t *ns)
{
    if (!value->is_there) {
        return false;
    }
    if (value->kind == EVENT_SLOT_TEXT) {
        return event_time_text(value->text, value->len, ns);
    }
    return event_time_number(value->number, value->kind == EVENT_SLOT_INT ? 0 : value->digits, ns);
}

void event_when_init(struct event_when *when, const struct event_value fields[EVENT_FIELD_COUNT])
{
    static const char metadata[] = "\"M\"";
    const struct event_value *phase = &fields[EVENT_PHASE];
    *when = (struct event_when){.start_ns = 0};
    when->has_start = time_of(&fields[EVENT_TS], &when->start_ns);
    when->has_dur = time_of(&fields[EVENT_DUR], &when->dur_ns);
    when->is_metadata =
        !when->has_start ||
        (phase->is_there && phase->kind == EVENT_SLOT_TEXT && phase->len == sizeof metadata - 1 &&
         memcmp(phase->text, metadata, sizeof metadata - 1) == 0);
}

void event_fields_of_whole(struct event_value fields[EVENT_FIELD_COUNT],
                           const char *text,
                           size_t len)
{
    struct json_members members;
    struct json_slice key;
    struct json_slice value;
    memset(fields, 0, EVENT_FIELD_COUNT * sizeof *fields);
    json_members_begin(&members, text, len);
    while (json_members_next(&members, &key, &value)) {
        enum event_field field = event_field_of(key.text, key.len);
        if (field < EVENT_FIELD_COUNT) {
            fields[field] = (struct event_value){
                .is_there = true, .kind = EVENT_SLOT_TEXT, .text = value.text, .len = value.len};
        }
    }
}

int64_t event_when_end(const struct event_when *when)
{
    /* Both are within +-2^62. */
    return when->dur_ns > 0 ? when->start_ns + when->dur_ns : when->start_ns;
}

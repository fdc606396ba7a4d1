/* One event with everything it says and everything it hangs together with. */
#include "api/handlers.h"
#include "api/timeline/common.h"
#include "ingest/query/timeline/locate.h"
#include "ingest/query/timeline/query.h"
#include "ingest/store/events/documents/json_members.h"

#include <string.h>

#define ARGS_KEY "\"args\""

/* The object `args` of an event's text; "{}" when there is none. */
static struct json_slice args_of(const char *json)
{
    static const char no_args[] = "{}";
    struct json_members members;
    struct json_slice key;
    struct json_slice value;
    json_members_begin(&members, json, strlen(json));
    while (json_members_next(&members, &key, &value)) {
        bool is_args = key.len == strlen(ARGS_KEY) && memcmp(key.text, ARGS_KEY, key.len) == 0;
        if (is_args && value.len > 0 && *value.text == '{') {
            return value;
        }
    }
    return (struct json_slice){no_args, strlen(no_args)};
}

static void key_known(struct json_write *w, const char *key, int64_t value, bool is_known)
{
    jw_key_known_int(w, key, is_known ? value : INT64_MIN);
}

static void write_place(struct json_write *w, uint32_t track, uint32_t lane)
{
    key_known(w, "track", track, track != TIMELINE_NO_TRACK);
    key_known(w, "lane", lane, track != TIMELINE_NO_TRACK);
}

static void write_texts(struct json_write *w, const struct store_event *event)
{
    const struct json_slice args = args_of(event->json);
    jw_key_string(w, "pid", event->pid);
    jw_key_string(w, "tid", event->tid);
    jw_key(w, "args");
    jw_raw(w, args.text, args.len);
    jw_key(w, "raw");
    jw_raw(w, event->json, strlen(event->json));
}

static void write_partner(struct json_write *w, const struct timeline_partner *partner)
{
    jw_key_int(w, "event", partner->event);
    jw_key_string(w, "name", partner->name);
    write_place(w, partner->track, partner->lane);
    jw_key_int(w, "start_ns", partner->start_ns);
    key_known(w, "dur_ns", partner->dur_ns, partner->dur_ns != TIMELINE_INSTANT);
}

static void write_flows(struct json_write *w, const struct timeline_event *event)
{
    static const char *const kinds[] = {[TIMELINE_FLOW_LAUNCH] = "launch",
                                        [TIMELINE_FLOW_FWDBWD] = "fwdbwd",
                                        [TIMELINE_FLOW_OTHER] = "other"};
    jw_key_array_begin(w, "flows");
    for (size_t i = 0; i < event->flow_count; i++) {
        const struct timeline_partner *partner = &event->flows[i];
        bool is_known = partner->kind < TIMELINE_FLOW_OTHER;
        jw_object_begin(w);
        jw_key_string(w, "kind", kinds[is_known ? partner->kind : TIMELINE_FLOW_OTHER]);
        jw_key_string(w, "direction", partner->incoming ? "in" : "out");
        write_partner(w, partner);
        jw_object_end(w);
    }
    jw_array_end(w);
    jw_key_bool(w, "more_flows", event->more_flows);
}

static void write_places(struct json_write *w,
                         const char *key,
                         const struct timeline_partner *places,
                         size_t count)
{
    jw_key_array_begin(w, key);
    for (size_t i = 0; i < count; i++) {
        jw_object_begin(w);
        write_partner(w, &places[i]);
        jw_key_string(w, "category", places[i].category);
        jw_object_end(w);
    }
    jw_array_end(w);
}

bool timeline_event_get(struct api_call *call, struct err *err)
{
    struct store_trace *trace = NULL;
    struct timeline *timeline = NULL;
    uint32_t number = 0;
    struct timeline_event event;
    if (!timeline_event_number(call, &number, err) ||
        !timeline_load(&trace, &timeline, call, err)) {
        return false;
    }
    if (!query_timeline_event(call->snapshot, call_arena(call), trace->id, number, &event, err)) {
        return timeline_gone(err);
    }
    bool has_dur =
        event.track != TIMELINE_NO_TRACK ? event.dur_ns != TIMELINE_INSTANT : event.event.has_dur;
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    jw_key_int(&w, "event", number);
    jw_key_string(&w, "name", event.event.name);
    jw_key_string(&w, "category", event.event.category);
    jw_key_string(&w, "phase", event.event.phase);
    key_known(&w, "start_ns", event.event.start_ns, event.event.has_start);
    key_known(&w, "dur_ns", event.track != TIMELINE_NO_TRACK ? event.dur_ns : event.event.dur_ns,
              has_dur);
    write_place(&w, event.track, event.lane);
    write_texts(&w, &event.event);
    write_flows(&w, &event);
    write_places(&w, "enclosing", event.enclosing, event.enclosing_count);
    write_places(&w, "launch_enclosing", event.launch_enclosing, event.launch_enclosing_count);
    write_places(&w, "forward", event.forward, event.forward_count);
    jw_object_end(&w);
    return true;
}

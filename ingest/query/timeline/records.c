#include "ingest/query/timeline/records.h"

#include "ingest/query/timeline/locate.h"
#include "ingest/store/events/documents/json_members.h"
#include "ingest/store/store_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RECORD_KEY "Record function id"
/* What is a text has others in it, as 164 has 64: so many events are looked at. */
#define HITS_MAX 64

static bool find_member(const char *text, size_t len, const char *name, struct json_slice *value)
{
    struct json_members members;
    struct json_slice key;
    bool found = false;
    json_members_begin(&members, text, len);
    while (!found && json_members_next(&members, &key, value)) {
        found = key.len == strlen(name) && memcmp(key.text, name, key.len) == 0;
    }
    return found;
}

uint64_t record_id_of(const char *event_json)
{
    struct json_slice args;
    struct json_slice value;
    uint64_t id = 0;
    if (!find_member(event_json, strlen(event_json), "\"args\"", &args) || args.len == 0 ||
        *args.text != '{' || !find_member(args.text, args.len, "\"" RECORD_KEY "\"", &value)) {
        return 0;
    }
    /* Some write it as a text. */
    for (size_t i = 0; i < value.len; i++) {
        unsigned digit = (unsigned)(value.text[i] - '0');
        if (digit > 9 && value.text[i] != '"') {
            return 0;
        }
        id = digit > 9 ? id : id * 10 + digit;
    }
    return id;
}

static bool find_event(struct store_snapshot *snapshot,
                       struct arena *arena,
                       int64_t trace_id,
                       uint64_t id,
                       struct store_event *out,
                       bool *found,
                       struct err *err)
{
    char text[24];
    struct store_event_hit *hits = NULL;
    size_t count = 0;
    size_t total;
    const struct store_event_query query = {.q = text,
                                            .key = RECORD_KEY,
                                            .start_ns = INT64_MIN,
                                            .end_ns = INT64_MAX,
                                            .limit = HITS_MAX,
                                            .count_max = HITS_MAX};
    *found = false;
    (void)snprintf(text, sizeof text, "%" PRIu64, id);
    bool ok = id == 0 ||
              store_events_search(snapshot, arena, trace_id, &query, &hits, &count, &total, err);
    for (size_t i = 0; ok && !*found && i < count; i++) {
        ok = store_event_get(snapshot, arena, trace_id, hits[i].event.event, out, err);
        *found = ok && record_id_of(out->json) == id;
    }
    return ok;
}

static int by_event(const struct timeline_spot *spots, size_t count, uint32_t event)
{
    for (size_t i = 0; i < count; i++) {
        if (spots[i].event == event) {
            return (int)i;
        }
    }
    return -1;
}

bool record_events_find(struct store_snapshot *snapshot,
                        struct arena *arena,
                        int64_t trace_id,
                        const struct timeline *timeline,
                        const uint64_t *ids,
                        size_t count,
                        struct timeline_partner *out,
                        struct err *err)
{
    struct timeline_spot *spots = arena_calloc(arena, count + 1, sizeof *spots);
    size_t spot_count = 0;
    if (spots == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the calls of tensors");
    }
    for (size_t i = 0; i < count; i++) {
        struct store_event event;
        bool found;
        out[i] = (struct timeline_partner){.event = TIMELINE_NO_EVENT, .track = TIMELINE_NO_TRACK};
        if (!find_event(snapshot, arena, trace_id, ids[i], &event, &found, err)) {
            return false;
        }
        if (found && event.has_start) {
            out[i].event = event.event;
            out[i].name = event.name;
            out[i].start_ns = event.start_ns;
            out[i].dur_ns = event.has_dur ? event.dur_ns : TIMELINE_INSTANT;
            spots[spot_count++] = (struct timeline_spot){.event = event.event,
                                                         .start_ns = event.start_ns,
                                                         .pid = event.pid,
                                                         .tid = event.tid};
        }
    }
    if (!timeline_locate(snapshot, trace_id, timeline, false, spots, spot_count, err)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        int at = by_event(spots, spot_count, out[i].event);
        if (at >= 0) {
            out[i].track = spots[at].track;
            out[i].lane = spots[at].lane;
        }
    }
    return true;
}

/* When an event is, from its `ts`, `dur` and `ph`, however they are written. */
#ifndef KS_STORE_EVENTS_WHEN_H
#define KS_STORE_EVENTS_WHEN_H

#include "ingest/store/events/shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value with its text, if it has one. */
struct event_value {
    bool is_there;
    uint8_t kind; /* enum event_slot_kind */
    int64_t number;
    int64_t digits;
    const char *text; /* EVENT_SLOT_TEXT */
    size_t len;
};

/* Times as the file gives them, without the base time. */
struct event_when {
    int64_t start_ns; /* 0 without one */
    int64_t dur_ns;   /* as written, 0 without one */
    bool has_start;
    bool has_dur;
    bool is_metadata; /* of phase M, or without a start: belongs to every range */
};

/* `fields[EVENT_TS]`, EVENT_DUR and EVENT_PHASE are looked at. */
void event_when_init(struct event_when *when, const struct event_value fields[EVENT_FIELD_COUNT]);
/* The fields of an event that is one text, as texts of it. */
void event_fields_of_whole(struct event_value fields[EVENT_FIELD_COUNT],
                           const char *text,
                           size_t len);
/* The largest of start and start + duration. */
int64_t event_when_end(const struct event_when *when);

#endif

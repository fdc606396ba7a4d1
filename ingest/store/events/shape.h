/* What the store knows about the keys of an event: the few that say when, where and what it is. */
#ifndef KS_STORE_EVENTS_SHAPE_H
#define KS_STORE_EVENTS_SHAPE_H

#include "ingest/model/event_log.h"

#include <stdbool.h>
#include <stdint.h>

enum event_field {
    EVENT_NAME,
    EVENT_CATEGORY,
    EVENT_PHASE,
    EVENT_PID,
    EVENT_TID,
    EVENT_TS,
    EVENT_DUR,
    EVENT_FIELD_COUNT /* also: any other key */
};

#define EVENT_NO_VALUE UINT32_MAX

/* Where a template has the fields. */
struct event_shape {
    uint32_t value[EVENT_FIELD_COUNT]; /* index of the first value, or EVENT_NO_VALUE */
    uint8_t kind[EVENT_FIELD_COUNT];   /* enum event_slot_kind */
    bool is_whole;                     /* the one value is the text of the whole event */
};

/* `key` with or without quotes. */
enum event_field event_field_of(const char *key, size_t len);
/* `keys[i]` is the key of slot i, a JSON string; it is not looked at where the slot has none. */
void event_shape_init(struct event_shape *shape,
                      const struct event_template *template,
                      const char *const *keys);
/* Values that a slot of this kind has. */
uint32_t event_slot_values(enum event_slot_kind kind);
/* Where a search looks: name, category, arguments. */
bool event_slot_is_searched(const struct event_slot *slot, const char *key);

#endif

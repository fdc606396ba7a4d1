/* From the values of an event to what callers of the store are given. */
#ifndef KS_STORE_EVENTS_FIELDS_H
#define KS_STORE_EVENTS_FIELDS_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/store/events/when.h"
#include "ingest/store/store_events.h"

#include <stdbool.h>
#include <stdint.h>

/* Copies into the arena; `event` and `json` are left as they are. False without memory. */
bool event_fields_copy(struct store_event *out,
                       struct arena *arena,
                       const struct event_value fields[EVENT_FIELD_COUNT],
                       int64_t base_ns) KS_MUST_USE;

#endif

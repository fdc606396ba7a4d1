/* Events of one shape (the same keys in the same order, values of the same kinds) share a template
 * of the log. A shape is found by comparing keys with what was met before:
 *
 *     members of an event --guess--> shape --values fit?--> template and values
 *                          \--hash--^  \--new: learnt
 *
 * Repeated keys: the last one stands, in the first one's place. */
#ifndef KS_FORMATS_EVENT_LOG_SHAPES_H
#define KS_FORMATS_EVENT_LOG_SHAPES_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/base/text/strtab.h"
#include "ingest/formats/event_log/event.h"
#include "ingest/formats/event_log/values.h"
#include "ingest/model/event_log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An event has at most so many values. */
#define EVENT_VALUES_MAX ((size_t)2 * EVENT_KEYS_MAX)
#define EVENT_SHAPE_SLOTS 8192

struct event_shape;

struct event_shapes {
    struct event_texts *texts;
    struct event_log *log;
    struct arena arena;
    struct strtab *keys; /* decoded, for two spellings of one key */
    struct event_shape *shapes;
    uint32_t shape_count;
    uint32_t shape_capacity;
    uint32_t template_capacity;
    uint32_t last;                            /* the shape of the event before */
    uint32_t whole_template;                  /* of events that are one text; UINT32_MAX: not yet */
    uint16_t slots_plus_1[EVENT_SHAPE_SLOTS]; /* shapes by their hash; 0: free */
};

/* What became of an event. */
struct event_record {
    uint32_t template_number;
    uint32_t value_count;
};

/* `texts` and `log` must outlive the shapes. False without memory; event_shapes_free is needed
 * either way. */
bool event_shapes_init(struct event_shapes *shapes,
                       struct event_texts *texts,
                       struct event_log *log) KS_MUST_USE;
void event_shapes_free(struct event_shapes *shapes);
size_t event_shapes_memory(const struct event_shapes *shapes);

/* Writes the event's values, at most EVENT_VALUES_MAX. False without memory. */
bool event_shapes_take(struct event_shapes *shapes,
                       const struct kineto_event *event,
                       int64_t *values,
                       struct event_record *record) KS_MUST_USE;

#endif

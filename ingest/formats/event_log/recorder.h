/* Records everything a trace says about its events (model/event_log.h) and hands it on in batches.
 *
 *     kineto_event with its members --event_shapes--> template, values --> batch --> sink
 *
 * The number of an event is its row in the trace. The sink works on a batch on a thread of its own
 * while the next one is filled: most of its work is encoding, which would take a quarter of the
 * reading. */
#ifndef KS_FORMATS_EVENT_LOG_RECORDER_H
#define KS_FORMATS_EVENT_LOG_RECORDER_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/event_log/event.h"
#include "ingest/formats/event_log/shapes.h"
#include "ingest/formats/json/lenient.h"
#include "ingest/formats/json/text_stream.h"
#include "ingest/model/event_log.h"

#include <stdbool.h>
#include <stddef.h>

/* Members of the document beside the events are kept up to this size each, and up to four times it
 * in all. */
#define EVENT_HEAD_VALUE_BYTES_MAX ((ptrdiff_t)16 << 20)

struct event_recorder;

/* NULL without memory. The sink must outlive the recorder. */
struct event_recorder *event_recorder_create(const struct event_sink *sink) KS_MUST_USE;
void event_recorder_destroy(struct event_recorder *recorder); /* NULL is allowed */

/* The event that has just become the trace's last row, with its members. Errors: ERR_NO_MEMORY, and
 * those of the sink. */
bool event_recorder_add(struct event_recorder *recorder,
                        const struct kineto_event *event,
                        const struct text_stream *stream,
                        struct err *err) KS_MUST_USE;

/* The same for an event that is like one before: its values are written to the room (for
 * EVENT_VALUES_MAX; NULL without memory), texts by event_recorder_texts, and then added as events
 * of that one's template. No event comes between the two. */
int64_t *event_recorder_room(struct event_recorder *recorder);
struct event_texts *event_recorder_texts(struct event_recorder *recorder);
bool event_recorder_add_values(struct event_recorder *recorder,
                               uint32_t template_number,
                               uint32_t value_count,
                               struct err *err) KS_MUST_USE;
/* What event_recorder_add made of the last event; NULL: one text. */
const struct event_record *event_recorder_last(const struct event_recorder *recorder);

/* A member of the document: first its key, then its value, if it is to be kept. `how` tells what
 * the value may need to be read again (json_lenient_clean). Error: ERR_NO_MEMORY. */
bool event_recorder_head_key(struct event_recorder *recorder,
                             const struct json_value *key,
                             struct err *err) KS_MUST_USE;
bool event_recorder_head_value(struct event_recorder *recorder,
                               const struct json_value *value,
                               const struct json_lenient *how,
                               struct err *err) KS_MUST_USE;

/* Hands on the last batch and the end. The sink may be at work on them until event_recorder_wait
 * returns: false when it has failed. */
bool event_recorder_end(struct event_recorder *recorder, struct err *err) KS_MUST_USE;
bool event_recorder_wait(struct event_recorder *recorder, struct err *err) KS_MUST_USE;

size_t event_recorder_memory(const struct event_recorder *recorder); /* 0 for NULL */

#endif

/* A sink of events on a thread of its own: the sink behind works on what a reader has handed on
 * while the reader reads on.
 *
 *     reader --take--> [batch][batch] --relay's thread--> take, end of the sink behind
 *
 * The sink behind sees the same batches in the same order as without a relay, by one call at a
 * time, and a log that holds what the reader's log held when the batch was handed on. A trace of a
 * single batch that is not full, or whose thread cannot be started, is handed on without a thread.
 *
 * Nothing of a batch is copied: the reader leaves as many as wait here alone. Memory: 16 bytes a
 * text of the log. */
#ifndef KS_FORMATS_EVENT_LOG_RELAY_H
#define KS_FORMATS_EVENT_LOG_RELAY_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/model/event_log.h"

/* That wait or are at work. */
#define EVENT_RELAY_BATCHES 2

struct event_relay;

/* NULL without memory. `to` is copied; its functions may then be called by another thread, but only
 * between the first batch of a trace and the return of `end` or `drop`. */
struct event_relay *event_relay_create(const struct event_sink *to) KS_MUST_USE;
/* What still waits is dropped; NULL is allowed. */
void event_relay_destroy(struct event_relay *relay);

/* The sink that is to be given to the reader; valid as long as the relay. Its `take` answers with
 * the error of an earlier batch, if there was one; its `end` returns when the sink behind has
 * everything, its `drop` when that is no longer at work: what waits is dropped. After either the
 * next trace may begin. */
struct event_sink event_relay_sink(struct event_relay *relay);

#endif

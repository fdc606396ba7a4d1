/* The events of one log on their way into the store: batches become blocks, texts become segments,
 * and a few megabytes of both are written at a time, so that the writer is seldom asked for. */
#ifndef KS_STORE_EVENT_WRITER_H
#define KS_STORE_EVENT_WRITER_H

#include "ingest/model/event_log.h"
#include "ingest/store/internal.h"

struct event_writer;

struct event_writer *event_writer_create(struct store *store, int64_t log_id); /* NULL: no memory */
void event_writer_destroy(struct event_writer *writer);                        /* NULL is allowed */
bool event_writer_add(struct event_writer *writer,
                      const struct event_log *log,
                      const struct event_batch *batch,
                      struct err *err) KS_MUST_USE;
/* Writes what is left, and the row of the log. */
bool event_writer_end(struct event_writer *writer,
                      const struct event_log *log,
                      struct err *err) KS_MUST_USE;

#endif

/* The events of one log on their way into the store: batches become blocks, texts become segments,
 * and a few megabytes of both are written at a time, so that the writer is seldom asked for. */
#ifndef KS_STORE_EVENTS_WRITER_H
#define KS_STORE_EVENTS_WRITER_H

#include "ingest/model/event_log.h"
#include "ingest/store/results_files.h"

struct event_writer;

struct event_writer *event_writer_create(void);         /* NULL: no memory */
void event_writer_destroy(struct event_writer *writer); /* NULL is allowed */
/* Without a look at the store. */
bool event_writer_add(struct event_writer *writer,
                      const struct event_log *log,
                      const struct event_batch *batch,
                      struct err *err) KS_MUST_USE;
/* What has been added and not been written, in memory. */
size_t event_writer_pending_bytes(const struct event_writer *writer);
/* Writes that into the log of this id (of event_log), the same one each time. */
bool event_writer_flush(struct event_writer *writer,
                        struct results_file *file,
                        const struct event_log *log,
                        struct err *err) KS_MUST_USE;
/* The same with the last texts, and the row of the log. */
bool event_writer_end(struct event_writer *writer,
                      struct results_file *file,
                      const struct event_log *log,
                      struct err *err) KS_MUST_USE;

#endif

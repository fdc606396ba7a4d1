/* The log into which an ingest writes events and timeline before their trace is there. */
#ifndef KS_STORE_INGEST_LOG_H
#define KS_STORE_INGEST_LOG_H

#include "ingest/store/internal.h"

/* The open log (a new one when there is none): id in event_log. It may ask for the writer, so not
 * inside a transaction. */
bool ingest_log_open(struct store_ingest *ingest, int64_t *log_id, struct err *err) KS_MUST_USE;
struct store *ingest_log_store(struct store_ingest *ingest);
/* The place of what the timeline's writer keeps between its calls (timeline_rows.h): NULL at the
 * beginning; who frees the ingest hands it to timeline_rows_free. */
struct timeline_rows **ingest_log_timeline(struct store_ingest *ingest);

#endif

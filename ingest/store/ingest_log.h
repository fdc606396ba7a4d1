/* The event log that an ingest writes before its trace exists. */
#ifndef KS_STORE_INGEST_LOG_H
#define KS_STORE_INGEST_LOG_H

#include "ingest/store/internal.h"

/* Returns the id in event_log of the open log, or begins a new one. May acquire the writer: do not
 * call it inside a transaction. */
bool ingest_log_open(struct store_ingest *ingest, int64_t *log_id, struct err *err) KS_MUST_USE;
struct store *ingest_log_store(struct store_ingest *ingest);
/* An ingest that only adds to the log of a stored trace; store_ingest_abort ends it. */
struct store_ingest *
ingest_log_reopen(struct store *store, int64_t log_id, struct err *err) KS_MUST_USE;
/* Where the timeline's writer keeps its state between calls (timeline_rows.h); NULL at first. The
 * caller that frees the ingest passes it to timeline_rows_free. */
struct timeline_rows **ingest_log_timeline(struct store_ingest *ingest);

#endif

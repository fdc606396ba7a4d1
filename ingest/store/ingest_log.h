/* The file that an ingest fills before its trace exists. */
#ifndef KS_STORE_INGEST_LOG_H
#define KS_STORE_INGEST_LOG_H

#include "ingest/store/results_files.h"

/* The file of the trace that is being read, made if there is none yet. */
bool ingest_log_open(struct store_ingest *ingest,
                     struct results_file **file,
                     struct err *err) KS_MUST_USE;
/* Takes it out of the ingest. */
struct results_file *ingest_log_take(struct store_ingest *ingest);
struct store *ingest_log_store(struct store_ingest *ingest);
/* An ingest that only makes the timeline of a stored trace; store_ingest_abort ends it. */
struct store_ingest *ingest_log_of_timeline(struct store *store, struct err *err) KS_MUST_USE;
/* Where the timeline's writer keeps its state between calls (timeline/rows.h); NULL at first. The
 * caller that frees the ingest passes it to timeline_rows_free. */
struct timeline_rows **ingest_log_timeline(struct store_ingest *ingest);

#endif

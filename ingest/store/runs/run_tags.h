/* Tags that uploads bring for their run. */
#ifndef KS_STORE_RUNS_RUN_TAGS_H
#define KS_STORE_RUNS_RUN_TAGS_H

#include "ingest/store/db/db.h"

/* Hands the tags that the job brings to its run, once: a later analysis of the same upload does not
 * bring back what a user took away. Within a transaction; read-and-change holds the row of the run,
 * so that no tag of another writer is lost. */
bool run_tags_settle(struct db *db, int64_t job_id, int64_t run_id, struct err *err) KS_MUST_USE;

#endif

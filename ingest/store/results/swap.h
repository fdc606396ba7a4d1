/* New results in the place of old ones: an upload that is analysed again shows its old traces until
 * the transaction that publishes the new ones. */
#ifndef KS_STORE_RESULTS_SWAP_H
#define KS_STORE_RESULTS_SWAP_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/store/db/db.h"

#include <stdbool.h>
#include <stdint.h>

/* Exchanges the ids of traces of the same worker and span in both uploads, with all rows that name
 * them: whoever has an id finds the new results under it. Notes and tags are those of the old. */
bool swap_traces(struct db *db, int64_t old_upload_id, int64_t new_upload_id, struct err *err)
    KS_MUST_USE;
/* Traces that were deleted alone are not shown again: the purge removes them. */
bool swap_leave_deleted(struct db *db, int64_t upload_id, struct err *err) KS_MUST_USE;

#endif

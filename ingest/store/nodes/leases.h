/* The claims of jobs, on one connection: all but `lease_fence` and `lease_note` in a transaction.
 * See store_leases.h. */
#ifndef KS_STORE_NODES_LEASES_H
#define KS_STORE_NODES_LEASES_H

#include "ingest/store/internal.h"
#include "ingest/store/store_leases.h"

/* job_id 0: none. */
struct lease {
    int64_t job_id;
    int64_t fence;
};

/* Of every statement that ends a job or writes for it; parameters: node, fence. */
#define LEASE_IS_OURS " AND node = ? AND fence = ?"

bool lease_claim(struct db *db, const char *node, struct lease *out, struct err *err) KS_MUST_USE;
/* Fails jobs that nobody has and that were claimed too often. */
bool lease_fail_crashing(struct db *db, struct err *err) KS_MUST_USE;
/* Returns all claims of the node, in the arena, in no order. */
bool lease_renew(struct db *db,
                 const char *node,
                 struct arena *arena,
                 struct lease **leases,
                 size_t *count,
                 struct err *err) KS_MUST_USE;
/* How a claim ends that was not carried out: given back, which is no attempt, or with its server.
 */
enum lease_end_kind { LEASE_UNUSED, LEASE_CRASHED };
/* `job_id` 0: of all jobs. Their fences grow, so that a commit that is still on its way changes
 * nothing. */
bool lease_give_back(struct db *db,
                     const char *node,
                     int64_t job_id,
                     enum lease_end_kind kind,
                     struct err *err) KS_MUST_USE;
/* Marks the job as done: *done is false when another has it, or its bytes have not arrived. */
bool lease_end(struct db *db,
               const char *node,
               const struct lease *lease,
               bool *done,
               struct err *err) KS_MUST_USE;

/* ---- of the store; the caller has the writer ---- */

/* Of a job that this server has claimed; 0: it has not, or the catalogue is embedded. */
int64_t lease_fence(const struct store *store, int64_t job_id);
bool lease_note(struct store *store, struct lease lease, struct err *err) KS_MUST_USE;
/* Locks the row of the job: ERR_NOT_FOUND when another has it. An embedded catalogue is asked
 * nothing. */
bool lease_hold(struct store *store, int64_t job_id, struct err *err) KS_MUST_USE;
/* ERR_UNAVAILABLE when this server could not renew for STORE_LATE_MS. */
bool lease_is_fresh(const struct store *store, struct err *err) KS_MUST_USE;

#endif

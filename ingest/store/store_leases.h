/* Which server does a job, where several share a catalogue. A server claims a job for
 * STORE_LEASE_S, renews all its claims at once, and carries each with a fence that grows with every
 * claim: what another has claimed meanwhile it can no longer change. The clock is the database's.
 * An embedded catalogue has one server, which needs no claims. */
#ifndef KS_STORE_STORE_LEASES_H
#define KS_STORE_STORE_LEASES_H

#include "ingest/store/store.h"

#define STORE_LEASE_S 30
/* A server renews so often, and publishes nothing when it is so late with it. */
#define STORE_RENEW_MS 5000
#define STORE_LATE_MS 20000
/* So often the server of a job may end in the middle of it; then the job fails. */
#define STORE_ATTEMPTS_MAX 3

/* Claims the oldest job that nobody has, or whose server is silent, uploads before what is analysed
 * again; never one of a run and name with an earlier unfinished job. *job is NULL where there is
 * none. What was claimed too often fails, in words, and keeps its bytes. */
bool store_job_claim(struct store *store,
                     struct arena *arena,
                     struct store_job **job,
                     struct err *err) KS_MUST_USE;
/* Renews all claims of this server. *ids: of the jobs that it has, ascending. */
bool store_leases_renew(struct store *store,
                        struct arena *arena,
                        int64_t **ids,
                        size_t *count,
                        struct err *err) KS_MUST_USE;
/* Gives back the claim of a job that this server does not do, which then is no attempt; 0: of all
 * jobs. A job whose bytes have not arrived is forgotten. */
bool store_leases_give_back(struct store *store, int64_t job_id, struct err *err) KS_MUST_USE;
/* Jobs that wait for a server to claim them: uploads, and what is analysed again. An embedded
 * catalogue has none. */
bool store_jobs_unclaimed(struct store *store, uint64_t *uploads, uint64_t *again, struct err *err)
    KS_MUST_USE;
/* The last unfinished job of this run and name whose bytes have arrived, of any server; *job is
 * NULL without one. */
bool store_job_unfinished(struct store *store,
                          struct arena *arena,
                          const char *run,
                          const char *file_name,
                          struct store_job **job,
                          struct err *err) KS_MUST_USE;

#endif

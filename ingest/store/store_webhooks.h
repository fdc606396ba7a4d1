/* What webhooks have been told [HIST-5]: which changes crossed, and a queue of deliveries that
 * outlives the process. Threads, arenas and errors as in store.h. */
#ifndef KS_STORE_STORE_WEBHOOKS_H
#define KS_STORE_STORE_WEBHOOKS_H

#include "ingest/store/store.h"

#include <stddef.h>
#include <stdint.h>

enum store_delivery_state { DELIVERY_WAITING, DELIVERY_DELIVERED, DELIVERY_GIVEN_UP };

struct store_delivery {
    int64_t id;
    const char *hook;  /* SHA-256 of what the line asks for, lower-case hex */
    const char *place; /* where it goes, without path: that may be a secret */
    const char *metric, *run;
    const char *body; /* JSON; NULL in lists */
    enum store_delivery_state state;
    int64_t attempts;
    int64_t created_at_s, next_at_s;
    int64_t status;    /* of the last answer; 0: none came */
    const char *error; /* of the last attempt; NULL: none */
};

/* "waiting", "delivered", "given_up" */
const char *store_delivery_state_text(enum store_delivery_state state);

/* Notes that a change at delivery->run crossed the hook, and queues the delivery, in one
 * transaction. Does nothing when it did before. */
bool store_webhook_cross(struct store *store,
                         const struct store_delivery *delivery,
                         struct err *err) KS_MUST_USE;
/* Those whose time has come, the oldest first, at most `limit`. */
bool store_webhook_due(struct store *store,
                       struct arena *arena,
                       int64_t now_s,
                       size_t limit,
                       struct store_delivery **rows,
                       size_t *count,
                       struct err *err) KS_MUST_USE;
/* Keeps what came of an attempt: state, attempts, next_at_s, status and error. */
bool store_webhook_attempted(struct store *store,
                             const struct store_delivery *delivery,
                             struct err *err) KS_MUST_USE;
/* The newest first. */
bool store_webhook_log(struct store_snapshot *snapshot,
                       struct arena *arena,
                       int64_t limit,
                       int64_t offset,
                       struct store_delivery **rows,
                       size_t *count,
                       int64_t *total,
                       struct err *err) KS_MUST_USE;

#endif

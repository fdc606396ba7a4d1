/* A fair mutex: threads get it in the order in which they asked. With a plain mutex, a long ingest
 * that locks it for each of its batches could keep all others out. */
#ifndef KS_STORE_DB_TURNSTILE_H
#define KS_STORE_DB_TURNSTILE_H

#include "ingest/base/attr.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct turnstile {
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    uint64_t next_ticket;
    uint64_t now_serving;
};

bool turnstile_init(struct turnstile *turnstile) KS_MUST_USE; /* false without resources */
void turnstile_destroy(struct turnstile *turnstile);
void turnstile_enter(struct turnstile *turnstile);
void turnstile_leave(struct turnstile *turnstile);

#endif

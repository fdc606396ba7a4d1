/* A lock that lets threads through in the order in which they came: a long ingest that takes it for
 * each of its batches cannot keep the others out, as it could with a plain mutex. */
#ifndef KS_STORE_DB_FAIR_MUTEX_H
#define KS_STORE_DB_FAIR_MUTEX_H

#include "ingest/base/attr.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct fair_mutex {
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    uint64_t next_ticket;
    uint64_t now_serving;
};

bool fair_mutex_init(struct fair_mutex *fair) KS_MUST_USE; /* false without resources */
void fair_mutex_destroy(struct fair_mutex *fair);
void fair_mutex_lock(struct fair_mutex *fair);
void fair_mutex_unlock(struct fair_mutex *fair);

#endif

#include "ingest/store/db/turnstile.h"

bool turnstile_init(struct turnstile *turnstile)
{
    *turnstile = (struct turnstile){0};
    if (pthread_mutex_init(&turnstile->mutex, NULL) != 0) {
        return false;
    }
    if (pthread_cond_init(&turnstile->moved, NULL) != 0) {
        (void)pthread_mutex_destroy(&turnstile->mutex);
        return false;
    }
    return true;
}

void turnstile_destroy(struct turnstile *turnstile)
{
    (void)pthread_cond_destroy(&turnstile->moved);
    (void)pthread_mutex_destroy(&turnstile->mutex);
}

void turnstile_enter(struct turnstile *turnstile)
{
    (void)pthread_mutex_lock(&turnstile->mutex);
    uint64_t ticket = turnstile->next_ticket++;
    while (turnstile->now_serving != ticket) {
        (void)pthread_cond_wait(&turnstile->moved, &turnstile->mutex);
    }
    (void)pthread_mutex_unlock(&turnstile->mutex);
}

void turnstile_leave(struct turnstile *turnstile)
{
    (void)pthread_mutex_lock(&turnstile->mutex);
    turnstile->now_serving++;
    (void)pthread_cond_broadcast(&turnstile->moved);
    (void)pthread_mutex_unlock(&turnstile->mutex);
}

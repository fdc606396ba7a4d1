#include "ingest/store/db/fair_mutex.h"

bool fair_mutex_init(struct fair_mutex *fair)
{
    *fair = (struct fair_mutex){0};
    if (pthread_mutex_init(&fair->mutex, NULL) != 0) {
        return false;
    }
    if (pthread_cond_init(&fair->moved, NULL) != 0) {
        (void)pthread_mutex_destroy(&fair->mutex);
        return false;
    }
    return true;
}

void fair_mutex_destroy(struct fair_mutex *fair)
{
    (void)pthread_cond_destroy(&fair->moved);
    (void)pthread_mutex_destroy(&fair->mutex);
}

void fair_mutex_lock(struct fair_mutex *fair)
{
    (void)pthread_mutex_lock(&fair->mutex);
    uint64_t ticket = fair->next_ticket++;
    while (fair->now_serving != ticket) {
        (void)pthread_cond_wait(&fair->moved, &fair->mutex);
    }
    (void)pthread_mutex_unlock(&fair->mutex);
}

void fair_mutex_unlock(struct fair_mutex *fair)
{
    (void)pthread_mutex_lock(&fair->mutex);
    fair->now_serving++;
    (void)pthread_cond_broadcast(&fair->moved);
    (void)pthread_mutex_unlock(&fair->mutex);
}

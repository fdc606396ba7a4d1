#include "ingest/base/monotonic.h"

#define NS_A_SECOND 1000000000L
#define NS_A_MS 1000000L

bool monotonic_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) {
        return false;
    }
    bool ok = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
              pthread_cond_init(cond, &attributes) == 0;
    (void)pthread_condattr_destroy(&attributes);
    return ok;
}

struct timespec monotonic_after(int64_t ms)
{
    struct timespec at = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += (time_t)(ms / 1000);
    at.tv_nsec += (long)(ms % 1000) * NS_A_MS;
    if (at.tv_nsec >= NS_A_SECOND) {
        at.tv_nsec -= NS_A_SECOND;
        at.tv_sec++;
    }
    return at;
}

int64_t monotonic_ms(void)
{
    const struct timespec now = monotonic_after(0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / NS_A_MS;
}

uint64_t monotonic_us_since(const struct timespec *begin)
{
    const struct timespec now = monotonic_after(0);
    return (uint64_t)((int64_t)(now.tv_sec - begin->tv_sec) * 1000000 +
                      (now.tv_nsec - begin->tv_nsec) / 1000);
}

bool monotonic_is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* A wrong clock for a program under test (LD_PRELOAD): every reading of the time of day is moved by
 * KS_CLOCK_OFFSET_S seconds. The monotonic clock stays. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static time_t offset_s(void)
{
    const char *text = getenv("KS_CLOCK_OFFSET_S");
    return text == NULL ? 0 : (time_t)strtoll(text, NULL, 10);
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    int (*real)(clockid_t, struct timespec *);
    void *symbol = dlsym(RTLD_NEXT, "clock_gettime");
    memcpy(&real, &symbol, sizeof real); /* ISO C has no cast from object to function */
    int failed = real(clock, out);
    if (failed == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        out->tv_sec += offset_s();
    }
    return failed;
}

time_t time(time_t *out)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL) {
        *out = now.tv_sec;
    }
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now = {0};
    (void)zone;
    int failed = clock_gettime(CLOCK_REALTIME, &now);
    out->tv_sec = now.tv_sec;
    out->tv_usec = (suseconds_t)(now.tv_nsec / 1000);
    return failed;
}

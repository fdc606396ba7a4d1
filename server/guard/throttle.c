/* Of each address is kept when all its failures will have been forgiven: a failure puts that off by
 * a second, and who is ten seconds from it has to wait. */
#include "server/guard/throttle.h"

#include "ingest/base/containers/fnv.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SETS 512U
#define WAYS 8U
#define ADDRESS_BYTES 48
#define FORGIVEN_MS 1000
#define FAILURES_MAX 10

struct place {
    char address[ADDRESS_BYTES]; /* "": free */
    int64_t forgiven_at_ms;
};

struct throttle {
    uint64_t hash_seed; /* so that nobody can fill the set of another one */
    pthread_mutex_t lock;
    struct place places[SETS][WAYS];
};

bool throttle_create(struct throttle **out, struct err *err)
{
    struct throttle *throttle = calloc(1, sizeof *throttle);
    if (throttle == NULL || pthread_mutex_init(&throttle->lock, NULL) != 0) {
        free(throttle);
        return err_set(err, ERR_NO_MEMORY, "No memory to count failures");
    }
    /* Without random bits it works as well, only that the sets can be known. */
    (void)!getrandom(&throttle->hash_seed, sizeof throttle->hash_seed, GRND_NONBLOCK);
    *out = throttle;
    return true;
}

void throttle_free(struct throttle *throttle)
{
    if (throttle != NULL) {
        (void)pthread_mutex_destroy(&throttle->lock);
        free(throttle);
    }
}

static struct place *set_of(struct throttle *throttle, const char *address)
{
    uint64_t hash = fnv_add(throttle->hash_seed, address, strlen(address));
    return throttle->places[(hash >> 32) % SETS];
}

/* The place of the address, or, with `make`, that of the one that is forgiven first. */
static struct place *find(struct throttle *throttle, const char *address, bool make)
{
    struct place *set = set_of(throttle, address);
    struct place *first = &set[0];
    for (size_t i = 0; i < WAYS; i++) {
        if (strncmp(set[i].address, address, ADDRESS_BYTES - 1) == 0) {
            return &set[i];
        }
        first = set[i].forgiven_at_ms < first->forgiven_at_ms ? &set[i] : first;
    }
    if (!make) {
        return NULL;
    }
    *first = (struct place){.forgiven_at_ms = 0};
    (void)snprintf(first->address, sizeof first->address, "%s", address);
    return first;
}

static bool has_failures_left(const struct place *place, int64_t now_ms)
{
    return place->forgiven_at_ms - now_ms <= (int64_t)(FAILURES_MAX - 1) * FORGIVEN_MS;
}

bool throttle_allows(struct throttle *throttle, const char *address, int64_t now_ms)
{
    (void)pthread_mutex_lock(&throttle->lock);
    const struct place *place = find(throttle, address, false);
    bool allowed = place == NULL || has_failures_left(place, now_ms);
    (void)pthread_mutex_unlock(&throttle->lock);
    return allowed;
}

bool throttle_note(struct throttle *throttle, const char *address, int64_t now_ms)
{
    (void)pthread_mutex_lock(&throttle->lock);
    struct place *place = find(throttle, address, true);
    int64_t from_ms = place->forgiven_at_ms > now_ms ? place->forgiven_at_ms : now_ms;
    bool could = has_failures_left(place, now_ms);
    if (could) {
        place->forgiven_at_ms = from_ms + FORGIVEN_MS;
    }
    bool stopped = could && !has_failures_left(place, now_ms);
    (void)pthread_mutex_unlock(&throttle->lock);
    return stopped;
}

void throttle_owes(struct throttle *throttle, const char *address, int64_t failures, int64_t now_ms)
{
    int64_t forgiven_at_ms = now_ms + failures * FORGIVEN_MS;
    (void)pthread_mutex_lock(&throttle->lock);
    struct place *place = find(throttle, address, true);
    if (place->forgiven_at_ms < forgiven_at_ms) {
        place->forgiven_at_ms = forgiven_at_ms;
    }
    (void)pthread_mutex_unlock(&throttle->lock);
}

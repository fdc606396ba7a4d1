#include "server/auth/wrong_tokens.h"

#include "ingest/base/monotonic.h"
#include "ingest/base/order.h"
#include "ingest/base/thread.h"
#include "server/guard/throttle.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRITE_AFTER_MS 1000
#define READ_AFTER_MS 1000
/* Of more addresses within a second the rest is counted here alone. */
#define UNWRITTEN_MAX 1024

struct wrong_tokens {
    struct store *store; /* NULL: nobody counts with us */
    const struct log *log;
    struct throttle *throttle;
    pthread_mutex_t lock; /* guards what follows */
    struct thread_sleeper writer;
    bool is_ending;
    struct store_wrong_tokens *unwritten; /* a list of UNWRITTEN_MAX; so is the next */
    size_t unwritten_count;
    struct store_wrong_tokens *being_written; /* the thread's, while it writes */
    int64_t read_at_ms;                       /* monotonic; 0: never */
};

/* ---- writing ---- */

ORDER_BY(by_address, struct store_wrong_tokens, ORDER_TEXT(address))

/* Its place among them, or the one behind the last. */
static size_t place_of(const struct wrong_tokens *wrong, const char *address)
{
    size_t at = 0;
    while (at < wrong->unwritten_count && strcmp(wrong->unwritten[at].address, address) != 0) {
        at++;
    }
    return at;
}

static void add(struct wrong_tokens *wrong, const char *address, int64_t count)
{
    size_t at = place_of(wrong, address);
    if (at == UNWRITTEN_MAX) {
        return;
    }
    if (at == wrong->unwritten_count) {
        wrong->unwritten[at] = (struct store_wrong_tokens){.count = 0};
        (void)snprintf(wrong->unwritten[at].address, sizeof wrong->unwritten[at].address, "%s",
                       address);
        wrong->unwritten_count++;
    }
    wrong->unwritten[at].count += count;
}

/* The lock is held before and after. In the order of their addresses, so that no two servers wait
 * for each other's rows. */
static void write_now(struct wrong_tokens *wrong)
{
    struct err err = ERR_INIT;
    struct store_wrong_tokens *rows = wrong->unwritten;
    size_t count = wrong->unwritten_count;
    if (count == 0) {
        return;
    }
    wrong->unwritten = wrong->being_written;
    wrong->unwritten_count = 0;
    wrong->being_written = rows;
    (void)pthread_mutex_unlock(&wrong->lock);
    qsort(rows, count, sizeof *rows, by_address);
    bool ok = store_wrong_tokens_add(wrong->store, rows, count, &err);
    if (!ok) {
        log_write(wrong->log, LOG_WARN, "wrong tokens are not told the other servers yet: %s",
                  err.msg);
    }
    (void)pthread_mutex_lock(&wrong->lock);
    for (size_t i = 0; !ok && i < count; i++) {
        add(wrong, rows[i].address, rows[i].count);
    }
}

static void *write_on(void *argument)
{
    struct wrong_tokens *wrong = argument;
    (void)pthread_mutex_lock(&wrong->lock);
    while (!wrong->is_ending) {
        const struct timespec until = monotonic_after(WRITE_AFTER_MS);
        if (wrong->unwritten_count == 0) {
            (void)pthread_cond_wait(&wrong->writer.wake, &wrong->lock);
        } else if (pthread_cond_timedwait(&wrong->writer.wake, &wrong->lock, &until) != 0) {
            write_now(wrong);
        }
    }
    write_now(wrong);
    (void)pthread_mutex_unlock(&wrong->lock);
    return NULL;
}

/* ---- reading ---- */

static void take(void *context, const struct store_wrong_tokens *row)
{
    struct wrong_tokens *wrong = context;
    (void)pthread_mutex_lock(&wrong->lock);
    size_t at = place_of(wrong, row->address);
    int64_t ours = at < wrong->unwritten_count ? wrong->unwritten[at].count : 0;
    (void)pthread_mutex_unlock(&wrong->lock);
    throttle_owes(wrong->throttle, row->address, row->count + ours, monotonic_ms());
}

/* One does it, while the others go by what is known. */
static void read_others(struct wrong_tokens *wrong)
{
    struct err err = ERR_INIT;
    int64_t now_ms = monotonic_ms();
    (void)pthread_mutex_lock(&wrong->lock);
    bool is_due = wrong->read_at_ms == 0 || now_ms - wrong->read_at_ms >= READ_AFTER_MS;
    wrong->read_at_ms = is_due ? now_ms : wrong->read_at_ms;
    (void)pthread_mutex_unlock(&wrong->lock);
    if (is_due && !store_wrong_tokens_read(wrong->store, take, wrong, &err)) {
        log_write(wrong->log, LOG_WARN, "wrong tokens at other servers are not counted: %s",
                  err.msg);
    }
}

/* ---- life and use ---- */

static bool share(struct wrong_tokens *wrong, struct store *store, struct err *err)
{
    wrong->unwritten = calloc(UNWRITTEN_MAX, sizeof *wrong->unwritten);
    wrong->being_written = calloc(UNWRITTEN_MAX, sizeof *wrong->being_written);
    wrong->store = store;
    return wrong->unwritten == NULL || wrong->being_written == NULL
               ? err_set(err, ERR_NO_MEMORY, "No memory to count wrong tokens")
               : thread_sleeper_start(&wrong->writer, write_on, wrong,
                                      "No resources to count wrong tokens", err);
}

bool wrong_tokens_create(struct wrong_tokens **out,
                         struct store *store,
                         const struct log *log,
                         struct err *err)
{
    struct wrong_tokens *wrong = calloc(1, sizeof *wrong);
    if (wrong == NULL || pthread_mutex_init(&wrong->lock, NULL) != 0) {
        free(wrong);
        return err_set(err, ERR_NO_MEMORY, "No memory to count wrong tokens");
    }
    wrong->log = log;
    if (!throttle_create(&wrong->throttle, err) ||
        (store != NULL && store_is_shared(store) && !share(wrong, store, err))) {
        wrong_tokens_free(wrong);
        return false;
    }
    *out = wrong;
    return true;
}

void wrong_tokens_free(struct wrong_tokens *wrong)
{
    if (wrong == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&wrong->lock);
    wrong->is_ending = true;
    (void)pthread_mutex_unlock(&wrong->lock);
    thread_sleeper_join(&wrong->writer, &wrong->lock);
    throttle_free(wrong->throttle);
    (void)pthread_mutex_destroy(&wrong->lock);
    free(wrong->unwritten);
    free(wrong->being_written);
    free(wrong);
}

bool wrong_tokens_allow(struct wrong_tokens *wrong, const char *address)
{
    if (wrong->store != NULL) {
        read_others(wrong);
    }
    return throttle_allows(wrong->throttle, address, monotonic_ms());
}

bool wrong_tokens_note(struct wrong_tokens *wrong, const char *address)
{
    bool stopped = throttle_note(wrong->throttle, address, monotonic_ms());
    if (wrong->store != NULL) {
        (void)pthread_mutex_lock(&wrong->lock);
        add(wrong, address, 1);
        if (wrong->unwritten_count == 1) {
            thread_sleeper_wake(&wrong->writer);
        }
        (void)pthread_mutex_unlock(&wrong->lock);
    }
    return stopped;
}

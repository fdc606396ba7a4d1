#include "ingest/formats/event_log/relay.h"

#include "ingest/base/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(EVENT_RELAY_BATCHES <= EVENT_BATCHES_KEPT, "the reader keeps what waits");

/* A text of the reader's log; its bytes stay where they are as long as the log. */
struct relay_text {
    const char *text;
    size_t len;
};

/* What one call of `take` or `end` brings. */
struct parcel {
    struct event_batch batch; /* its arrays are the reader's */
    struct relay_text *texts; /* new since the parcel before */
    size_t text_count;
    size_t text_capacity;
    struct event_template *kinds; /* the same of templates; their slots are the reader's */
    size_t kind_count;
    size_t kind_capacity;
    uint32_t log_event_count;
    const char *head;
    bool is_end;
};

struct event_relay {
    struct event_sink to;

    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t has_filled;
    pthread_cond_t has_taken;
    /* Under the mutex; parcels are counted without wrapping. */
    uint64_t filled;
    uint64_t taken; /* done with */
    bool stop;
    bool drops; /* what waits is passed over */
    bool failed;
    struct err err; /* when failed */
    bool thread_runs;

    /* the reader's */
    bool goes_by_thread; /* the trace at hand does */
    uint32_t texts_sent;
    uint32_t kinds_sent;
    struct parcel parcels[EVENT_RELAY_BATCHES]; /* number n is parcels[n % EVENT_RELAY_BATCHES] */

    /* The thread's, while it is at work: the log as the sink behind sees it. */
    struct event_log log;
    size_t log_template_capacity;
};

/* --- the thread --- */

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the log of events");
}

static bool add_kinds(struct event_relay *relay, const struct parcel *parcel)
{
    struct event_log *log = &relay->log;
    size_t need = log->template_count + parcel->kind_count;
    if (need > relay->log_template_capacity) {
        struct event_template *grown = realloc(log->templates, 2 * need * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        log->templates = grown;
        relay->log_template_capacity = 2 * need;
    }
    if (parcel->kind_count > 0) {
        memcpy(log->templates + log->template_count, parcel->kinds,
               parcel->kind_count * sizeof *parcel->kinds);
        log->template_count += (uint32_t)parcel->kind_count;
    }
    return true;
}

static bool unpack_parcel(struct event_relay *relay, const struct parcel *parcel)
{
    for (size_t i = 0; i < parcel->text_count; i++) {
        if (strtab_refer(relay->log.texts, parcel->texts[i].text, parcel->texts[i].len) ==
            STRTAB_NONE) {
            return false;
        }
    }
    relay->log.event_count = parcel->log_event_count;
    relay->log.head = parcel->head;
    return add_kinds(relay, parcel);
}

static bool deliver(struct event_relay *relay, const struct parcel *parcel, struct err *err)
{
    if (!unpack_parcel(relay, parcel)) {
        return no_memory(err);
    }
    return parcel->is_end ? relay->to.end(relay->to.context, &relay->log, err)
                          : relay->to.take(relay->to.context, &relay->log, &parcel->batch, err);
}

/* NULL: the relay ends. Parcels that nobody wants any more are passed over here. */
static const struct parcel *next_parcel(struct event_relay *relay)
{
    const struct parcel *parcel = NULL;
    (void)pthread_mutex_lock(&relay->mutex);
    while (parcel == NULL && !relay->stop) {
        if (relay->filled == relay->taken) {
            (void)pthread_cond_wait(&relay->has_filled, &relay->mutex);
        } else if (relay->drops || relay->failed) {
            relay->taken = relay->filled;
            (void)pthread_cond_signal(&relay->has_taken);
        } else {
            parcel = &relay->parcels[relay->taken % EVENT_RELAY_BATCHES];
        }
    }
    (void)pthread_mutex_unlock(&relay->mutex);
    return parcel;
}

static void *run(void *argument)
{
    struct event_relay *relay = argument;
    const struct parcel *parcel;
    while ((parcel = next_parcel(relay)) != NULL) {
        struct err err = ERR_INIT;
        bool ok = deliver(relay, parcel, &err);
        (void)pthread_mutex_lock(&relay->mutex);
        relay->taken++;
        if (!ok) {
            relay->failed = true;
            relay->err = err;
        }
        (void)pthread_mutex_unlock(&relay->mutex);
        (void)pthread_cond_signal(&relay->has_taken);
    }
    return NULL;
}

static bool start_thread(struct event_relay *relay)
{
    if (!relay->thread_runs) {
        relay->thread_runs = thread_start(&relay->thread, run, relay) == 0;
    }
    return relay->thread_runs;
}

/* --- the reader's side --- */

/* Until `left` parcels are left to be done; false when the sink behind has failed. */
static bool wait_for_room(struct event_relay *relay, uint64_t left, struct err *err)
{
    (void)pthread_mutex_lock(&relay->mutex);
    while (relay->filled - relay->taken > left) {
        (void)pthread_cond_wait(&relay->has_taken, &relay->mutex);
    }
    bool failed = relay->failed;
    if (failed) {
        *err = relay->err;
    }
    (void)pthread_mutex_unlock(&relay->mutex);
    return !failed;
}

static void send(struct event_relay *relay)
{
    (void)pthread_mutex_lock(&relay->mutex);
    relay->filled++;
    (void)pthread_mutex_unlock(&relay->mutex);
    (void)pthread_cond_signal(&relay->has_filled);
}

/* Makes room for `count` elements of `size` bytes at *elements. */
static bool make_room(void **elements, size_t *capacity, size_t count, size_t size)
{
    if (count <= *capacity) {
        return true;
    }
    size_t grown_count = count + count / 4;
    void *grown = realloc(*elements, grown_count * size);
    if (grown == NULL) {
        return false;
    }
    *elements = grown;
    *capacity = grown_count;
    return true;
}

static bool pack_texts(struct event_relay *relay, struct parcel *parcel, const struct strtab *texts)
{
    uint32_t count = strtab_count(texts);
    void *room = parcel->texts;
    bool good =
        make_room(&room, &parcel->text_capacity, count - relay->texts_sent, sizeof *parcel->texts);
    parcel->texts = room;
    parcel->text_count = 0;
    for (uint32_t id = relay->texts_sent; good && id < count; id++) {
        parcel->texts[parcel->text_count++] =
            (struct relay_text){.text = strtab_text(texts, id), .len = strtab_len(texts, id)};
    }
    relay->texts_sent = count;
    return good;
}

static bool
pack_kinds(struct event_relay *relay, struct parcel *parcel, const struct event_log *log)
{
    size_t count = log->template_count - relay->kinds_sent;
    void *room = parcel->kinds;
    bool good = make_room(&room, &parcel->kind_capacity, count, sizeof *parcel->kinds);
    parcel->kinds = room;
    parcel->kind_count = good ? count : 0;
    if (good && count > 0) {
        memcpy(parcel->kinds, log->templates + relay->kinds_sent, count * sizeof *parcel->kinds);
    }
    relay->kinds_sent = log->template_count;
    return good;
}

/* The free parcel with what is new in the log. */
static struct parcel *
begin_parcel(struct event_relay *relay, const struct event_log *log, struct err *err)
{
    if (!wait_for_room(relay, EVENT_RELAY_BATCHES - 1, err)) {
        return NULL;
    }
    struct parcel *parcel = &relay->parcels[relay->filled % EVENT_RELAY_BATCHES];
    if (!pack_texts(relay, parcel, log->texts) || !pack_kinds(relay, parcel, log)) {
        (void)no_memory(err);
        return NULL;
    }
    parcel->log_event_count = log->event_count;
    parcel->head = log->head;
    return parcel;
}

static bool start_log(struct event_relay *relay)
{
    strtab_destroy(relay->log.texts);
    relay->log.texts = strtab_create();
    relay->log.template_count = 0;
    relay->texts_sent = 1; /* the empty text is there */
    relay->kinds_sent = 0;
    return relay->log.texts != NULL;
}

static bool
take(void *context, const struct event_log *log, const struct event_batch *batch, struct err *err)
{
    struct event_relay *relay = context;
    if (batch->first_event == 0) {
        bool has_more = batch->event_count == EVENT_BATCH_EVENTS;
        relay->goes_by_thread = has_more && start_log(relay) && start_thread(relay);
    }
    if (!relay->goes_by_thread) {
        return relay->to.take(relay->to.context, log, batch, err);
    }
    struct parcel *parcel = begin_parcel(relay, log, err);
    if (parcel == NULL) {
        return false;
    }
    parcel->batch = *batch;
    parcel->is_end = false;
    send(relay);
    return true;
}

static bool end(void *context, const struct event_log *log, struct err *err)
{
    struct event_relay *relay = context;
    if (!relay->goes_by_thread) {
        return relay->to.end(relay->to.context, log, err);
    }
    struct parcel *parcel = begin_parcel(relay, log, err);
    if (parcel == NULL) {
        return false;
    }
    parcel->is_end = true;
    send(relay);
    bool good = wait_for_room(relay, 0, err);
    relay->goes_by_thread = false;
    return good;
}

static void drop(void *context)
{
    struct event_relay *relay = context;
    (void)pthread_mutex_lock(&relay->mutex);
    relay->drops = true;
    while (relay->thread_runs && relay->filled != relay->taken) {
        (void)pthread_cond_signal(&relay->has_filled);
        (void)pthread_cond_wait(&relay->has_taken, &relay->mutex);
    }
    relay->drops = false;
    relay->failed = false;
    (void)pthread_mutex_unlock(&relay->mutex);
    relay->goes_by_thread = false;
    if (relay->to.drop != NULL) {
        relay->to.drop(relay->to.context);
    }
}

/* --- life --- */

static bool init_locks(struct event_relay *relay)
{
    bool has_mutex = pthread_mutex_init(&relay->mutex, NULL) == 0;
    bool has_filled = has_mutex && pthread_cond_init(&relay->has_filled, NULL) == 0;
    bool has_taken = has_filled && pthread_cond_init(&relay->has_taken, NULL) == 0;
    if (has_filled && !has_taken) {
        (void)pthread_cond_destroy(&relay->has_filled);
    }
    if (has_mutex && !has_taken) {
        (void)pthread_mutex_destroy(&relay->mutex);
    }
    return has_taken;
}

struct event_relay *event_relay_create(const struct event_sink *to)
{
    struct event_relay *relay = calloc(1, sizeof *relay);
    if (relay == NULL || !init_locks(relay)) {
        free(relay);
        return NULL;
    }
    relay->to = *to;
    return relay;
}

void event_relay_destroy(struct event_relay *relay)
{
    if (relay == NULL) {
        return;
    }
    if (relay->thread_runs) {
        (void)pthread_mutex_lock(&relay->mutex);
        relay->stop = true;
        (void)pthread_cond_signal(&relay->has_filled);
        (void)pthread_mutex_unlock(&relay->mutex);
        (void)pthread_join(relay->thread, NULL);
    }
    for (size_t i = 0; i < EVENT_RELAY_BATCHES; i++) {
        free(relay->parcels[i].texts);
        free(relay->parcels[i].kinds);
    }
    strtab_destroy(relay->log.texts);
    free(relay->log.templates);
    (void)pthread_cond_destroy(&relay->has_taken);
    (void)pthread_cond_destroy(&relay->has_filled);
    (void)pthread_mutex_destroy(&relay->mutex);
    free(relay);
}

struct event_sink event_relay_sink(struct event_relay *relay)
{
    return (struct event_sink){.context = relay, .take = take, .end = end, .drop = drop};
}

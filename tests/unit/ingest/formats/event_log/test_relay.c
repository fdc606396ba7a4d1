/* The relay hands on the same log as the reader's, batch by batch, whatever the sink behind does.
 */
#include "ingest/formats/event_log/relay.h"
#include "tests/unit/unit.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define FULL EVENT_BATCH_EVENTS

/* --- a sink that looks at what it gets; it may not fail a test on another thread --- */

struct seen {
    _Atomic unsigned batches;
    _Atomic unsigned ends;
    _Atomic unsigned drops;
    _Atomic unsigned wrong;
    _Atomic bool is_at_work;
    unsigned fail_at_batch; /* 1: the first; 0: never */
    bool fail_at_end;
    unsigned slow_ms;
    uint32_t next_event;
};

static void expect(struct seen *seen, bool right)
{
    seen->wrong += !right;
}

static void wait_ms(unsigned ms)
{
    const struct timespec pause = {.tv_nsec = (long)ms * 1000000};
    (void)nanosleep(&pause, NULL);
}

/* Event n has template n % 3 of the log and the text "text <n>". */
static void look_at_event(struct seen *seen,
                          const struct event_log *log,
                          const struct event_batch *batch,
                          uint32_t i)
{
    char text[32];
    uint32_t number = batch->first_event + i;
    uint32_t id = (uint32_t)batch->values[i];
    (void)snprintf(text, sizeof text, "text %u", (unsigned)number);
    expect(seen, batch->templates[i] == number % 3 && batch->templates[i] < log->template_count);
    expect(seen, id < strtab_count(log->texts) && strcmp(strtab_text(log->texts, id), text) == 0 &&
                     strtab_len(log->texts, id) == strlen(text));
}

static bool
take(void *context, const struct event_log *log, const struct event_batch *batch, struct err *err)
{
    struct seen *seen = context;
    expect(seen, !atomic_exchange(&seen->is_at_work, true));
    if (seen->slow_ms > 0) {
        wait_ms(seen->slow_ms);
    }
    expect(seen, batch->first_event == seen->next_event);
    expect(seen, log->event_count == batch->first_event + batch->event_count);
    for (uint32_t i = 0; i < batch->event_count; i++) {
        look_at_event(seen, log, batch, i);
    }
    seen->next_event += batch->event_count;
    seen->is_at_work = false;
    return ++seen->batches != seen->fail_at_batch || err_set(err, ERR_NO_SPACE, "the sink is full");
}

static bool end(void *context, const struct event_log *log, struct err *err)
{
    struct seen *seen = context;
    expect(seen, !seen->is_at_work && strcmp(log->head, "the head") == 0);
    expect(seen, log->event_count == seen->next_event);
    seen->ends++;
    seen->next_event = 0;
    return !seen->fail_at_end || err_set(err, ERR_STORE, "the sink cannot end");
}

static void drop(void *context)
{
    struct seen *seen = context;
    expect(seen, !seen->is_at_work);
    seen->drops++;
    seen->next_event = 0;
}

static struct event_sink sink_of(struct seen *seen)
{
    return (struct event_sink){.context = seen, .take = take, .end = end, .drop = drop};
}

/* --- a reader --- */

struct reader {
    struct event_log log;
    struct event_template templates[3];
    struct event_slot slots[3];
    struct {
        uint32_t numbers[FULL];
        int64_t values[FULL];
    } kept[EVENT_BATCHES_KEPT + 1]; /* in turn */
    unsigned at;
};

static void begin_reader(struct reader *reader)
{
    *reader = (struct reader){.log = {.texts = strtab_create(), .head = ""}};
    assert_non_null(reader->log.texts);
    for (int i = 0; i < 3; i++) {
        reader->templates[i] =
            (struct event_template){.slots = &reader->slots[i], .slot_count = 1, .value_count = 1};
    }
    reader->log.templates = reader->templates;
}

static bool
hand_on(struct reader *reader, const struct event_sink *sink, uint32_t count, struct err *err)
{
    uint32_t *numbers = reader->kept[reader->at].numbers;
    int64_t *values = reader->kept[reader->at].values;
    struct event_batch batch = {.first_event = reader->log.event_count,
                                .event_count = count,
                                .templates = numbers,
                                .values = values,
                                .value_count = count};
    reader->log.template_count = 3;
    for (uint32_t i = 0; i < count; i++) {
        char text[32];
        uint32_t number = reader->log.event_count++;
        int len = snprintf(text, sizeof text, "text %u", (unsigned)number);
        numbers[i] = number % 3;
        values[i] = strtab_intern(reader->log.texts, text, (size_t)len);
    }
    bool good = sink->take(sink->context, &reader->log, &batch, err);
    /* The sink must not need the next ones any more. */
    reader->at = (reader->at + 1) % (EVENT_BATCHES_KEPT + 1);
    memset(&reader->kept[reader->at], -1, sizeof reader->kept[reader->at]);
    return good;
}

/* One trace; the answer is whether it went through. */
static bool
send_trace(const struct event_sink *sink, unsigned full_batches, uint32_t rest, struct err *err)
{
    static struct reader reader;
    begin_reader(&reader);
    bool good = true;
    for (unsigned i = 0; good && i < full_batches; i++) {
        good = hand_on(&reader, sink, FULL, err);
    }
    good = good && (rest == 0 || hand_on(&reader, sink, rest, err));
    reader.log.head = "the head";
    good = good && sink->end(sink->context, &reader.log, err);
    if (!good) {
        sink->drop(sink->context);
    }
    strtab_destroy(reader.log.texts);
    return good;
}

/* --- the tests --- */

static void traces_arrive_as_they_are(void **state)
{
    (void)state;
    static const struct {
        unsigned full_batches;
        uint32_t rest;
    } rows[] = {{0, 1}, {0, 0}, {1, 0}, {1, 5}, {12, FULL - 1}, {0, 7}, {5, 0}};
    for (unsigned slow_ms = 0; slow_ms < 2; slow_ms++) {
        struct seen seen = {.slow_ms = slow_ms};
        const struct event_sink to = sink_of(&seen);
        struct event_relay *relay = event_relay_create(&to);
        assert_non_null(relay);
        const struct event_sink sink = event_relay_sink(relay);
        for (size_t i = 0; i < COUNT_OF(rows); i++) {
            struct err err = ERR_INIT;
            seen.batches = 0;
            assert_true(send_trace(&sink, rows[i].full_batches, rows[i].rest, &err));
            assert_int_equal(seen.batches, rows[i].full_batches + (rows[i].rest > 0));
            assert_int_equal(seen.ends, i + 1);
            assert_int_equal(seen.wrong, 0);
            assert_int_equal(seen.drops, 0);
        }
        event_relay_destroy(relay);
    }
}

static void errors_come_back_and_the_next_trace_is_read(void **state)
{
    (void)state;
    for (unsigned fail_at = 1; fail_at <= 10; fail_at++) {
        struct err err = ERR_INIT;
        struct seen seen = {.fail_at_batch = fail_at};
        const struct event_sink to = sink_of(&seen);
        struct event_relay *relay = event_relay_create(&to);
        assert_non_null(relay);
        const struct event_sink sink = event_relay_sink(relay);
        assert_false(send_trace(&sink, 9, 1, &err));
        assert_int_equal(err.code, ERR_NO_SPACE);
        assert_int_equal(seen.batches, fail_at);
        assert_int_equal(seen.ends, 0);
        assert_int_equal(seen.drops, 1);
        seen.fail_at_batch = 0;
        assert_true(send_trace(&sink, 3, 3, &err));
        seen.fail_at_end = true;
        assert_false(send_trace(&sink, 2, 0, &err));
        assert_int_equal(err.code, ERR_STORE);
        assert_int_equal(seen.ends, 2);
        assert_int_equal(seen.drops, 2);
        assert_int_equal(seen.wrong, 0);
        event_relay_destroy(relay);
    }
}

/* A reader that gives up: nothing is at work when `drop` returns, and little was done in vain. */
static void what_waits_is_dropped(void **state)
{
    (void)state;
    static struct reader reader;
    struct err err = ERR_INIT;
    struct seen seen = {.slow_ms = 300};
    const struct event_sink to = sink_of(&seen);
    struct event_relay *relay = event_relay_create(&to);
    assert_non_null(relay);
    const struct event_sink sink = event_relay_sink(relay);
    begin_reader(&reader);
    for (int i = 0; i < EVENT_RELAY_BATCHES; i++) {
        assert_true(hand_on(&reader, &sink, FULL, &err));
    }
    sink.drop(sink.context);
    assert_int_equal(seen.drops, 1);
    assert_true(seen.batches < EVENT_RELAY_BATCHES);
    strtab_destroy(reader.log.texts);
    seen.slow_ms = 0;
    assert_true(send_trace(&sink, 2, 2, &err));
    assert_int_equal(seen.wrong, 0);
    event_relay_destroy(relay);
}

/* Without `drop` before: the relay ends with the reader's log still there. */
static void a_relay_may_end_at_any_time(void **state)
{
    (void)state;
    static struct reader reader;
    for (int batches = 0; batches <= EVENT_RELAY_BATCHES; batches++) {
        struct err err = ERR_INIT;
        struct seen seen = {.slow_ms = 2};
        const struct event_sink to = sink_of(&seen);
        struct event_relay *relay = event_relay_create(&to);
        assert_non_null(relay);
        const struct event_sink sink = event_relay_sink(relay);
        begin_reader(&reader);
        for (int i = 0; i < batches; i++) {
            assert_true(hand_on(&reader, &sink, FULL, &err));
        }
        event_relay_destroy(relay);
        assert_false(seen.is_at_work);
        assert_int_equal(seen.wrong, 0);
        strtab_destroy(reader.log.texts);
    }
    event_relay_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_arrive_as_they_are),
        cmocka_unit_test(errors_come_back_and_the_next_trace_is_read),
        cmocka_unit_test(what_waits_is_dropped),
        cmocka_unit_test(a_relay_may_end_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

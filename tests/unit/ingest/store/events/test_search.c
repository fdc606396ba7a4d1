/* Events found by a text or a number in their name, category or arguments. */
#include "tests/unit/ingest/formats/event_log/event_fixture.h"
#include "tests/unit/ingest/store/trace_file.h"

static const char *const events[] = {
    "{\"cat\": \"cpu_op\", \"name\": \"aten::MM\", \"pid\": \"mmm\", \"ts\": 40, \"args\": {\"mm "
    "key\": "
    "\"x\"}}",
    "{\"cat\": \"Kernel\", \"name\": \"Volta_sgemm\", \"ts\": 20, \"dur\": 5, \"args\": "
    "{\"correlation\": 1234, \"stream\": 7}}",
    "{\"cat\": \"Runtime\", \"name\": \"cudaLaunchKernel\", \"ts\": 10, \"args\": "
    "{\"correlation\": "
    "1234, \"External id\": 12345}}",
    "{\"name\": \"a\\\"b\\\\c\\u0041\", \"ts\": 30, \"args\": {\"dims\": [\"Float\", 1234, "
    "\"q\\n\"], "
    "\"share\": 12.50, \"big\": 99999999999999999999}}",
    "{\"name\": \"kernel 1234\", \"ts\": 20, \"args\": {\"ts\": \"1234\"}}",
    "{\"name\": \"process_name\", \"ph\": \"M\", \"args\": {\"name\": \"python 77\"}}",
};
#define EVENTS (sizeof events / sizeof events[0])

struct expected {
    const char *q;
    const char *numbers; /* of the events found, in order, with the key each was found in */
};

static const struct expected expected[] = {
    {"mm", "1 name, 0 name"},
    {"aten::mm", "0 name"},
    {"GEMM", "1 name"},
    {"mmm", ""},
    {"mm key", ""},
    {"kernel", "2 name, 1 cat, 4 name"},
    {"1234", "2 correlation, 1 correlation, 4 name, 3 dims"},
    {"123", "4 name, 3 dims"},
    {"12345", "2 External id"},
    {"12.50", "3 share"},
    {"12.5", ""},
    {"7", "1 stream, 5 name"},
    {"99999999999999999999", "3 big"},
    {"9999999999999999999", ""},
    {"a\"B\\cA", "3 name"},
    {"u0041", ""},
    {"\\", "3 name"},
    {"ca", "3 name"},
    {"float\", 1234, \"Q", "3 dims"},
    {"q\\n", "3 dims"},
    {"process", "5 name"},
    {"python 77", "5 name"},
    {"20", ""},
    {"zebra", ""},
    {"-7", ""},
    {"\xC3\xA4", ""},
};

static void expect_hits(struct fixture *f,
                        int64_t id,
                        const char *q,
                        int64_t start_ns,
                        int64_t end_ns,
                        const char *numbers)
{
    struct store_event_hit *hits;
    struct buf got;
    size_t count;
    size_t total;
    assert_ok(f, READ(f->store, store_events_search, &f->arena, id,
                      &(struct store_event_query){q, NULL, start_ns, end_ns, 100, 1000}, &hits,
                      &count, &total, &f->err));
    buf_init(&got, 10000);
    buf_puts(&got, "");
    for (size_t i = 0; i < count; i++) {
        buf_printf(&got, "%s%u %s", i == 0 ? "" : ", ", hits[i].event.event, hits[i].key);
    }
    if (strcmp(got.ptr, numbers) != 0 || total != count) {
        fail_msg("%s: %s instead of %s (%zu)", q, got.ptr, numbers, total);
    }
    buf_free(&got);
}

static void texts_and_numbers_are_found(void **state)
{
    struct fixture *f = *state;
    for (size_t whole = 0; whole <= EVENTS; whole += EVENTS) {
        int64_t id = store_events(f, whole == 0 ? "a" : "b", events, EVENTS, whole, 0);
        for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
            expect_hits(f, id, expected[i].q, INT64_MIN, INT64_MAX, expected[i].numbers);
        }
    }
}

static void hits_tell_of_their_event(void **state)
{
    struct fixture *f = *state;
    struct store_event_hit *hits;
    size_t count;
    size_t total;
    for (size_t whole = 0; whole <= EVENTS; whole += EVENTS) {
        int64_t id = store_events(f, whole == 0 ? "a" : "b", events, EVENTS, whole, 15000);
        assert_ok(f, READ(f->store, store_events_search, &f->arena, id,
                          &(struct store_event_query){"sgemm", NULL, INT64_MIN, INT64_MAX, 5, 5},
                          &hits, &count, &total, &f->err));
        assert_int_equal(count, 1);
        const struct store_event *e = &hits[0].event;
        assert_string_equal(e->name, "Volta_sgemm");
        assert_string_equal(e->category, "Kernel");
        assert_string_equal(e->phase, "");
        assert_string_equal(e->pid, "");
        assert_int_equal(e->start_ns, 5000);
        assert_int_equal(e->dur_ns, 5000);
        assert_true(e->has_start && e->has_dur);
        assert_null(e->json);
    }
}

/* What has no time is found only without bounds. */
static void a_range_bounds_the_search(void **state)
{
    struct fixture *f = *state;
    for (size_t whole = 0; whole <= EVENTS; whole += EVENTS) {
        int64_t id = store_events(f, whole == 0 ? "a" : "b", events, EVENTS, whole, 10000);
        expect_hits(f, id, "1234", 0, 9999, "2 correlation");
        expect_hits(f, id, "1234", 15000, 15000, "1 correlation");
        expect_hits(f, id, "1234", 15001, INT64_MAX, "3 dims");
        expect_hits(f, id, "1234", 20001, INT64_MAX, "");
        expect_hits(f, id, "process", INT64_MIN, 100000, "");
        expect_hits(f, id, "process", INT64_MIN, INT64_MAX, "5 name");
    }
}

/* ---- many ---- */

#define MANY (4 * EVENT_BATCH_EVENTS)
#define EVENT_BYTES 160

/* Later ones start earlier. */
static int64_t store_many(struct fixture *f)
{
    char(*texts)[EVENT_BYTES] = malloc(MANY * sizeof *texts);
    const char **many = malloc(MANY * sizeof *many);
    assert_true(texts != NULL && many != NULL);
    for (uint32_t i = 0; i < MANY; i++) {
        (void)snprintf(texts[i], EVENT_BYTES,
                       "{\"name\": \"%s %u\", \"ts\": %u, \"args\": {\"id\": %u}}",
                       i / EVENT_BATCH_EVENTS == 3 ? "late" : "early", i % 7, (MANY - i) / 2, i);
        many[i] = texts[i];
    }
    int64_t id = store_events(f, "r", many, MANY, 0, 0);
    free(many);
    free(texts);
    return id;
}

static void the_first_by_start_are_given(void **state)
{
    struct fixture *f = *state;
    struct store_event_hit *hits;
    size_t count;
    size_t total;
    int64_t id = store_many(f);
    assert_ok(f,
              READ(f->store, store_events_search, &f->arena, id,
                   &(struct store_event_query){"EARLY 3", NULL, INT64_MIN, INT64_MAX, 10, SIZE_MAX},
                   &hits, &count, &total, &f->err));
    assert_int_equal(count, 10);
    assert_int_equal(total, (3 * EVENT_BATCH_EVENTS + 3) / 7);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(hits[i].event.name, "early 3");
        assert_true(i == 0 || hits[i].event.start_ns > hits[i - 1].event.start_ns);
    }
    assert_true(hits[0].event.event > 3 * EVENT_BATCH_EVENTS - 8);
    /* Equal starts: by number. */
    assert_ok(f, READ(f->store, store_events_search, &f->arena, id,
                      &(struct store_event_query){"late", NULL, 0, 10000, 6, SIZE_MAX}, &hits,
                      &count, &total, &f->err));
    for (uint32_t i = 0; i < 6; i++) {
        static const uint32_t order[] = {1, 3, 2, 5, 4, 7};
        assert_int_equal(hits[i].event.event, MANY - order[i]);
    }
}

static void the_search_ends_at_a_count(void **state)
{
    struct fixture *f = *state;
    struct store_event_hit *hits;
    size_t count;
    size_t total;
    int64_t id = store_many(f);
    assert_ok(f, READ(f->store, store_events_search, &f->arena, id,
                      &(struct store_event_query){"e", NULL, INT64_MIN, INT64_MAX, 3, 100}, &hits,
                      &count, &total, &f->err));
    assert_int_equal(count, 3);
    assert_int_equal(total, 100);
    assert_ok(f, READ(f->store, store_events_search, &f->arena, id,
                      &(struct store_event_query){"e", NULL, INT64_MIN, INT64_MAX, 0, SIZE_MAX},
                      &hits, &count, &total, &f->err));
    assert_int_equal(count, 0);
    assert_int_equal(total, MANY);
    assert_ok(f, READ(f->store, store_events_search, &f->arena, id,
                      &(struct store_event_query){"", NULL, INT64_MIN, INT64_MAX, 1, 7}, &hits,
                      &count, &total, &f->err));
    assert_int_equal(total, 7);
}

static void blocks_that_cannot_match_are_not_read(void **state)
{
    struct fixture *f = *state;
    int64_t id = store_many(f);
    change_trace_file(f, "UPDATE event_block SET bytes = x'00' WHERE first_event = 0");
    struct store_event_hit *hits;
    size_t count;
    size_t total;
    assert_ok(f, READ(f->store, store_events_search, &f->arena, id,
                      &(struct store_event_query){"late", NULL, INT64_MIN, INT64_MAX, 3, SIZE_MAX},
                      &hits, &count, &total, &f->err));
    assert_int_equal(total, EVENT_BATCH_EVENTS);
    assert_ok(f, READ(f->store, store_events_search, &f->arena, id,
                      &(struct store_event_query){"16000", NULL, INT64_MIN, INT64_MAX, 3, SIZE_MAX},
                      &hits, &count, &total, &f->err));
    assert_int_equal(total, 1);
    assert_fails(f,
                 READ(f->store, store_events_search, &f->arena, id,
                      &(struct store_event_query){"12", NULL, INT64_MIN, INT64_MAX, 3, SIZE_MAX},
                      &hits, &count, &total, &f->err),
                 ERR_STORE);
}

/* A number that others have in other arguments is found where it is asked for: the search for it
 * anywhere ends before. */
static void one_argument_is_asked_for(void **state)
{
    struct fixture *f = *state;
    enum { MADE = 5 };
    static const char *const made[MADE] = {
        "{\"ph\":\"X\",\"name\":\"64\",\"ts\":1,\"dur\":1,\"args\":{\"External id\":64,\"id\":63}}",
        "{\"ph\":\"X\",\"name\":\"b\",\"ts\":2,\"dur\":1,\"args\":{\"Input "
        "Dims\":[[64]],\"id\":\"65\"}}",
        "{\"ph\":\"X\",\"name\":\"c\",\"ts\":3,\"dur\":1,\"id\":64,\"args\":{\"idx\":64}}",
        "{\"ph\":\"X\",\"name\":\"d\",\"ts\":4,\"dur\":1,\"args\":{\"id\":64}}",
        "{\"ph\":\"X\",\"name\":\"e\",\"ts\":5,\"dur\":1,\"args\":{\"id\":\"64\"}}",
    };
    for (size_t whole = 0; whole <= MADE; whole += MADE) {
        int64_t id = store_events(f, whole == 0 ? "slots" : "texts", made, MADE, whole, 0);
        struct store_event_hit *hits;
        size_t count;
        size_t total;
        assert_ok(f, READ(f->store, store_events_search, &f->arena, id,
                          &(struct store_event_query){"64", "id", INT64_MIN, INT64_MAX, 1, 1},
                          &hits, &count, &total, &f->err));
        assert_int_equal(count, 1);
        assert_int_equal(hits[0].event.event, 3);
        assert_string_equal(hits[0].key, "id");
        assert_ok(f, READ(f->store, store_events_search, &f->arena, id,
                          &(struct store_event_query){"64", "id", INT64_MIN, INT64_MAX, 9, 9},
                          &hits, &count, &total, &f->err));
        assert_int_equal(count, 2);
        assert_int_equal(hits[1].event.event, 4);
        assert_ok(f,
                  READ(f->store, store_events_search, &f->arena, id,
                       &(struct store_event_query){"64", "External id", INT64_MIN, INT64_MAX, 9, 9},
                       &hits, &count, &total, &f->err));
        assert_int_equal(count, 1);
        assert_int_equal(hits[0].event.event, 0);
    }
}

static void a_long_text_is_refused(void **state)
{
    struct fixture *f = *state;
    char q[1100];
    struct store_event_hit *hits;
    size_t count;
    size_t total;
    memset(q, 'x', sizeof q - 1);
    q[sizeof q - 1] = '\0';
    int64_t id = store_events(f, "a", events, EVENTS, 0, 0);
    assert_fails(f,
                 READ(f->store, store_events_search, &f->arena, id,
                      &(struct store_event_query){q, NULL, INT64_MIN, INT64_MAX, 3, 3}, &hits,
                      &count, &total, &f->err),
                 ERR_BAD_REQUEST);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store_of_files, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(texts_and_numbers_are_found), TEST(hits_tell_of_their_event),
        TEST(a_range_bounds_the_search),   TEST(the_first_by_start_are_given),
        TEST(the_search_ends_at_a_count),  TEST(blocks_that_cannot_match_are_not_read),
        TEST(one_argument_is_asked_for),   TEST(a_long_text_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

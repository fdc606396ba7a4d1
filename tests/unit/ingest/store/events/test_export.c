/* The document that a trace is given back as: valid JSON, in file order, cut to a range. */
#include "tests/unit/ingest/formats/event_log/event_fixture.h"
#include "tests/unit/ingest/store/trace_file.h"

#include <jansson.h>

#define BASE_NS INT64_C(1000000)
#define EVENT_BYTES 160

/* ---- a range ---- */

/* Times in microseconds behind the trace's start, which is 1000 us in the file. */
static const struct timed {
    const char *json;
    int64_t start_ns;
    int64_t end_ns;
    bool always;
} timed[] = {
    {.json = "{\"ph\": \"M\", \"name\": \"process_name\", \"ts\": 1000}", .always = true},
    {.json = "{\"name\": \"no time\"}", .always = true},
    {.json = "{\"ph\": \"X\", \"ts\": 1000, \"dur\": 5}", .start_ns = 0, .end_ns = 5000},
    {.json = "{\"ph\": \"X\", \"ts\": 1010.5, \"dur\": 0.25}", .start_ns = 10500, .end_ns = 10750},
    {.json = "{\"ph\": \"X\", \"ts\": \"1020\", \"dur\": 1e1}", .start_ns = 20000, .end_ns = 30000},
    {.json = "{\"ph\": \"i\", \"ts\": 1.040e3}", .start_ns = 40000, .end_ns = 40000},
    {.json = "{\"ph\": \"X\", \"ts\": 1050, \"dur\": -7}", .start_ns = 50000, .end_ns = 50000},
    {.json = "{\"ts\": 900, \"dur\": 1000}", .start_ns = -100000, .end_ns = 900000},
    {.json = "{\"ts\": 99999999999999999999, \"x\": \"beyond all times\"}", .always = true},
};
#define TIMED (sizeof timed / sizeof timed[0])

static void expect_range(struct fixture *f, int64_t id, int64_t start_ns, int64_t end_ns)
{
    struct buf expected;
    bool first = true;
    char *got = export_all(f, id, start_ns, end_ns);
    buf_init(&expected, SIZE_MAX / 2);
    buf_puts(&expected, "{\"traceEvents\": [\n");
    for (size_t i = 0; i < TIMED; i++) {
        if (timed[i].always || (timed[i].start_ns <= end_ns && timed[i].end_ns >= start_ns)) {
            buf_puts(&expected, first ? "" : ",\n");
            buf_puts(&expected, timed[i].json);
            first = false;
        }
    }
    buf_puts(&expected, "\n]}\n");
    assert_string_equal(got, expected.ptr);
    free(got);
    buf_free(&expected);
}

static void a_range_cuts_the_document(void **state)
{
    static const int64_t edges_ns[] = {INT64_MIN, -100001, -1,     0,      5000,
                                       5001,      10750,   30000,  40000,  40001,
                                       50000,     50001,   900000, 900001, INT64_MAX};
    struct fixture *f = *state;
    const char *events[TIMED];
    for (size_t i = 0; i < TIMED; i++) {
        events[i] = timed[i].json;
    }
    for (size_t whole = 0; whole <= TIMED; whole += TIMED) {
        int64_t id = store_events(f, whole == 0 ? "a" : "b", events, TIMED, whole, BASE_NS);
        for (size_t from = 0; from < sizeof edges_ns / sizeof edges_ns[0]; from++) {
            for (size_t to = from; to < sizeof edges_ns / sizeof edges_ns[0]; to++) {
                expect_range(f, id, edges_ns[from], edges_ns[to]);
            }
        }
    }
}

/* ---- many blocks ---- */

#define BLOCKS 6
#define EVENTS (BLOCKS * 2 * EVENT_BATCH_EVENTS + 1)

static const char *many_event(char out[EVENT_BYTES], uint32_t i)
{
    if (i == EVENTS / 2) {
        (void)snprintf(out, EVENT_BYTES, "{\"ph\": \"M\", \"name\": \"thread_name\", \"ts\": 0}");
    } else {
        (void)snprintf(
            out, EVENT_BYTES,
            "{\"ph\": \"X\", \"name\": \"op %u\", \"ts\": %u.5, \"dur\": 1, \"args\": {\"n\": %u}}",
            i % 100, i, i);
    }
    return out;
}

static int64_t store_many(struct fixture *f)
{
    char(*texts)[EVENT_BYTES] = malloc(EVENTS * sizeof *texts);
    const char **events = malloc(EVENTS * sizeof *events);
    assert_true(texts != NULL && events != NULL);
    for (uint32_t i = 0; i < EVENTS; i++) {
        events[i] = many_event(texts[i], i);
    }
    int64_t id = store_events(f, "r", events, EVENTS, 0, 0);
    free(events);
    free(texts);
    return id;
}

static void the_document_is_valid_json(void **state)
{
    struct fixture *f = *state;
    char text[EVENT_BYTES];
    json_error_t error;
    char *got = export_all(f, store_many(f), INT64_MIN, INT64_MAX);
    json_t *document = json_loads(got, 0, &error);
    const json_t *events = json_object_get(document, "traceEvents");
    assert_non_null(document);
    assert_int_equal(json_array_size(events), EVENTS);
    for (uint32_t i = 0; i < EVENTS; i++) {
        json_t *expected = json_loads(many_event(text, i), 0, &error);
        assert_true(json_equal(json_array_get(events, i), expected));
        json_decref(expected);
    }
    json_decref(document);
    free(got);
}

/* Every event of a block out of the range, so that reading them would fail. */
static void blocks_out_of_range_are_not_read(void **state)
{
    struct fixture *f = *state;
    char text[EVENT_BYTES];
    int64_t id = store_many(f);
    int64_t middle = trace_file_number(f, "SELECT first_event FROM event_block WHERE has_metadata");
    struct buf sql;
    buf_init(&sql, 200);
    buf_printf(&sql, "UPDATE event_block SET bytes = x'00' WHERE first_event NOT IN (0, %lld)",
               (long long)middle);
    change_trace_file(f, sql.ptr);
    buf_free(&sql);
    char *got = export_all(f, id, 7000, 9600);
    for (uint32_t i = 5; i <= 10; i++) {
        assert_int_equal(strstr(got, many_event(text, i)) != NULL, i >= 6 && i <= 9);
    }
    assert_non_null(strstr(got, "thread_name"));
    free(got);
}

static void a_trace_may_go_meanwhile(void **state)
{
    struct fixture *f = *state;
    struct store_export *from;
    const char *text;
    size_t len;
    int64_t id = store_many(f);
    assert_ok(f, READ(f->store, store_export_open, id, INT64_MIN, INT64_MAX, &from, &f->err));
    assert_ok(f, store_export_next(from, &text, &len, &f->err));
    assert_true(len > 0);
    assert_ok(f, store_trace_delete(f->store, id, &f->err));
    bool ok = true;
    while (ok && len > 0) {
        ok = store_export_next(from, &text, &len, &f->err);
    }
    assert_false(ok);
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    store_export_close(from);
    store_export_close(NULL);
}

/* Between two pieces nothing keeps the write-ahead log from being taken over. */
static void an_export_holds_no_transaction(void **state)
{
    struct fixture *f = *state;
    struct store_export *from;
    const char *text;
    size_t len;
    int64_t id = store_many(f);
    assert_ok(f, READ(f->store, store_export_open, id, INT64_MIN, INT64_MAX, &from, &f->err));
    assert_ok(f, store_export_next(from, &text, &len, &f->err));
    (void)add_trace(f, "other", "f", "w", "", "x");
    assert_int_equal(query_number(f, "PRAGMA wal_checkpoint(RESTART)"), 0);
    do {
        assert_ok(f, store_export_next(from, &text, &len, &f->err));
    } while (len > 0);
    assert_ok(f, store_export_next(from, &text, &len, &f->err));
    assert_int_equal(len, 0);
    store_export_close(from);
}

/* So that a caller can put something of its own around the events. */
static void head_and_tail_are_pieces_of_their_own(void **state)
{
    static const char *const one[] = {"{\"ts\": 1}"};
    static const char *const pieces[] = {"{\"traceEvents\": [\n", "{\"ts\": 1}", "\n]}\n", ""};
    struct fixture *f = *state;
    struct store_export *from;
    const char *text;
    size_t len;
    int64_t id = store_events(f, "r", one, 1, 0, 0);
    assert_ok(f, READ(f->store, store_export_open, id, INT64_MIN, INT64_MAX, &from, &f->err));
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        assert_ok(f, store_export_next(from, &text, &len, &f->err));
        assert_int_equal(len, strlen(pieces[i]));
        assert_memory_equal(text, pieces[i], len);
    }
    store_export_close(from);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store_of_files, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_range_cuts_the_document),        TEST(the_document_is_valid_json),
        TEST(blocks_out_of_range_are_not_read), TEST(a_trace_may_go_meanwhile),
        TEST(an_export_holds_no_transaction),   TEST(head_and_tail_are_pieces_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Events go in as batches and come out, one by one and as a document, as they were written. */
#include "tests/unit/ingest/formats/event_log/event_fixture.h"
#include "tests/unit/ingest/store/trace_file.h"

/* Every kind of value at its extremes. */
static const char *const kinds[] = {
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1, \"tid\": \"7\", "
    "\"ts\": "
    "17.250, \"dur\": 3, \"args\": {\"External id\": 7, \"Input Dims\": [[2, 3], []]}}",
    "{\"a\": 9223372036854775807, \"b\": -9223372036854775808, \"c\": 0, \"d\": -1, \"e\": "
    "9223372036854775808}",
    "{\"a\": -9223372036854775808, \"b\": 9223372036854775807, \"c\": 1, \"d\": 1, \"e\": "
    "-9223372036854775809}",
    "{\"a\": 0.5, \"b\": 123456789012345.678, \"c\": -1.0, \"d\": 0.000000000000001, \"e\": "
    "-12345678901234567.8}",
    "{\"a\": -0.5, \"b\": 1e5, \"c\": 1.5E+3, \"d\": 007.1, \"e\": -0}",
    "{\"a\": 0.00000000000000001, \"b\": 100000000000000000.0}",
    "{\"a\": 1623142623460016.123, \"b\": 0.9223372036854775807, \"c\": -9.223372036854775808}",
    "{\"a\": null, \"b\": true, \"c\": \"\", \"d\": {}, \"e\": [], \"f\": \"\\u00e4\\\\\\\"\"}",
    "{}",
    "{\"args\": {}}",
    "{\"ts\": 3, \"args\": {}}",
    "{\"args\": {\"only\": 1}}",
    "{\"ts\": \"123\", \"dur\": 1.5e3, \"name\": 7, \"pid\": -5.25, \"tid\": [1]}",
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1, \"tid\": \"7\", "
    "\"ts\": "
    "17.125, \"dur\": 3, \"args\": {\"External id\": 8, \"Input Dims\": [[2, 3], []]}}",
};

static void join(const char *const *events, size_t count, struct buf *out)
{
    buf_init(out, SIZE_MAX / 2);
    buf_puts(out, "{\"traceEvents\": [\n");
    for (size_t i = 0; i < count; i++) {
        buf_puts(out, i == 0 ? "" : ",\n");
        buf_puts(out, events[i]);
    }
    buf_puts(out, count == 0 ? "]}\n" : "\n]}\n");
}

static void expect_whole(struct fixture *f, int64_t id, const char *const *events, size_t count)
{
    struct buf expected;
    char *got = export_all(f, id, INT64_MIN, INT64_MAX);
    join(events, count, &expected);
    assert_string_equal(got, expected.ptr);
    free(got);
    buf_free(&expected);
}

static void every_kind_comes_back(void **state)
{
    struct fixture *f = *state;
    size_t count = COUNT_OF(kinds);
    for (size_t whole = 0; whole <= count; whole += count) {
        int64_t id = store_events(f, whole == 0 ? "a" : "b", kinds, count, whole, 0);
        expect_whole(f, id, kinds, count);
        for (uint32_t i = 0; i < count; i++) {
            struct store_event event;
            assert_ok(f, READ(f->store, store_event_get, &f->arena, id, i, &event, &f->err));
            assert_string_equal(event.json, kinds[i]);
            assert_int_equal(event.event, i);
        }
    }
}

static void fields_are_decoded(void **state)
{
    struct fixture *f = *state;
    static const char *const events[] = {
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\\u00e4\\ud83d\\ude00\\n\\/\\\"\", "
        "\"pid\": "
        "\"GPU 0\", \"tid\": 7, \"ts\": 17.250, \"dur\": 3}",
        "{\"name\": 5, \"pid\": -5.25, \"tid\": [1, 2], \"ts\": \"10.5\", \"dur\": 1.5e3}",
        "{\"ts\": \"soon\", \"dur\": -2}",
    };
    for (size_t whole = 0; whole <= 3; whole += 3) {
        struct store_event e;
        int64_t id = store_events(f, whole == 0 ? "a" : "b", events, 3, whole, 7000);
        assert_ok(f, READ(f->store, store_event_get, &f->arena, id, 0, &e, &f->err));
        assert_string_equal(e.name, "a\xC3\xA4\xF0\x9F\x98\x80\n/\"");
        assert_string_equal(e.category, "cpu_op");
        assert_string_equal(e.phase, "X");
        assert_string_equal(e.pid, "GPU 0");
        assert_string_equal(e.tid, "7");
        assert_true(e.has_start && e.has_dur);
        assert_int_equal(e.start_ns, 10250);
        assert_int_equal(e.dur_ns, 3000);
        assert_ok(f, READ(f->store, store_event_get, &f->arena, id, 1, &e, &f->err));
        assert_string_equal(e.name, "");
        assert_string_equal(e.phase, "");
        assert_string_equal(e.pid, "-5.25");
        assert_string_equal(e.tid, "[1, 2]");
        assert_int_equal(e.start_ns, 3500);
        assert_int_equal(e.dur_ns, 1500000);
        assert_ok(f, READ(f->store, store_event_get, &f->arena, id, 2, &e, &f->err));
        assert_false(e.has_start);
        assert_int_equal(e.start_ns, 0);
        assert_true(e.has_dur);
        assert_int_equal(e.dur_ns, -2000);
        assert_string_equal(e.pid, "");
    }
}

/* The figures as the plugin rounds them have the same events, and the same start. */
static void figures_of_the_plugin_share_the_log(void **state)
{
    struct fixture *f = *state;
    static const char *const events[] = {"{\"ts\": 9}"};
    struct trace_results rounded = {.device_type = "GPU", .first_event_ns = 2000};
    struct store_trace *trace;
    struct store_event e;
    int64_t derived_id = 0;
    int64_t id = store_events(f, "r", events, 1, 0, 4000);
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, id, &trace, &f->err));
    assert_int_equal(trace->derived_id, 0);
    assert_ok(f, store_derived_write(f->store, id, &rounded, &derived_id, &f->err));
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, id, &trace, &f->err));
    assert_int_equal(trace->derived_id, derived_id);
    assert_ok(f, READ(f->store, store_event_get, &f->arena, derived_id, 0, &e, &f->err));
    assert_int_equal(e.start_ns, 5000);
    /* With a file of their own for their tables. */
    assert_int_equal(count_trace_files(f), 2);
    assert_int_equal(files_number(f, "SELECT count(*) FROM event_block"), 1);
}

static void what_is_not_there_is_told(void **state)
{
    struct fixture *f = *state;
    struct store_event e;
    struct store_export *from;
    struct store_event_hit *hits;
    size_t count;
    size_t total;
    int64_t id = store_events(f, "r", kinds, 2, 0, 0);
    int64_t without = add_trace(f, "s", "f", "w", "", "x");
    assert_fails(f, READ(f->store, store_event_get, &f->arena, id, 2, &e, &f->err), ERR_NOT_FOUND);
    assert_fails(f, READ(f->store, store_event_get, &f->arena, id, UINT32_MAX, &e, &f->err),
                 ERR_NOT_FOUND);
    assert_fails(f, READ(f->store, store_event_get, &f->arena, 999, 0, &e, &f->err), ERR_NOT_FOUND);
    assert_fails(f, READ(f->store, store_event_get, &f->arena, without, 0, &e, &f->err), ERR_GONE);
    assert_fails(f, READ(f->store, store_export_open, 999, 0, 1, &from, &f->err), ERR_NOT_FOUND);
    assert_fails(f, READ(f->store, store_export_open, without, 0, 1, &from, &f->err), ERR_GONE);
    assert_fails(f,
                 READ(f->store, store_events_search, &f->arena, without,
                      &(struct store_event_query){"x", NULL, INT64_MIN, INT64_MAX, 9, 9}, &hits,
                      &count, &total, &f->err),
                 ERR_GONE);
}

static void a_trace_may_have_no_events(void **state)
{
    struct fixture *f = *state;
    struct store_event e;
    int64_t id = store_events(f, "r", NULL, 0, 0, 0);
    expect_whole(f, id, NULL, 0);
    assert_fails(f, READ(f->store, store_event_get, &f->arena, id, 0, &e, &f->err), ERR_NOT_FOUND);
}

/* ---- many ---- */

#define MANY (3 * EVENT_BATCH_EVENTS + 5)
#define EVENT_BYTES 500

/* Each `ts` near the one before, texts that come again and texts that do not. */
static char *make_event(char out[EVENT_BYTES], uint32_t i)
{
    uint32_t noise = i * 2654435761U >> 16;
    if (i % 3 == 0) {
        (void)snprintf(out, EVENT_BYTES, "{\"ph\": \"s\", \"id\": %u, \"ts\": %u, \"pid\": 1}", i,
                       i * 10);
    } else if (i % 100 == 1) {
        (void)snprintf(out, EVENT_BYTES, "{\"ph\": \"i\", \"name\": \"only %u\", \"ts\": %u.%03u}",
                       i, i * 10, noise % 1000);
    } else {
        (void)snprintf(
            out, EVENT_BYTES,
            "{\"ph\": \"X\", \"cat\": \"c\", \"name\": \"op %u\", \"ts\": %u.%03u, \"dur\": "
            "%u.%u, \"args\": {\"correlation\": %u, \"stack\": \"%0*u\"}}",
            noise % 50, i * 10, noise % 1000, noise % 90, noise % 10, i / 3, (int)(noise % 300),
            noise % 11);
    }
    return out;
}

/* With a document's other members, published. */
static int64_t store_many(struct fixture *f, const char *run)
{
    struct event_builder *b = builder_create();
    struct store_ingest *ingest;
    struct trace_results results = {.device_type = "GPU"};
    char text[EVENT_BYTES];
    int64_t job = add_job(f, run, "f", run, false);
    assert_ok(f, store_ingest_begin(f->store, job, &ingest, &f->err));
    for (uint32_t i = 0; i < MANY; i++) {
        builder_put(f, b, ingest, make_event(text, i));
    }
    b->log.head = "\"schemaVersion\": 1, \"deviceProperties\": []";
    builder_end(f, b, ingest);
    assert_ok(f, store_ingest_trace(ingest, "w", "", "chrome-trace", &results, &f->err));
    assert_ok(f, store_ingest_publish(ingest, &f->err));
    builder_free(b);
    return trace_of_job(f, job);
}

static void many_events_come_back(void **state)
{
    struct fixture *f = *state;
    struct buf expected;
    char text[EVENT_BYTES];
    int64_t id = store_many(f, "r");
    char *got = export_all(f, id, INT64_MIN, INT64_MAX);
    buf_init(&expected, SIZE_MAX / 2);
    buf_puts(&expected, "{\"schemaVersion\": 1, \"deviceProperties\": [], \"traceEvents\": [\n");
    for (uint32_t i = 0; i < MANY; i++) {
        buf_puts(&expected, i == 0 ? "" : ",\n");
        buf_puts(&expected, make_event(text, i));
    }
    buf_puts(&expected, "\n]}\n");
    assert_string_equal(got, expected.ptr);
    assert_true(trace_file_number(f, "SELECT count(*) FROM event_block") > 1);
    assert_true(trace_file_number(f, "SELECT count(*) FROM event_text") > 1);
    for (uint32_t i = 0; i < MANY; i += 997) {
        struct store_event e;
        assert_ok(f, READ(f->store, store_event_get, &f->arena, id, i, &e, &f->err));
        assert_string_equal(e.json, make_event(text, i));
    }
    free(got);
    buf_free(&expected);
}

/* ---- what goes ---- */

static void expect_no_events(struct fixture *f)
{
    assert_int_equal(files_number(f, "SELECT count(*) FROM event_block"), 0);
    assert_int_equal(count_incoming_files(f), 0);
}

/* An archive: one member cannot be read behind its first batches, the next one can. */
static void dropped_events_are_of_no_trace(void **state)
{
    struct fixture *f = *state;
    struct store_ingest *ingest;
    struct trace_results results = {.device_type = "GPU"};
    char text[EVENT_BYTES];
    int64_t job = add_job(f, "r", "f", "x", false);
    assert_ok(f, store_ingest_begin(f->store, job, &ingest, &f->err));
    for (int member = 0; member < 2; member++) {
        struct event_builder *b = builder_create();
        for (uint32_t i = 0; i < MANY; i++) {
            builder_put(f, b, ingest, make_event(text, i));
        }
        if (member == 0) {
            assert_ok(f, store_ingest_drop_events(ingest, &f->err));
            expect_no_events(f);
            assert_ok(f, store_ingest_drop_events(ingest, &f->err));
        } else {
            builder_end(f, b, ingest);
        }
        builder_free(b);
    }
    assert_ok(f, store_ingest_trace(ingest, "w", "", "x", &results, &f->err));
    assert_ok(f, store_ingest_trace(ingest, "v", "", "x", &results, &f->err));
    assert_ok(f, store_ingest_publish(ingest, &f->err));
    int64_t *ids;
    size_t count;
    struct store_event e;
    assert_ok(f, READ(f->store, store_job_traces, &f->arena, job, &ids, &count, &f->err));
    assert_int_equal(count, 2);
    assert_ok(f, READ(f->store, store_event_get, &f->arena, ids[0], MANY - 1, &e, &f->err));
    assert_fails(f, READ(f->store, store_event_get, &f->arena, ids[1], 0, &e, &f->err), ERR_GONE);
    /* One trace of an upload goes, the other stays. */
    assert_ok(f, store_trace_delete(f->store, ids[0], &f->err));
    expect_no_events(f);
    assert_ok(f, READ(f->store, store_trace_check, ids[1], &f->err));
}

/* Of the first member nothing is left; the second is one trace, its warnings those of the end. */
static void tables_may_come_before_the_trace(void **state)
{
    struct fixture *f = *state;
    struct store_ingest *ingest;
    struct gpu_row gpu = {.name = "A"};
    struct trace_results results = {.device_type = "GPU", .gpus = &gpu, .gpu_count = 1};
    char text[EVENT_BYTES];
    int64_t job = add_job(f, "r", "f", "x", false);
    assert_ok(f, store_ingest_begin(f->store, job, &ingest, &f->err));
    assert_ok(f, store_ingest_tables(ingest, "w", "", "x", &results, &f->err));
    assert_int_equal(query_number(f, "SELECT count(*) FROM trace"), 0);
    for (int member = 0; member < 2; member++) {
        struct event_builder *b = builder_create();
        builder_put(f, b, ingest, make_event(text, 1));
        builder_end(f, b, ingest);
        assert_ok(f, store_ingest_tables(ingest, "w", "", "x", &results, &f->err));
        if (member == 0) {
            assert_ok(f, store_ingest_drop_events(ingest, &f->err));
            assert_int_equal(query_number(f, "SELECT count(*) FROM trace"), 0);
            expect_no_events(f);
        }
        builder_free(b);
    }
    warning_add(&results.warnings, WARN_STEP_NAME, WARNING_NO_OFFSET);
    assert_ok(f, store_ingest_trace(ingest, "w", "", "x", &results, &f->err));
    assert_ok(f, store_ingest_trace(ingest, "v", "", "x", &results, &f->err));
    assert_ok(f, store_ingest_publish(ingest, &f->err));
    assert_int_equal(query_number(f, "SELECT count(*) FROM trace"), 2);
    assert_int_equal(files_number(f, "SELECT count(*) FROM row_block"), 2);
    assert_int_equal(query_number(f, "SELECT count(*) FROM trace WHERE warnings <> ''"), 2);
}

static void deleting_leaves_the_events_of_others(void **state)
{
    struct fixture *f = *state;
    struct store_event e;
    int64_t first = store_many(f, "r");
    int64_t second = store_many(f, "s");
    assert_ok(f, store_trace_delete(f->store, first, &f->err));
    assert_int_equal(count_trace_files(f), 1);
    assert_ok(f, READ(f->store, store_event_get, &f->arena, second, MANY - 1, &e, &f->err));
    assert_ok(f, store_run_delete(f->store, "s", &f->err));
    expect_no_events(f);
}

static struct store_ingest *begin_many(struct fixture *f, bool to_the_end)
{
    char text[EVENT_BYTES];
    struct store_ingest *ingest;
    struct event_builder *b = builder_create();
    int64_t job = add_job(f, "r", "f", to_the_end ? "y" : "x", true);
    assert_ok(f, store_ingest_begin(f->store, job, &ingest, &f->err));
    for (uint32_t i = 0; i < MANY; i++) {
        builder_put(f, b, ingest, make_event(text, i));
    }
    if (to_the_end) {
        builder_end(f, b, ingest);
    }
    builder_free(b);
    return ingest;
}

static void an_ingest_that_ends_early_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    store_ingest_abort(begin_many(f, false));
    expect_no_events(f);
    assert_int_equal(query_number(f, "SELECT count(*) FROM trace"), 0);
}

static void ingest_many(struct fixture *f, void *with_trace)
{
    struct trace_results results = {.device_type = "GPU"};
    keep_files_apart(f);
    struct store_ingest *ingest = begin_many(f, true);
    if (*(bool *)with_trace) {
        assert_ok(f, store_ingest_trace(ingest, "w", "", "x", &results, &f->err));
    }
}

static void a_process_that_ends_early_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 2; i++) {
        bool with_trace = i == 1;
        end_without_warning(f, ingest_many, &with_trace);
        assert_int_equal(count_trace_files(f), 1);
        open_store(f);
        expect_no_events(f);
        assert_int_equal(query_number(f, "SELECT count(*) FROM trace"), 0);
    }
}

static void expect_event(struct fixture *f, int64_t trace_id, const char *json)
{
    struct store_event e;
    assert_ok(f, READ(f->store, store_event_get, &f->arena, trace_id, 0, &e, &f->err));
    assert_string_equal(e.json, json);
}

static uint64_t files_bytes(struct fixture *f)
{
    uint64_t bytes;
    assert_ok(f, results_files_bytes(f->store, &bytes, &f->err));
    return bytes;
}

static void small_files_stand_in_their_rows(void **state)
{
    static const char *const events[] = {"{\"ts\": 9}", "{\"ts\": 11}"};
    struct fixture *f = *state;
    struct store_event e;
    f->store->files->in_row_bytes = RESULTS_IN_ROW_BYTES;
    int64_t first = store_events(f, "r", events, 1, 0, 0);
    int64_t second = store_events(f, "s", events + 1, 1, 0, 0);
    assert_int_equal(count_trace_files(f), 0);
    assert_int_equal(files_bytes(f), 0);
    expect_event(f, first, events[0]);
    expect_event(f, second, events[1]);
    close_store(f);
    open_store(f);
    assert_int_equal(files_bytes(f), 0);
    expect_event(f, first, events[0]);
    expect_event(f, second, events[1]);
    assert_int_equal(query_number(f, "SELECT count(*) FROM results_file WHERE bytes IS NOT NULL"),
                     2);
    assert_ok(f, store_trace_delete(f->store, first, &f->err));
    assert_int_equal(query_number(f, "SELECT count(*) FROM results_file"), 1);
    assert_fails(f, READ(f->store, store_event_get, &f->arena, first, 0, &e, &f->err),
                 ERR_NOT_FOUND);
    expect_event(f, second, events[1]);
}

static void add_text(struct fixture *f, struct results_file *file, size_t bytes)
{
    struct db *db;
    assert_ok(f, results_file_begin(file, bytes, &db, &f->err));
    assert_ok(f, db_exec(db,
                         "INSERT INTO event_text (log_id, first_id, bytes) SELECT 1,"
                         " count(*), x'00' FROM event_text",
                         &f->err));
    results_file_end(file);
}

/* As it grows or once it is sealed. What came before it was clear how large it would be is in the
 * file, too, and not in the next. */
static void a_file_that_grows_leaves_memory(void **state)
{
    struct fixture *f = *state;
    struct results_file *file;
    f->store->files->in_row_bytes = RESULTS_IN_ROW_BYTES;
    for (int i = 0; i < 4; i++) {
        bool is_early = i < 2;
        f->store->files->in_memory_bytes = is_early ? 0 : RESULTS_IN_MEMORY_BYTES;
        assert_ok(f, results_file_create(f->store, &file, &f->err));
        add_text(f, file, 0);
        assert_int_equal(count_trace_files(f), 0);
        add_text(f, file, RESULTS_IN_ROW_BYTES);
        assert_int_equal(count_trace_files(f), is_early);
        add_text(f, file, 0);
        f->store->files->in_row_bytes = is_early ? RESULTS_IN_ROW_BYTES : 0;
        assert_ok(f, results_file_seal(file, &f->err));
        assert_int_equal(count_trace_files(f), 1);
        assert_int_equal(incoming_number(f, "SELECT count(*) FROM event_text"), 3);
        assert_int_equal(incoming_number(f, "SELECT count(*) FROM pragma_integrity_check"
                                            " WHERE integrity_check = 'ok'"),
                         1);
        results_file_discard(file);
        assert_int_equal(count_trace_files(f), 0);
        f->store->files->in_row_bytes = RESULTS_IN_ROW_BYTES;
    }
}

static void damaged_rows_are_told(void **state)
{
    static const char *const events[] = {"{\"ts\": 9}"};
    static const char *const changes[] = {
        "UPDATE results_file SET bytes = x''", "UPDATE results_file SET bytes = x'28b52ffd'",
        "UPDATE results_file SET bytes = CAST(substr(b.bytes, 1, 300) || x'55aa' ||"
        " substr(b.bytes, 303) AS BLOB) FROM (SELECT bytes FROM results_file) AS b",
        "UPDATE results_file SET bytes = CAST(x'28b52ffd00580100004142' AS BLOB)"};
    struct fixture *f = *state;
    struct store_event e;
    skip_on_server();
    f->store->files->in_row_bytes = RESULTS_IN_ROW_BYTES;
    int64_t id = store_events(f, "r", events, 1, 0, 0);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        assert_ok(f, db_exec(f->store->writer, changes[i], &f->err));
        f->err = (struct err)ERR_INIT;
        assert_fails(f, READ(f->store, store_event_get, &f->arena, id, 0, &e, &f->err), ERR_STORE);
    }
}

/* As a crash between the publication and the move leaves it. */
static void a_published_file_is_moved_at_the_start(void **state)
{
    struct fixture *f = *state;
    struct store_event e;
    glob_t found;
    char pattern[TEST_PATH_BYTES + 32];
    char back[TEST_PATH_BYTES + 64];
    int64_t id = store_many(f, "r");
    close_store(f);
    (void)snprintf(pattern, sizeof pattern, "%s/results/*/*.db", f->dir);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    const char *name = strrchr(found.gl_pathv[0], '/');
    (void)snprintf(back, sizeof back, "%s/incoming/%.2s%s", f->dir, name - 2, name + 1);
    assert_int_equal(rename(found.gl_pathv[0], back), 0);
    open_store(f);
    assert_ok(f, READ(f->store, store_event_get, &f->arena, id, MANY - 1, &e, &f->err));
    assert_int_equal(access(found.gl_pathv[0], F_OK), 0);
    assert_int_equal(count_trace_files(f), 1);
    globfree(&found);
}

/* Somebody removed it: the answer says what to do. */
static void a_file_that_is_gone_is_told(void **state)
{
    struct fixture *f = *state;
    struct store_event e;
    int64_t id = store_many(f, "r");
    char command[TEST_PATH_BYTES + 32];
    size_t len = (size_t)snprintf(command, sizeof command, "%s/results", f->dir);
    remove_tree(command, len);
    assert_fails(f, READ(f->store, store_event_get, &f->arena, id, 0, &e, &f->err), ERR_GONE);
    assert_non_null(strstr(f->err.msg, "upload its file again"));
    assert_ok(f, store_trace_delete(f->store, id, &f->err));
    assert_int_equal(query_number(f, "SELECT count(*) FROM results_file"), 0);
}

static void replacing_takes_the_old_events(void **state)
{
    struct fixture *f = *state;
    (void)store_many(f, "r");
    struct trace_results results = {.device_type = "GPU"};
    (void)publish(f, add_job(f, "r", "f", "other", true), "w", "", &results);
    expect_no_events(f);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store_of_files, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_kind_comes_back),
        TEST(fields_are_decoded),
        TEST(figures_of_the_plugin_share_the_log),
        TEST(what_is_not_there_is_told),
        TEST(a_trace_may_have_no_events),
        TEST(many_events_come_back),
        TEST(dropped_events_are_of_no_trace),
        TEST(tables_may_come_before_the_trace),
        TEST(deleting_leaves_the_events_of_others),
        TEST(an_ingest_that_ends_early_leaves_nothing),
        TEST(a_process_that_ends_early_leaves_nothing),
        TEST(a_published_file_is_moved_at_the_start),
        TEST(a_file_that_is_gone_is_told),
        TEST(small_files_stand_in_their_rows),
        TEST(a_file_that_grows_leaves_memory),
        TEST(damaged_rows_are_told),
        TEST(replacing_takes_the_old_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Stored events that are damaged, before or behind their compression, are refused or read as
 * others, but never bring the program down. */
#include "tests/unit/ingest/formats/event_log/event_fixture.h"
#include "tests/unit/ingest/store/trace_file.h"
#include "tests/unit/unit.h"

#include <zstd.h>

/* Of texts, so that there is something to get wrong in every column. */
static const char *const events[] = {
    "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1, \"tid\": \"7\", "
    "\"ts\": "
    "17.250, \"dur\": 3, \"args\": {\"External id\": 7, \"Input Dims\": [[2, 3], []]}}",
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"ts\": 18.5, \"dur\": 300, "
    "\"args\": "
    "{\"share\": 1.25}}",
    "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\", \"ts\": 19.25, \"dur\": 30, "
    "\"args\": "
    "{\"share\": 0.125}}",
    "{\"ph\": \"f\", \"id\": 3, \"ts\": 20}",
    "{\"ts\": \"21\", \"args\": {}}",
    "{\"ts\": 22, \"name\": \"a \\u00e4\"}",
    "{\"name\": \"whole\", \"ts\": 4, \"args\": {\"a\": \"aten::mm\"}}",
};
#define EVENTS (sizeof events / sizeof events[0])

static const struct {
    const char *read;
    const char *write;
} blobs[] = {
    {"SELECT texts FROM event_block", "UPDATE event_block SET texts = ?"},
    {"SELECT bytes FROM event_block", "UPDATE event_block SET bytes = ?"},
    {"SELECT bytes FROM event_text", "UPDATE event_text SET bytes = ?"},
    {"SELECT templates FROM event_log", "UPDATE event_log SET templates = ?"},
    {"SELECT head FROM event_log", "UPDATE event_log SET head = ?"},
};
#define BLOBS (sizeof blobs / sizeof blobs[0])

static int64_t store_sample(struct fixture *f)
{
    struct event_builder *b = builder_create();
    struct store_ingest *ingest;
    struct trace_results results = {.device_type = "GPU"};
    int64_t job = add_job(f, "r", "f", "x", false);
    assert_ok(f, store_ingest_begin(f->store, job, &ingest, &f->err));
    for (size_t i = 0; i < EVENTS; i++) {
        builder_add(b, events[i], strlen(events[i]), i == EVENTS - 1);
    }
    b->log.head = "\"schemaVersion\": 1";
    builder_end(f, b, ingest);
    assert_ok(f, store_ingest_trace(ingest, "w", "", "chrome-trace", &results, &f->err));
    assert_ok(f, store_ingest_publish(ingest, &f->err));
    builder_free(b);
    return trace_of_job(f, job);
}

static void *read_blob(struct fixture *f, const char *sql, size_t *len)
{
    struct db *db = open_trace_file(f);
    struct db_stmt st;
    db_prepare(&st, db, sql);
    assert_true(db_next(&st));
    const void *bytes = db_peek_blob(&st, len);
    void *copy = malloc(*len + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, *len);
    assert_ok(f, db_done(&st, &f->err));
    db_close(db);
    return copy;
}

static void write_blob(struct fixture *f, const char *sql, const void *bytes, size_t len)
{
    struct db *db = open_trace_file(f);
    struct db_stmt st;
    db_prepare(&st, db, sql);
    db_put_blob(&st, bytes, len);
    assert_ok(f, db_run(&st, &f->err));
    db_close(db);
}

static void expect_sound(const struct fixture *f, bool ok)
{
    if (!ok && f->err.code != ERR_STORE) {
        fail_msg("%s: %s", err_code_text(f->err.code), f->err.msg);
    }
}

/* Asks for everything; tells how often it was refused. */
static size_t read_all(struct fixture *f, int64_t id)
{
    static const char *const queries[] = {"mm", "7", "1.25"};
    struct store_export *from;
    struct store_event event;
    struct store_event_hit *hits;
    const char *text;
    size_t len = 1;
    size_t count;
    size_t total;
    size_t refused = 0;
    for (uint32_t i = 0; i < EVENTS; i++) {
        bool ok = READ(f->store, store_event_get, &f->arena, id, i, &event, &f->err);
        expect_sound(f, ok);
        refused += !ok;
    }
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        bool ok = READ(f->store, store_events_search, &f->arena, id,
                       &(struct store_event_query){queries[i], NULL, INT64_MIN, 25000, 9, 99},
                       &hits, &count, &total, &f->err);
        expect_sound(f, ok);
        refused += !ok;
    }
    bool ok = READ(f->store, store_export_open, id, 18000, 25000, &from, &f->err);
    expect_sound(f, ok);
    refused += !ok;
    if (ok) {
        while (ok && len > 0) {
            ok = store_export_next(from, &text, &len, &f->err);
        }
        expect_sound(f, ok);
        refused += !ok;
        store_export_close(from);
    }
    arena_free(&f->arena);
    return refused;
}

static void compressed_bytes_may_be_damaged(void **state)
{
    struct fixture *f = *state;
    int64_t id = store_sample(f);
    assert_int_equal(read_all(f, id), 0);
    for (size_t i = 0; i < BLOBS; i++) {
        size_t len;
        unsigned char *bytes = read_blob(f, blobs[i].read, &len);
        for (size_t at = 0; at < len; at += unit_stride()) {
            bytes[at] ^= 0x41;
            write_blob(f, blobs[i].write, bytes, len);
            assert_true(read_all(f, id) > 0);
            bytes[at] ^= 0x41;
        }
        for (size_t cut = 0; cut < len; cut += unit_stride()) {
            write_blob(f, blobs[i].write, bytes, cut);
            assert_true(read_all(f, id) > 0);
        }
        write_blob(f, blobs[i].write, bytes, len);
        assert_int_equal(read_all(f, id), 0);
        free(bytes);
    }
}

static void
write_compressed(struct fixture *f, const char *sql, const unsigned char *raw, size_t len)
{
    size_t room = ZSTD_compressBound(len);
    void *bytes = malloc(room);
    assert_non_null(bytes);
    size_t got = ZSTD_compress(bytes, room, raw, len, 1);
    assert_false(ZSTD_isError(got));
    write_blob(f, sql, bytes, got);
    free(bytes);
}

/* What the checksum does not see: other contents in a sound frame. */
static void contents_may_be_damaged(void **state)
{
    static const unsigned char flips[] = {0x01, 0x02, 0x80, 0xFF, 0x7F};
    struct fixture *f = *state;
    int64_t id = store_sample(f);
    size_t refused = 0;
    for (size_t i = 0; i < BLOBS; i++) {
        size_t len;
        void *bytes = read_blob(f, blobs[i].read, &len);
        size_t raw_len = (size_t)ZSTD_getFrameContentSize(bytes, len);
        unsigned char *raw = malloc(raw_len + 1);
        assert_non_null(raw);
        assert_int_equal(ZSTD_decompress(raw, raw_len, bytes, len), raw_len);
        for (size_t at = 0; at < raw_len; at += unit_stride()) {
            for (size_t k = 0; k < sizeof flips; k++) {
                raw[at] ^= flips[k];
                write_compressed(f, blobs[i].write, raw, raw_len);
                refused += read_all(f, id);
                raw[at] ^= flips[k];
            }
            write_compressed(f, blobs[i].write, raw, at);
            refused += read_all(f, id);
        }
        write_blob(f, blobs[i].write, bytes, len);
        assert_int_equal(read_all(f, id), 0);
        free(bytes);
        free(raw);
    }
    assert_true(refused > 100);
}

static void rows_may_be_missing_or_wrong(void **state)
{
    static const char *const changes[] = {
        "UPDATE event_log SET event_count = 9999",
        "UPDATE event_log SET text_count = 1",
        "UPDATE event_block SET first_event = 3",
        "UPDATE event_block SET first_event = -3",
        "UPDATE event_block SET event_count = 0",
        "UPDATE event_block SET event_count = 4000000000",
        "UPDATE event_block SET min_start_ns = 9, max_end_ns = -9",
        "UPDATE event_text SET first_id = 3",
        "UPDATE event_text SET first_id = -3",
        "DELETE FROM event_block",
        "DELETE FROM event_text",
    };
    struct fixture *f = *state;
    int64_t id = store_sample(f);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        change_trace_file(f, changes[i]);
        (void)read_all(f, id);
        assert_ok(f, store_trace_delete(f->store, id, &f->err));
        id = store_sample(f);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store_of_files, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(compressed_bytes_may_be_damaged),
        TEST(contents_may_be_damaged),
        TEST(rows_may_be_missing_or_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Reading that begins while an upload arrives: what comes of it, and what is left when it does not
 * come to its end. */
#include "ingest/base/text/buf.h"
#include "ingest/jobs/queue/jobs.h"
#include "ingest/jobs/queue/streaming_ingest.h"
#include "tests/unit/ingest/store/store_fixture.h"

/* Beyond the least size, and several pieces of the hashing writer. */
#define EVENTS 40000
#define PIECE_BYTES ((size_t)100000)

struct sending {
    struct fixture *f;
    struct jobs *jobs;
    struct buf bytes;
    struct store_blob *blob;
    struct streaming_feed follow;
};

static void put_event(struct buf *out, int i)
{
    buf_printf(out,
               "%s\n{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::op_%d\", \"pid\": 1, "
               "\"tid\": 1, \"ts\": %d, \"dur\": 5, \"args\": {\"External id\": %d}}",
               i == 0 ? "" : ",", i % 17, 10 * i, i);
}

static void begin(struct sending *s, struct fixture *f, const struct jobs_options *options)
{
    *s = (struct sending){.f = f};
    assert_ok(f, jobs_create(&s->jobs, f->store, options, &f->err));
    buf_init(&s->bytes, (size_t)16 << 20);
    buf_printf(&s->bytes, "{\"traceEvents\": [");
    for (int i = 0; i < EVENTS; i++) {
        put_event(&s->bytes, i);
    }
    buf_printf(&s->bytes, "\n]}");
    assert_ok(f, store_blob_create(f->store, &s->blob, &f->err));
    s->follow =
        (struct streaming_feed){.jobs = s->jobs, .file_name = "f", .size_bytes = s->bytes.len};
}

static void begin_plainly(struct sending *s, struct fixture *f)
{
    begin(s, f, &(struct jobs_options){.workers = 1, .retain_raw = true});
}

static void end(struct sending *s)
{
    buf_free(&s->bytes);
    jobs_destroy(s->jobs);
}

/* The bytes from `from` on up to `to`. */
static void send_bytes(struct sending *s, size_t from, size_t to)
{
    while (from < to) {
        size_t len = to - from < PIECE_BYTES ? to - from : PIECE_BYTES;
        assert_ok(s->f, store_blob_write(s->blob, s->bytes.ptr + from, len, &s->f->err));
        streaming_ingest_feed(&s->follow, s->blob);
        from += len;
    }
}

static bool try_hand_in(struct sending *s, struct jobs_submission *out)
{
    char sha256_hex[SHA256_HEX_BYTES];
    uint64_t size_bytes;
    struct jobs_hints hints = {.rank = STORE_NO_RANK};
    assert_ok(s->f, store_blob_commit(s->blob, sha256_hex, &size_bytes, &s->f->err));
    hints.streaming = streaming_ingest_end_feed(&s->follow, true, size_bytes);
    return jobs_submit(s->jobs, &s->f->arena, "r", "f", sha256_hex, size_bytes, false, &hints, out,
                       &s->f->err);
}

static struct jobs_status hand_in(struct sending *s)
{
    struct jobs_submission submission;
    struct jobs_status status;
    assert_ok(s->f, try_hand_in(s, &submission));
    assert_ok(s->f,
              jobs_wait(s->jobs, &s->f->arena, submission.job_id, 0, -1, &status, &s->f->err));
    return status;
}

static uint64_t streamed(struct jobs *jobs)
{
    struct jobs_counts counts;
    struct err err = ERR_INIT;
    assert_true(jobs_counts(jobs, &counts, &err));
    return counts.streamed;
}

static int64_t event_count(struct fixture *f, int64_t trace_id)
{
    struct store_trace *trace;
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, trace_id, &trace, &f->err));
    return trace->event_count;
}

static void a_file_is_read_as_it_arrives(void **state)
{
    struct fixture *f = *state;
    struct sending s;
    begin_plainly(&s, f);
    send_bytes(&s, 0, s.bytes.len);
    assert_non_null(s.follow.streaming);
    struct jobs_status status = hand_in(&s);
    assert_int_equal(status.state, JOB_DONE);
    assert_int_equal(status.trace_count, 1);
    assert_int_equal(event_count(f, status.trace_ids[0]), EVENTS);
    assert_int_equal(streamed(s.jobs), 1);
    end(&s);
}

static void other_files_are_not(void **state)
{
    struct fixture *f = *state;
    struct sending s;
    begin_plainly(&s, f);
    s.follow.size_bytes = 0; /* was not announced */
    send_bytes(&s, 0, s.bytes.len);
    assert_null(s.follow.streaming);
    assert_int_equal(hand_in(&s).state, JOB_DONE);
    assert_int_equal(streamed(s.jobs), 0);
    end(&s);

    begin_plainly(&s, f);
    memcpy(s.bytes.ptr, "a,b,c\n", strlen("a,b,c\n")); /* a table */
    send_bytes(&s, 0, s.bytes.len);
    assert_null(s.follow.streaming);
    store_blob_discard(s.blob);
    end(&s);
}

static void only_as_many_as_there_are_workers_for(void **state)
{
    struct fixture *f = *state;
    struct sending first;
    struct sending second;
    begin_plainly(&first, f);
    send_bytes(&first, 0, first.bytes.len / 2);
    assert_non_null(first.follow.streaming);
    begin_plainly(&second, f);
    second.follow.jobs = first.jobs;
    send_bytes(&second, 0, second.bytes.len / 2);
    assert_null(second.follow.streaming);
    store_blob_discard(second.blob);
    end(&second);
    streaming_ingest_discard(first.follow.streaming);
    store_blob_discard(first.blob);

    /* The place is free again. */
    first.follow = (struct streaming_feed){
        .jobs = first.jobs, .file_name = "g", .size_bytes = first.bytes.len};
    assert_ok(f, store_blob_create(f->store, &first.blob, &f->err));
    send_bytes(&first, 0, first.bytes.len / 2);
    assert_non_null(first.follow.streaming);
    streaming_ingest_discard(first.follow.streaming);
    store_blob_discard(first.blob);
    end(&first);
}

static void a_client_that_goes_away_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct sending s;
    begin_plainly(&s, f);
    send_bytes(&s, 0, s.bytes.len - 1000);
    assert_non_null(s.follow.streaming);
    streaming_ingest_discard(s.follow.streaming);
    store_blob_discard(s.blob);
    int64_t runs = -1;
    int64_t traces = -1;
    assert_ok(f, READ(f->store, store_count, NULL, &runs, &traces, &f->err));
    assert_int_equal(runs, 0);
    end(&s);
}

static void the_same_file_again_ends_it(void **state)
{
    struct fixture *f = *state;
    struct sending s;
    struct jobs_submission submission;
    begin_plainly(&s, f);
    send_bytes(&s, 0, s.bytes.len);
    assert_int_equal(hand_in(&s).state, JOB_DONE);
    assert_ok(f, store_blob_create(f->store, &s.blob, &f->err));
    s.follow = (struct streaming_feed){.jobs = s.jobs, .file_name = "f", .size_bytes = s.bytes.len};
    send_bytes(&s, 0, s.bytes.len);
    assert_non_null(s.follow.streaming);
    assert_ok(f, try_hand_in(&s, &submission));
    assert_true(submission.already);
    assert_int_equal(streamed(s.jobs), 1);
    end(&s);
}

/* Its error is that of a file which is read as a whole. */
static void a_file_with_too_many_events_fails_as_ever(void **state)
{
    struct fixture *f = *state;
    struct sending s;
    begin(&s, f,
          &(struct jobs_options){.workers = 1, .retain_raw = true, .max_events = EVENTS / 2});
    send_bytes(&s, 0, s.bytes.len);
    assert_non_null(s.follow.streaming);
    struct jobs_status status = hand_in(&s);
    assert_int_equal(status.state, JOB_FAILED);
    assert_int_equal(status.error.code, ERR_TOO_LARGE);
    assert_int_equal(streamed(s.jobs), 0);
    end(&s);
}

/* What does not fit into the memory for it fits into that of a job. */
static void little_memory_is_no_reason_to_fail(void **state)
{
    struct fixture *f = *state;
    struct sending s;
    /* An eighth is more than the estimate and less than the trace. */
    begin(&s, f,
          &(struct jobs_options){
              .workers = 1, .retain_raw = true, .memory_budget_bytes = (uint64_t)144 << 20});
    s.bytes.len = 0;
    buf_printf(&s.bytes, "{\"traceEvents\": [");
    for (int i = 0; s.bytes.len < ((size_t)7 << 20); i++) {
        buf_printf(&s.bytes, "%s{\"ph\":\"X\",\"ts\":%d,\"name\":\"%d\"}", i == 0 ? "" : ",", i, i);
    }
    buf_printf(&s.bytes, "]}");
    s.follow.size_bytes = s.bytes.len;
    send_bytes(&s, 0, s.bytes.len);
    assert_non_null(s.follow.streaming);
    assert_int_equal(hand_in(&s).state, JOB_DONE);
    assert_int_equal(streamed(s.jobs), 0);
    end(&s);
}

/* A server that stops has read a file that no worker has taken. */
static void a_job_that_waits_at_the_end_stays(void **state)
{
    struct fixture *f = *state;
    struct sending s;
    struct jobs_submission submission;
    begin_plainly(&s, f);
    send_bytes(&s, 0, s.bytes.len);
    assert_non_null(s.follow.streaming);
    jobs_stop(s.jobs);
    assert_ok(f, try_hand_in(&s, &submission));
    end(&s);
    begin_plainly(&s, f);
    struct jobs_status status;
    assert_ok(f, jobs_wait(s.jobs, &f->arena, submission.job_id, 0, -1, &status, &f->err));
    assert_int_equal(status.state, JOB_DONE);
    store_blob_discard(s.blob);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_read_as_it_arrives, set_up_store,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(other_files_are_not, set_up_store, tear_down_store),
        cmocka_unit_test_setup_teardown(only_as_many_as_there_are_workers_for, set_up_store,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(a_client_that_goes_away_leaves_nothing, set_up_store,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(the_same_file_again_ends_it, set_up_store, tear_down_store),
        cmocka_unit_test_setup_teardown(a_file_with_too_many_events_fails_as_ever, set_up_store,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(little_memory_is_no_reason_to_fail, set_up_store,
                                        tear_down_store),
        cmocka_unit_test_setup_teardown(a_job_that_waits_at_the_end_stays, set_up_store,
                                        tear_down_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

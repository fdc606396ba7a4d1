/* Runs, traces and jobs: what is visible when, what goes with what. */
#include "ingest/store/store_access.h"
#include "tests/unit/ingest/store/store_fixture.h"

#include <math.h>

/* Of a job that was just added: where servers claim jobs, it is begun with that. */
#define ADDED (tests_on_server() ? JOB_RUNNING : JOB_QUEUED)

static struct store_run *get_run(struct fixture *f, const char *name)
{
    struct store_run *run;
    assert_ok(f, READ(f->store, store_run_get, &f->arena, name, &run, &f->err));
    return run;
}

static struct store_trace *get_trace(struct fixture *f, int64_t id)
{
    struct store_trace *trace;
    assert_ok(f, READ(f->store, store_trace_get, &f->arena, id, &trace, &f->err));
    return trace;
}

static bool trace_is_there(struct fixture *f, int64_t id)
{
    struct store_trace *trace;
    struct err err = ERR_INIT;
    return READ(f->store, store_trace_get, &f->arena, id, &trace, &err);
}

static int64_t run_count(struct fixture *f)
{
    struct store_page all = {0};
    struct store_run *runs;
    size_t count;
    struct store_total total;
    assert_ok(f, READ(f->store, store_runs, &f->arena, &all, &runs, &count, &total, &f->err));
    assert_int_equal(count, total.rows);
    return total.rows;
}

static uint64_t raw_bytes(struct fixture *f)
{
    uint64_t database_bytes;
    uint64_t bytes;
    assert_ok(f, store_size(f->store, &database_bytes, &bytes, &f->err));
    assert_true(database_bytes > 0);
    return bytes;
}

static enum job_state state_of_job(struct fixture *f, int64_t id)
{
    struct store_job *job;
    assert_ok(f, READ(f->store, store_job_get, &f->arena, id, &job, &f->err));
    return job->state;
}

static void nothing_is_visible_until_published(void **state)
{
    struct fixture *f = *state;
    struct trace_results results = {.device_type = "GPU"};
    struct store_ingest *ingest;
    struct store_file file;
    int64_t *ids;
    size_t count;
    int64_t job = add_job(f, "r", "f", "bytes", false);
    assert_int_equal(state_of_job(f, job), ADDED);
    assert_ok(f, store_ingest_begin(f->store, job, &ingest, &f->err));
    assert_ok(f, store_ingest_trace(ingest, "w", "", "chrome-trace", &results, &f->err));

    struct store_run *run;
    assert_int_equal(run_count(f), 0);
    assert_fails(f, READ(f->store, store_run_get, &f->arena, "r", &run, &f->err), ERR_NOT_FOUND);
    assert_fails(f, store_run_patch(f->store, "r", NULL, "n", NULL, &f->err), ERR_NOT_FOUND);
    assert_fails(f, store_run_delete(f->store, "r", &f->err), ERR_NOT_FOUND);
    assert_false(trace_is_there(f, 1));
    assert_fails(f, store_trace_patch(f->store, 1, NULL, "n", &f->err), ERR_NOT_FOUND);
    assert_fails(f, store_trace_delete(f->store, 1, &f->err), ERR_NOT_FOUND);
    assert_ok(f, READ(f->store, store_job_traces, &f->arena, job, &ids, &count, &f->err));
    assert_int_equal(count, 0);
    assert_ok(f, store_find_file(f->store, &f->arena, "r", "f", &file, &f->err));
    assert_null(file.sha256_hex);
    assert_int_equal(file.trace_count, 0);

    assert_ok(f, store_ingest_publish(ingest, &f->err));
    assert_int_equal(run_count(f), 1);
    assert_true(trace_is_there(f, trace_of_job(f, job)));
    assert_int_equal(state_of_job(f, job), JOB_DONE);
    assert_ok(f, store_find_file(f->store, &f->arena, "r", "f", &file, &f->err));
    assert_non_null(file.sha256_hex);
    assert_null(file.marker);
    assert_int_equal(file.trace_count, 1);
}

static void abort_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct trace_results results = {.device_type = "GPU"};
    struct store_ingest *ingest;
    struct err why = ERR_INIT;
    struct store_job *job;
    int64_t id = add_job(f, "r", "f", "bytes", false);
    assert_ok(f, store_ingest_begin(f->store, id, &ingest, &f->err));
    assert_ok(f, store_ingest_trace(ingest, "w", "", "chrome-trace", &results, &f->err));
    store_ingest_abort(ingest);
    store_ingest_abort(NULL);
    (void)err_set_at(&why, ERR_BAD_INPUT, 42, "broken at %d", 42);
    assert_ok(f, store_job_failed(f->store, id, &why, &f->err));

    assert_int_equal(run_count(f), 0);
    assert_int_equal(raw_bytes(f), 0);
    assert_ok(f, READ(f->store, store_job_get, &f->arena, id, &job, &f->err));
    assert_int_equal(job->state, JOB_FAILED);
    assert_int_equal(job->error_code, ERR_BAD_INPUT);
    assert_int_equal(job->error_offset, 42);
    assert_string_equal(job->error_message, "broken at 42");
    assert_string_equal(job->run, "r");
    assert_string_equal(job->file_name, "f");
    assert_int_equal(job->size_bytes, 5);
    assert_false(raw_exists(f, job->sha256_hex));
    assert_fails(f, store_job_failed(f->store, id, &why, &f->err), ERR_NOT_FOUND);
    assert_ok(f, store_ingest_begin(f->store, id, &ingest, &f->err));
    assert_fails(f, store_ingest_trace(ingest, "w", "", "chrome-trace", &results, &f->err),
                 ERR_NOT_FOUND);
    store_ingest_abort(ingest);
    assert_int_equal(run_count(f), 0);
}

static void an_upload_without_traces_is_not_published(void **state)
{
    struct fixture *f = *state;
    struct store_ingest *ingest;
    int64_t job = add_job(f, "r", "f", "bytes", false);
    assert_ok(f, store_ingest_begin(f->store, job, &ingest, &f->err));
    assert_fails(f, store_ingest_publish(ingest, &f->err), ERR_INTERNAL);
    assert_int_equal(run_count(f), 0);
}

static void replacing_takes_the_old_away(void **state)
{
    struct fixture *f = *state;
    struct trace_results results = {.device_type = "CPU"};
    int64_t old = add_trace(f, "r", "f", "w", "", "old bytes");
    const char *old_sha = get_trace(f, old)->sha256_hex;
    int64_t new = publish(f, add_job(f, "r", "f", "new", true), "w", "", &results);
    assert_true(new > old);
    assert_false(trace_is_there(f, old));
    assert_false(raw_exists(f, old_sha));
    assert_true(raw_exists(f, get_trace(f, new)->sha256_hex));
    assert_int_equal(get_run(f, "r")->trace_count, 1);
    assert_int_equal(raw_bytes(f), 3);
}

static void other_bytes_need_replace(void **state)
{
    struct fixture *f = *state;
    struct trace_results results = {.device_type = "CPU"};
    struct store_ingest *ingest;
    int64_t old = add_trace(f, "r", "f", "w", "", "old bytes");
    assert_ok(f,
              store_ingest_begin(f->store, add_job(f, "r", "f", "new", false), &ingest, &f->err));
    assert_ok(f, store_ingest_trace(ingest, "w", "", "x", &results, &f->err));
    assert_fails(f, store_ingest_publish(ingest, &f->err), ERR_CONFLICT);
    assert_true(trace_is_there(f, old));
    assert_int_equal(get_run(f, "r")->trace_count, 1);
}

static void an_earlier_job_does_not_replace_a_later_one(void **state)
{
    struct fixture *f = *state;
    struct trace_results results = {.device_type = "CPU"};
    struct store_ingest *ingest;
    int64_t first = add_job(f, "r", "f", "one", true);
    int64_t second = publish(f, add_job(f, "r", "f", "two", true), "w", "", &results);
    assert_ok(f, store_ingest_begin(f->store, first, &ingest, &f->err));
    assert_ok(f, store_ingest_trace(ingest, "w", "", "x", &results, &f->err));
    assert_fails(f, store_ingest_publish(ingest, &f->err), ERR_CONFLICT);
    assert_true(trace_is_there(f, second));
}

static void equal_bytes_share_the_raw_file(void **state)
{
    struct fixture *f = *state;
    int64_t a = add_trace(f, "a", "f", "w", "", "same");
    int64_t b = add_trace(f, "b", "g", "w", "", "same");
    const char *sha256_hex = get_trace(f, a)->sha256_hex;
    assert_string_equal(sha256_hex, get_trace(f, b)->sha256_hex);
    assert_int_equal(raw_bytes(f), 4);
    assert_ok(f, store_trace_delete(f->store, a, &f->err));
    assert_true(raw_exists(f, sha256_hex));
    assert_int_equal(run_count(f), 1);
    assert_ok(f, store_run_delete(f->store, "b", &f->err));
    assert_false(raw_exists(f, sha256_hex));
    assert_int_equal(run_count(f), 0);
    assert_int_equal(raw_bytes(f), 0);
}

static void an_unfinished_job_keeps_the_raw_file(void **state)
{
    struct fixture *f = *state;
    int64_t a = add_trace(f, "a", "f", "w", "", "same");
    const char *sha256_hex = get_trace(f, a)->sha256_hex;
    struct err why = ERR_INIT;
    int64_t job = add_job(f, "b", "f", "same", false);
    assert_ok(f, store_trace_delete(f->store, a, &f->err));
    assert_true(raw_exists(f, sha256_hex));
    assert_ok(f, store_blob_forget(f->store, sha256_hex, &f->err));
    assert_true(raw_exists(f, sha256_hex));
    (void)err_set(&why, ERR_BAD_INPUT, "no");
    assert_ok(f, store_job_failed(f->store, job, &why, &f->err));
    assert_false(raw_exists(f, sha256_hex));
}

static void forgetting_keeps_the_rows(void **state)
{
    struct fixture *f = *state;
    int64_t id = add_trace(f, "a", "f", "w", "", "bytes");
    const char *sha256_hex = get_trace(f, id)->sha256_hex;
    const char *path;
    assert_ok(f, store_blob_path(f->store, &f->arena, sha256_hex, &path, &f->err));
    assert_ok(f, store_blob_forget(f->store, sha256_hex, &f->err));
    assert_fails(f, store_blob_path(f->store, &f->arena, sha256_hex, &path, &f->err), ERR_GONE);
    assert_true(trace_is_there(f, id));
    assert_ok(f, store_blob_forget(f->store, sha256_hex, &f->err));
    assert_ok(f, store_trace_delete(f->store, id, &f->err));
}

static void a_released_blob_goes_unless_referred_to(void **state)
{
    struct fixture *f = *state;
    char sha256_hex[SHA256_HEX_BYTES];
    commit_bytes(f, "lonely", sha256_hex);
    commit_bytes(f, "lonely", sha256_hex);
    assert_ok(f, store_blob_release(f->store, sha256_hex, &f->err));
    assert_true(raw_exists(f, sha256_hex)); /* the second commit still waits for its job */
    assert_ok(f, store_blob_release(f->store, sha256_hex, &f->err));
    assert_false(raw_exists(f, sha256_hex));

    int64_t id = add_trace(f, "a", "f", "w", "", "kept");
    commit_bytes(f, "kept", sha256_hex);
    assert_ok(f, store_blob_release(f->store, sha256_hex, &f->err));
    assert_true(raw_exists(f, sha256_hex));
    assert_true(trace_is_there(f, id));
}

static void a_committed_blob_survives_the_last_deletion(void **state)
{
    struct fixture *f = *state;
    char sha256_hex[SHA256_HEX_BYTES];
    int64_t id = add_trace(f, "a", "f", "w", "", "bytes");
    commit_bytes(f, "bytes", sha256_hex);
    assert_ok(f, store_trace_delete(f->store, id, &f->err));
    assert_true(raw_exists(f, sha256_hex));
}

static void several_traces_of_a_file(void **state)
{
    struct fixture *f = *state;
    struct trace_results results = {.device_type = "GPU"};
    struct store_ingest *ingest;
    int64_t *ids;
    size_t count;
    int64_t job = add_job(f, "r", "f", "bytes", false);
    assert_ok(f, store_ingest_begin(f->store, job, &ingest, &f->err));
    assert_ok(f, store_ingest_trace(ingest, "MLU 0", "", "plugin-json", &results, &f->err));
    assert_ok(f, store_ingest_trace(ingest, "MLU 1", "", "plugin-json", &results, &f->err));
    assert_ok(f, store_ingest_publish(ingest, &f->err));
    assert_ok(f, READ(f->store, store_job_traces, &f->arena, job, &ids, &count, &f->err));
    assert_int_equal(count, 2);
    assert_true(ids[0] < ids[1]);
    assert_int_equal(get_run(f, "r")->worker_count, 2);
    assert_int_equal(get_run(f, "r")->size_bytes, 5);
    const char *sha256_hex = get_trace(f, ids[0])->sha256_hex;
    assert_ok(f, store_trace_delete(f->store, ids[0], &f->err));
    assert_true(raw_exists(f, sha256_hex));
    assert_true(trace_is_there(f, ids[1]));
    assert_ok(f, store_trace_delete(f->store, ids[1], &f->err));
    assert_false(raw_exists(f, sha256_hex));
    assert_int_equal(run_count(f), 0);
}

/* Digit strings in their order as text, the span of each. */
static void spans_are_numbered(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *worker;
        const char *digits;
        int64_t span;
    } cases[] = {
        {"a", "10", 1}, {"a", "100", 2}, {"a", "9", 3}, {"b", "9", 1},
        {"c", "", 1},   {"d", "", 1},    {"d", "5", 1},
    };
    size_t case_count = sizeof cases / sizeof cases[0];
    struct store_trace *traces;
    size_t count;
    for (size_t i = case_count; i-- > 0;) {
        char name[32];
        (void)snprintf(name, sizeof name, "f%zu", i);
        (void)add_trace(f, "r", name, cases[i].worker, cases[i].digits, name);
    }
    /* The same digits again: the same span. */
    (void)add_trace(f, "r", "again", "a", "100", "again");
    (void)add_trace(f, "other", "x", "a", "0", "x");
    assert_ok(f, READ(f->store, store_traces, &f->arena, "r", &traces, &count, &f->err));
    assert_int_equal(count, case_count + 1);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(traces[i].worker, cases[at].worker);
        assert_int_equal(traces[i].span, cases[at].span);
        assert_int_equal(get_trace(f, traces[i].id)->span, cases[at].span);
        bool is_first_of_two = strcmp(traces[i].span_digits, "100") == 0 &&
                               strcmp(traces[i + 1].span_digits, "100") == 0;
        bool is_worker_d = strcmp(cases[at].worker, "d") == 0;
        if (!is_worker_d) {
            assert_string_equal(traces[i].span_digits, cases[at].digits);
        }
        at += is_first_of_two ? 0 : 1;
    }
    int64_t ids[] = {traces[4].id, traces[0].id, traces[4].id};
    struct store_trace *some;
    assert_ok(f, READ(f->store, store_traces_get, &f->arena, ids, 3, &some, &f->err));
    assert_int_equal(some[0].span, traces[4].span);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(some[i].id, ids[i]);
    }
    ids[1] = 999;
    assert_fails(f, READ(f->store, store_traces_get, &f->arena, ids, 3, &some, &f->err),
                 ERR_NOT_FOUND);
    assert_fails(f, READ(f->store, store_traces, &f->arena, "none", &traces, &count, &f->err),
                 ERR_NOT_FOUND);
}

static void patch_changes_what_is_given(void **state)
{
    struct fixture *f = *state;
    int64_t id = add_trace(f, "r", "f", "w", "", "bytes");
    assert_ok(f, store_run_patch(f->store, "r", "[\"a\"]", NULL, NULL, &f->err));
    assert_ok(f, store_run_patch(f->store, "r", NULL, "note", NULL, &f->err));
    assert_string_equal(get_run(f, "r")->tags, "[\"a\"]");
    assert_string_equal(get_run(f, "r")->note, "note");
    assert_ok(f, store_trace_patch(f->store, id, "[\"t\"]", "n", &f->err));
    assert_ok(f, store_trace_patch(f->store, id, NULL, "", &f->err));
    assert_string_equal(get_trace(f, id)->tags, "[\"t\"]");
    assert_string_equal(get_trace(f, id)->note, "");
    assert_fails(f, store_run_patch(f->store, "R", NULL, "n", NULL, &f->err), ERR_NOT_FOUND);
    assert_fails(f, store_trace_patch(f->store, id + 1, NULL, "n", &f->err), ERR_NOT_FOUND);
}

static void a_run_sums_its_traces(void **state)
{
    struct fixture *f = *state;
    struct trace_results cpu = {.device_type = "CPU",
                                .views = 1U << VIEW_OVERVIEW | 1U << VIEW_LIGHTNING};
    struct trace_results gpu = {.device_type = "GPU", .views = 1U << VIEW_KERNEL};
    (void)publish(f, add_job(f, "r", "a", "1", false), "w0", "", &gpu);
    (void)publish(f, add_job(f, "r", "b", "22", false), "w1", "1", &cpu);
    (void)publish(f, add_job(f, "r", "c", "333", false), "w1", "2", &gpu);
    struct store_run *run = get_run(f, "r");
    assert_string_equal(run->name, "r");
    assert_int_equal(run->trace_count, 3);
    assert_int_equal(run->worker_count, 2);
    assert_int_equal(run->size_bytes, 6);
    assert_string_equal(run->device_types, "GPU,CPU");
    assert_int_equal(run->views, cpu.views | gpu.views);
    assert_true(run->uploaded_at_s > 1600000000);
}

/* Step times count down from `step_ns`. */
static int64_t add_steps(
    struct fixture *f, const char *file, const char *worker, const char *span, int64_t step_ns)
{
    struct step_row steps[2] = {{.name = "1", .end_ns = step_ns},
                                {.name = "2", .start_ns = step_ns, .end_ns = 2 * step_ns - 1}};
    struct trace_results results = {.device_type = "GPU",
                                    .views = 1U << VIEW_OVERVIEW,
                                    .collective_count = 1,
                                    .steps_ns = 2 * step_ns - 1,
                                    .steps = steps,
                                    .step_count = step_ns > 0 ? 2 : 0};
    return publish(f, add_job(f, "r", file, file, true), worker, span, &results);
}

/* The figures are those of the newest span's first worker that has steps, whatever comes and goes.
 */
static void a_run_shows_figures_of_one_trace(void **state)
{
    struct fixture *f = *state;
    (void)add_trace(f, "r", "without", "a", "9", "no steps");
    assert_true(isnan(get_run(f, "r")->step_ns));
    assert_string_equal(get_run(f, "r")->step_times_ns, "[]");
    int64_t older = add_steps(f, "w1", "w", "1", 50);
    assert_int_equal(get_run(f, "r")->trace_id, older);
    int64_t newest = add_steps(f, "w2", "w", "2", 100);
    (void)add_steps(f, "x2", "x", "2", 70);
    struct store_run *run = get_run(f, "r");
    assert_int_equal(run->trace_id, newest);
    assert_int_equal(run->step_count, 2);
    assert_true(run->step_ns == 99.5);
    assert_string_equal(run->step_times_ns, "[100,99]");
    assert_int_equal(run->trace_count, 4);
    assert_int_equal(run->worker_count, 3);
    assert_true((run->views & 1U << VIEW_DISTRIBUTED) != 0);

    /* Other bytes take the place of the chosen one: it loses its span. */
    int64_t replaced = publish(f, add_job(f, "r", "w2", "other", true), "v", "0",
                               &(struct trace_results){.device_type = "CPU"});
    run = get_run(f, "r");
    assert_true(run->step_ns == 69.5);
    assert_int_equal(run->trace_count, 4);
    assert_string_equal(run->device_types, "GPU,CPU");
    assert_ok(f, store_trace_delete(f->store, run->trace_id, &f->err));
    assert_ok(f, store_trace_delete(f->store, replaced, &f->err));
    run = get_run(f, "r");
    assert_int_equal(run->trace_id, older);
    assert_int_equal(run->trace_count, 2);
    assert_int_equal(run->worker_count, 2);
    assert_string_equal(run->device_types, "GPU");
    assert_int_equal(run->size_bytes, strlen("no steps") + strlen("w1"));
}

static void
expect_runs(struct fixture *f, struct store_page page, const char *names, int64_t expected_total)
{
    struct store_run *runs;
    size_t count;
    struct store_total total;
    char joined[256] = "";
    assert_ok(f, READ(f->store, store_runs, &f->arena, &page, &runs, &count, &total, &f->err));
    for (size_t i = 0; i < count; i++) {
        (void)strncat(joined, runs[i].name, sizeof joined - strlen(joined) - 1);
        (void)strncat(joined, " ", sizeof joined - strlen(joined) - 1);
    }
    assert_string_equal(joined, names);
    assert_int_equal(total.rows, expected_total);
    assert_false(total.is_least);
}

static void runs_are_sorted_and_searched(void **state)
{
    struct fixture *f = *state;
    (void)add_trace(f, "beta", "f", "w", "", "1");
    (void)add_trace(f, "Alpha", "f", "w", "", "4444");
    (void)add_trace(f, "gamma", "f", "w", "", "22");
    (void)add_trace(f, "gamma", "g", "w", "", "333");
    expect_runs(f, (struct store_page){0}, "gamma Alpha beta ", 3);
    expect_runs(f, (struct store_page){.sort = "name"}, "Alpha beta gamma ", 3);
    expect_runs(f, (struct store_page){.sort = "name", .descending = true}, "gamma beta Alpha ", 3);
    expect_runs(f, (struct store_page){.sort = "size_bytes"}, "beta Alpha gamma ", 3);
    expect_runs(f, (struct store_page){.sort = "traces", .descending = true}, "gamma Alpha beta ",
                3);
    expect_runs(f, (struct store_page){.sort = "name", .limit = 1, .offset = 1}, "beta ", 3);
    expect_runs(f, (struct store_page){.sort = "name", .offset = 7}, "", 3);
    /* From the nearer end: equal ones (two of one trace) stay in their order. */
    expect_runs(f, (struct store_page){.limit = 2, .offset = 1}, "Alpha beta ", 3);
    expect_runs(f, (struct store_page){.limit = 2, .offset = 2}, "beta ", 3);
    expect_runs(f, (struct store_page){.sort = "traces", .limit = 1, .offset = 1}, "Alpha ", 3);
    expect_runs(f, (struct store_page){.sort = "traces", .limit = 1, .offset = 2}, "gamma ", 3);
    expect_runs(f,
                (struct store_page){.sort = "traces", .descending = true, .limit = 1, .offset = 2},
                "beta ", 3);
    expect_runs(f, (struct store_page){.sort = "name", .q = "a", .limit = 1, .offset = 2}, "gamma ",
                3);
    expect_runs(f, (struct store_page){.sort = "name", .q = "ALPH"}, "Alpha ", 1);
    expect_runs(f, (struct store_page){.sort = "name", .q = "/^(a|b)/"}, "Alpha beta ", 2);
    struct store_page unknown = {.sort = "name; DROP TABLE run"};
    struct store_run *runs;
    size_t count;
    struct store_total total;
    assert_fails(f, READ(f->store, store_runs, &f->arena, &unknown, &runs, &count, &total, &f->err),
                 ERR_BAD_REQUEST);
    assert_non_null(strstr(f->err.msg, "uploaded_at"));
}

static void a_deleted_run_takes_its_rows(void **state)
{
    struct fixture *f = *state;
    struct step_row step = {.name = "1"};
    struct trace_results results = {.device_type = "GPU", .steps = &step, .step_count = 1};
    int64_t id = publish(f, add_job(f, "r", "f", "x", false), "w", "", &results);
    int64_t kept = add_trace(f, "s", "f", "w", "", "y");
    struct trace_results *out;
    assert_ok(f, store_run_patch(f->store, "r", NULL, "old", NULL, &f->err));
    assert_ok(f, store_run_delete(f->store, "r", &f->err));
    assert_fails(f, store_run_delete(f->store, "r", &f->err), ERR_NOT_FOUND);
    assert_fails(f, READ(f->store, store_overview, &f->arena, id, &out, &f->err), ERR_NOT_FOUND);
    assert_true(trace_is_there(f, kept));
    (void)add_trace(f, "r", "f", "w", "", "x");
    assert_string_equal(get_run(f, "r")->note, "");
}

static void unfinished_jobs_are_listed_in_order(void **state)
{
    struct fixture *f = *state;
    struct store_job *jobs;
    size_t count;
    int64_t first = add_job(f, "r", "a", "1", true);
    (void)add_trace(f, "r", "b", "w", "", "2");
    int64_t second = add_job(f, "r", "c", "3", false);
    assert_ok(f, store_jobs_unfinished(f->store, &f->arena, &jobs, &count, &f->err));
    assert_int_equal(count, 2);
    assert_int_equal(jobs[0].id, first);
    assert_true(jobs[0].replace);
    assert_int_equal(jobs[0].state, ADDED);
    assert_int_equal(jobs[1].id, second);
    assert_int_equal(jobs[1].error_code, ERR_NONE);
    assert_true(jobs[1].error_offset == ERR_NO_OFFSET);
    assert_null(jobs[1].error_message);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store, tear_down_store)

/* A trace with decimal times has a second set of figures: it is no trace of its own, is read under
 * its own id, and goes with the trace. */
static void plugin_figures_belong_to_their_trace(void **state)
{
    struct fixture *f = *state;
    struct step_row exact = {.name = "1", .end_ns = 5};
    struct step_row rounded = {.name = "1", .end_ns = 7};
    struct trace_results plugin = {.device_type = "GPU", .steps = &rounded, .step_count = 1};
    struct trace_results results = {.device_type = "GPU", .steps = &exact, .step_count = 1};
    struct trace_results *read;
    int64_t id = publish(f, add_job(f, "r", "f", "bytes", false), "w", "", &results);
    int64_t figures_id = 0;
    assert_int_equal(get_trace(f, id)->derived_id, id); /* no events to derive any from */
    assert_ok(f, store_derived_write(f->store, id, &plugin, &figures_id, &f->err));
    assert_int_not_equal(figures_id, id);
    assert_int_equal(get_run(f, "r")->trace_count, 1);
    assert_false(trace_is_there(f, figures_id));
    assert_fails(f, READ(f->store, store_trace_check, figures_id, &f->err), ERR_NOT_FOUND);
    assert_fails(f, store_trace_delete(f->store, figures_id, &f->err), ERR_NOT_FOUND);

    assert_ok(f, READ(f->store, store_overview, &f->arena, id, &read, &f->err));
    assert_int_equal(read->steps[0].end_ns, 5);
    assert_ok(f, READ(f->store, store_overview, &f->arena, figures_id, &read, &f->err));
    assert_int_equal(read->steps[0].end_ns, 7);

    assert_ok(f, store_trace_delete(f->store, id, &f->err));
    assert_fails(f, READ(f->store, store_overview, &f->arena, figures_id, &read, &f->err),
                 ERR_NOT_FOUND);
    assert_int_equal(run_count(f), 0);
    assert_int_equal(raw_bytes(f), 0);
}

static void what_can_be_seen_has_a_version(void **state)
{
    struct fixture *f = *state;
    struct trace_results results = {.device_type = "GPU"};
    struct store_ingest *ingest;
    int64_t job = add_job(f, "r", "f", "bytes", false);
    assert_ok(f, store_ingest_begin(f->store, job, &ingest, &f->err));
    uint64_t version = store_version(f->store);
    assert_ok(f, store_ingest_trace(ingest, "w", "", "chrome-trace", &results, &f->err));
    /* What nobody sees yet leaves it as it is, or every batch would empty what is kept. */
    assert_int_equal(store_version(f->store), version);
    assert_ok(f, store_ingest_publish(ingest, &f->err));
    assert_true(store_version(f->store) > version);
    int64_t id = trace_of_job(f, job);

    version = store_version(f->store);
    assert_ok(f, store_trace_patch(f->store, id, NULL, "note", &f->err));
    assert_true(store_version(f->store) > version);
    version = store_version(f->store);
    assert_ok(f, store_run_patch(f->store, "r", "[]", NULL, NULL, &f->err));
    assert_true(store_version(f->store) > version);
    version = store_version(f->store);
    assert_int_equal(run_count(f), 1);
    assert_true(trace_is_there(f, id));
    assert_int_equal(store_version(f->store), version);
    assert_ok(f, store_trace_delete(f->store, id, &f->err));
    assert_true(store_version(f->store) > version);
}

static void runs_and_traces_are_counted(void **state)
{
    struct fixture *f = *state;
    int64_t runs = -1;
    int64_t traces = -1;
    assert_ok(f, READ(f->store, store_count, NULL, &runs, &traces, &f->err));
    assert_int_equal(runs, 0);
    assert_int_equal(traces, 0);
    (void)add_trace(f, "a", "f1", "w1", "", "one");
    (void)add_trace(f, "a", "f2", "w2", "", "two");
    (void)add_trace(f, "b", "f3", "w3", "", "three");
    (void)add_job(f, "c", "f4", "not yet", false);
    assert_ok(f, READ(f->store, store_count, NULL, &runs, &traces, &f->err));
    assert_int_equal(runs, 2);
    assert_int_equal(traces, 3);
    assert_ok(f, store_run_move(f->store, "a", "p", &f->err));
    assert_ok(f, READ(f->store, store_count, "[]", &runs, &traces, &f->err));
    assert_int_equal(runs, 1);
    assert_int_equal(traces, 1);
    assert_ok(f, READ(f->store, store_count, "[\"p\"]", &runs, &traces, &f->err));
    assert_int_equal(traces, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_visible_until_published),
        TEST(plugin_figures_belong_to_their_trace),
        TEST(abort_leaves_nothing),
        TEST(an_upload_without_traces_is_not_published),
        TEST(replacing_takes_the_old_away),
        TEST(other_bytes_need_replace),
        TEST(an_earlier_job_does_not_replace_a_later_one),
        TEST(equal_bytes_share_the_raw_file),
        TEST(an_unfinished_job_keeps_the_raw_file),
        TEST(forgetting_keeps_the_rows),
        TEST(a_released_blob_goes_unless_referred_to),
        TEST(a_committed_blob_survives_the_last_deletion),
        TEST(several_traces_of_a_file),
        TEST(spans_are_numbered),
        TEST(patch_changes_what_is_given),
        TEST(a_run_sums_its_traces),
        TEST(a_run_shows_figures_of_one_trace),
        TEST(runs_are_sorted_and_searched),
        TEST(a_deleted_run_takes_its_rows),
        TEST(unfinished_jobs_are_listed_in_order),
        TEST(what_can_be_seen_has_a_version),
        TEST(runs_and_traces_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Stored traces compared: the comparison is kept, and its chart is read back. */
#include "ingest/query/compare/compare_query.h"
#include "tests/unit/ingest/analysis/compare/compare_fixture.h"
#include "tests/unit/ingest/store/store_fixture.h"

#define CYCLES 4

/* A trace whose process takes `share` % of its cycles with `gemm` and, in the last, nothing. */
static int64_t
add_made(struct fixture *f, const char *run, const char *file, int64_t pid, double share)
{
    struct made_trace *made = calloc(1, sizeof *made);
    assert_non_null(made);
    made_begin(made);
    made->results.device_type = "GPU";
    made->results.cycle_source = share > 0 ? CYCLES_MARKER : CYCLES_NONE;
    for (int i = 0; share > 0 && i < CYCLES; i++) {
        made_cycle(made, i + 1, CYCLE_STEP, 1000 + i);
        /* later cycles stand first in the file */
        made->cycles[i].start_ns = (int64_t)(CYCLES - i) * 1000000;
        if (i > 0) {
            (void)made_use(made, pid, "gemm", "gpu_clock", share + 0.25 * i, 100 + i);
        }
        (void)made_use(made, pid, "other", NULL, 1, NO_METRIC);
        (void)made_use(made, pid + 50, "gemm", "gpu_clock", 70, 1);
    }
    int64_t job = add_job(f, run, file, file, false);
    int64_t id = publish(f, job, file, "", &made->results);
    free(made);
    return id;
}

static struct query_compare_request
request_of(const int64_t *base, size_t base_count, const int64_t *candidate)
{
    return (struct query_compare_request){.trace_ids = {base, candidate},
                                          .trace_count = {base_count, 1},
                                          .labels = {"before", "after"},
                                          .base_pid = COMPARISON_NO_PID,
                                          .candidate_pid = COMPARISON_NO_PID,
                                          .kind = -1};
}

static struct store_comparison *get(struct fixture *f, int64_t id)
{
    struct store_comparison *stored;
    assert_ok(f, READ(f->store, store_comparison_get, &f->arena, id, &stored, &f->err));
    return stored;
}

static void a_comparison_is_made_and_kept(void **state)
{
    struct fixture *f = *state;
    int64_t base = add_made(f, "run", "a", 7, 10);
    int64_t candidate = add_made(f, "run", "b", 7, 20);
    int64_t id = 0;
    struct query_compare_request request = request_of(&base, 1, &candidate);
    assert_ok(f, READ(f->store, query_compare_stored, &f->arena, &request, &id, &f->err));
    const struct store_comparison *stored = get(f, id);
    assert_string_equal(stored->comparison->title, "run/a vs run/b");
    assert_string_equal(stored->comparison->roles[SIDE_CANDIDATE].label, "after");
    assert_int_equal(stored->comparison->roles[SIDE_BASE].pid, 7);
    assert_int_equal(stored->comparison->row_count, 1);
    assert_true(stored->comparison->rows[0].delta_beta == 10);
    assert_int_equal(stored->comparison->verdict, VERDICT_DIFFERENT);
    assert_int_equal(stored->trace_count[SIDE_BASE], 1);
    assert_int_equal(stored->trace_ids[SIDE_CANDIDATE][0], candidate);

    struct store_comparison *rows;
    size_t count;
    int64_t total;
    const struct store_page all = {.limit = 0};
    assert_ok(f, READ(f->store, store_comparisons, &f->arena, stored->group_id, &all, &rows, &count,
                      &total, &f->err));
    assert_int_equal(count, 2); /* the second process did not change */
    assert_int_equal(rows[0].id, id);
    assert_int_equal(rows[1].comparison->verdict, VERDICT_NO_DIFFERENCE);
}

/* A trace given twice is one trace; several runs make the title longer. */
static void several_traces_are_one_side(void **state)
{
    struct fixture *f = *state;
    int64_t base[3] = {add_made(f, "one", "a", 7, 10), add_made(f, "two", "b", 7, 11)};
    int64_t candidate = add_made(f, "three", "c", 9, 20);
    int64_t id = 0;
    base[2] = base[0];
    struct query_compare_request request = request_of(base, 3, &candidate);
    request.base_pid = 7;
    request.candidate_pid = 9;
    assert_ok(f, READ(f->store, query_compare_stored, &f->arena, &request, &id, &f->err));
    const struct store_comparison *stored = get(f, id);
    assert_string_equal(stored->comparison->title, "one and others (2 traces) vs three");
    assert_string_equal(stored->comparison->roles[SIDE_BASE].label, "before_pid_7");
    assert_int_equal(stored->comparison->roles[SIDE_BASE].cycles, 2 * CYCLES);
    assert_int_equal(stored->trace_count[SIDE_BASE], 2);
    request.title = "mine";
    assert_ok(f, READ(f->store, query_compare_stored, &f->arena, &request, &id, &f->err));
    assert_string_equal(get(f, id)->comparison->title, "mine");
}

static void what_cannot_be_compared_is_told(void **state)
{
    struct fixture *f = *state;
    int64_t base = add_made(f, "run", "a", 7, 10);
    int64_t bare = add_made(f, "run", "bare", 7, 0);
    int64_t nobody = 999;
    int64_t id = 0;
    struct query_compare_request request = request_of(&base, 1, &bare);
    assert_fails(f, READ(f->store, query_compare_stored, &f->arena, &request, &id, &f->err),
                 ERR_BAD_REQUEST);
    assert_non_null(strstr(f->err.msg, "candidate: "));
    assert_non_null(strstr(f->err.msg, "bare"));
    assert_non_null(strstr(f->err.msg, "marker"));
    request = request_of(&nobody, 1, &base);
    assert_fails(f, READ(f->store, query_compare_stored, &f->arena, &request, &id, &f->err),
                 ERR_NOT_FOUND);
    request = request_of(&base, 0, &base);
    assert_fails(f, READ(f->store, query_compare_stored, &f->arena, &request, &id, &f->err),
                 ERR_BAD_REQUEST);
    request = request_of(&base, 1, &base);
    request.base_pid = 4;
    assert_fails(f, READ(f->store, query_compare_stored, &f->arena, &request, &id, &f->err),
                 ERR_BAD_REQUEST);
    assert_non_null(strstr(f->err.msg, "7 (step), 57 (step)"));
}

static void the_chart_has_every_cycle_in_order_of_time(void **state)
{
    struct fixture *f = *state;
    int64_t base = add_made(f, "run", "a", 7, 10);
    int64_t candidate = add_made(f, "run", "b", 7, 20);
    int64_t id = 0;
    struct query_compare_request request = request_of(&base, 1, &candidate);
    struct query_beta_series series;
    assert_ok(f, READ(f->store, query_compare_stored, &f->arena, &request, &id, &f->err));
    assert_ok(f, READ(f->store, query_compare_series, &f->arena, id, "gemm", "gpu_clock", "GPU 0",
                      &series, &f->err));
    static const double expected[CYCLES] = {10.75, 10.5, 10.25, 0};
    assert_int_equal(series.count[SIDE_BASE], CYCLES);
    assert_int_equal(series.count[SIDE_CANDIDATE], CYCLES);
    for (int i = 0; i < CYCLES; i++) {
        assert_true(series.beta_pct[SIDE_BASE][i] == expected[i]);
        assert_true(series.cycle_us[SIDE_BASE][i] == 1003 - i);
        assert_true(series.beta_pct[SIDE_CANDIDATE][i] == (expected[i] > 0 ? expected[i] + 10 : 0));
    }
    assert_ok(f, READ(f->store, query_compare_series, &f->arena, id, "other", "N/A", "GPU 0",
                      &series, &f->err));
    assert_true(series.beta_pct[SIDE_BASE][3] == 1);

    /* the traces may go, the comparison stays */
    assert_ok(f, store_trace_delete(f->store, base, &f->err));
    assert_ok(f, READ(f->store, query_compare_series, &f->arena, id, "gemm", "gpu_clock", "GPU 0",
                      &series, &f->err));
    assert_int_equal(series.count[SIDE_BASE], 0);
    assert_int_equal(series.count[SIDE_CANDIDATE], CYCLES);
    assert_fails(
        f,
        READ(f->store, query_compare_series, &f->arena, 12345, "gemm", "x", "y", &series, &f->err),
        ERR_NOT_FOUND);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_comparison_is_made_and_kept),
        TEST(several_traces_are_one_side),
        TEST(what_cannot_be_compared_is_told),
        TEST(the_chart_has_every_cycle_in_order_of_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

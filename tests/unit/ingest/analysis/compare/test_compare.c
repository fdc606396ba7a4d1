/* Two sides of cycles compared: who meets whom, the figures of a row, what is concluded. */
#include "ingest/analysis/compare/compare.h"
#include "ingest/analysis/compare/devices.h"
#include "ingest/analysis/util/stat_tests.h"
#include "ingest/formats/csv/scan.h"
#include "ingest/formats/format.h"
#include "tests/unit/ingest/analysis/compare/compare_fixture.h"
#include "tests/unit/ingest/formats/table_fixture.h"

#define N 8

/* Shares of two like sides, of one that takes more, of one where chance may be at work. */
static const double shares[N] = {10.0, 10.2, 9.9, 10.1, 10.0, 9.8, 10.3, 9.9};
static const double larger[N] = {14.1, 14.3, 14.0, 13.8, 14.2, 14.1, 13.9, 14.4};
static const double similar[N] = {10.1, 9.9, 10.0, 10.3, 9.8, 10.0, 10.2, 9.95};

struct two_sides {
    struct arena arena;
    struct made_trace *made[SIDE_COUNT];
    struct comparison_list list;
    struct err err;
};

static int setup(void **state)
{
    struct two_sides *two = calloc(1, sizeof *two);
    arena_init(&two->arena, 0);
    for (int side = 0; side < SIDE_COUNT; side++) {
        two->made[side] = calloc(1, sizeof *two->made[side]);
        made_begin(two->made[side]);
    }
    *state = two;
    return 0;
}

static int teardown(void **state)
{
    struct two_sides *two = *state;
    free(two->made[SIDE_BASE]);
    free(two->made[SIDE_CANDIDATE]);
    arena_free(&two->arena);
    free(two);
    return 0;
}

static bool try_compare(struct two_sides *two, int64_t base_pid, int64_t candidate_pid, int kind)
{
    const struct trace_results *traces[SIDE_COUNT] = {&two->made[SIDE_BASE]->results,
                                                      &two->made[SIDE_CANDIDATE]->results};
    const struct compare_side sides[SIDE_COUNT] = {
        {.traces = &traces[SIDE_BASE], .trace_count = 1, .label = "base"},
        {.traces = &traces[SIDE_CANDIDATE], .trace_count = 1, .label = "candidate"}};
    const struct compare_options options = {
        .title = "a test", .base_pid = base_pid, .candidate_pid = candidate_pid, .kind = kind};
    two->err = (struct err)ERR_INIT;
    return compare_run(&two->arena, sides, &options, &two->list, &two->err);
}

/* Every pair; the most suspicious one. */
static const struct comparison *compare_all(struct two_sides *two)
{
    if (!try_compare(two, COMPARISON_NO_PID, COMPARISON_NO_PID, -1)) {
        fail_msg("%s", two->err.msg);
    }
    return two->list.items[0];
}

static const struct comparison_row *
find_row(const struct comparison *comparison, const char *function, const char *metric)
{
    for (size_t i = 0; i < comparison->row_count; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        if (strcmp(row->function, function) == 0 && strcmp(row->metric, metric) == 0) {
            return row;
        }
    }
    return NULL;
}

/* ---- figures ---- */

static void a_row_has_the_figures_of_the_specification(void **state)
{
    struct two_sides *two = *state;
    static const double beta[SIDE_COUNT][3] = {{1, 2, 3}, {5, 6, 10}};
    static const double mu[SIDE_COUNT][3] = {{10, 20, 30}, {20, 20, 50}};
    for (int side = 0; side < SIDE_COUNT; side++) {
        for (int i = 0; i < 3; i++) {
            made_cycle(two->made[side], i + 1, CYCLE_STEP, 100.0 * (i + 1));
            (void)made_use(two->made[side], 7, "f", "gpu_usage", beta[side][i], mu[side][i]);
        }
    }
    const struct comparison *c = compare_all(two);
    const struct comparison_row *row = find_row(c, "f", "gpu_usage");
    assert_non_null(row);
    assert_near(row->beta_pct[SIDE_BASE], 2, 0);
    assert_near(row->beta_pct[SIDE_CANDIDATE], 7, 0);
    assert_near(row->delta_beta, 5, 0);
    assert_near(row->z_beta, 5, 1e-15); /* the deviation of 1, 2, 3 is 1 */
    assert_near(row->z_mu, 1, 1e-15);
    double logs[3] = {log1p(10), log1p(20), log1p(30)};
    double mean = (logs[0] + logs[1] + logs[2]) / 3;
    double squares = 0;
    for (int i = 0; i < 3; i++) {
        squares += (logs[i] - mean) * (logs[i] - mean);
    }
    double z_log = ((2 * log1p(20) + log1p(50)) / 3 - mean) / sqrt(squares / 2);
    assert_near(row->z_log_mu, z_log, 1e-13);
    assert_near(row->score, 5 * (5 + fabs(z_log)), 1e-12);
    assert_near(row->p_beta, stat_welch_p(2, 1, 3, 7, sqrt(7), 3), 1e-15);
    assert_near(row->u_beta, 0.1, 1e-15); /* 2 of C(6, 3) arrangements */
    assert_near(row->q_beta, row->p_beta, 0);
    assert_int_equal(row->presence, PRESENCE_BOTH);
    assert_int_equal(row->cycles[SIDE_BASE], 3);
    assert_near(c->roles[SIDE_BASE].mean_cycle_us, 200, 0);
    assert_int_equal(c->roles[SIDE_BASE].cycles, 3);
    assert_string_equal(c->roles[SIDE_BASE].host, "node");
    assert_string_equal(c->title, "a test");
    assert_near(c->kernel_us[SIDE_CANDIDATE], 70, 1e-12);
    assert_near(c->operator_us[SIDE_CANDIDATE], 0, 0);
    assert_int_equal(c->cycle_count, 3);
    assert_near(c->cycles[0].dur_us[SIDE_BASE], 300, 0);
    assert_true(isnan(c->cycle_p) == false && c->cycle_u == 1);
}

static void without_counters_beta_alone_counts(void **state)
{
    struct two_sides *two = *state;
    made_shares(two->made[SIDE_BASE], 7, "f", shares, N);
    made_shares(two->made[SIDE_CANDIDATE], 7, "f", larger, N);
    const struct comparison *c = compare_all(two);
    assert_int_equal(c->row_count, 1);
    const struct comparison_row *row = find_row(c, "f", "N/A");
    assert_non_null(row);
    assert_near(row->score, fabs(row->delta_beta) * fabs(row->z_beta), 0);
    assert_true(row->score > 10);
    assert_true(isnan(row->mu[SIDE_BASE]) && isnan(row->delta_mu) && isnan(row->z_log_mu) &&
                isnan(row->p_mu) && isnan(row->u_mu) && isnan(row->q_mu));
    assert_int_equal(c->finding_count, 1);
    assert_int_equal(c->findings[0].metric_count, 0);
}

/* Beside counters only what the reference does not know keeps a row without metric. */
static void rows_without_metric_stay_where_nothing_else_is(void **state)
{
    struct two_sides *two = *state;
    for (int side = 0; side < SIDE_COUNT; side++) {
        for (int i = 0; i < 3; i++) {
            made_cycle(two->made[side], i + 1, CYCLE_STEP, 100);
            (void)made_use(two->made[side], 7, "kernel", "gpu_usage", 1 + i, 2);
            (void)made_use(two->made[side], 7, "write", NULL, 4, NO_METRIC);
            made_use(two->made[side], 7, "aten::mm", NULL, 5, NO_METRIC)->type = "operator";
            (void)made_use(two->made[side], 7, "", "gpu_usage", 5, 5);
        }
    }
    const struct comparison *c = compare_all(two);
    assert_int_equal(c->row_count, 2);
    assert_non_null(find_row(c, "kernel", "gpu_usage"));
    assert_non_null(find_row(c, "aten::mm", "N/A"));
    assert_near(c->operator_us[SIDE_BASE], 50, 1e-12);
}

static void a_function_counts_once_a_cycle_whatever_its_metrics(void **state)
{
    struct two_sides *two = *state;
    for (int side = 0; side < SIDE_COUNT; side++) {
        for (int i = 0; i < 2; i++) {
            made_cycle(two->made[side], i + 1, CYCLE_STEP, 100);
            (void)made_use(two->made[side], 7, "a", "gpu_usage", 3, 1);
            (void)made_use(two->made[side], 7, "b", "gpu_usage", 3, 1);
            (void)made_use(two->made[side], 7, "a", "gpu_clock", 3, 1);
            made_use(two->made[side], 7, "a", "gpu_clock", 2, 1)->device = "GPU 1";
        }
    }
    const struct comparison *c = compare_all(two);
    assert_near(c->kernel_us[SIDE_BASE], 30 + 30 + 20, 1e-12);
    assert_int_equal(find_row(c, "b", "gpu_usage")->cycles[SIDE_BASE], 2);
}

/* ---- devices ---- */

/* The base ran on GPU 3 and 5, the candidate on GPU 1 and 6. */
static void devices_are_matched_by_their_order_in_the_process(void **state)
{
    struct two_sides *two = *state;
    static const char *const devices[SIDE_COUNT][2] = {{"GPU 5", "GPU 3"}, {"GPU 6", "GPU 1"}};
    for (int side = 0; side < SIDE_COUNT; side++) {
        for (int i = 0; i < 3; i++) {
            struct made_trace *made = two->made[side];
            made_cycle(made, i + 1, CYCLE_STEP, 100);
            made_use(made, side, "second", NULL, 3, NO_METRIC)->device = devices[side][0];
            made_use(made, side, "first", NULL, 2, NO_METRIC)->device = devices[side][1];
            made_use(made, side, "aten::mm", NULL, 1, NO_METRIC)->device = "Host";
        }
    }
    const struct comparison *c = compare_all(two);
    assert_int_equal(c->row_count, 3);
    assert_int_equal(c->appeared_count, 0);
    assert_string_equal(find_row(c, "first", "N/A")->device, "GPU 3 / GPU 1");
    assert_string_equal(find_row(c, "second", "N/A")->device, "GPU 5 / GPU 6");
    assert_string_equal(find_row(c, "aten::mm", "N/A")->device, "Host");
    char part[DEVICE_TEXT_BYTES];
    assert_string_equal(device_name_of_side("GPU 3 / GPU 1", SIDE_BASE, part), "GPU 3");
    assert_string_equal(device_name_of_side("GPU 3 / GPU 1", SIDE_CANDIDATE, part), "GPU 1");
    assert_string_equal(device_name_of_side("Host", SIDE_CANDIDATE, part), "Host");
}

/* The reference's rule: a device is its name. */
static void devices_of_tables_are_matched_by_name(void **state)
{
    struct two_sides *two = *state;
    for (int side = 0; side < SIDE_COUNT; side++) {
        for (int i = 0; i < 3; i++) {
            struct made_trace *made = two->made[side];
            made_cycle(made, i + 1, CYCLE_STEP, 100);
            made_use(made, 7, "f", NULL, 3, NO_METRIC)->device =
                side == SIDE_BASE ? "GPU 3" : "GPU 1";
        }
    }
    two->made[SIDE_BASE]->results.cycle_source = CYCLES_TABLE;
    const struct comparison *c = compare_all(two);
    assert_int_equal(c->row_count, 2);
    assert_int_equal(c->appeared_count, 2);
}

/* Gone in all of three cycles: 2 of C(6, 3) arrangements are as unlikely. */
static void presence_has_its_own_test(void **state)
{
    struct two_sides *two = *state;
    for (int side = 0; side < SIDE_COUNT; side++) {
        for (int i = 0; i < 3; i++) {
            made_cycle(two->made[side], i + 1, CYCLE_STEP, 100);
            (void)made_use(two->made[side], 7, "both", NULL, 3, NO_METRIC);
            if (side == SIDE_BASE) {
                (void)made_use(two->made[side], 7, "gone", NULL, 3, NO_METRIC);
            }
        }
    }
    const struct comparison *c = compare_all(two);
    const struct comparison_row *gone = find_row(c, "gone", "N/A");
    assert_near(gone->p_beta, 1, 0); /* of the reference */
    assert_near(gone->p_presence, 0.1, 1e-15);
    assert_near(gone->q_presence, 0.2, 1e-15);
    assert_near(find_row(c, "both", "N/A")->p_presence, 1, 0);
}

/* ---- new and gone ---- */

static void what_only_one_side_has_is_told(void **state)
{
    struct two_sides *two = *state;
    for (int side = 0; side < SIDE_COUNT; side++) {
        for (int i = 0; i < 4; i++) {
            struct made_trace *made = two->made[side];
            made_cycle(made, i + 1, CYCLE_STEP, 100);
            (void)made_use(made, 7, "both", "gpu_usage", shares[i], 1);
            if (side == SIDE_BASE) {
                (void)made_use(made, 7, "gone", "gpu_usage", 3, 1);
                (void)made_use(made, 7, "counted", NULL, 2, NO_METRIC);
            } else {
                (void)made_use(made, 7, "new", "gpu_usage", 5, 1);
                (void)made_use(made, 7, "new", "gpu_clock", 5.5, 1);
                (void)made_use(made, 7, "counted", "gpu_usage", 2, 1);
            }
        }
    }
    const struct comparison *c = compare_all(two);
    assert_int_equal(c->appeared_count, 2);
    const struct comparison_row *first = &c->rows[c->appeared[0]];
    assert_string_equal(first->function, "new");
    assert_string_equal(first->metric, "gpu_clock");
    assert_int_equal(first->presence, PRESENCE_ADDED);
    assert_near(first->score, 0, 0);
    assert_int_equal(first->cycles[SIDE_BASE], 0);
    assert_string_equal(c->rows[c->appeared[1]].function, "gone");
    assert_int_equal(c->rows[c->appeared[1]].presence, PRESENCE_REMOVED);
    /* the base has the function, though without this metric */
    assert_int_equal(find_row(c, "counted", "gpu_usage")->presence, PRESENCE_BOTH);
    assert_int_equal(c->verdict, VERDICT_DIFFERENT);
}

/* ---- verdicts ---- */

static void the_same_twice_is_no_difference(void **state)
{
    struct two_sides *two = *state;
    made_shares(two->made[SIDE_BASE], 7, "f", shares, N);
    made_shares(two->made[SIDE_BASE], 7, "g", larger, N);
    *two->made[SIDE_CANDIDATE] = *two->made[SIDE_BASE];
    two->made[SIDE_CANDIDATE]->results.cycles = two->made[SIDE_CANDIDATE]->cycles;
    two->made[SIDE_CANDIDATE]->results.cycle_uses = two->made[SIDE_CANDIDATE]->uses;
    const struct comparison *c = compare_all(two);
    assert_int_equal(c->verdict, VERDICT_NO_DIFFERENCE);
    assert_int_equal(c->finding_count, 0);
    assert_int_equal(c->appeared_count, 0);
    for (size_t i = 0; i < c->row_count; i++) {
        assert_near(c->rows[i].score, 0, 0);
    }
}

static void what_chance_explains_is_no_difference(void **state)
{
    struct two_sides *two = *state;
    made_shares(two->made[SIDE_BASE], 7, "f", shares, N);
    made_shares(two->made[SIDE_CANDIDATE], 7, "f", similar, N);
    assert_int_equal(compare_all(two)->verdict, VERDICT_NO_DIFFERENCE);
}

static void larger_shares_are_a_difference(void **state)
{
    struct two_sides *two = *state;
    made_shares(two->made[SIDE_BASE], 7, "f", shares, N);
    made_shares(two->made[SIDE_CANDIDATE], 7, "f", larger, N);
    const struct comparison *c = compare_all(two);
    assert_int_equal(c->verdict, VERDICT_DIFFERENT);
    assert_true(c->rows[0].q_beta < COMPARE_Q_MAX);
}

static void longer_cycles_are_a_difference(void **state)
{
    struct two_sides *two = *state;
    made_shares(two->made[SIDE_BASE], 7, "f", shares, N);
    made_shares(two->made[SIDE_CANDIDATE], 7, "f", similar, N);
    for (size_t i = 0; i < N; i++) {
        two->made[SIDE_CANDIDATE]->cycles[i].dur_us += 100;
    }
    const struct comparison *c = compare_all(two);
    assert_true(c->cycle_p < 1e-6);
    assert_int_equal(c->verdict, VERDICT_DIFFERENT);
}

static void one_cycle_decides_nothing(void **state)
{
    struct two_sides *two = *state;
    made_shares(two->made[SIDE_BASE], 7, "f", shares, N);
    made_shares(two->made[SIDE_CANDIDATE], 7, "f", larger, 1);
    const struct comparison *c = compare_all(two);
    assert_int_equal(c->verdict, VERDICT_UNDECIDED);
    assert_true(isnan(c->cycle_p) && isnan(c->cycle_u));
    assert_true(c->rows[0].p_beta == 1 && c->rows[0].u_beta == 1);
    assert_int_equal(c->cycle_count, N);
    assert_true(isnan(c->cycles[1].dur_us[SIDE_CANDIDATE]));
}

/* Of many findings the three highest (function, device), and of a function three metrics. */
static void findings_are_the_three_highest(void **state)
{
    struct two_sides *two = *state;
    static const char *const functions[] = {"a", "b", "c", "d"};
    static const char *const metrics[] = {"m1", "m2", "m3", "m4", "same"};
    for (int side = 0; side < SIDE_COUNT; side++) {
        for (size_t i = 0; i < N; i++) {
            made_cycle(two->made[side], (int64_t)i, CYCLE_STEP, 1000);
            for (size_t f = 0; f < COUNT_OF(functions); f++) {
                for (size_t m = 0; m < COUNT_OF(metrics); m++) {
                    double beta = side == SIDE_BASE ? shares[i] : larger[i] + (double)f;
                    double mu = m == 4 ? 50 : 50 + shares[i] + 10.0 * (double)(m * (size_t)side);
                    (void)made_use(two->made[side], 7, functions[f], metrics[m], beta, mu);
                }
            }
        }
    }
    const struct comparison *c = compare_all(two);
    assert_int_equal(c->finding_count, FINDINGS_MAX);
    assert_string_equal(c->findings[0].function, "d");
    assert_string_equal(c->findings[1].function, "c");
    assert_string_equal(c->findings[2].function, "b");
    assert_int_equal(c->findings[0].metric_count, FINDING_METRICS_MAX);
    assert_string_equal(c->findings[0].metrics[0].metric, "m4");
    assert_string_equal(c->findings[0].metrics[2].metric, "m2");
    for (size_t i = 1; i < c->row_count; i++) {
        assert_true(c->rows[i - 1].score >= c->rows[i].score);
    }
}

/* ---- who meets whom ---- */

static void describe_pairs(const struct comparison_list *list, char *out, size_t size)
{
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < list->count; i++) {
        const struct comparison *c = list->items[i];
        len += (size_t)snprintf(out + len, size - len, "%s%s:%s=%s%s", i > 0 ? " " : "",
                                cycle_kind_name(c->kind), c->roles[SIDE_BASE].label,
                                c->roles[SIDE_CANDIDATE].label, c->strict ? "!" : "");
        assert_true(len < size);
    }
}

static void add_process(struct made_trace *made, int64_t pid, enum cycle_kind kind, double beta)
{
    for (int i = 0; i < 3; i++) {
        made_cycle(made, (int64_t)made->results.cycle_count, kind, 1000);
        (void)made_use(made, pid, "f", NULL, beta + 0.01 * i, NO_METRIC);
    }
}

#define NONE COMPARISON_NO_PID

static void processes_meet_as_specified(void **state)
{
    struct two_sides *two = *state;
    struct made_trace *base = two->made[SIDE_BASE];
    struct made_trace *candidate = two->made[SIDE_CANDIDATE];
    add_process(base, 1, CYCLE_DECODE, 10);
    add_process(base, 2, CYCLE_DECODE, 10);
    add_process(base, 3, CYCLE_DECODE, 10);
    add_process(base, 1, CYCLE_PREFILL, 10);
    add_process(candidate, 1, CYCLE_DECODE, 11);
    add_process(candidate, 8, CYCLE_DECODE, 13);
    add_process(candidate, 9, CYCLE_DECODE, 12);
    add_process(candidate, 4, CYCLE_STEP, 20);
    static const struct {
        int64_t base_pid, candidate_pid;
        int kind;
        const char *pairs;
    } cases[] = {
        /* highest score first, equal ones by pid; prefill and step meet nobody */
        {NONE, NONE, -1,
         "decode:base_pid_2=candidate_pid_8 decode:base_pid_3=candidate_pid_8 "
         "decode:base_pid_2=candidate_pid_9 decode:base_pid_3=candidate_pid_9 "
         "decode:base=candidate!"},
        {2, 1, -1, "decode:base_pid_2=candidate_pid_1"},
        {1, 1, -1, "decode:base=candidate!"},
        {2, NONE, -1, "decode:base_pid_2=candidate_pid_8 decode:base_pid_2=candidate_pid_9"},
        {NONE, 9, CYCLE_DECODE,
         "decode:base_pid_2=candidate_pid_9 decode:base_pid_3=candidate_pid_9"},
        {1, NONE, -1, "decode:base=candidate!"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char pairs[400];
        assert_true(try_compare(two, cases[i].base_pid, cases[i].candidate_pid, cases[i].kind));
        describe_pairs(&two->list, pairs, sizeof pairs);
        assert_string_equal(pairs, cases[i].pairs);
        assert_int_equal(two->list.left_out, 0);
    }
    /* nobody: the message names who is there */
    assert_false(try_compare(two, NONE, NONE, CYCLE_PREFILL));
    assert_int_equal(two->err.code, ERR_BAD_REQUEST);
    assert_non_null(strstr(two->err.msg, "1 (prefill), 1 (decode), 2 (decode), 3 (decode)"));
    assert_non_null(strstr(two->err.msg, "4 (step), 1 (decode), 8 (decode), 9 (decode)"));
    assert_false(try_compare(two, 77, NONE, -1));
}

/* A given pid whom the rule pairs with nobody meets everybody. */
static void a_given_process_always_meets_someone(void **state)
{
    struct two_sides *two = *state;
    char pairs[200];
    add_process(two->made[SIDE_BASE], 1, CYCLE_STEP, 10);
    add_process(two->made[SIDE_BASE], 2, CYCLE_STEP, 10);
    add_process(two->made[SIDE_CANDIDATE], 1, CYCLE_STEP, 11);
    assert_true(try_compare(two, NONE, NONE, -1));
    assert_int_equal(two->list.count, 1);
    assert_true(try_compare(two, 2, NONE, -1));
    describe_pairs(&two->list, pairs, sizeof pairs);
    assert_string_equal(pairs, "step:base_pid_2=candidate_pid_1");
}

static void steps_meet_decode_cycles_where_no_kind_is_on_both_sides(void **state)
{
    struct two_sides *two = *state;
    char pairs[200];
    add_process(two->made[SIDE_BASE], 1, CYCLE_STEP, 10);
    add_process(two->made[SIDE_CANDIDATE], 1, CYCLE_DECODE, 11);
    add_process(two->made[SIDE_CANDIDATE], 1, CYCLE_PREFILL, 11);
    assert_true(try_compare(two, NONE, NONE, -1));
    describe_pairs(&two->list, pairs, sizeof pairs);
    assert_string_equal(pairs, "decode:base=candidate!");
    assert_false(try_compare(two, NONE, NONE, CYCLE_PREFILL));
}

static void too_many_pairs_are_refused(void **state)
{
    struct two_sides *two = *state;
    for (int side = 0; side < SIDE_COUNT; side++) {
        made_cycle(two->made[side], 1, CYCLE_STEP, 1000);
        for (int i = 0; i < 65; i++) {
            (void)made_use(two->made[side], i + 100 * side, "f", NULL, 1, NO_METRIC);
        }
    }
    assert_false(try_compare(two, NONE, NONE, -1));
    assert_int_equal(two->err.code, ERR_BAD_REQUEST);
    assert_non_null(strstr(two->err.msg, "4096"));
    assert_true(try_compare(two, 5, NONE, -1));
    assert_int_equal(two->list.count, 65);
}

/* Pairs whose rows would be too many: the most suspicious are there, the rest is counted. */
static void the_least_suspicious_pairs_are_left_out(void **state)
{
    struct two_sides *two = *state;
    static char names[260][8];
    for (size_t f = 0; f < COUNT_OF(names); f++) {
        (void)snprintf(names[f], sizeof names[f], "f%zu", f);
    }
    for (int side = 0; side < SIDE_COUNT; side++) {
        for (int i = 0; i < 2; i++) {
            made_cycle(two->made[side], i, CYCLE_STEP, 1000);
            for (int pid = 0; pid < 64; pid++) {
                for (size_t f = 0; f < (i == 0 ? COUNT_OF(names) : 1); f++) {
                    (void)made_use(two->made[side], pid + 100 * side, names[f], NULL,
                                   1 + i + (f == 0 ? pid : 0), NO_METRIC);
                }
            }
        }
    }
    assert_true(try_compare(two, NONE, NONE, -1));
    size_t kept = COMPARE_ROWS_MAX / COUNT_OF(names);
    assert_int_equal(two->list.count, kept);
    assert_int_equal(two->list.left_out, 4096 - kept);
    assert_int_equal(two->list.items[0]->roles[SIDE_BASE].pid, 0);
    assert_int_equal(two->list.items[0]->roles[SIDE_CANDIDATE].pid, 163);
    for (size_t i = 1; i < kept; i++) {
        assert_true(two->list.items[i - 1]->rows[0].score >= two->list.items[i]->rows[0].score);
    }
}

/* Cycles of several traces are several cycles, though they have one number. */
static void cycles_of_several_traces_are_different_cycles(void **state)
{
    struct two_sides *two = *state;
    made_shares(two->made[SIDE_BASE], 7, "f", shares, 2);
    made_shares(two->made[SIDE_CANDIDATE], 7, "f", larger, 2);
    const struct trace_results *base[] = {&two->made[SIDE_BASE]->results,
                                          &two->made[SIDE_BASE]->results};
    const struct trace_results *candidate[] = {&two->made[SIDE_CANDIDATE]->results};
    const struct compare_side sides[SIDE_COUNT] = {
        {.traces = base, .trace_count = 2, .label = "b"},
        {.traces = candidate, .trace_count = 1, .label = "c"}};
    const struct compare_options options = {.base_pid = NONE, .candidate_pid = NONE, .kind = -1};
    assert_true(compare_run(&two->arena, sides, &options, &two->list, &two->err));
    const struct comparison *c = two->list.items[0];
    assert_int_equal(c->roles[SIDE_BASE].cycles, 4);
    assert_int_equal(c->rows[0].cycles[SIDE_BASE], 4);
    assert_int_equal(c->rows[0].cycles[SIDE_CANDIDATE], 2);
    assert_int_equal(c->cycle_count, 4);
}

/* Two cycles of one number count twice as cycles, once in the number of the test. */
static void one_number_may_have_two_cycles(void **state)
{
    struct two_sides *two = *state;
    for (int side = 0; side < SIDE_COUNT; side++) {
        for (int i = 0; i < 3; i++) {
            made_cycle(two->made[side], 1 + i / 2, CYCLE_STEP, 100 + i);
            (void)made_use(two->made[side], 7, "f", NULL, shares[i] + side, NO_METRIC);
        }
    }
    const struct comparison *c = compare_all(two);
    assert_int_equal(c->roles[SIDE_BASE].cycles, 3);
    assert_int_equal(c->rows[0].cycles[SIDE_BASE], 2);
}

static void odd_figures_do_no_harm(void **state)
{
    struct two_sides *two = *state;
    static const double odd[] = {
        (double)NAN, (double)INFINITY, -(double)INFINITY, 1e308, -1e308, -1, -5, 0};
    for (int side = 0; side < SIDE_COUNT; side++) {
        for (size_t i = 0; i < COUNT_OF(odd); i++) {
            made_cycle(two->made[side], (int64_t)i, CYCLE_STEP, odd[i]);
            struct cycle_use_row *use =
                made_use(two->made[side], 7, i % 2 ? "f" : "g", "m", odd[i], odd[(i + 3) % 8]);
            use->device = NULL;
            use->duration_us = odd[i];
            use->host = NULL;
            use->type = NULL;
            (void)made_use(two->made[side], 7, "h", "m", odd[(i + (size_t)side) % 8], odd[i]);
        }
        made_use(two->made[side], 7, "h", "m", 1, 1)->cycle = 99;
        made_use(two->made[side], 7, "h", "m", 1, 1)->cycle = -1;
    }
    const struct comparison *c = compare_all(two);
    assert_int_equal(c->row_count, 3);
    assert_string_equal(find_row(c, "f", "m")->device, "N/A");
    assert_string_equal(c->roles[SIDE_BASE].host, "");
}

/* ---- golden ---- */

static double cell_number(const struct csv_cell *cell)
{
    double number = (double)NAN;
    return csv_is_missing(cell) || !csv_number(cell, &number) ? (double)NAN : number;
}

static char *copy_cell(struct arena *arena, const struct csv_cell *cell)
{
    char *copy = arena_strndup(arena, cell->text, cell->len);
    assert_non_null(copy);
    return copy;
}

static const struct comparison_row *
find_cells(const struct comparison *c, const char *function, const char *metric, const char *device)
{
    for (size_t i = 0; i < c->row_count; i++) {
        const struct comparison_row *row = &c->rows[i];
        if (strcmp(row->function, function) == 0 && strcmp(row->metric, metric) == 0 &&
            strcmp(row->device, device) == 0) {
            return row;
        }
    }
    fail_msg("no row %s, %s, %s", function, metric, device);
    return NULL;
}

/* A row of the golden table against ours, every number to 6 decimals. */
static void
check_golden_row(struct arena *arena, const struct comparison *c, const struct csv_row *want)
{
    assert_int_equal(want->cell_count, 17);
    const struct comparison_row *row =
        find_cells(c, copy_cell(arena, &want->cells[0]), copy_cell(arena, &want->cells[1]),
                   copy_cell(arena, &want->cells[2]));
    const double got[14] = {row->score,  row->beta_pct[0], row->beta_pct[1], row->delta_beta,
                            row->z_beta, row->p_beta,      row->u_beta,      row->mu[0],
                            row->mu[1],  row->delta_mu,    row->z_mu,        row->z_log_mu,
                            row->p_mu,   row->u_mu};
    for (size_t i = 0; i < COUNT_OF(got); i++) {
        double number = cell_number(&want->cells[i + 3]);
        assert_near(got[i], number, 1e-6 * fmax(1, fabs(number)));
    }
}

static size_t check_golden_table(const char *path, const struct comparison *c)
{
    struct err err = ERR_INIT;
    struct arena arena;
    struct input *in;
    struct text_stream stream;
    struct csv_scan scan;
    bool more;
    size_t rows = 0;
    arena_init(&arena, 0);
    assert_true(input_open_file(&in, path, &err));
    assert_true(text_stream_open(&stream, in, &err));
    csv_open(&scan, &stream, ',', 1);
    assert_true(csv_next(&scan, &more, &err) && more);
    for (;;) {
        assert_true(csv_next(&scan, &more, &err));
        if (!more) {
            break;
        }
        check_golden_row(&arena, c, &scan.row);
        rows++;
    }
    csv_close(&scan);
    input_close(in);
    arena_free(&arena);
    return rows;
}

static void golden_comparisons_are_equal(void **state)
{
    struct two_sides *two = *state;
    static const struct {
        const char *name;
        int64_t base_pid, candidate_pid;
        size_t rows;
    } cases[] = {{"SGLang_gpu_instability", 944615, 944615, 264},
                 {"SGLang_gpu_memory_squeeze_out_NVLink", 923229, 923229, 287},
                 {"vLLM_cpu_frequency_reduction", 2300005, 2329762, 293}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct format_bundle bundles[SIDE_COUNT] = {{.item_count = 0}, {.item_count = 0}};
        const struct trace_results *traces[SIDE_COUNT] = {NULL, NULL};
        struct compare_side sides[SIDE_COUNT];
        for (int side = 0; side < SIDE_COUNT; side++) {
            char file[200];
            (void)snprintf(file, sizeof file, "data/compare/%s/%s.csv.gz", cases[i].name,
                           side == SIDE_BASE ? "normal" : "abnormal");
            if (!read_reference(file, &bundles[side])) {
                skip();
                return;
            }
            traces[side] = bundles[side].items[0].results;
            sides[side] =
                (struct compare_side){.traces = &traces[side], .trace_count = 1, .label = "x"};
        }
        const struct compare_options options = {
            .base_pid = cases[i].base_pid, .candidate_pid = cases[i].candidate_pid, .kind = -1};
        assert_true(compare_run(&two->arena, sides, &options, &two->list, &two->err));
        assert_int_equal(two->list.count, 1);
        char path[4096];
        const char *reference = getenv("KINETOSCOPE_REFERENCE");
        (void)snprintf(path, sizeof path, "%s/data/compare/%s/golden.csv.gz",
                       reference != NULL ? reference : KS_TEST_DIR "/../../shared", cases[i].name);
        assert_int_equal(two->list.items[0]->row_count, cases[i].rows);
        assert_int_equal(check_golden_table(path, two->list.items[0]), cases[i].rows);
        format_bundle_free(&bundles[SIDE_BASE]);
        format_bundle_free(&bundles[SIDE_CANDIDATE]);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_row_has_the_figures_of_the_specification),
        TEST(without_counters_beta_alone_counts),
        TEST(rows_without_metric_stay_where_nothing_else_is),
        TEST(a_function_counts_once_a_cycle_whatever_its_metrics),
        TEST(devices_are_matched_by_their_order_in_the_process),
        TEST(devices_of_tables_are_matched_by_name),
        TEST(presence_has_its_own_test),
        TEST(what_only_one_side_has_is_told),
        TEST(the_same_twice_is_no_difference),
        TEST(what_chance_explains_is_no_difference),
        TEST(larger_shares_are_a_difference),
        TEST(longer_cycles_are_a_difference),
        TEST(one_cycle_decides_nothing),
        TEST(findings_are_the_three_highest),
        TEST(processes_meet_as_specified),
        TEST(a_given_process_always_meets_someone),
        TEST(steps_meet_decode_cycles_where_no_kind_is_on_both_sides),
        TEST(too_many_pairs_are_refused),
        TEST(the_least_suspicious_pairs_are_left_out),
        TEST(cycles_of_several_traces_are_different_cycles),
        TEST(one_number_may_have_two_cycles),
        TEST(odd_figures_do_no_harm),
        TEST(golden_comparisons_are_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

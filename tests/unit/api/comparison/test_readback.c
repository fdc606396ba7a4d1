/* What the report writer prints, the report reader understands. */
#include "api/comparison/text/text.h"
#include "ingest/formats/format.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

static struct comparison_row rows[] = {
    {.function = "void f<int>(a `b` | <b>[c](d) &lt;)",
     .metric = "gpu_usage",
     .device = "GPU 7",
     .score = 12.5,
     .beta_pct = {2.5, 8.75},
     .delta_beta = 6.25,
     .z_beta = 2,
     .p_beta = 0.004,
     .u_beta = 0.25,
     .mu = {118687.5, 21000},
     .delta_mu = -97687.5,
     .z_mu = -3,
     .z_log_mu = -4.5,
     .p_mu = (double)NAN,
     .u_mu = 1,
     .q_beta = 0.008,
     .q_mu = (double)NAN},
    {.function = "g", .metric = "N/A", .device = "Host", .presence = PRESENCE_ADDED},
};

static struct comparison_cycle_row cycles[] = {{{1200.75, 2100.5}}, {{800.25, (double)NAN}}};

static struct comparison_finding findings[] = {
    {.function = "void f<int>(a `b` | <b>[c](d) &lt;)",
     .device = "GPU 7",
     .beta_pct = {2.5, 8.75},
     .delta_beta = 6.25,
     .p_beta = 0.004,
     .metric_count = 1,
     .metrics = {{.metric = "gpu_usage", .mu = {118687.5, 21000}}}},
};

static uint32_t appeared[] = {1};

static const struct comparison original = {
    .kind = CYCLE_DECODE,
    .title = "runs\\a (b)",
    .strict = false,
    .roles = {{.label = "old_pid_17", .host = "", .pid = 17, .cycles = 2, .mean_cycle_us = 1000.5},
              {.label = "new_pid_18", .host = "", .pid = 18, .cycles = 1, .mean_cycle_us = 2100.5}},
    .cycles = cycles,
    .cycle_count = 2,
    .cycle_p = 0.125,
    .cycle_u = 0.25,
    .rows = rows,
    .row_count = 2,
    .findings = findings,
    .finding_count = 1,
    .appeared = appeared,
    .appeared_count = 1,
    .verdict = VERDICT_DIFFERENT,
};

static struct format_bundle read_back(const struct buf *text)
{
    struct err err = ERR_INIT;
    struct format_bundle bundle = {.format = NULL};
    struct input *in = NULL;
    assert_false(text->failed);
    assert_true(input_open_memory(&in, text->ptr, text->len, 0, &err));
    if (!format_read(in, NULL, &bundle, &err)) {
        fail_msg("%s\n%s", err.msg, text->ptr);
    }
    input_close(in);
    assert_string_equal(bundle.format, "comparison-report");
    assert_int_equal(bundle.items[0].results->bad_row_count, 0);
    return bundle;
}

static void assert_same(double a, double b)
{
    if (!(isnan(a) && isnan(b)) && !(fabs(a - b) <= 1e-9)) {
        fail_msg("%g is not %g", a, b);
    }
}

static void compare_rows(const struct comparison *read)
{
    assert_int_equal(read->row_count, original.row_count);
    for (size_t i = 0; i < original.row_count; i++) {
        const struct comparison_row *a = &read->rows[i];
        const struct comparison_row *b = &original.rows[i];
        assert_string_equal(a->function, b->function);
        assert_string_equal(a->metric, b->metric);
        assert_string_equal(a->device, b->device);
        assert_int_equal(a->presence, b->presence);
        assert_same(a->score, b->score);
        assert_same(a->beta_pct[SIDE_CANDIDATE], b->beta_pct[SIDE_CANDIDATE]);
        assert_same(a->mu[SIDE_BASE], b->mu[SIDE_BASE]);
        assert_same(a->delta_mu, b->delta_mu);
        assert_same(a->p_beta, b->p_beta);
        assert_same(a->p_mu, b->p_mu);
        assert_same(a->u_mu, b->u_mu);
    }
}

static void compare_findings(const struct comparison *read)
{
    assert_int_equal(read->finding_count, original.finding_count);
    const struct comparison_finding *a = &read->findings[0];
    const struct comparison_finding *b = &original.findings[0];
    assert_string_equal(a->function, b->function);
    assert_string_equal(a->device, b->device);
    assert_same(a->beta_pct[SIDE_BASE], b->beta_pct[SIDE_BASE]);
    assert_same(a->beta_pct[SIDE_CANDIDATE], b->beta_pct[SIDE_CANDIDATE]);
    assert_same(a->delta_beta, b->delta_beta);
    assert_same(a->p_beta, b->p_beta);
    assert_int_equal(a->metric_count, 1);
    assert_string_equal(a->metrics[0].metric, b->metrics[0].metric);
    assert_same(a->metrics[0].mu[SIDE_BASE], b->metrics[0].mu[SIDE_BASE]);
    assert_same(a->metrics[0].mu[SIDE_CANDIDATE], b->metrics[0].mu[SIDE_CANDIDATE]);
}

static void markdown_is_read_back(void **state)
{
    struct buf text;
    buf_init(&text, (size_t)1 << 20);
    comparison_markdown(&text, &original);
    struct format_bundle bundle = read_back(&text);
    const struct comparison *read = bundle.items[0].results->comparison;
    assert_string_equal(read->title, original.title);
    assert_int_equal(read->strict, original.strict);
    assert_int_equal(read->kind, original.kind);
    assert_int_equal(read->verdict, original.verdict);
    assert_same(read->cycle_p, original.cycle_p);
    assert_same(read->cycle_u, original.cycle_u);
    for (size_t side = 0; side < SIDE_COUNT; side++) {
        assert_string_equal(read->roles[side].label, original.roles[side].label);
        assert_int_equal(read->roles[side].pid, original.roles[side].pid);
        assert_int_equal(read->roles[side].cycles, original.roles[side].cycles);
        assert_same(read->roles[side].mean_cycle_us, original.roles[side].mean_cycle_us);
        for (size_t i = 0; i < original.cycle_count; i++) {
            assert_same(read->cycles[i].dur_us[side], original.cycles[i].dur_us[side]);
        }
    }
    assert_int_equal(read->cycle_count, original.cycle_count);
    assert_int_equal(read->appeared_count, 1);
    assert_int_equal(read->appeared[0], 1);
    compare_rows(read);
    compare_findings(read);
    format_bundle_free(&bundle);
    buf_free(&text);
}

static void each_verdict_is_read_back(void **state)
{
    static const enum comparison_verdict verdicts[] = {VERDICT_NO_DIFFERENCE, VERDICT_DIFFERENT,
                                                       VERDICT_UNDECIDED};
    for (size_t i = 0; i < COUNT_OF(verdicts); i++) {
        struct comparison changed = original;
        struct buf text;
        changed.verdict = verdicts[i];
        buf_init(&text, (size_t)1 << 20);
        comparison_markdown(&text, &changed);
        struct format_bundle bundle = read_back(&text);
        assert_int_equal(bundle.items[0].results->comparison->verdict, verdicts[i]);
        format_bundle_free(&bundle);
        buf_free(&text);
    }
}

static void csv_is_read_back(void **state)
{
    const struct comparison *const pairs[] = {&original};
    struct buf text;
    buf_init(&text, (size_t)1 << 20);
    comparison_csv(&text, pairs, COUNT_OF(pairs));
    struct format_bundle bundle = read_back(&text);
    const struct comparison *read = bundle.items[0].results->comparison;
    compare_rows(read);
    assert_same(read->rows[0].q_beta, original.rows[0].q_beta);
    assert_same(read->rows[0].q_mu, original.rows[0].q_mu);
    format_bundle_free(&bundle);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markdown_is_read_back),
        cmocka_unit_test(each_verdict_is_read_back),
        cmocka_unit_test(csv_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "tests/unit/ingest/formats/table_fixture.h"

#define TITLE "# Strict Performance Comparison: runs\\a (b) (PID: 17)\n"
#define SUMMARY                                                                         \
    "\n## 1. High-Level Performance Summary\n\n"                                        \
    "| Metric              | old      | new      | Δ (new - old)   | Change (%)   |\n" \
    "|:--------------------|:---------|:---------|:----------------|:-------------|\n"  \
    "| Total Cycles        | 1,003    | 2        | -1001           | -            |\n"  \
    "| Avg Cycle Time (us) | 1,000.50 | 2,000.25 | 999.75          | +99.93%      |\n"
#define CYCLES                                                                       \
    "\n## 2. Cycle Duration Distribution Comparison\n\n"                             \
    "|   Time Rank |   old Time (us) | new Time (us)   | Δ (us)     | Δ (%)   |\n" \
    "|------------:|----------------:|:----------------|:-----------|:--------|\n"   \
    "|           1 |        1,200.75 | 2100.5          | 899.75     | +74.93% |\n"   \
    "|           2 |          800.25 | 1900.0          | 1,099.75   | +137.43% |\n"  \
    "|           3 |          700.00 | -               | -          | -       |\n"
#define FINDINGS                                                                                \
    "\n## 3. In-depth Core Metric Comparison\n\n### Overview\n\nWords with 3 figures.\n\n"      \
    "### Key Findings:\n"                                                                       \
    "- **`void f<int>(a `b`)` on device `GPU 7`:**\n"                                           \
    "  - Its share (β) **increased** from **2.71%** to **8.62%** (+5.91 ppt), which is "       \
    "significant (p-value: 0.004).\n"                                                           \
    "  - These metrics (μ) go with it:\n"                                                      \
    "    - **`gpu_usage_2`**: decreased from 118,687.50 to 21,000.00.\n"                        \
    "    - **`temp`**: increased from -1.50 to 2.\n"                                            \
    "- **`oncpu` on device `Host`:**\n"                                                         \
    "  - Its share (β) **decreased** from **120.00%** to **110.00%** (-10.00 ppt), which may " \
    "be chance (p-value: nan).\n"                                                               \
    "\n*Note: β above 100% is no error.*\n\n**Recommendation:** look there.\n"
#define TABLE                                                                                            \
    "### Detailed comparison table\nSorted by **Suspicion Score**.\n\n"                                  \
    "| Function Name | Metric Name | Device | Suspicion Score | β_old(%) | β_new(%) | Δβ(%) | "      \
    "Z-Score(β) | p-value(β) | U-test p(β) | μ_old | μ_new | Δμ | Z-Score(μ) | Z-Score(log_μ) " \
    "| p-value(μ) | U-test p(μ) |\n"                                                                   \
    "|:---|:---|:---|---:|---:|---:|---:|---:|---:|---:|:---|:---|---:|---:|---:|---:|---:|\n"           \
    "| void f<int>(a `b`) | gpu_usage | GPU 7 | 1561.72 | 2.71 | 8.62 | 5.91 | 246.52 | 0 | "            \
    "0.001 | 118,687.50 | 21,000.00 | -9.76875e+07 | -3 | -4.5 | nan | 0.002 |\n"                        \
    "| operator|| and \\| | N/A | Host | 3 | 1 | 1.5 | 0.5 | 6 | 0.3 | 0.25 | 0.00 | 0.00 | 0 | "        \
    "0 | 0 | nan | 1 |\n"
#define LEGEND "\n## 5. Legend\n- **β (Beta)**: words.\n"
#define REPORT TITLE SUMMARY CYCLES FINDINGS TABLE LEGEND

static const struct comparison *comparison_of(const struct format_bundle *bundle)
{
    assert_non_null(bundle->items[0].results->comparison);
    return bundle->items[0].results->comparison;
}

static struct format_bundle read_report(const char *text)
{
    return read_as("comparison-report", text, strlen(text), 0);
}

static void check_head(const struct comparison *comparison)
{
    const struct comparison_role *base = &comparison->roles[SIDE_BASE];
    const struct comparison_role *candidate = &comparison->roles[SIDE_CANDIDATE];
    assert_true(comparison->strict);
    assert_string_equal(comparison->title, "runs\\a (b)");
    assert_string_equal(base->label, "old");
    assert_string_equal(candidate->label, "new");
    assert_string_equal(base->host, "");
    assert_int_equal(base->pid, 17);
    assert_int_equal(candidate->pid, 17);
    assert_int_equal(base->cycles, 1003);
    assert_int_equal(candidate->cycles, 2);
    assert_near(base->mean_cycle_us, 1000.5, 0);
    assert_near(candidate->mean_cycle_us, 2000.25, 0);
    assert_int_equal(comparison->cycle_count, 3);
    assert_near(comparison->cycles[0].dur_us[SIDE_BASE], 1200.75, 0);
    assert_near(comparison->cycles[1].dur_us[SIDE_CANDIDATE], 1900, 0);
    assert_true(isnan(comparison->cycles[2].dur_us[SIDE_CANDIDATE]));
    assert_true(isnan(comparison->cycle_p) && isnan(comparison->cycle_u));
    assert_true(isnan(comparison->kernel_us[SIDE_BASE]));
    assert_int_equal(comparison->verdict, VERDICT_DIFFERENT);
}

static void check_findings(const struct comparison *comparison)
{
    assert_int_equal(comparison->finding_count, 2);
    const struct comparison_finding *first = &comparison->findings[0];
    assert_string_equal(first->function, "void f<int>(a `b`)");
    assert_string_equal(first->device, "GPU 7");
    assert_near(first->beta_pct[SIDE_BASE], 2.71, 0);
    assert_near(first->beta_pct[SIDE_CANDIDATE], 8.62, 0);
    assert_near(first->delta_beta, 5.91, 0);
    assert_near(first->p_beta, 0.004, 0);
    assert_int_equal(first->metric_count, 2);
    assert_string_equal(first->metrics[0].metric, "gpu_usage_2");
    assert_near(first->metrics[0].mu[SIDE_BASE], 118687.5, 0);
    assert_near(first->metrics[0].mu[SIDE_CANDIDATE], 21000, 0);
    assert_near(first->metrics[1].mu[SIDE_BASE], -1.5, 0);
    assert_near(first->metrics[1].mu[SIDE_CANDIDATE], 2, 0);
    const struct comparison_finding *second = &comparison->findings[1];
    assert_string_equal(second->function, "oncpu");
    assert_near(second->delta_beta, -10, 0);
    assert_true(isnan(second->p_beta));
    assert_int_equal(second->metric_count, 0);
}

static void check_rows(const struct comparison *comparison)
{
    assert_int_equal(comparison->row_count, 2);
    const struct comparison_row *row = &comparison->rows[0];
    assert_string_equal(row->function, "void f<int>(a `b`)");
    assert_string_equal(row->metric, "gpu_usage");
    assert_string_equal(row->device, "GPU 7");
    const double figures[] = {
        row->score,  row->beta_pct[0], row->beta_pct[1], row->delta_beta,
        row->z_beta, row->p_beta,      row->u_beta,      row->mu[0],
        row->mu[1],  row->delta_mu,    row->z_mu,        row->z_log_mu,
        row->p_mu,   row->u_mu,        row->q_beta,      row->q_mu,
    };
    static const double expected[] = {
        1561.72, 2.71,       8.62, 5.91, 246.52,      0,     0.001,       118687.5,
        21000,   -9.76875e7, -3,   -4.5, (double)NAN, 0.002, (double)NAN, (double)NAN,
    };
    for (size_t i = 0; i < COUNT_OF(figures); i++) {
        assert_near(figures[i], expected[i], 0);
    }
    assert_int_equal(row->presence, PRESENCE_BOTH);
    assert_int_equal(row->cycles[SIDE_BASE], COMPARISON_UNKNOWN);
    assert_int_equal(row->cycles[SIDE_CANDIDATE], COMPARISON_UNKNOWN);
    assert_string_equal(comparison->rows[1].function, "operator|| and |");
    assert_string_equal(comparison->rows[1].metric, "N/A");
    assert_near(comparison->rows[1].u_mu, 1, 0);
}

static void a_report_is_read(void **state)
{
    for (size_t w = 0; w < COUNT_OF(window_sizes); w++) {
        struct format_bundle bundle =
            read_as("comparison-report", REPORT, strlen(REPORT), window_sizes[w]);
        const struct trace_results *results = bundle.items[0].results;
        assert_int_equal(results->views, 1 << VIEW_COMPARISON);
        assert_int_equal(results->cycle_source, CYCLES_NONE);
        assert_int_equal(results->event_count, 2);
        assert_string_equal(results->device_type, "GPU");
        assert_int_equal(results->bad_row_count, 0);
        check_head(results->comparison);
        check_findings(results->comparison);
        check_rows(results->comparison);
        format_bundle_free(&bundle);
    }
}

/* Every newline as CR LF. */
static char *with_crlf(const char *text)
{
    char *copy = malloc(strlen(text) * 2 + 1);
    assert_non_null(copy);
    char *out = copy;
    for (; *text != '\0'; text++) {
        if (*text == '\n') {
            *out++ = '\r';
        }
        *out++ = *text;
    }
    *out = '\0';
    return copy;
}

static void line_ends_do_not_matter(void **state)
{
    char *text = with_crlf(REPORT);
    struct format_bundle bundle = read_report(text);
    check_head(comparison_of(&bundle));
    check_findings(comparison_of(&bundle));
    check_rows(comparison_of(&bundle));
    format_bundle_free(&bundle);
    free(text);
}

static void titles_are_taken_apart(void **state)
{
    static const struct {
        const char *line;
        const char *title;
        bool strict;
        int64_t base, candidate;
    } cases[] = {
        {"# Strict Performance Comparison: a/b (PID: 5)\n", "a/b", true, 5, 5},
        {"# Cross Performance Comparison: a (Normal PID:1 vs Abnormal PID:2)\n", "a", false, 1, 2},
        {"### Cross Performance Comparison: x: y (Old PID:-1 vs New PID: 22)\n", "x: y", false, -1,
         22},
        {"# Strict Performance Comparison: no pid (here)\n", "no pid (here)", true,
         COMPARISON_NO_PID, COMPARISON_NO_PID},
        {"# Strict Performance Comparison: (PID: x)\n", "", true, COMPARISON_NO_PID,
         COMPARISON_NO_PID},
        {"# Performance Comparison\n", "", false, COMPARISON_NO_PID, COMPARISON_NO_PID},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[1024];
        (void)snprintf(text, sizeof text, "%s%s", cases[i].line, SUMMARY);
        struct format_bundle bundle = read_report(text);
        const struct comparison *comparison = comparison_of(&bundle);
        assert_string_equal(comparison->title, cases[i].title);
        assert_int_equal(comparison->strict, cases[i].strict);
        assert_true(comparison->roles[SIDE_BASE].pid == cases[i].base);
        assert_true(comparison->roles[SIDE_CANDIDATE].pid == cases[i].candidate);
        format_bundle_free(&bundle);
    }
}

static void verdicts_are_drawn(void **state)
{
    static const char quiet[] =
        "\n| Function Name | Metric Name | Device | Suspicion Score |\n|---|---|---|---|\n"
        "| f | m | Host | 9.99 |\n";
    static const char loud[] =
        "\n| Function Name | Metric Name | Device | Suspicion Score |\n|---|---|---|---|\n"
        "| f | m | Host | 10.01 |\n";
    static const struct {
        const char *parts[3];
        enum comparison_verdict verdict;
    } cases[] = {
        {{SUMMARY, quiet, ""}, VERDICT_NO_DIFFERENCE},
        {{SUMMARY, loud, ""}, VERDICT_UNDECIDED},
        {{SUMMARY, "", ""}, VERDICT_UNDECIDED},
        {{SUMMARY, FINDINGS, loud}, VERDICT_DIFFERENT},
        {{SUMMARY, "### Verdict\n\nUndecided: too few.\n\n", quiet}, VERDICT_UNDECIDED},
        {{SUMMARY, "### Verdict\n\nThe two differ: much.\n\n", quiet}, VERDICT_DIFFERENT},
        {{FINDINGS, "### Verdict\n\nNo significant difference: chance.\n\n", loud},
         VERDICT_NO_DIFFERENCE},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[8192];
        (void)snprintf(text, sizeof text, TITLE "%s%s%s", cases[i].parts[0], cases[i].parts[1],
                       cases[i].parts[2]);
        struct format_bundle bundle = read_report(text);
        assert_int_equal(comparison_of(&bundle)->verdict, cases[i].verdict);
        format_bundle_free(&bundle);
    }
}

/* What only our own reports have: verdict with its tests, added and removed functions. */
static void our_sections_are_read(void **state)
{
    struct format_bundle bundle = read_report(
        TITLE
        "### Key Findings:\n- **`` f`1` `` on device `Host`:**\n"
        "  - Its share **increased** from **0.00%** to **1.00%** (+1.00 ppt), (p-value: 0.001).\n"
        "    - **`` a`b ``**: increased from 1.00 to 2.00.\n"
        "### Verdict\n\nThe two differ: 3 of 9 rows. The mean cycle time changed by +4.66% "
        "(t-test p = 0.125, Mann-Whitney p = 0.250). Functions: 1 added, 1 removed. Kind of cycle "
        "compared: decode.\n"
        "\n### Added and removed functions\n\n"
        "| Function Name | Device | Presence | β_old(%) | β_new(%) | Δβ(%) |\n"
        "|:---|:---|:---|---:|---:|---:|\n"
        "| g | Host | removed | 9.00 | 0.00 | -9.00 |\n"
        "| f`1` | Host | added | 0.00 | 1.00 | +1.00 |\n"
        "| g | Host | removed | 9.00 | 0.00 | -9.00 |\n"
        "| elsewhere | Host | added | 0.00 | 1.00 | +1.00 |\n\n"
        "| Function Name | Metric Name | Device | Suspicion Score | β_old(%) | β_new(%) |\n"
        "|:---|:---|:---|---:|---:|---:|\n"
        "| f`1` | m | Host | 0 | 0 | 1 |\n| f`1` | n | Host | 0 | 0 | 1 |\n"
        "| g | m | Host | 0 | 9 | 0 |\n| g | m | GPU 0 | 0 | 9 | 1 |\n");
    const struct comparison *comparison = comparison_of(&bundle);
    assert_int_equal(comparison->verdict, VERDICT_DIFFERENT);
    assert_int_equal(comparison->kind, CYCLE_DECODE);
    assert_near(comparison->cycle_p, 0.125, 0);
    assert_near(comparison->cycle_u, 0.25, 0);
    assert_int_equal(comparison->finding_count, 1);
    assert_string_equal(comparison->findings[0].function, "f`1`");
    assert_string_equal(comparison->findings[0].device, "Host");
    assert_string_equal(comparison->findings[0].metrics[0].metric, "a`b");
    assert_near(comparison->findings[0].metrics[0].mu[SIDE_CANDIDATE], 2, 0);
    static const enum comparison_presence presences[] = {PRESENCE_ADDED, PRESENCE_ADDED,
                                                         PRESENCE_REMOVED, PRESENCE_BOTH};
    assert_int_equal(comparison->row_count, COUNT_OF(presences));
    for (size_t i = 0; i < COUNT_OF(presences); i++) {
        assert_int_equal(comparison->rows[i].presence, presences[i]);
    }
    assert_int_equal(comparison->appeared_count, 2);
    assert_int_equal(comparison->appeared[0], 2);
    assert_int_equal(comparison->appeared[1], 0);
    assert_string_equal(comparison->roles[SIDE_BASE].label, "old");
    format_bundle_free(&bundle);
}

static void a_probability_below_a_bound_is_read_as_0(void **state)
{
    struct format_bundle bundle = read_report(
        TITLE "### Verdict\n\nThe two differ. The mean cycle time changed by +4.66% (p < 0.001, by "
              "ranks 0.250).\n\n"
              "| Function Name | Metric Name | Device | Suspicion Score | β_old(%) | β_new(%) |\n"
              "|:---|:---|:---|---:|---:|---:|\n"
              "| f | m | Host | 0 | 0 | 1 |\n");
    assert_near(comparison_of(&bundle)->cycle_p, 0, 0);
    assert_near(comparison_of(&bundle)->cycle_u, 0.25, 0);
    format_bundle_free(&bundle);
}

static void surplus_findings_are_passed_over(void **state)
{
    struct format_bundle bundle = read_report(TITLE SUMMARY "### Key Findings:\n"
                                                            "- **`a` on device `Host`:**\n"
                                                            "- **`b` on device `Host`:**\n"
                                                            "- **`c` on device `Host`:**\n"
                                                            "- **`d` on device `Host`:**\n"
                                                            "    - **`m`**: from 1 to 2.\n");
    assert_int_equal(comparison_of(&bundle)->finding_count, FINDINGS_MAX);
    assert_string_equal(comparison_of(&bundle)->findings[2].function, "c");
    assert_int_equal(comparison_of(&bundle)->findings[2].metric_count, 0);
    assert_true(isnan(comparison_of(&bundle)->findings[2].p_beta));
    format_bundle_free(&bundle);
}

static void damaged_lines_are_named(void **state)
{
    struct format_bundle bundle =
        read_report(TITLE "| Function Name | Metric Name | Device | Suspicion Score |\n"
                          "|---|---|---|---|\n"
                          "| f | m | Host | much |\n"
                          "| f | m | Host |\n"
                          "| f | m | Host | 1\n"
                          "stray\n"
                          "| g | m | Host | 2 |\n"
                          "\n"
                          "| Time Rank | old Time (us) | new Time (us) |\n"
                          "|---|---|---|\n"
                          "| 1 | 10.5 | x |\n"
                          "| 1 | 10.5 | 9 |\n"
                          "| 2 | 10.5 | ");
    static const char *const texts[] = {
        "line 4: Suspicion Score is no number",
        "line 5: the row has not as many cells as the header",
        "line 6: the row has not as many cells as the header",
        "line 7: a line within a table that is no row",
        "line 12: the time of a cycle is no number",
        "line 14: the file breaks off within a row",
    };
    const struct trace_results *results = bundle.items[0].results;
    assert_int_equal(results->bad_row_count, COUNT_OF(texts));
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        assert_string_equal(results->bad_rows[i], texts[i]);
    }
    assert_int_equal(results->warnings.by_code[WARN_BAD_LINE].count, COUNT_OF(texts));
    const struct comparison *comparison = results->comparison;
    assert_int_equal(comparison->row_count, 1);
    assert_string_equal(comparison->rows[0].function, "g");
    assert_int_equal(comparison->cycle_count, 1);
    /* Without a summary the cycles tell. */
    assert_int_equal(comparison->roles[SIDE_CANDIDATE].cycles, 1);
    assert_near(comparison->roles[SIDE_CANDIDATE].mean_cycle_us, 9, 0);
    assert_string_equal(comparison->roles[SIDE_CANDIDATE].label, "new");
    format_bundle_free(&bundle);
}

static void reports_that_break_off_are_told(void **state)
{
    static const struct {
        const char *text;
        size_t rows, truncated;
        enum comparison_verdict verdict;
    } cases[] = {
        {TITLE SUMMARY TABLE LEGEND, 2, 0, VERDICT_UNDECIDED},
        {TITLE SUMMARY TABLE, 2, 1, VERDICT_UNDECIDED},
        {TITLE SUMMARY FINDINGS, 0, 1, VERDICT_DIFFERENT},
        {TITLE SUMMARY, 0, 1, VERDICT_UNDECIDED},
        {TITLE SUMMARY "\n| Function Name | Metric Name | Device | Suspicion Score |\n", 0, 1,
         VERDICT_UNDECIDED},
        {TITLE SUMMARY "\n| Function Name | Metric Name | Device | Suspicion Score |\n" LEGEND, 0,
         0, VERDICT_NO_DIFFERENCE},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct format_bundle bundle = read_report(cases[i].text);
        const struct trace_results *results = bundle.items[0].results;
        assert_int_equal(results->comparison->row_count, cases[i].rows);
        assert_int_equal(results->comparison->verdict, cases[i].verdict);
        assert_int_equal(results->warnings.by_code[WARN_TRUNCATED].count, cases[i].truncated);
        format_bundle_free(&bundle);
    }
}

static void reports_without_a_table_are_refused(void **state)
{
    static const char *const texts[] = {TITLE, TITLE "words\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct err err = ERR_INIT;
        struct format_bundle bundle = {.format = NULL};
        assert_false(read_bytes(texts[i], strlen(texts[i]), 0, &bundle, &err));
        assert_int_equal(err.code, ERR_BAD_INPUT);
        assert_non_null(strstr(err.msg, "none of the tables"));
    }
}

static void damage_is_survived(void **state)
{
    assert_true(read_damaged(REPORT, strlen(REPORT)) > strlen(REPORT));
}

/* --- the table as CSV --- */

#define CSV_TEXT                                                                                \
    "Function Name,Metric Name,Device,Suspicion Score,β_old(%),β_new(%),Δβ(%),Z-Score(β)," \
    "p-value(β),U-test p(β),μ_old,μ_new,Δμ,Z-Score(μ),Z-Score(log_μ),p-value(μ),U-test p(μ)"
#define CSV_ROW                                                                            \
    "\"f(int, \"\"x\"\")\",m,GPU 1,1.500000,1.000000,2.000000,1.000000,1.500000,0.250000," \
    "0.500000,1234567.125000,2.000000,-3.000000,4.000000,5.000000,,0.750000"

static void a_table_is_read(void **state)
{
    static const char text[] = CSV_TEXT "\r\n" CSV_ROW "\r\n" CSV_ROW "\r\n";
    struct format_bundle bundle = read_report(text);
    const struct comparison *comparison = comparison_of(&bundle);
    assert_int_equal(comparison->row_count, 2);
    assert_string_equal(comparison->title, "");
    assert_string_equal(comparison->roles[SIDE_BASE].label, "old");
    assert_string_equal(comparison->roles[SIDE_CANDIDATE].label, "new");
    assert_true(comparison->roles[SIDE_BASE].pid == COMPARISON_NO_PID);
    assert_int_equal(comparison->cycle_count, 0);
    assert_int_equal(comparison->verdict, VERDICT_UNDECIDED);
    const struct comparison_row *row = &comparison->rows[1];
    assert_string_equal(row->function, "f(int, \"x\")");
    assert_near(row->mu[SIDE_BASE], 1234567.125, 0);
    assert_true(isnan(row->p_mu));
    assert_near(row->u_mu, 0.75, 0);
    format_bundle_free(&bundle);
    assert_true(read_damaged(text, sizeof text - 1) > sizeof text);
}

static void our_columns_are_read(void **state)
{
    struct format_bundle bundle = read_report(
        CSV_TEXT ",q-value(β),q-value(μ),Presence,Kind,Base PID,Candidate PID\n" CSV_ROW
                 ",0.125000,,added,decode,5,6\n" CSV_ROW ",0.125000,,both,decode,5,7\n");
    const struct comparison *comparison = comparison_of(&bundle);
    assert_int_equal(comparison->row_count, 1);
    assert_near(comparison->rows[0].q_beta, 0.125, 0);
    assert_true(isnan(comparison->rows[0].q_mu));
    assert_int_equal(comparison->rows[0].presence, PRESENCE_ADDED);
    assert_int_equal(comparison->kind, CYCLE_DECODE);
    assert_int_equal(comparison->roles[SIDE_BASE].pid, 5);
    assert_int_equal(comparison->roles[SIDE_CANDIDATE].pid, 6);
    assert_int_equal(bundle.items[0].results->bad_row_count, 1);
    assert_non_null(strstr(bundle.items[0].results->bad_rows[0], "line 3: a row of another pair"));
    format_bundle_free(&bundle);
}

/* --- reference data --- */

static void the_seed_document_is_read(void **state)
{
    struct format_bundle bundle = {.format = NULL};
    if (!read_reference("seeds/004_713e97ee5e652e9e.txt", &bundle)) {
        skip();
        return;
    }
    const struct comparison *comparison = comparison_of(&bundle);
    assert_string_equal(bundle.format, "comparison-report");
    assert_int_equal(bundle.items[0].results->bad_row_count, 0);
    assert_string_equal(comparison->title, "Processed\\SGLang\\gpu_instability");
    assert_int_equal(comparison->roles[SIDE_BASE].pid, 944615);
    assert_int_equal(comparison->row_count, 264);
    assert_int_equal(comparison->cycle_count, 12);
    assert_int_equal(comparison->roles[SIDE_BASE].cycles, 12);
    assert_int_equal(comparison->roles[SIDE_CANDIDATE].cycles, 10);
    assert_near(comparison->roles[SIDE_BASE].mean_cycle_us, 750054.29, 0);
    assert_string_equal(comparison->roles[SIDE_CANDIDATE].label, "abnormal");
    assert_int_equal(comparison->finding_count, 3);
    for (size_t i = 0; i < comparison->finding_count; i++) {
        assert_int_equal(comparison->findings[i].metric_count, 3);
        assert_string_equal(comparison->findings[i].device, "GPU 7");
    }
    assert_near(comparison->findings[2].delta_beta, 1.49, 0);
    assert_string_equal(comparison->findings[1].metrics[1].metric, "gpu_frequency");
    assert_near(comparison->findings[1].metrics[1].mu[SIDE_BASE], 118687.5, 0);
    assert_near(comparison->rows[0].score, 1561.72, 0);
    assert_int_equal(comparison->verdict, VERDICT_DIFFERENT);
    format_bundle_free(&bundle);
}

/* As many digits as the report prints: 6 significant ones of `decimals` behind the point. */
static void assert_printed(double printed, double exact, int decimals)
{
    assert_near(printed, exact, 0.51 * pow(10, -decimals) + fabs(exact) * 6e-6);
}

static void compare_rows(const struct comparison_row *printed, const struct comparison_row *exact)
{
    assert_string_equal(printed->function, exact->function);
    assert_string_equal(printed->metric, exact->metric);
    assert_string_equal(printed->device, exact->device);
    assert_printed(printed->score, exact->score, 4);
    for (size_t side = 0; side < SIDE_COUNT; side++) {
        assert_printed(printed->beta_pct[side], exact->beta_pct[side], 2);
        assert_printed(printed->mu[side], exact->mu[side], 2);
    }
    assert_printed(printed->delta_beta, exact->delta_beta, 2);
    assert_printed(printed->delta_mu, exact->delta_mu, 2);
    assert_printed(printed->z_beta, exact->z_beta, 2);
    assert_printed(printed->z_mu, exact->z_mu, 2);
    assert_printed(printed->z_log_mu, exact->z_log_mu, 2);
    assert_printed(printed->p_beta, exact->p_beta, 3);
    assert_printed(printed->p_mu, exact->p_mu, 3);
    assert_printed(printed->u_beta, exact->u_beta, 3);
    assert_printed(printed->u_mu, exact->u_mu, 3);
}

static void the_reference_reports_say_what_their_tables_say(void **state)
{
    static const char *const cases[] = {"SGLang_gpu_instability",
                                        "SGLang_gpu_memory_squeeze_out_NVLink",
                                        "vLLM_cpu_frequency_reduction"};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char file[256];
        struct format_bundle report;
        struct format_bundle table;
        (void)snprintf(file, sizeof file, "data/compare/%s/golden.md.gz", cases[i]);
        if (!read_reference(file, &report)) {
            skip();
            return;
        }
        (void)snprintf(file, sizeof file, "data/compare/%s/golden.csv.gz", cases[i]);
        assert_true(read_reference(file, &table));
        const struct comparison *printed = comparison_of(&report);
        const struct comparison *exact = comparison_of(&table);
        assert_true(printed->row_count > 100);
        assert_int_equal(printed->row_count, exact->row_count);
        for (size_t row = 0; row < exact->row_count; row++) {
            compare_rows(&printed->rows[row], &exact->rows[row]);
        }
        for (size_t side = 0; side < SIDE_COUNT; side++) {
            assert_string_equal(printed->roles[side].label, exact->roles[side].label);
        }
        assert_int_equal(printed->finding_count, 3);
        assert_int_equal(printed->strict, i < 2);
        assert_int_equal(report.items[0].results->bad_row_count, 0);
        assert_int_equal(table.items[0].results->bad_row_count, 0);
        format_bundle_free(&report);
        format_bundle_free(&table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_is_read),
        cmocka_unit_test(line_ends_do_not_matter),
        cmocka_unit_test(titles_are_taken_apart),
        cmocka_unit_test(verdicts_are_drawn),
        cmocka_unit_test(our_sections_are_read),
        cmocka_unit_test(a_probability_below_a_bound_is_read_as_0),
        cmocka_unit_test(surplus_findings_are_passed_over),
        cmocka_unit_test(damaged_lines_are_named),
        cmocka_unit_test(reports_that_break_off_are_told),
        cmocka_unit_test(reports_without_a_table_are_refused),
        cmocka_unit_test(damage_is_survived),
        cmocka_unit_test(a_table_is_read),
        cmocka_unit_test(our_columns_are_read),
        cmocka_unit_test(the_seed_document_is_read),
        cmocka_unit_test(the_reference_reports_say_what_their_tables_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "ingest/base/text/buf.h"
#include "tests/unit/ingest/formats/table_fixture.h"

#define HEADER                                                                                 \
    "cycle,pid,hostname,beta_pct,function_name,metric_name,device,func_type,mu_pct,sigma_pct," \
    "duration,interpolation_status,anchor_name,anchor_dur_us,cycle_start_ts,instances_count,"  \
    "simple_name\n"
#define SMALL                                                                                   \
    HEADER "1,7,h,50.5000,gemm<1>,gpu_usage,GPU 3,gpu_compute,12.3400,0.5000,505.0000,**,step," \
           "1000.0000,1700000000000000.2500,4,gemm\n"                                           \
           "1,7,h,25.0000,\"f(int, \"\"x\"\")\",N/A,Host,oncpu,,,250.0000, ,step,1000.0000,"    \
           "1700000000000000.2500,2,f\n"                                                        \
           "3,8,,10.0000,,cpu_temp,,oncpu,1.0000,0.0000,200.0000,*,step,2000.5000,"             \
           "1700000000003000.0000,1,\n"

static const struct trace_results *results_of(const struct format_bundle *bundle)
{
    return bundle->items[0].results;
}

static void rows_are_read(void **state)
{
    for (size_t w = 0; w < COUNT_OF(window_sizes); w++) {
        struct format_bundle bundle = read_as("perf-data", SMALL, strlen(SMALL), window_sizes[w]);
        const struct trace_results *results = results_of(&bundle);
        assert_int_equal(results->cycle_source, CYCLES_TABLE);
        assert_int_equal(results->views, 1 << VIEW_CYCLES);
        assert_string_equal(results->device_type, "GPU");
        assert_int_equal(results->event_count, 3);
        assert_int_equal(results->cycle_use_count, 3);
        assert_int_equal(results->bad_row_count, 0);
        const struct cycle_use_row *uses = results->cycle_uses;
        assert_int_equal(uses[0].cycle, 0);
        assert_int_equal(uses[0].pid, 7);
        assert_string_equal(uses[0].host, "h");
        assert_string_equal(uses[0].function, "gemm<1>");
        assert_string_equal(uses[0].simple_name, "gemm");
        assert_string_equal(uses[0].type, "gpu_compute");
        assert_string_equal(uses[0].metric, "gpu_usage");
        assert_string_equal(uses[0].device, "GPU 3");
        assert_string_equal(uses[0].interpolation, "**");
        assert_near(uses[0].beta_pct, 50.5, 0);
        assert_near(uses[0].mu_pct, 12.34, 0);
        assert_near(uses[0].sigma_pct, 0.5, 0);
        assert_near(uses[0].duration_us, 505, 0);
        assert_int_equal(uses[0].instances, 4);
        assert_string_equal(uses[1].function, "f(int, \"x\")");
        assert_null(uses[1].metric);
        assert_true(isnan(uses[1].mu_pct) && isnan(uses[1].sigma_pct));
        assert_string_equal(uses[1].interpolation, " ");
        assert_string_equal(uses[2].host, "");
        assert_string_equal(uses[2].function, "");
        assert_null(uses[2].device);
        assert_int_equal(uses[2].cycle, 1);
        assert_int_equal(results->cycle_count, 2);
        assert_int_equal(results->cycles[0].number, 1);
        assert_int_equal(results->cycles[0].kind, CYCLE_STEP);
        assert_string_equal(results->cycles[0].anchor, "step");
        assert_near(results->cycles[0].dur_us, 1000, 0);
        assert_true(results->cycles[0].start_ns == 1700000000000000250);
        assert_near(results->cycles[1].dur_us, 2000.5, 0);
        assert_true(results->start_ns == 1700000000000000250);
        assert_int_equal(results->duration_ns, 3000000 - 250 + 2000500);
        format_bundle_free(&bundle);
    }
}

static struct format_bundle read_perf(const char *text)
{
    return read_as("perf-data", text, strlen(text), 0);
}

/* Pairs (number, duration), each once, by number and then first row; rows stay in file order. */
static void cycles_are_the_distinct_pairs(void **state)
{
    static const char text[] =
        "anchor_dur_us,cycle,pid,function_name,metric_name,device,beta_pct,mu_pct\n"
        "30,5,1,f,N/A,Host,1,\n"
        "20,2,1,f,N/A,Host,1,\n"
        "30,5,2,f,N/A,Host,1,\n"
        "40,5,1,f,N/A,Host,1,\n"
        "25,5,1,f,N/A,Host,1,\n"
        "20,2,1,f,N/A,Host,1,\n"
        "40.0000,5,1,f,N/A,Host,1,\n";
    static const size_t expected[] = {1, 0, 1, 2, 3, 0, 2};
    static const double durations[] = {20, 30, 40, 25};
    struct format_bundle bundle = read_perf(text);
    const struct trace_results *results = results_of(&bundle);
    assert_int_equal(results->cycle_count, COUNT_OF(durations));
    for (size_t i = 0; i < COUNT_OF(durations); i++) {
        assert_near(results->cycles[i].dur_us, durations[i], 0);
    }
    assert_int_equal(results->cycle_use_count, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_int_equal(results->cycle_uses[i].cycle, expected[i]);
    }
    assert_string_equal(results->device_type, "CPU");
    /* What the table does not say. */
    const struct cycle_use_row *use = &results->cycle_uses[0];
    assert_string_equal(use->host, "");
    assert_string_equal(use->type, "");
    assert_string_equal(use->simple_name, "f");
    assert_near(use->duration_us, 0.3, 1e-12);
    assert_int_equal(use->instances, 0);
    assert_string_equal(results->cycles[0].anchor, "");
    assert_int_equal(results->cycles[0].start_ns, 0);
    format_bundle_free(&bundle);
}

static void a_column_of_kinds_is_read(void **state)
{
    struct format_bundle bundle = read_perf(
        "cycle,pid,function_name,metric_name,device,beta_pct,mu_pct,anchor_dur_us,cycle_kind\n"
        "1,1,f,N/A,Host,1,,10,prefill\n2,1,f,N/A,Host,1,,10,decode\n3,1,f,N/A,Host,1,,10,step\n"
        "4,1,f,N/A,Host,1,,10,layer\n5,1,f,N/A,Host,1,,10,other\n");
    static const enum cycle_kind kinds[] = {CYCLE_PREFILL, CYCLE_DECODE, CYCLE_STEP, CYCLE_LAYER,
                                            CYCLE_STEP};
    const struct trace_results *results = results_of(&bundle);
    assert_int_equal(results->cycle_count, COUNT_OF(kinds));
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        assert_int_equal(results->cycles[i].kind, kinds[i]);
    }
    format_bundle_free(&bundle);
}

#define SHORT_HEADER "cycle,pid,function_name,metric_name,device,beta_pct,mu_pct,anchor_dur_us\n"

static void bad_rows_are_named_and_left_out(void **state)
{
    struct format_bundle bundle = read_perf(SHORT_HEADER "1,1,f,m,Host,1,2,10\n"
                                                         "one,1,f,m,Host,1,2,10\n"
                                                         "1,,f,m,Host,1,2,10\n"
                                                         "\n"
                                                         "1,1,f,m,Host,inf,2,10\n"
                                                         "1,1,f,m,Host,1,2,N/A\n"
                                                         "1,1,f(a, b),m,Host,1,2,10\n"
                                                         "1,1,\"f,m,Host,1,2,10\n"
                                                         "1,1,f,m,Host,1,much,10\n"
                                                         "1,1,f,m");
    static const char *const texts[] = {
        "line 3: cycle \"one\" is no integer",
        "line 4: pid is missing",
        "line 6: beta_pct \"inf\" is no number",
        "line 7: anchor_dur_us is missing",
        "line 8: 9 cells where the header has 8",
        "line 9: a quote is not closed",
        "line 11: 4 cells where the header has 8 (the file breaks off here)",
    };
    const struct trace_results *results = results_of(&bundle);
    assert_int_equal(results->cycle_use_count, 2);
    assert_true(isnan(results->cycle_uses[1].mu_pct));
    assert_int_equal(results->bad_row_count, COUNT_OF(texts));
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        assert_string_equal(results->bad_rows[i], texts[i]);
    }
    const struct warning_count *warning = &results->warnings.by_code[WARN_BAD_LINE];
    assert_int_equal(warning->count, COUNT_OF(texts));
    assert_int_equal(warning->first_offset, strlen(SHORT_HEADER "1,1,f,m,Host,1,2,10\n"));
    format_bundle_free(&bundle);
}

static void only_the_first_bad_rows_are_described(void **state)
{
    struct buf text;
    buf_init(&text, SIZE_MAX);
    buf_puts(&text, SHORT_HEADER "1,1,f,m,Host,1,2,10\n");
    for (int i = 0; i < 500; i++) {
        buf_puts(&text, "x,1,f,m,Host,1,2,10\n");
    }
    struct format_bundle bundle = read_perf(text.ptr);
    assert_int_equal(results_of(&bundle)->bad_row_count, KERNEL_TABLE_BAD_ROWS_MAX);
    assert_int_equal(results_of(&bundle)->warnings.by_code[WARN_BAD_LINE].count, 500);
    format_bundle_free(&bundle);
    buf_free(&text);
}

static void tables_without_a_row_are_refused(void **state)
{
    static const struct {
        const char *text;
        const char *says;
    } cases[] = {
        {SHORT_HEADER, "no row"},
        {SHORT_HEADER "x,1,f,m,Host,1,2,10\n", "line 2: cycle \"x\" is no integer"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct err err = ERR_INIT;
        struct format_bundle bundle = {.format = NULL};
        assert_false(read_bytes(cases[i].text, strlen(cases[i].text), 0, &bundle, &err));
        assert_int_equal(err.code, ERR_BAD_INPUT);
        assert_non_null(strstr(err.msg, cases[i].says));
    }
}

static void texts_become_utf8(void **state)
{
    static const char text[] = SHORT_HEADER "1,1,a\0b\xFFz,\xCE\xB2,Host,1,2,10\n";
    struct format_bundle bundle = read_as("perf-data", text, sizeof text - 1, 0);
    const struct trace_results *results = results_of(&bundle);
    assert_string_equal(results->cycle_uses[0].function, "a\xEF\xBF\xBD"
                                                         "b\xEF\xBF\xBDz");
    assert_string_equal(results->cycle_uses[0].metric, "\xCE\xB2");
    assert_int_equal(results->warnings.by_code[WARN_NUL].count, 1);
    assert_int_equal(results->warnings.by_code[WARN_UTF8].count, 1);
    format_bundle_free(&bundle);
}

static void a_byte_order_mark_and_crlf_do_not_matter(void **state)
{
    struct format_bundle bundle =
        read_perf("\xEF\xBB\xBF"
                  "\"cycle\",pid,function_name,metric_name,device,beta_pct,mu_pct,anchor_dur_us\r\n"
                  "1,1,f,m,Host,1,2,10\r\n");
    assert_int_equal(results_of(&bundle)->cycle_use_count, 1);
    assert_near(results_of(&bundle)->cycles[0].dur_us, 10, 0);
    format_bundle_free(&bundle);
}

static void the_memory_budget_holds(void **state)
{
    struct buf text;
    struct err err = ERR_INIT;
    struct format_bundle bundle = {.format = NULL};
    struct input *in = NULL;
    buf_init(&text, SIZE_MAX);
    buf_puts(&text, SHORT_HEADER);
    for (int i = 0; i < 50000; i++) {
        buf_printf(&text, "%d,1,f,m,Host,1,2,10\n", i);
    }
    assert_true(input_open_memory(&in, text.ptr, text.len, 0, &err));
    assert_false(format_read(
        in, &(const struct format_options){.memory_budget_bytes = (size_t)1 << 20}, &bundle, &err));
    assert_int_equal(err.code, ERR_TOO_LARGE);
    assert_non_null(strstr(err.msg, "memory budget is 1 MiB"));
    input_close(in);
    assert_true(input_open_memory(&in, text.ptr, text.len, 0, &err));
    assert_true(format_read(in,
                            &(const struct format_options){.memory_budget_bytes = (size_t)64 << 20},
                            &bundle, &err));
    assert_int_equal(results_of(&bundle)->cycle_count, 50000);
    assert_int_equal(results_of(&bundle)->cycle_uses[49999].cycle, 49999);
    format_bundle_free(&bundle);
    input_close(in);
    buf_free(&text);
}

static void damage_is_survived(void **state)
{
    assert_true(read_damaged(SMALL, strlen(SMALL)) > strlen(SMALL));
    assert_true(read_damaged(SHORT_HEADER "1,1,f,m,Host,1,2,10", strlen(SHORT_HEADER) + 19) > 0);
}

/* --- counters --- */

static void counters_are_summed_up(void **state)
{
    static const char text[] = "counter_name,timestamp,value,hostname\n"
                               "b,1000.500000,2.000000,h\n"
                               "a,2000.000000,10,\n"
                               "b,3000.000000,4.000000,h\n"
                               "b,3000.000000,9.000000,g\n"
                               "b,4000.000000,N/A,h\n"
                               ",4000.000000,1,h\n"
                               "b,late,9.000000,h\n";
    for (size_t w = 0; w < COUNT_OF(window_sizes); w++) {
        struct format_bundle bundle = read_as("counters", text, sizeof text - 1, window_sizes[w]);
        const struct trace_results *results = results_of(&bundle);
        assert_int_equal(results->event_count, 5);
        assert_int_equal(results->views, 0);
        assert_int_equal(results->start_ns, 1000500);
        assert_int_equal(results->duration_ns, 1999500);
        assert_int_equal(results->counter_count, 3);
        const struct counter_row *row = &results->counters[0];
        assert_string_equal(row->name, "b");
        assert_string_equal(row->host, "h");
        assert_int_equal(row->samples, 3);
        assert_near(row->mean, 5, 1e-12);
        assert_near(row->min, 2, 0);
        assert_near(row->max, 9, 0);
        assert_near(row->std, sqrt(26.0 / 3), 1e-12);
        assert_string_equal(results->counters[1].name, "a");
        assert_string_equal(results->counters[1].host, "");
        assert_near(results->counters[1].std, 0, 0);
        assert_string_equal(results->counters[2].host, "g");
        assert_int_equal(results->bad_row_count, 2);
        assert_string_equal(results->bad_rows[0], "line 6: the value is no number");
        assert_string_equal(results->bad_rows[1], "line 7: counter_name is missing");
        format_bundle_free(&bundle);
    }
    assert_true(read_damaged(text, sizeof text - 1) > sizeof text);
}

/* --- reference data --- */

static void the_reference_tables_are_read(void **state)
{
    static const struct {
        const char *file;
        size_t cycles, rows;
    } cases[] = {
        {"data/compare/SGLang_gpu_instability/normal.csv.gz", 12, 2153},
        {"data/compare/SGLang_gpu_instability/abnormal.csv.gz", 10, 1692},
        {"data/compare/vLLM_cpu_frequency_reduction/normal.csv.gz", 19, 2494},
        {"data/compare/SGLang_gpu_memory_squeeze_out_NVLink/abnormal.csv.gz", 7, 3769},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct format_bundle bundle = {.format = NULL};
        if (!read_reference(cases[i].file, &bundle)) {
            skip();
            return;
        }
        const struct trace_results *results = results_of(&bundle);
        assert_string_equal(bundle.format, "perf-data");
        assert_int_equal(results->cycle_count, cases[i].cycles);
        assert_int_equal(results->cycle_use_count, cases[i].rows);
        assert_int_equal(results->bad_row_count, 0);
        format_bundle_free(&bundle);
    }
}

static void the_reference_counters_are_read(void **state)
{
    struct format_bundle bundle = {.format = NULL};
    if (!read_reference("data/compare/SGLang_gpu_instability/normal_counters.csv.gz", &bundle)) {
        skip();
        return;
    }
    assert_string_equal(bundle.format, "counters");
    const struct counter_row *first = &results_of(&bundle)->counters[0];
    assert_string_equal(first->name, "container_cpu_usage");
    assert_int_equal(first->samples, 6);
    assert_near(first->mean, 251.05866666666668, 1e-9);
    assert_near(first->std, 1.2319919732783216, 1e-9);
    assert_int_equal(results_of(&bundle)->event_count, 1503);
    assert_int_equal(results_of(&bundle)->counter_count, 34);
    assert_int_equal(results_of(&bundle)->bad_row_count, 0);
    format_bundle_free(&bundle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_read),
        cmocka_unit_test(cycles_are_the_distinct_pairs),
        cmocka_unit_test(a_column_of_kinds_is_read),
        cmocka_unit_test(bad_rows_are_named_and_left_out),
        cmocka_unit_test(only_the_first_bad_rows_are_described),
        cmocka_unit_test(tables_without_a_row_are_refused),
        cmocka_unit_test(texts_become_utf8),
        cmocka_unit_test(a_byte_order_mark_and_crlf_do_not_matter),
        cmocka_unit_test(the_memory_budget_holds),
        cmocka_unit_test(damage_is_survived),
        cmocka_unit_test(counters_are_summed_up),
        cmocka_unit_test(the_reference_tables_are_read),
        cmocka_unit_test(the_reference_counters_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

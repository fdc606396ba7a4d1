/* What the pipeline takes from the name of a file, and what reading a file is thought to need. */
#include "ingest/jobs/internal.h"
#include "tests/unit/ingest/store_fixture.h"

#include <zstd.h>

#define TABLE_HEADER                                                                           \
    "cycle,pid,hostname,beta_pct,function_name,metric_name,device,func_type,mu_pct,sigma_pct," \
    "duration,interpolation_status,anchor_name,anchor_dur_us,cycle_start_ts,instances_count,"  \
    "simple_name"
#define TABLE_ROW(cycle) cycle ",17,h,50.0,f,N/A,Host,oncpu,,,5.0, ,step,10.0,1000.5,1,f"
#define TABLE TABLE_HEADER "\n" TABLE_ROW("1") "\n" TABLE_ROW("2") "\n"
#define TABLE_OF_KINDS \
    TABLE_HEADER ",cycle_kind\n" TABLE_ROW("1") ",decode\n" TABLE_ROW("2") ",step\n"

static void
write_file(struct fixture *f, char path[TEST_PATH_BYTES + 8], const void *bytes, size_t len)
{
    (void)snprintf(path, TEST_PATH_BYTES + 8, "%s/file", f->dir);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static void expect_kinds(struct fixture *f,
                         const char *bytes,
                         const char *file_name,
                         const char *worker,
                         enum cycle_kind first,
                         enum cycle_kind second)
{
    char path[TEST_PATH_BYTES + 8];
    struct pipeline_output output;
    write_file(f, path, bytes, strlen(bytes));
    assert_ok(f, pipeline_run(path, file_name, NULL, NULL, &output, &f->err));
    assert_string_equal(output.format, "perf-data");
    assert_int_equal(output.item_count, 1);
    assert_string_equal(output.items[0].worker, worker);
    const struct trace_results *results = output.items[0].results;
    assert_int_equal(results->cycle_source, CYCLES_TABLE);
    assert_int_equal(results->cycle_count, 2);
    assert_int_equal(results->cycles[0].kind, first);
    assert_int_equal(results->cycles[1].kind, second);
    pipeline_output_free(&output);
}

static void the_name_tells_the_kind_of_cycles(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *name;
        const char *worker;
        enum cycle_kind kind;
    } rows[] = {
        {"job_perf_data.csv", "job", CYCLE_STEP},
        {"job_prefill_perf_data.csv", "job_prefill", CYCLE_PREFILL},
        {"dir/job_decode_perf_data.csv.gz", "job_decode", CYCLE_DECODE},
        {"job_layer_perf_data.csv.zst", "job_layer", CYCLE_LAYER},
        {"job_prefill_layer_perf_data.csv", "job_prefill_layer", CYCLE_LAYER},
        {"_decode_perf_data.csv", "_decode", CYCLE_DECODE},
        {"job_prefill.csv", "job_prefill", CYCLE_STEP},
        {"prefill_perf_data.csv", "prefill", CYCLE_STEP},
        {"_perf_data.csv", "_perf_data", CYCLE_STEP},
        {"job_decode_perf_data.txt", "job_decode_perf_data", CYCLE_STEP},
        {"", "", CYCLE_STEP},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect_kinds(f, TABLE, rows[i].name, rows[i].worker, rows[i].kind, rows[i].kind);
    }
    /* A table that tells it itself is believed. */
    expect_kinds(f, TABLE_OF_KINDS, "job_prefill_perf_data.csv", "job_prefill", CYCLE_DECODE,
                 CYCLE_STEP);
}

/* ---- estimates ---- */

#define TEXT_BYTES ((size_t)3 << 20)
#define BASE_BYTES ((uint64_t)16 << 20)

static uint64_t estimate_of(struct fixture *f, const char *begin, bool packed)
{
    char path[TEST_PATH_BYTES + 8];
    char *text = malloc(TEXT_BYTES);
    size_t bound = ZSTD_compressBound(TEXT_BYTES);
    char *frame = malloc(bound);
    assert_non_null(text);
    assert_non_null(frame);
    memset(text, 'x', TEXT_BYTES);
    memcpy(text, begin, strlen(begin));
    size_t len = ZSTD_compress(frame, bound, text, TEXT_BYTES, 1);
    assert_false(ZSTD_isError(len));
    write_file(f, path, packed ? frame : text, packed ? len : TEXT_BYTES);
    uint64_t estimate = worker_look_into(path, TEXT_BYTES).estimate_bytes;
    free(frame);
    free(text);
    return estimate;
}

static void tables_are_thought_larger_than_traces(void **state)
{
    struct fixture *f = *state;
    static const char *const traces[] = {"{\"traceEvents\"", " \n[{", "\xEF\xBB\xBF{"};
    static const char *const tables[] = {"Kernel | Latency", "\"ID\",\"Kernel Name\"", "cycle,pid",
                                         "SQLite format 3"};
    for (int packed = 0; packed < 2; packed++) {
        uint64_t text_bytes = TEXT_BYTES * (packed == 1 ? 15U : 1U);
        for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++) {
            assert_int_equal(estimate_of(f, traces[i], packed == 1), BASE_BYTES + text_bytes / 4);
        }
        for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
            assert_int_equal(estimate_of(f, tables[i], packed == 1), BASE_BYTES + text_bytes * 3);
        }
    }
    assert_true(worker_look_into("/nonexistent", 400).estimate_bytes == BASE_BYTES + 100);
    assert_true(worker_look_into("/nonexistent", UINT64_MAX).estimate_bytes == UINT64_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_name_tells_the_kind_of_cycles),
        TEST(tables_are_thought_larger_than_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What the pipeline takes from the name of a file, what reading a file is thought to need, and what
 * it does beside the analyses. */
#include "ingest/jobs/queue/internal.h"
#include "tests/unit/ingest/store/store_fixture.h"

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

/* ---- beside the analyses ---- */

#define EVENT_BYTES 128
#define STEPS 4U
#define FEW 10U       /* operators a step: all one after the other */
#define MANY 20000U   /* so that cycles and timeline have a thread */
#define STEP_US 30000 /* more than MANY operators of 1 us */

/* The model of many operators has room in it, but not what all analyses at once would take. */
#define SMALL_BUDGET_BYTES ((uint64_t)5 << 20)
static const uint64_t budgets[] = {0, SMALL_BUDGET_BYTES};

static void write_steps(struct fixture *f, char path[TEST_PATH_BYTES + 8], unsigned operators)
{
    size_t cap = (size_t)STEPS * (operators + 1) * EVENT_BYTES;
    char *text = malloc(cap);
    assert_non_null(text);
    size_t len = (size_t)snprintf(text, cap, "{\"traceEvents\": [");
    for (unsigned step = 0; step < STEPS; step++) {
        len += (size_t)snprintf(text + len, cap - len,
                                "%s{\"ph\": \"X\", \"cat\": \"user_annotation\", \"pid\": 1,"
                                " \"tid\": 1, \"name\": \"ProfilerStep#%u\", \"ts\": %u,"
                                " \"dur\": %d}",
                                step == 0 ? "" : ",", step, step * STEP_US, STEP_US - 1);
        for (unsigned i = 0; i < operators; i++) {
            len += (size_t)snprintf(text + len, cap - len,
                                    ",{\"ph\": \"X\", \"cat\": \"cpu_op\", \"pid\": 1,"
                                    " \"tid\": 1, \"name\": \"a\", \"ts\": %u, \"dur\": 1}",
                                    step * STEP_US + i + 1);
        }
    }
    len += (size_t)snprintf(text + len, cap - len, "]}");
    assert_true(len < cap);
    write_file(f, path, text, len);
    free(text);
}

static void expect_cycles(struct fixture *f, unsigned operators, uint64_t budget_bytes)
{
    char path[TEST_PATH_BYTES + 8];
    struct pipeline_output output;
    struct pipeline_options options = {.memory_budget_bytes = budget_bytes};
    write_steps(f, path, operators);
    assert_ok(f, pipeline_run(path, "w.json", &options, NULL, &output, &f->err));
    const struct trace_results *results = output.items[0].results;
    assert_int_equal(results->event_count, STEPS * (operators + 1));
    assert_int_equal(results->cycle_source, CYCLES_PROFILER_STEPS);
    assert_int_equal(results->cycle_count, STEPS);
    assert_true((results->views & 1U << VIEW_CYCLES) != 0);
    assert_true((results->views & 1U << VIEW_OPERATOR) != 0);
    assert_true(results->cycle_use_count >= STEPS);
    bool has_all = false;
    for (size_t use = 0; use < results->cycle_use_count; use++) {
        has_all = has_all || results->cycle_uses[use].instances == operators;
    }
    assert_true(has_all);
    pipeline_output_free(&output);

    options.marker = "never called";
    assert_fails(f, pipeline_run(path, "w.json", &options, NULL, &output, &f->err),
                 ERR_BAD_REQUEST);
}

static void cycles_are_found_beside_the_analyses(void **state)
{
    for (size_t i = 0; i < sizeof budgets / sizeof budgets[0]; i++) {
        expect_cycles(*state, FEW, budgets[i]);
        expect_cycles(*state, MANY, budgets[i]);
    }
}

struct seen {
    uint64_t items;
    bool refuses;
    size_t tables;
    size_t traces;
};

static bool
see_block(void *context, uint32_t level, const struct timeline_block *block, struct err *err)
{
    struct seen *seen = context;
    seen->items += level == 0 ? block->item_count : 0;
    return !seen->refuses || err_set(err, ERR_STORE, "no block is wanted");
}

static bool
see_points(void *context, uint32_t level, const struct timeline_points *points, struct err *err)
{
    (void)context;
    (void)level;
    (void)points;
    (void)err;
    return true;
}

static bool see_flows(
    void *context, bool by_target, const struct timeline_flow *flows, size_t count, struct err *err)
{
    (void)context;
    (void)by_target;
    (void)flows;
    (void)count;
    (void)err;
    return true;
}

static bool see_tables(void *context, const struct pipeline_item *item, struct err *err)
{
    struct seen *seen = context;
    (void)err;
    seen->tables++;
    assert_int_equal(seen->traces, 0);
    assert_string_equal(item->worker, "w");
    assert_int_equal(item->results->cycle_count, STEPS);
    return true;
}

static bool see_trace(void *context,
                      struct pipeline_item *item,
                      const struct timeline *timeline,
                      struct err *err)
{
    struct seen *seen = context;
    (void)err;
    seen->traces++;
    assert_non_null(timeline);
    assert_int_equal(timeline->origin_ns, item->results->start_ns);
    assert_int_equal(item->results->cycle_count, STEPS);
    return true;
}

static void expect_timeline(struct fixture *f, unsigned operators, uint64_t budget_bytes)
{
    char path[TEST_PATH_BYTES + 8];
    struct seen seen = {.items = 0};
    struct pipeline_sink sink = {.context = &seen,
                                 .timeline = {.context = &seen,
                                              .take_block = see_block,
                                              .take_points = see_points,
                                              .take_flows = see_flows},
                                 .tables = see_tables,
                                 .trace = see_trace};
    struct pipeline_options options = {.memory_budget_bytes = budget_bytes};
    write_steps(f, path, operators);
    assert_ok(f, pipeline_stream(path, "w.json", &options, NULL, &sink, &f->err));
    assert_int_equal(seen.items, STEPS * (operators + 1));
    assert_int_equal(seen.traces, 1);
    assert_int_equal(seen.tables, operators == MANY);

    seen = (struct seen){.refuses = true};
    assert_fails(f, pipeline_stream(path, "w.json", &options, NULL, &sink, &f->err), ERR_STORE);
    options.marker = "never called";
    assert_fails(f, pipeline_stream(path, "w.json", &options, NULL, &sink, &f->err),
                 ERR_BAD_REQUEST);
    assert_int_equal(seen.traces, 0);
}

static void a_timeline_is_built_beside_the_analyses(void **state)
{
    for (size_t i = 0; i < sizeof budgets / sizeof budgets[0]; i++) {
        expect_timeline(*state, FEW, budgets[i]);
        expect_timeline(*state, MANY, budgets[i]);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_name_tells_the_kind_of_cycles),
        TEST(tables_are_thought_larger_than_traces),
        TEST(cycles_are_found_beside_the_analyses),
        TEST(a_timeline_is_built_beside_the_analyses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

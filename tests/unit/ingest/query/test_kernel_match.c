/* Kernels of a trace beside what the kernel tables of its run measured. */
#include "ingest/query/views/kernel_match.h"
#include "tests/unit/ingest/store/store_fixture.h"

#include <math.h>

#define TABLE (1U << VIEW_UTILISATION | 1U << VIEW_KERNEL)

static int64_t add_kernels(struct fixture *f, const char *const *names, size_t count)
{
    struct kernel_row *rows = calloc(count + 1, sizeof *rows);
    assert_non_null(rows);
    for (size_t i = 0; i < count; i++) {
        rows[i] = (struct kernel_row){
            .name = names[i], .calls = 1, .total_ns = 1000 - (int64_t)i, .min_ns = 1, .max_ns = 1};
    }
    const struct trace_results results = {
        .device_type = "GPU", .views = 1U << VIEW_KERNEL, .kernels = rows, .kernel_count = count};
    int64_t id = publish(f, add_job(f, "r", "w.json", "trace", false), "w", "", &results);
    free(rows);
    return id;
}

static int64_t add_table(struct fixture *f,
                         const char *run,
                         const char *file_name,
                         struct kernel_utilisation_row *kernels,
                         size_t kernel_count,
                         struct kernel_utilisation_launch_row *launches,
                         size_t launch_count)
{
    const struct trace_results results = {.device_type = "GPU",
                                          .views = TABLE,
                                          .has_kernel_use = true,
                                          .kernel_utilisation = kernels,
                                          .kernel_utilisation_count = kernel_count,
                                          .kernel_utilisation_launches = launches,
                                          .kernel_utilisation_launch_count = launch_count};
    return publish(f, add_job(f, run, file_name, file_name, false), file_name, "", &results);
}

/* A row of a table with `total_ns` in one launch. */
#define USE(name_, total_ns_, tensor_, dram_)                                           \
    {                                                                                   \
        .name = (name_), .full_name = (name_), .launches = 1, .total_ns = (total_ns_),  \
        .tensor = (tensor_), .dram = (dram_), .sm = (double)NAN, .use = USE_NEITHER_LOW \
    }
#define LAUNCH(name_, grid_, block_, dur_ns_, tensor_)                             \
    {                                                                              \
        .name = (name_), .full_name = (name_), .grid = (grid_), .block = (block_), \
        .dur_ns = (dur_ns_), .tensor = (tensor_), .dram = 0.5, .sm = (double)NAN,  \
        .start_ns = INT64_MIN, .device = INT64_MIN, .stream = INT64_MIN            \
    }

static struct kernel_match match(struct fixture *f, int64_t trace_id)
{
    struct kernel_match out;
    assert_ok(f, READ(f->store, query_kernel_match, &f->arena, trace_id, true, &out, &f->err));
    return out;
}

static void a_run_without_tables_has_nothing_to_match(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"gemm"};
    struct kernel_utilisation_row kernels[] = {USE("gemm", 100, 0.5, 0.25)};
    int64_t trace = add_kernels(f, names, COUNT_OF(names));
    int64_t table = add_table(f, "other", "t", kernels, COUNT_OF(kernels), NULL, 0);
    const struct kernel_match out = match(f, trace);
    assert_false(out.available);
    assert_int_equal(query_kernel_match_name(&out, "gemm", 1000).launches, 0);
    assert_false(match(f, table).available);
    struct kernel_match none;
    assert_fails(f, READ(f->store, query_kernel_match, &f->arena, 999, true, &none, &f->err),
                 ERR_NOT_FOUND);
}

static void matches_by_cleaned_name(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"void gemm<float, 4>(float*)", "only_traced",
                                        "void gemm<int, 4>(int*)"};
    struct kernel_utilisation_row kernels[] = {USE("only_measured", 7, 0.5, 0.5),
                                               USE("gemm", 100, 0.5, 0.25),
                                               USE("longer_measured", 8, 0.5, 0.5)};
    int64_t table = add_table(f, "r", "t", kernels, COUNT_OF(kernels), NULL, 0);
    const struct kernel_match out = match(f, add_kernels(f, names, COUNT_OF(names)));
    assert_true(out.available);
    assert_int_equal(out.table_count, 1);
    assert_int_equal(out.table_ids[0], table);
    assert_int_equal(out.matched_kernels, 2);
    assert_int_equal(out.unmatched_count, 1);
    assert_string_equal(out.unmatched[0], "only_traced");
    assert_int_equal(out.unmatched_in_table_count, 2);
    assert_string_equal(out.unmatched_in_table[0], "longer_measured");
    assert_string_equal(out.unmatched_in_table[1], "only_measured");

    const struct kernel_match_use use = query_kernel_match_name(&out, names[0], 1000);
    assert_true(use.tensor == 0.5 && use.dram == 0.25 && isnan(use.sm));
    assert_int_equal(use.use, USE_LOW_DRAM);
    assert_true(use.headroom_ns == 500);
    assert_int_equal(use.launches, 1);
    assert_false(use.by_launch);
    assert_int_equal(query_kernel_match_name(&out, names[2], 1000).launches, 1);
    const struct kernel_match_use none = query_kernel_match_name(&out, "only_traced", 1000);
    assert_int_equal(none.launches, 0);
    assert_int_equal(none.use, USE_UNKNOWN);
    assert_true(isnan(none.tensor) && isnan(none.dram) && isnan(none.headroom_ns));
    assert_int_equal(query_kernel_match_name(&out, "nowhere", 1000).launches, 0);
}

static void several_tables_weigh_by_time(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"gemm"};
    struct kernel_utilisation_row first[] = {USE("gemm", 100, 0.5, (double)NAN)};
    struct kernel_utilisation_row second[] = {USE("gemm", 300, 0.9, 0.3)};
    (void)add_table(f, "r", "t1", first, COUNT_OF(first), NULL, 0);
    (void)add_table(f, "r", "t2", second, COUNT_OF(second), NULL, 0);
    const struct kernel_match out = match(f, add_kernels(f, names, COUNT_OF(names)));
    assert_int_equal(out.table_count, 2);
    const struct kernel_match_use use = query_kernel_match_name(&out, "gemm", 100);
    assert_true(fabs(use.tensor - 0.8) < 1e-12);
    assert_true(use.dram == 0.3);
    assert_int_equal(use.launches, 2);
}

static void matches_by_grid_and_block(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"void gemm<float>()", "add"};
    struct kernel_utilisation_row kernels[] = {USE("gemm", 400, 0.8, 0.5),
                                               USE("add", 10, 0.1, 0.5)};
    struct kernel_utilisation_launch_row launches[] = {
        LAUNCH("gemm", "[8, 1, 1]", "[64, 1, 1]", 100, 0.5),
        LAUNCH("add", "[8, 1, 1]", "[64, 1, 1]", 10, 0.1),
        LAUNCH("gemm", "[9, 1, 1]", "[64, 1, 1]", 200, 1.0),
        LAUNCH("gemm", "[8, 1, 1]", "[64, 1, 1]", 100, 0.7),
        LAUNCH("gemm", NULL, NULL, 5, 0.0),
    };
    (void)add_table(f, "r", "t", kernels, COUNT_OF(kernels), launches, COUNT_OF(launches));
    const struct kernel_match out = match(f, add_kernels(f, names, COUNT_OF(names)));
    struct kernel_match_use use =
        query_kernel_match_launch(&out, names[0], "[8, 1, 1]", "[64, 1, 1]", 1000);
    assert_true(use.by_launch);
    assert_int_equal(use.launches, 2);
    assert_true(fabs(use.tensor - 0.6) < 1e-12);
    assert_true(fabs(use.headroom_ns - 400) < 1e-9);
    use = query_kernel_match_launch(&out, names[0], "[9, 1, 1]", "[64, 1, 1]", 1000);
    assert_true(use.by_launch && use.tensor == 1.0);
    use = query_kernel_match_launch(&out, names[0], "[9, 1, 1]", "[32, 1, 1]", 1000);
    assert_false(use.by_launch);
    assert_true(fabs(use.tensor - 0.8) < 1e-12);
    use = query_kernel_match_launch(&out, "nowhere", "[9, 1, 1]", "[64, 1, 1]", 1000);
    assert_int_equal(use.launches, 0);
}

static void cut_names_match_where_they_are_clear(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"wgrad_engine_long", "scale_one",
                                        "scale_two",         "relu_back",
                                        "relu_backward",     "void wgrad_engine_long<8>()"};
    struct kernel_utilisation_row kernels[] = {
        USE("wgrad_engine_l...", 10, 0.1, 0.1), /* the one name that begins so */
        USE("scale_...", 9, 0.2, 0.2),          /* two do */
        USE("relu_back", 8, 0.3, 0.3),          /* this is one name */
        USE("relu_...", 7, 0.4, 0.4),           /* and this the other */
        USE("wgrad_...", 6, 0.5, 0.5),          /* the longer one was there before */
        USE("...", 5, 0.6, 0.6),                /* says nothing */
    };
    (void)add_table(f, "r", "t", kernels, COUNT_OF(kernels), NULL, 0);
    const struct kernel_match out = match(f, add_kernels(f, names, COUNT_OF(names)));
    assert_true(query_kernel_match_name(&out, "wgrad_engine_long", 1).tensor == 0.1);
    assert_true(query_kernel_match_name(&out, "void wgrad_engine_long<8>()", 1).tensor == 0.1);
    assert_int_equal(query_kernel_match_name(&out, "scale_one", 1).launches, 0);
    assert_true(query_kernel_match_name(&out, "relu_back", 1).tensor == 0.3);
    assert_true(query_kernel_match_name(&out, "relu_backward", 1).tensor == 0.4);
    assert_int_equal(out.matched_kernels, 4);
    assert_int_equal(out.unmatched_count, 2);
    assert_int_equal(out.unmatched_in_table_count, 3);
    assert_string_equal(out.unmatched_in_table[0], "scale_...");
    assert_string_equal(out.unmatched_in_table[1], "wgrad_...");
    assert_string_equal(out.unmatched_in_table[2], "...");
}

/* Many names that begin alike, in both; many launches of one: nothing looks at each with each. */
static void large_tables_match(void **state)
{
    enum { NAMES = 2000, LAUNCHES = 20000 };
    struct fixture *f = *state;
    static char texts[2][NAMES][32];
    static const char *names[NAMES];
    struct kernel_utilisation_row *kernels = calloc(NAMES, sizeof *kernels);
    struct kernel_utilisation_launch_row *launches = calloc(LAUNCHES, sizeof *launches);
    assert_true(kernels != NULL && launches != NULL);
    for (int i = 0; i < NAMES; i++) {
        (void)snprintf(texts[0][i], sizeof texts[0][i], "kernel_%d", i);
        (void)snprintf(texts[1][i], sizeof texts[1][i], "kernel_%d...", i);
        names[i] = texts[0][i];
        kernels[i] = (struct kernel_utilisation_row)USE(texts[i % 2][i], 10, 0.5, 0.5);
    }
    for (int i = 0; i < LAUNCHES; i++) {
        launches[i] = (struct kernel_utilisation_launch_row)LAUNCH(
            "kernel_0", "[1, 1, 1]", "[1, 1, 1]", 10, i % 2 == 0 ? 0.25 : 0.75);
    }
    (void)add_table(f, "r", "t", kernels, NAMES, launches, LAUNCHES);
    const struct kernel_match out = match(f, add_kernels(f, names, NAMES));
    const struct kernel_match_use use =
        query_kernel_match_launch(&out, "kernel_0", "[1, 1, 1]", "[1, 1, 1]", 10);
    assert_int_equal(use.launches, LAUNCHES);
    assert_true(use.tensor == 0.5);
    /* Even numbers match in full; a cut odd one where no other odd one begins so. */
    assert_int_equal(query_kernel_match_name(&out, "kernel_2", 10).launches, 1);
    assert_int_equal(query_kernel_match_name(&out, "kernel_1999", 10).launches, 1);
    assert_int_equal(query_kernel_match_name(&out, "kernel_1", 10).launches, 0);
    assert_int_equal(out.matched_kernels + (int64_t)out.unmatched_count, NAMES);
    free(kernels);
    free(launches);
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, set_up_store, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORE(a_run_without_tables_has_nothing_to_match),
        WITH_STORE(matches_by_cleaned_name),
        WITH_STORE(several_tables_weigh_by_time),
        WITH_STORE(matches_by_grid_and_block),
        WITH_STORE(cut_names_match_where_they_are_clear),
        WITH_STORE(large_tables_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Sorting, paging and searching of operators, kernels and launches. */
#include "tests/unit/ingest/store/store_fixture.h"

static int64_t add_operators(struct fixture *f,
                             enum operator_group group,
                             struct operator_row *rows,
                             size_t count,
                             bool has_device)
{
    struct trace_results results = {.device_type = "GPU", .operators_have_device = has_device};
    char name[48];
    (void)snprintf(name, sizeof name, "%p%d", (void *)rows, (int)has_device);
    results.operators[group] = rows;
    results.operator_count[group] = count;
    return publish(f, add_job(f, "r", name, name, false), "w", "", &results);
}

/* Calls of the operators of a page, which are distinct in the samples here, as one text. */
static const char *operator_page(struct fixture *f,
                                 int64_t id,
                                 enum operator_group group,
                                 const char *name,
                                 const char *shape,
                                 struct store_page page,
                                 int64_t *total)
{
    struct operator_row *rows;
    size_t count;
    char joined[512] = "";
    size_t len = 0;
    assert_ok(f, READ(f->store, store_operators, &f->arena, id, group, name, shape, &page, &rows,
                      &count, total, &f->err));
    for (size_t i = 0; i < count; i++) {
        len += (size_t)snprintf(joined + len, sizeof joined - len, "%d ", (int)rows[i].calls);
    }
    return arena_strndup(&f->arena, joined, len);
}

static void expect_order(
    struct fixture *f, int64_t id, const char *sort, const char *ascending, const char *descending)
{
    int64_t total;
    struct store_page page = {.sort = sort};
    assert_string_equal(operator_page(f, id, OPERATOR_BY_NAME, NULL, NULL, page, &total),
                        ascending);
    page.descending = true;
    assert_string_equal(operator_page(f, id, OPERATOR_BY_NAME, NULL, NULL, page, &total),
                        descending);
}

static void every_operator_column_sorts(void **state)
{
    struct fixture *f = *state;
    /* The stored order is 3 1 2; each column puts row 1 first, then 2 and 3 as equals in stored
     * order. */
    struct operator_row rows[3];
    static const char *const columns[] = {
        "name",
        "input_shape",
        "call_stack",
        "host_total_ns",
        "host_self_ns",
        "host_mean_ns",
        "host_min_ns",
        "host_max_ns",
        "host_p50_ns",
        "host_p95_ns",
        "host_p99_ns",
        "device_total_ns",
        "device_self_ns",
        "device_mean_ns",
        "device_p50_ns",
        "device_p95_ns",
        "device_p99_ns",
        "share",
        "tensor_core_eligible",
        "tensor_core_self_share",
        "tensor_core_total_share",
        "has_call_stack",
        "tensor_eligible",
        "tensor_self_ns",
        "tensor_total_ns",
    };
    static const int64_t calls[] = {3, 1, 2};
    for (size_t i = 0; i < 3; i++) {
        int64_t high = calls[i] == 1 ? 1 : 5;
        rows[i] = (struct operator_row){.name = high == 1 ? "a" : "b",
                                        .input_shape = high == 1 ? NULL : "[]",
                                        .call_stack = high == 1 ? "" : "x",
                                        .calls = calls[i],
                                        .host_total_ns = high * 1000 * calls[i],
                                        .host_self_ns = high,
                                        .host_min_ns = high,
                                        .host_max_ns = high,
                                        .host_p50_ns = high,
                                        .host_p95_ns = high,
                                        .host_p99_ns = high,
                                        .device_total_ns = high * 1000 * calls[i],
                                        .device_self_ns = high,
                                        .device_p50_ns = high,
                                        .device_p95_ns = high,
                                        .device_p99_ns = high,
                                        .tensor_eligible = high > 1,
                                        .has_call_stack = high > 1,
                                        .tensor_self_ns = high > 1 ? 5 : 0,
                                        .tensor_total_ns = high > 1 ? 1000 * high * calls[i] : 0};
    }
    int64_t id = add_operators(f, OPERATOR_BY_NAME, rows, 3, true);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        bool is_sum_of_calls = strcmp(columns[i], "host_total_ns") == 0 ||
                               strcmp(columns[i], "device_total_ns") == 0 ||
                               strcmp(columns[i], "tensor_total_ns") == 0;
        expect_order(f, id, columns[i], is_sum_of_calls ? "1 2 3 " : "1 3 2 ", "3 2 1 ");
    }
    expect_order(f, id, "calls", "1 2 3 ", "3 2 1 ");
    expect_order(f, id, NULL, "3 1 2 ", "2 1 3 ");
    expect_order(f, id, "", "3 1 2 ", "2 1 3 ");
}

static void share_is_of_the_host_without_device(void **state)
{
    struct fixture *f = *state;
    struct operator_row rows[] = {
        {.name = "a", .calls = 1, .host_self_ns = 1, .device_self_ns = 9},
        {.name = "b", .calls = 2, .host_self_ns = 5, .device_self_ns = 3}};
    expect_order(f, add_operators(f, OPERATOR_BY_NAME, rows, 2, true), "share", "2 1 ", "1 2 ");
    expect_order(f, add_operators(f, OPERATOR_BY_NAME, rows, 2, false), "share", "1 2 ", "2 1 ");
}

static void unknown_columns_are_refused(void **state)
{
    struct fixture *f = *state;
    struct operator_row row = {.name = "a"};
    struct store_page page = {.sort = "position"};
    struct operator_row *rows;
    struct kernel_row *kernels;
    size_t count;
    int64_t total;
    int64_t id = add_operators(f, OPERATOR_BY_NAME, &row, 1, true);
    assert_fails(f,
                 READ(f->store, store_operators, &f->arena, id, OPERATOR_BY_NAME, NULL, NULL, &page,
                      &rows, &count, &total, &f->err),
                 ERR_BAD_REQUEST);
    assert_non_null(strstr(f->err.msg, "\"position\""));
    assert_non_null(strstr(f->err.msg, "host_self_ns"));
    page.sort = "operator";
    assert_fails(
        f, READ(f->store, store_kernels, &f->arena, id, &page, &kernels, &count, &total, &f->err),
        ERR_BAD_REQUEST);
    page.sort = NULL;
    assert_fails(
        f,
        READ(f->store, store_kernels, &f->arena, id + 1, &page, &kernels, &count, &total, &f->err),
        ERR_NOT_FOUND);
}

#define MANY 500

static void pages_fit_together(void **state)
{
    struct fixture *f = *state;
    struct operator_row *rows = calloc(MANY, sizeof *rows);
    char names[MANY][8];
    bool seen[MANY] = {false};
    assert_non_null(rows);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof names[i], "op%d", i % 50);
        rows[i] = (struct operator_row){.name = names[i], .calls = i, .host_self_ns = i % 7};
    }
    int64_t id = add_operators(f, OPERATOR_BY_NAME_SHAPE, rows, MANY, true);
    int64_t previous_self = INT64_MAX;
    int64_t previous_calls = -1;
    size_t seen_count = 0;
    for (int64_t offset = 0; offset < MANY + 7; offset += 7) {
        struct store_page page = {
            .sort = "host_self_ns", .descending = true, .limit = 7, .offset = offset};
        struct operator_row *out;
        size_t count;
        int64_t total;
        assert_ok(f, READ(f->store, store_operators, &f->arena, id, OPERATOR_BY_NAME_SHAPE, NULL,
                          NULL, &page, &out, &count, &total, &f->err));
        assert_int_equal(total, MANY);
        for (size_t i = 0; i < count; i++) {
            bool goes_on = out[i].host_self_ns < previous_self ||
                           (out[i].host_self_ns == previous_self && out[i].calls > previous_calls);
            assert_true(goes_on);
            assert_false(seen[out[i].calls]);
            assert_string_equal(out[i].name, names[out[i].calls]);
            seen[out[i].calls] = true;
            seen_count++;
            previous_self = out[i].host_self_ns;
            previous_calls = out[i].calls;
        }
    }
    assert_int_equal(seen_count, MANY);
    free(rows);
}

static void rows_are_searched(void **state)
{
    struct fixture *f = *state;
    struct operator_row rows[] = {
        {.name = "aten::Add", .input_shape = "[1]", .calls = 1},
        {.name = "aten::add_", .input_shape = "[2]", .calls = 2},
        {.name = "100%_x\\y", .input_shape = "[1]", .calls = 3},
        {.name = "aten::Add", .input_shape = "[2]", .calls = 4},
        {.name = "\xC3\x84pfel", .input_shape = NULL, .calls = 5},
    };
    static const struct {
        const char *q;
        const char *name;
        const char *shape;
        const char *expected;
        int64_t total;
    } cases[] = {
        {NULL, NULL, NULL, "1 2 3 4 5 ", 5},
        {"", NULL, NULL, "1 2 3 4 5 ", 5},
        {"ADD", NULL, NULL, "1 2 4 ", 3},
        {"add_", NULL, NULL, "2 ", 1},
        {"%", NULL, NULL, "3 ", 1},
        {"_", NULL, NULL, "2 3 ", 2},
        {"\\", NULL, NULL, "3 ", 1},
        {"\xC3\x84PF", NULL, NULL, "5 ", 1},
        {"[1]", NULL, NULL, "", 0},
        {"/^aten::a.*d$/", NULL, NULL, "1 4 ", 2},
        {"/x|L$/", NULL, NULL, "3 5 ", 2},
        {"//", NULL, NULL, "", 0},
        {"/", NULL, NULL, "", 0},
        {NULL, "aten::Add", NULL, "1 4 ", 2},
        {NULL, "aten::ADD", NULL, "", 0},
        {NULL, NULL, "[1]", "1 3 ", 2},
        {NULL, "aten::Add", "[2]", "4 ", 1},
        {"Y", "100%_x\\y", "[1]", "3 ", 1},
        {"z", "100%_x\\y", "[1]", "", 0},
    };
    int64_t id = add_operators(f, OPERATOR_BY_NAME_SHAPE, rows, 5, true);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t total;
        struct store_page page = {.q = cases[i].q};
        struct store_page sorted = {.q = cases[i].q, .sort = "calls"};
        assert_string_equal(operator_page(f, id, OPERATOR_BY_NAME_SHAPE, cases[i].name,
                                          cases[i].shape, page, &total),
                            cases[i].expected);
        assert_int_equal(total, cases[i].total);
        assert_string_equal(operator_page(f, id, OPERATOR_BY_NAME_SHAPE, cases[i].name,
                                          cases[i].shape, sorted, &total),
                            cases[i].expected);
    }
}

static void bad_patterns_are_refused(void **state)
{
    struct fixture *f = *state;
    struct operator_row row = {.name = "a"};
    int64_t id = add_operators(f, OPERATOR_BY_NAME, &row, 1, true);
    char long_text[1200];
    char long_regex[300];
    memset(long_text, 'a', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    memset(long_regex, 'a', sizeof long_regex);
    long_regex[0] = '/';
    long_regex[sizeof long_regex - 2] = '/';
    long_regex[sizeof long_regex - 1] = '\0';
    const char *const patterns[] = {"/a(b/",
                                    "/[a/",
                                    "/a{2,1}/",
                                    "/(a)\\1/",
                                    "/((a{40}){40}){40}/",
                                    "/(a?){900}/",
                                    "/(a+){2}/",
                                    "/((((((((((((((((((((((a))))))))))))))))))))))/",
                                    "/a{99999}/",
                                    long_regex,
                                    long_text};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        struct store_page page = {.q = patterns[i]};
        struct operator_row *rows;
        size_t count;
        int64_t total;
        assert_fails(f,
                     READ(f->store, store_operators, &f->arena, id, OPERATOR_BY_NAME, NULL, NULL,
                          &page, &rows, &count, &total, &f->err),
                     ERR_BAD_REQUEST);
    }
}

static void kernels_and_launches_sort(void **state)
{
    struct fixture *f = *state;
    struct kernel_row kernels[] = {
        {.name = "b", .calls = 1, .total_ns = 10, .occupancy_pct = 50.0, .tensor_used = true},
        {.name = "a", .calls = 5, .total_ns = 20, .occupancy_pct = -0.0},
        {.name = "c", .calls = 2, .total_ns = 20, .occupancy_pct = 7.5},
    };
    struct kernel_launch_row launches[] = {
        {.name = "k", .operator_name = "z", .calls = 1, .total_ns = 9},
        {.name = "K2", .operator_name = "y", .calls = 2, .total_ns = 9, .op_tensor_eligible = true},
    };
    static const struct {
        const char *sort;
        bool descending;
        const char *expected;
    } cases[] = {
        {"total_ns", true, "acb"}, {"total_ns", false, "bac"},      {"name", false, "abc"},
        {"mean_ns", false, "abc"}, {"mean_ns", true, "bca"},        {"occupancy_pct", false, "acb"},
        {"share", true, "acb"},    {"calls_per_step", true, "acb"}, {"tensor_cores", true, "bac"},
    };
    struct trace_results results = {.device_type = "GPU",
                                    .kernels = kernels,
                                    .kernel_count = 3,
                                    .kernel_launches = launches,
                                    .kernel_launch_count = 2};
    int64_t id = publish(f, add_job(f, "r", "f", "x", false), "w", "", &results);
    size_t count;
    int64_t total;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct store_page page = {.sort = cases[i].sort, .descending = cases[i].descending};
        struct kernel_row *rows;
        assert_ok(
            f, READ(f->store, store_kernels, &f->arena, id, &page, &rows, &count, &total, &f->err));
        assert_int_equal(count, 3);
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(rows[k].name[0], cases[i].expected[k]);
        }
    }
    static const char *const launch_columns[] = {"operator", "operator_name", "name", "mean_ns"};
    for (size_t i = 0; i < sizeof launch_columns / sizeof launch_columns[0]; i++) {
        struct store_page page = {.sort = launch_columns[i], .q = "K"};
        struct kernel_launch_row *rows;
        assert_ok(f, READ(f->store, store_kernel_launches, &f->arena, id, &page, &rows, &count,
                          &total, &f->err));
        assert_int_equal(count, 2);
        assert_int_equal(rows[0].calls, 2);
    }
    struct store_page eligible = {
        .sort = "operator_tensor_core_eligible", .descending = true, .limit = 1, .q = "/k2/"};
    struct kernel_launch_row *rows;
    assert_ok(f, READ(f->store, store_kernel_launches, &f->arena, id, &eligible, &rows, &count,
                      &total, &f->err));
    assert_int_equal(total, 1);
    assert_string_equal(rows[0].operator_name, "y");
}

/* More rows and texts than a batch, a bucket of the text cache and its growth. */
static void large_tables_come_back(void **state)
{
    struct fixture *f = *state;
    enum { LARGE = 12000 };
    struct operator_row *rows = calloc(LARGE, sizeof *rows);
    char(*names)[12] = calloc(LARGE, sizeof *names);
    assert_non_null(rows);
    assert_non_null(names);
    for (int i = 0; i < LARGE; i++) {
        (void)snprintf(names[i], sizeof names[i], "%d", i);
        rows[i] = (struct operator_row){.name = names[i], .input_shape = names[i / 2], .calls = i};
    }
    int64_t id = add_operators(f, OPERATOR_BY_NAME_SHAPE, rows, LARGE, true);
    struct store_page page = {.sort = "calls", .descending = true};
    struct operator_row *out;
    size_t count;
    int64_t total;
    assert_ok(f, READ(f->store, store_operators, &f->arena, id, OPERATOR_BY_NAME_SHAPE, NULL, NULL,
                      &page, &out, &count, &total, &f->err));
    assert_int_equal(count, LARGE);
    for (int i = 0; i < LARGE; i++) {
        int at = LARGE - 1 - i;
        assert_int_equal(out[i].calls, at);
        assert_string_equal(out[i].name, names[at]);
        assert_string_equal(out[i].input_shape, names[at / 2]);
    }
    /* The same text is the same copy. */
    assert_ptr_equal(out[1].input_shape, out[0].input_shape);
    assert_ok(f, store_trace_delete(f->store, id, &f->err));
    free(names);
    free(rows);
}

/* A request that may hold only so much memory fails alone. */
static void a_small_arena_is_an_error(void **state)
{
    struct fixture *f = *state;
    struct operator_row *rows = calloc(MANY, sizeof *rows);
    char(*names)[80] = calloc(MANY, sizeof *names);
    assert_non_null(rows);
    assert_non_null(names);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof names[i], "%078d", i);
        rows[i] = (struct operator_row){.name = names[i], .calls = i};
    }
    int64_t id = add_operators(f, OPERATOR_BY_NAME, rows, MANY, true);
    static const size_t limits_bytes[] = {1, MANY * sizeof *rows, MANY * (sizeof *rows + 50)};
    for (size_t i = 0; i < sizeof limits_bytes / sizeof limits_bytes[0]; i++) {
        struct arena small;
        struct store_page page = {.sort = "name"};
        struct operator_row *out;
        size_t count;
        int64_t total;
        arena_init(&small, limits_bytes[i]);
        assert_fails(f,
                     READ(f->store, store_operators, &small, id, OPERATOR_BY_NAME, NULL, NULL,
                          &page, &out, &count, &total, &f->err),
                     ERR_NO_MEMORY);
        arena_free(&small);
        (void)operator_page(f, id, OPERATOR_BY_NAME, NULL, NULL, (struct store_page){.limit = 5},
                            &total);
        assert_int_equal(total, MANY);
    }
    free(names);
    free(rows);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_operator_column_sorts), TEST(share_is_of_the_host_without_device),
        TEST(unknown_columns_are_refused), TEST(pages_fit_together),
        TEST(rows_are_searched),           TEST(bad_patterns_are_refused),
        TEST(kernels_and_launches_sort),   TEST(large_tables_come_back),
        TEST(a_small_arena_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

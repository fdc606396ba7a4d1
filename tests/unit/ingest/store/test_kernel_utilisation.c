/* Kernel tables come out of the store as they went in, and page by page. */
#include "tests/unit/ingest/analysis/row_checks.h"

#define ROWS 4
#define VALUES 6

struct sample {
    struct trace_results results;
    struct kernel_utilisation_row kernels[ROWS];
    struct kernel_utilisation_launch_row launches[ROWS];
    struct kernel_utilisation_metric_row metrics[ROWS];
    struct kernel_utilisation_value_row values[VALUES];
    struct transfer_row transfers[2];
    const char *bad_rows[2];
};

static const char *const names[ROWS] = {"gemm", "", NULL, "elementwise"};
static const char *const full_names[ROWS] = {"void cutlass::gemm<float>(int)", NULL, "",
                                             "void at::native::elementwise<4>()"};

static void fill_totals(struct kernel_utilisation_totals *totals, int *n, int *r)
{
    totals->launches = next_number(n);
    totals->kernels = next_number(n);
    totals->total_ns = next_number(n);
    totals->tensor = next_real(r);
    totals->dram = next_real(r);
    totals->sm = next_real(r);
    totals->headroom_ns = next_real(r);
    for (int use = 0; use < USE_CLASS_COUNT; use++) {
        totals->class_ns[use] = next_number(n);
        totals->class_launches[use] = next_number(n);
    }
}

static void fill_kernels(struct sample *s, int *n, int *r)
{
    for (int i = 0; i < ROWS; i++) {
        struct kernel_utilisation_row *row = &s->kernels[i];
        row->name = names[i];
        row->full_name = full_names[i];
        row->launches = next_number(n);
        row->total_ns = next_number(n);
        row->mean_ns = next_real(r);
        row->min_ns = i == 1 ? INT64_MIN : next_number(n);
        row->max_ns = i == 2 ? INT64_MIN : next_number(n);
        row->p50_ns = next_real(r);
        row->p95_ns = next_real(r);
        row->p99_ns = next_real(r);
        row->tensor = next_real(r);
        row->dram = next_real(r);
        row->sm = next_real(r);
        row->headroom_ns = next_real(r);
        row->use = (enum use_class)((i + 1) % USE_CLASS_COUNT);
    }
}

static void fill_launches(struct sample *s, int *n, int *r)
{
    for (int i = 0; i < ROWS; i++) {
        struct kernel_utilisation_launch_row *row = &s->launches[i];
        row->name = names[i];
        row->full_name = full_names[ROWS - 1 - i];
        row->grid = i == 0 ? NULL : "[128, 1, 1]";
        row->block = i == 1 ? NULL : "[32, 1, 1]";
        row->start_ns = i == 2 ? INT64_MIN : next_number(n);
        row->dur_ns = next_number(n);
        row->device = i == 3 ? INT64_MIN : next_number(n);
        row->stream = i == 0 ? INT64_MIN : next_number(n);
        row->tensor = next_real(r);
        row->dram = next_real(r);
        row->sm = next_real(r);
        row->use = (enum use_class)(USE_UNKNOWN - i);
    }
}

static void fill_metrics(struct sample *s, int *n, int *r)
{
    static const int64_t launch_of[VALUES] = {0, 0, 2, 3, 3, 3};
    static const char *const metric_of[VALUES] = {"a", "b", "a", "c", "b", "a"};
    for (int i = 0; i < ROWS; i++) {
        s->metrics[i] = (struct kernel_utilisation_metric_row){.kernel = ROWS - i,
                                                               .metric = metric_of[i],
                                                               .unit = i == 0 ? "" : "%",
                                                               .launches = next_number(n),
                                                               .mean = next_real(r),
                                                               .min = next_real(r),
                                                               .max = next_real(r)};
    }
    for (int i = 0; i < VALUES; i++) {
        s->values[i] = (struct kernel_utilisation_value_row){.launch = launch_of[i],
                                                             .metric = metric_of[i],
                                                             .unit = i == 1 ? "inst" : "",
                                                             .value = next_real(r)};
    }
    s->transfers[0] = (struct transfer_row){
        .name = "[CUDA memcpy HtoD]", .kind = "memcpy", .operations = 3, .total_ns = 90};
    s->transfers[0].min_ns = INT64_MIN;
    s->transfers[0].max_ns = INT64_MIN;
    s->transfers[0].size_bytes = INT64_MIN;
    s->transfers[1] = (struct transfer_row){"[CUDA memset]", "memset", 1, 2, 3, 4, 5};
    s->bad_rows[0] = "line 17: the latency \"abc\" is no number";
    s->bad_rows[1] = "";
}

static struct sample *make_sample(void)
{
    int n = 0;
    int r = 0;
    struct sample *s = calloc(1, sizeof *s);
    assert_non_null(s);
    fill_totals(&s->results.kernel_utilisation_totals, &n, &r);
    fill_kernels(s, &n, &r);
    fill_launches(s, &n, &r);
    fill_metrics(s, &n, &r);
    s->results.device_type = "GPU";
    s->results.has_kernel_use = true;
    s->results.kernel_utilisation = s->kernels;
    s->results.kernel_utilisation_count = ROWS;
    s->results.kernel_utilisation_launches = s->launches;
    s->results.kernel_utilisation_launch_count = ROWS;
    s->results.kernel_utilisation_metrics = s->metrics;
    s->results.kernel_utilisation_metric_count = ROWS;
    s->results.kernel_utilisation_values = s->values;
    s->results.kernel_utilisation_value_count = VALUES;
    s->results.transfers = s->transfers;
    s->results.transfer_count = 2;
    s->results.bad_rows = s->bad_rows;
    s->results.bad_row_count = 2;
    return s;
}

static void check_totals(const struct kernel_utilisation_totals *a,
                         const struct kernel_utilisation_totals *b)
{
    INT(launches);
    INT(kernels);
    INT(total_ns);
    REAL(tensor);
    REAL(dram);
    REAL(sm);
    REAL(headroom_ns);
    for (int use = 0; use < USE_CLASS_COUNT; use++) {
        INT(class_ns[use]);
        INT(class_launches[use]);
    }
}

static void check_kernel(const struct kernel_utilisation_row *a,
                         const struct kernel_utilisation_row *b)
{
    TEXT(name);
    TEXT(full_name);
    INT(launches);
    INT(total_ns);
    REAL(mean_ns);
    INT(min_ns);
    INT(max_ns);
    REAL(p50_ns);
    REAL(p95_ns);
    REAL(p99_ns);
    REAL(tensor);
    REAL(dram);
    REAL(sm);
    REAL(headroom_ns);
    INT(use);
}

static void check_launch(const struct kernel_utilisation_launch_row *a,
                         const struct kernel_utilisation_launch_row *b)
{
    TEXT(name);
    TEXT(full_name);
    TEXT(grid);
    TEXT(block);
    INT(start_ns);
    INT(dur_ns);
    INT(device);
    INT(stream);
    REAL(tensor);
    REAL(dram);
    REAL(sm);
    INT(use);
}

static void check_metric(const struct kernel_utilisation_metric_row *a,
                         const struct kernel_utilisation_metric_row *b)
{
    INT(kernel);
    TEXT(metric);
    TEXT(unit);
    INT(launches);
    REAL(mean);
    REAL(min);
    REAL(max);
}

static void check_value(const struct kernel_utilisation_value_row *a,
                        const struct kernel_utilisation_value_row *b)
{
    INT(launch);
    TEXT(metric);
    TEXT(unit);
    REAL(value);
}

static void check_transfer(const struct transfer_row *a, const struct transfer_row *b)
{
    TEXT(name);
    TEXT(kind);
    INT(operations);
    INT(total_ns);
    INT(min_ns);
    INT(max_ns);
    INT(size_bytes);
}

static void check_overview(struct fixture *f, int64_t id, const struct sample *s)
{
    struct trace_results *out;
    assert_ok(f, READ(f->store, store_overview, &f->arena, id, &out, &f->err));
    assert_true(out->has_kernel_use);
    check_totals(&s->results.kernel_utilisation_totals, &out->kernel_utilisation_totals);
    assert_int_equal(out->kernel_utilisation_count, ROWS);
    assert_int_equal(out->kernel_utilisation_launch_count, ROWS);
    assert_null(out->kernel_utilisation);
    assert_null(out->kernel_utilisation_launches);
    assert_int_equal(out->kernel_utilisation_metric_count, ROWS);
    for (int i = 0; i < ROWS; i++) {
        check_metric(&s->metrics[i], &out->kernel_utilisation_metrics[i]);
    }
    assert_int_equal(out->transfer_count, 2);
    assert_int_equal(out->bad_row_count, 2);
    for (int i = 0; i < 2; i++) {
        check_transfer(&s->transfers[i], &out->transfers[i]);
        assert_string_equal(out->bad_rows[i], s->bad_rows[i]);
    }
}

static void check_tables(struct fixture *f, int64_t id, const struct sample *s)
{
    struct store_page all = {0};
    struct kernel_utilisation_row *kernels;
    struct kernel_utilisation_launch_row *launches;
    struct kernel_utilisation_value_row *values;
    size_t count;
    size_t value_count;
    int64_t total;
    assert_ok(f, READ(f->store, store_kernel_utilisation, &f->arena, id, &all, &kernels, &count,
                      &total, &f->err));
    assert_int_equal(count, ROWS);
    assert_int_equal(total, ROWS);
    for (int i = 0; i < ROWS; i++) {
        check_kernel(&s->kernels[i], &kernels[i]);
        assert_int_equal(kernels[i].position, i);
    }
    assert_ok(f, READ(f->store, store_kernel_utilisation_launches, &f->arena, id, NULL, &all,
                      &launches, &count, &total, &values, &value_count, &f->err));
    assert_int_equal(count, ROWS);
    assert_int_equal(total, ROWS);
    for (int i = 0; i < ROWS; i++) {
        check_launch(&s->launches[i], &launches[i]);
        assert_int_equal(launches[i].position, i);
    }
    assert_int_equal(value_count, VALUES);
    for (int i = 0; i < VALUES; i++) {
        check_value(&s->values[i], &values[i]);
    }
}

static void every_field_comes_back(void **state)
{
    struct fixture *f = *state;
    struct sample *s = make_sample();
    int64_t id = publish(f, add_job(f, "r", "f", "bytes", false), "w", "", &s->results);
    check_overview(f, id, s);
    check_tables(f, id, s);
    close_store(f);
    open_store(f);
    check_overview(f, id, s);
    check_tables(f, id, s);
    free(s);
}

static void other_traces_have_none(void **state)
{
    struct fixture *f = *state;
    struct store_page all = {0};
    struct trace_results *out;
    struct kernel_utilisation_row *kernels;
    struct kernel_utilisation_launch_row *launches;
    size_t count;
    int64_t total;
    int64_t id = add_trace(f, "r", "f", "w", "", "x");
    assert_ok(f, READ(f->store, store_overview, &f->arena, id, &out, &f->err));
    assert_false(out->has_kernel_use);
    assert_int_equal(out->kernel_utilisation_count + out->kernel_utilisation_launch_count +
                         out->bad_row_count + out->transfer_count +
                         out->kernel_utilisation_metric_count,
                     0);
    assert_ok(f, READ(f->store, store_kernel_utilisation, &f->arena, id, &all, &kernels, &count,
                      &total, &f->err));
    assert_int_equal(count + (size_t)total, 0);
    assert_ok(f, READ(f->store, store_kernel_utilisation_launches, &f->arena, id, NULL, &all,
                      &launches, &count, &total, NULL, NULL, &f->err));
    assert_int_equal(count + (size_t)total, 0);
    assert_fails(f,
                 READ(f->store, store_kernel_utilisation, &f->arena, id + 1, &all, &kernels, &count,
                      &total, &f->err),
                 ERR_NOT_FOUND);
    assert_fails(f,
                 READ(f->store, store_kernel_utilisation_launches, &f->arena, id + 1, NULL, &all,
                      &launches, &count, &total, NULL, NULL, &f->err),
                 ERR_NOT_FOUND);
}

/* ---- sorting and searching ---- */

static int64_t publish_kernels(struct fixture *f,
                               struct kernel_utilisation_row *kernels,
                               size_t kernel_count,
                               struct kernel_utilisation_launch_row *launches,
                               size_t launch_count)
{
    static int serial = 0;
    char name[32];
    struct trace_results results = {.device_type = "GPU",
                                    .has_kernel_use = true,
                                    .kernel_utilisation = kernels,
                                    .kernel_utilisation_count = kernel_count,
                                    .kernel_utilisation_launches = launches,
                                    .kernel_utilisation_launch_count = launch_count};
    (void)snprintf(name, sizeof name, "f%d", serial++);
    return publish(f, add_job(f, "r", name, name, false), "w", "", &results);
}

/* Row 1 is larger than row 0 in every column; NULL, which is not there, is smaller than all. */
static void every_kernel_column_sorts(void **state)
{
    static const char *const columns[] = {"name",    "full_name",  "launches", "total_ns", "share",
                                          "mean_ns", "min_ns",     "max_ns",   "p50_ns",   "p95_ns",
                                          "p99_ns",  "tensor",     "dram",     "sm",       "use",
                                          "class",   "headroom_ns"};
    struct fixture *f = *state;
    struct kernel_utilisation_row rows[] = {
        {.name = "a",
         .full_name = "x",
         .launches = 1,
         .total_ns = 10,
         .mean_ns = 1.5,
         .min_ns = INT64_MIN,
         .max_ns = 1,
         .p50_ns = 0.5,
         .p95_ns = 1,
         .p99_ns = 1,
         .tensor = (double)NAN,
         .dram = 0.1,
         .sm = 0.2,
         .headroom_ns = 5,
         .use = USE_BOTH_LOW},
        {.name = "b",
         .full_name = "y",
         .launches = 2,
         .total_ns = 20,
         .mean_ns = 2,
         .min_ns = 1,
         .max_ns = 2,
         .p50_ns = 1,
         .p95_ns = 2,
         .p99_ns = 2.5,
         .tensor = 0.1,
         .dram = 0.2,
         .sm = 0.3,
         .headroom_ns = 6,
         .use = USE_UNKNOWN},
    };
    int64_t id = publish_kernels(f, rows, 2, NULL, 0);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        for (int descending = 0; descending < 2; descending++) {
            struct store_page page = {.sort = columns[i], .descending = descending == 1};
            struct kernel_utilisation_row *out;
            size_t count;
            int64_t total;
            assert_ok(f, READ(f->store, store_kernel_utilisation, &f->arena, id, &page, &out,
                              &count, &total, &f->err));
            assert_int_equal(count, 2);
            assert_int_equal(out[0].position, descending);
            assert_int_equal(out[1].position, 1 - descending);
        }
    }
    struct store_page unknown = {.sort = "calls"};
    struct kernel_utilisation_row *out;
    size_t count;
    int64_t total;
    assert_fails(f,
                 READ(f->store, store_kernel_utilisation, &f->arena, id, &unknown, &out, &count,
                      &total, &f->err),
                 ERR_BAD_REQUEST);
    assert_non_null(strstr(f->err.msg, "headroom_ns"));
}

static void every_launch_column_sorts(void **state)
{
    static const char *const columns[] = {"name",   "full_name",   "grid",   "block",  "start_ns",
                                          "dur_ns", "duration_ns", "device", "stream", "tensor",
                                          "dram",   "sm",          "use",    "class",  "position"};
    struct fixture *f = *state;
    struct kernel_utilisation_launch_row rows[] = {
        {0, "a", "x", "1", "1", INT64_MIN, 1, 0, 1, 0.1, (double)NAN, 0, USE_LOW_COMPUTE},
        {0, "b", "y", "2", "2", 0, 2, 1, 2, 0.2, 0, 0.3, USE_LOW_DRAM},
    };
    int64_t id = publish_kernels(f, NULL, 0, rows, 2);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        for (int descending = 0; descending < 2; descending++) {
            struct store_page page = {.sort = columns[i], .descending = descending == 1};
            struct kernel_utilisation_launch_row *out;
            size_t count;
            int64_t total;
            assert_ok(f, READ(f->store, store_kernel_utilisation_launches, &f->arena, id, NULL,
                              &page, &out, &count, &total, NULL, NULL, &f->err));
            assert_int_equal(count, 2);
            assert_int_equal(out[0].position, descending);
        }
    }
}

static void names_are_searched(void **state)
{
    struct fixture *f = *state;
    struct kernel_utilisation_row kernels[] = {
        {.name = "gemm", .full_name = "void cutlass::gemm<1>()"},
        {.name = "copy", .full_name = "void copy<float>()"},
        {.name = "Gemm2", .full_name = NULL}};
    struct kernel_utilisation_launch_row launches[] = {
        {.name = "gemm", .full_name = "void cutlass::gemm<1>()", .dur_ns = 1},
        {.name = "gemm", .full_name = "void cutlass::gemm<2>()", .dur_ns = 2},
        {.name = "copy", .full_name = "gemm's copy", .dur_ns = 3}};
    static const struct {
        const char *q;
        int64_t kernels, launches;
    } cases[] = {{"GEMM", 2, 3}, {"cutlass", 1, 2}, {"<2>", 0, 1}, {"/^copy$/", 1, 1},
                 {"", 3, 3},     {NULL, 3, 3},      {"none", 0, 0}};
    int64_t id = publish_kernels(f, kernels, 3, launches, 3);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct store_page page = {.q = cases[i].q, .sort = "name", .limit = 1};
        struct kernel_utilisation_row *kernel_rows;
        struct kernel_utilisation_launch_row *launch_rows;
        size_t count;
        int64_t total;
        assert_ok(f, READ(f->store, store_kernel_utilisation, &f->arena, id, &page, &kernel_rows,
                          &count, &total, &f->err));
        assert_int_equal(total, cases[i].kernels);
        assert_int_equal(count, cases[i].kernels > 0);
        assert_ok(f, READ(f->store, store_kernel_utilisation_launches, &f->arena, id, NULL, &page,
                          &launch_rows, &count, &total, NULL, NULL, &f->err));
        assert_int_equal(total, cases[i].launches);
    }
    struct store_page page = {.descending = true};
    struct kernel_utilisation_launch_row *rows;
    size_t count;
    int64_t total;
    assert_ok(f, READ(f->store, store_kernel_utilisation_launches, &f->arena, id, "gemm", &page,
                      &rows, &count, &total, NULL, NULL, &f->err));
    assert_int_equal(total, 2);
    assert_int_equal(rows[0].dur_ns, 2);
    assert_int_equal(rows[1].dur_ns, 1);
    assert_ok(f, READ(f->store, store_kernel_utilisation_launches, &f->arena, id, "gem", &page,
                      &rows, &count, &total, NULL, NULL, &f->err));
    assert_int_equal(total, 0);
}

/* The values belong to the rows of the page, whatever their place in the table. */
static void values_follow_their_page(void **state)
{
    struct fixture *f = *state;
    struct sample *s = make_sample();
    struct kernel_utilisation_launch_row *rows;
    struct kernel_utilisation_value_row *values;
    size_t count;
    size_t value_count;
    int64_t total;
    struct store_page page = {.sort = "position", .descending = true, .limit = 2};
    int64_t id = publish(f, add_job(f, "r", "f", "bytes", false), "w", "", &s->results);
    assert_ok(f, READ(f->store, store_kernel_utilisation_launches, &f->arena, id, NULL, &page,
                      &rows, &count, &total, &values, &value_count, &f->err));
    assert_int_equal(count, 2);
    assert_int_equal(value_count, 4);
    static const int stored[] = {3, 4, 5, 2};
    for (int i = 0; i < 4; i++) {
        struct kernel_utilisation_value_row expected = s->values[stored[i]];
        expected.launch = i < 3 ? 0 : 1;
        check_value(&expected, &values[i]);
    }
    page.offset = 2;
    assert_ok(f, READ(f->store, store_kernel_utilisation_launches, &f->arena, id, NULL, &page,
                      &rows, &count, &total, &values, &value_count, &f->err));
    assert_int_equal(value_count, 2);
    assert_int_equal(values[0].launch, 1);
    page.offset = 4;
    assert_ok(f, READ(f->store, store_kernel_utilisation_launches, &f->arena, id, NULL, &page,
                      &rows, &count, &total, &values, &value_count, &f->err));
    assert_int_equal(count + value_count, 0);
    free(s);
}

#define MANY 12000

/* More than a batch, and more values than the list of a page begins with. */
static void large_tables_come_back(void **state)
{
    struct fixture *f = *state;
    struct kernel_utilisation_launch_row *launches = calloc(MANY, sizeof *launches);
    struct kernel_utilisation_value_row *values = calloc(MANY, sizeof *values);
    assert_non_null(launches);
    assert_non_null(values);
    for (int i = 0; i < MANY; i++) {
        launches[i] =
            (struct kernel_utilisation_launch_row){.name = i % 2 == 0 ? "a" : "b", .dur_ns = i};
        values[i] = (struct kernel_utilisation_value_row){
            .launch = i / 2 * 2, .metric = "m", .unit = "", .value = (double)i / 4};
    }
    struct trace_results results = {.device_type = "GPU",
                                    .has_kernel_use = true,
                                    .kernel_utilisation_launches = launches,
                                    .kernel_utilisation_launch_count = MANY,
                                    .kernel_utilisation_values = values,
                                    .kernel_utilisation_value_count = MANY};
    int64_t id = publish(f, add_job(f, "r", "f", "bytes", false), "w", "", &results);
    struct kernel_utilisation_launch_row *rows;
    struct kernel_utilisation_value_row *out;
    size_t count;
    size_t value_count;
    int64_t total;
    struct store_page all = {0};
    assert_ok(f, READ(f->store, store_kernel_utilisation_launches, &f->arena, id, "a", &all, &rows,
                      &count, &total, &out, &value_count, &f->err));
    assert_int_equal(count, MANY / 2);
    assert_int_equal(value_count, MANY);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(out[i].launch, i / 2);
        assert_same_real(out[i].value, values[i].value);
        assert_int_equal(rows[i / 2].dur_ns, i / 2 * 2);
    }
    free(launches);
    free(values);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_store, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_field_comes_back),    TEST(other_traces_have_none),
        TEST(every_kernel_column_sorts), TEST(every_launch_column_sorts),
        TEST(names_are_searched),        TEST(values_follow_their_page),
        TEST(large_tables_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

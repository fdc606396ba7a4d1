#include "tests/unit/ingest/analysis/model_builder.h"

static const struct recommendation_row *advice(const struct trace_results *r, const char *code)
{
    for (size_t i = 0; i < r->recommendation_count; i++) {
        if (strcmp(r->recommendations[i].code, code) == 0) {
            return &r->recommendations[i];
        }
    }
    return NULL;
}

static void
add_device(struct build *b, const char *name, int64_t major, int64_t minor, int64_t bytes)
{
    struct device_properties device = {.name = name,
                                       .compute_major = major,
                                       .compute_minor = minor,
                                       .total_memory_bytes = bytes,
                                       .has = DEVICE_HAS_ID | DEVICE_HAS_NAME |
                                              DEVICE_HAS_TOTAL_MEMORY | DEVICE_HAS_COMPUTE_MAJOR |
                                              DEVICE_HAS_COMPUTE_MINOR};
    assert_true(trace_add_device(b->trace, &device));
}

static void shares_of_the_step_are_told(void **state)
{
    struct build b;
    build_begin(&b);
    build_step(&b, "ProfilerStep#1", 0, 1000);
    build_op(&b, "enumerate(DataLoader)#A.__next__", 1, 0, 123, 1);
    build_op(&b, "gloo:all_reduce", 1, 200, 456, 2);
    const struct trace_results *r = build_run_plugin(&b);
    assert_int_equal(r->recommendation_count, 2);
    assert_non_null(strstr(advice(r, "dataloader")->text, " 12.3%"));
    assert_non_null(strstr(advice(r, "communication")->text, " 25.6%"));
    build_end(&b);
}

static void ids_of_idle_devices_are_joined_as_the_plugin_does(void **state)
{
    static const struct {
        int64_t ids[3];
        size_t count;
        const char *text;
    } rows[] = {{{0}, 1, "GPU 0 has low utilisation."},
                {{10}, 1, "GPU 10 have low utilisation."},
                {{0, 1}, 2, "GPU 0and 1 have low utilisation."},
                {{0, 1, 2}, 3, "GPU 0, 1and 2 have low utilisation."}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct build b;
        build_begin(&b);
        build_step(&b, "ProfilerStep#1", 0, 100);
        for (size_t k = 0; k < rows[i].count; k++) {
            build_device_event(&b, EVENT_KERNEL, "k", rows[i].ids[k], 10, 20, 1, TRACE_NO_ID, 0, 0);
        }
        const char *text = advice(build_run_plugin(&b), "utilisation")->text;
        assert_memory_equal(text, rows[i].text, strlen(rows[i].text));
        build_end(&b);
    }
}

static void parallel_wrappers_are_noticed(void **state)
{
    struct build b;
    build_begin(&b);
    add_device(&b, "Tesla", 3, 7, 1);
    build_step(&b, "ProfilerStep#1", 0, 100);
    build_op(&b, "DataParallel.forward", 1, 0, 10, 1);
    build_op(&b, "DistributedDataParallel.forward", 1, 10, 20, 2);
    build_device_event(&b, EVENT_KERNEL, "k", 0, 0, 100, 1, TRACE_NO_ID, 0, 0);
    build_device_event(&b, EVENT_KERNEL, "k", 1, 0, 100, 1, TRACE_NO_ID, 0, 0);
    const struct trace_results *r = build_run(&b);
    const struct trace_results *p = build_run_plugin(&b);
    assert_non_null(advice(r, "data_parallel"));
    assert_non_null(advice(r, "nccl"));
    assert_null(advice(r, "utilisation"));
    assert_null(build_find(p, OPERATOR_BY_NAME, "DataParallel.forward"));
    assert_int_equal(build_find(r, OPERATOR_BY_NAME, "DataParallel.forward")->calls, 1);
    build_end(&b);
}

static void eligible_kernels_are_counted_at_the_lowest_operator(void **state)
{
    struct build b;
    build_begin(&b);
    add_device(&b, "Tesla", 7, 0, 1);
    build_op(&b, "aten::linear", 1, 0, 100, 1);
    build_op(&b, "aten::addmm", 1, 10, 90, 2);
    build_op(&b, "aten::relu", 1, 100, 200, 3);
    build_runtime(&b, 1, 1, 2, 1, 1);
    build_kernel(&b, "outer", 10, 20, 1); /* of aten::linear, which is not the lowest */
    build_runtime(&b, 1, 11, 12, 2, 2);
    build_kernel(&b, "sgemm", 20, 50, 2);
    build_runtime(&b, 1, 110, 112, 3, 3);
    build_kernel(&b, "relu", 120, 180, 3);
    const struct trace_results *r = build_run_plugin(&b);
    assert_memory_equal(advice(r, "tensor_cores")->text, "30%", 3);
    build_end(&b);
}

static void add_record(struct build *b, int32_t device_id, int64_t allocated)
{
    struct memory_args args = {.device_type = 0,
                               .device_id = device_id,
                               .total_allocated_bytes = allocated,
                               .has = MEMORY_HAS_ALLOCATED | MEMORY_HAS_DEVICE_ID};
    build_event(b,
                (struct trace_event){.ts_ns = 1000,
                                     .correlation = TRACE_NO_ID,
                                     .external_id = TRACE_NO_ID,
                                     .track = build_track(b, BUILD_HOST_PID, 1),
                                     .args = trace_add_memory_args(b->trace, &args),
                                     .kind = EVENT_MEMORY,
                                     .phase = 'i'},
                "[memory]");
}

/* Ids count in the list of properties as in Python, -1 is the last [TB-9.2]. */
static void memory_peaks_index_the_properties(void **state)
{
    struct build b;
    build_begin(&b);
    add_device(&b, "a", 7, 0, INT64_C(10) << 30);
    add_device(&b, "b", 7, 0, INT64_C(4) << 30);
    build_op(&b, "op", 1, 0, 10, 1);
    add_record(&b, 5, INT64_C(100) << 30);
    add_record(&b, -1, INT64_C(1) << 30);
    add_record(&b, 0, (INT64_C(10) << 30) - 1);
    add_record(&b, -1, INT64_C(39) << 30 >> 3);
    const struct trace_results *r = build_run(&b);
    const char *text = advice(build_run_plugin(&b), "memory")->text;
    assert_non_null(strstr(text, "121.9% of 4.0GB on GPU-1"));
    assert_non_null(strstr(advice(r, "memory")->text, "121.9% of 4.0 GiB on device -1"));
    assert_string_equal(advice(r, "memory")->evidence, "memory");
    assert_true((r->views & (1u << VIEW_MEMORY)) != 0);
    build_end(&b);
}

static void mlus_have_their_own_words(void **state)
{
    struct build b;
    build_begin(&b);
    add_device(&b, "MLU370-X8", 0, 0, 1);
    build_step(&b, "ProfilerStep#1", 0, 100);
    build_op(&b, "op", 1, 0, 50, 1);
    build_runtime(&b, 1, 10, 30, 1, 1);
    build_runtime(&b, 1, 15, 20, 2, 1); /* inside the one before: subtracted once */
    build_device_event(&b, EVENT_KERNEL, "k", 0, 30, 40, 1, TRACE_NO_ID, 1.0, 50.0);
    const struct trace_results *r = build_run(&b);
    assert_true(r->mlu);
    assert_string_equal(r->device_type, "MLU");
    assert_int_equal(build_find(r, OPERATOR_BY_NAME, "op")->host_self_ns, 30000);
    assert_true(isnan(r->devices[0].sm_efficiency) && isnan(r->devices[0].occupancy_pct) &&
                isnan(r->devices[0].tensor_share));
    assert_string_equal(r->kernel_launches[0].config[1], "[None, None, None]");
    assert_string_equal(r->kernel_launches[0].config[2], "None");
    assert_memory_equal(advice(r, "utilisation")->text, "MLU 0 is busy 10.0% of the steps", 32);
    assert_memory_equal(advice(build_run_plugin(&b), "utilisation")->text, "MLU 0 has", 9);
    build_end(&b);
}

/* Our advice: the step is 100 us. */
static void begin_matrix_step(struct build *b, const char *device)
{
    build_begin(b);
    add_device(b, device, 8, 0, 1);
    build_step(b, "ProfilerStep#1", 0, 100);
    build_op(b, "aten::addmm", 1, 0, 90, 1);
}

static void add_kernel(struct build *b, const char *name, int64_t start_us, int64_t end_us)
{
    build_device_event(b, EVENT_KERNEL, name, 0, start_us, end_us, 1, TRACE_NO_ID, 0, 0);
}

static void matrix_units_are_missed_only_where_they_are(void **state)
{
    static const struct {
        const char *names[2]; /* of 10 us each, or 9 */
        int64_t first_us;
        bool has_advice;
    } rows[] = {
        {{"ampere_sgemm_128x64_nn", "elementwise_kernel"}, 10, true},
        {{"ampere_sgemm_128x64_nn", "elementwise_kernel"}, 9, false}, /* below a tenth */
        {{"ampere_sgemm_128x64_nn", "nvjet_tst_192x192"}, 10, true},  /* one is used, one is not */
        {{"volta_scudnn_128x64_relu", "elementwise_kernel"}, 10, true}, /* unknown, and none used */
        {{"volta_scudnn_128x64_relu", "nvjet_tst_192x192"}, 10, false},
        {{"nvjet_tst_192x192", "elementwise_kernel"}, 10, false},
        {{"elementwise_kernel", "reduce_kernel"}, 10, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct build b;
        begin_matrix_step(&b, i % 2 == 0 ? "NVIDIA A100" : "AMD Instinct MI300X");
        add_kernel(&b, rows[i].names[0], 0, rows[i].first_us);
        add_kernel(&b, rows[i].names[1], 20, 60);
        const struct recommendation_row *row = advice(build_run(&b), "tensor_cores");
        if ((row != NULL) != rows[i].has_advice) {
            fail_msg("row %d", (int)i);
        }
        if (row != NULL) {
            assert_non_null(strstr(row->text, i % 2 == 0 ? "Tensor Cores" : "Matrix Cores"));
            assert_non_null(strstr(row->text, " 10.0% of the time of the step"));
            assert_memory_equal(row->evidence, "kernels?q=", 10);
            assert_int_equal(row->saving_ns, 5000);
            assert_memory_equal(row->documentation, "https://", 8);
        }
        build_end(&b);
    }
}

/* [FMT-0.6c] */
static void matrix_units_have_their_makers_name(void **state)
{
    struct trace_results results = {.device_type = "NPU"};
    assert_string_equal(results_matrix_units(&results), "Cube units");
    results.device_type = "TPU";
    assert_string_equal(results_matrix_units(&results), "MXUs");
    results.device_type = "GPU";
    assert_string_equal(results_matrix_units(&results), "Tensor Cores");
    results.is_amd = true;
    assert_string_equal(results_matrix_units(&results), "Matrix Cores");
}

static void advice_saves_no_more_than_the_step(void **state)
{
    struct build b;
    begin_matrix_step(&b, "NVIDIA A100");
    build_op(&b, "enumerate(DataLoader)#A.__next__", 1, 90, 96, 1);
    add_kernel(&b, "ampere_sgemm_128x64_nn", 200, 900); /* outside of the step */
    add_kernel(&b, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(a)", 20, 40);
    const struct trace_results *r = build_run(&b);
    assert_int_equal(advice(r, "tensor_cores")->saving_ns, 100000);
    assert_int_equal(advice(r, "dataloader")->saving_ns, 6000);
    assert_int_equal(advice(r, "communication")->saving_ns, 20000);
    assert_string_equal(advice(r, "communication")->evidence,
                        "kernels?q=ncclDevKernel_AllReduce_Sum_f32_RING_LL");
    assert_int_equal(advice(r, "utilisation")->saving_ns, 80000);
    build_end(&b);
}

static void what_is_missing_names_its_option(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "op", 1, 0, 50, 1);
    const struct trace_results *r = build_run(&b);
    bool seen = false;
    for (size_t i = 0; i < r->missing_count; i++) {
        seen = seen || (strcmp(r->missing[i].view, "memory") == 0 &&
                        strcmp(r->missing[i].record, "profile_memory=True") == 0);
    }
    assert_true(seen);
    assert_int_equal(r->missing_count, 6);
    assert_int_equal(r->views, 1u << VIEW_OVERVIEW | 1u << VIEW_OPERATOR | 1u << VIEW_TRACE);
    build_end(&b);
}

static const char *missing_record(const struct trace_results *r, const char *view)
{
    for (size_t i = 0; i < r->missing_count; i++) {
        if (strcmp(r->missing[i].view, view) == 0) {
            return r->missing[i].record;
        }
    }
    return NULL;
}

static void what_was_set_is_not_asked_for_again(void **state)
{
    struct build b;
    build_begin(&b);
    assert_true(trace_add_meta(b.trace, "profile_memory", "1"));
    assert_true(trace_add_meta(b.trace, "with_stack", "0"));
    build_op(&b, "op", 1, 0, 50, 1);
    const struct trace_results *r = build_run(&b);
    assert_string_equal(missing_record(r, "memory"), "");
    assert_string_equal(missing_record(r, "call_stacks"), "with_stack=True");
    build_end(&b);
}

static void collectives_are_missed_only_where_several_processes_are(void **state)
{
    static const struct {
        int64_t world_size;
        const char *op;
        bool misses;
    } rows[] = {{TRACE_NO_ID, "op", false},
                {1, "op", false},
                {2, "op", true},
                {TRACE_NO_ID, "DistributedDataParallel.forward", true}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct build b;
        build_begin(&b);
        b.trace->distributed_world_size = rows[i].world_size;
        build_op(&b, rows[i].op, 1, 0, 50, 1);
        if ((missing_record(build_run(&b), "distributed") != NULL) != rows[i].misses) {
            fail_msg("row %d", (int)i);
        }
        build_end(&b);
    }
}

/* The words are of those who train, or of those who only run a model. */
static void full_memory_is_answered_by_what_the_trace_does(void **state)
{
    static const struct {
        const char *op, *text;
    } rows[] = {{"Optimizer.step#Adam.step", "Checkpointing activations"},
                {"aten::mm", "gpu_memory_utilization"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct build b;
        build_begin(&b);
        add_device(&b, "a", 8, 0, INT64_C(10) << 30);
        build_op(&b, rows[i].op, 1, 0, 10, 1);
        add_record(&b, 0, (INT64_C(10) << 30) - 1);
        assert_non_null(strstr(advice(build_run(&b), "memory")->text, rows[i].text));
        build_end(&b);
    }
}

/* The step is 10 ms, of which the device works one. */
static void what_the_host_did_decides_what_is_said_of_an_idle_device(void **state)
{
    static const struct {
        const char *call; /* NULL: none */
        int64_t calls, call_us;
        const char *host;
        enum event_kind host_kind;
        const char *text; /* NULL: no such advice */
    } rows[] = {
        {"cudaLaunchKernel", 7, 900, "aten::mm", EVENT_OPERATOR,
         "cudaLaunchKernel. A larger batch"},
        {"hipLaunchKernel", 1, 7000, "aten::mm", EVENT_OPERATOR, "hipLaunchKernel. A process does"},
        {"cudaFree", 1, 7000, "aten::mm", EVENT_OPERATOR, "cudaFree. Memory that is allocated"},
        {"cudaStreamSynchronize", 1, 7000, "aten::mm", EVENT_OPERATOR, "chronize. It waits for"},
        {"cudaMemcpy", 1, 7000, "aten::mm", EVENT_OPERATOR, "cudaMemcpy. It waits for"},
        {"cudaMemcpyAsync", 7, 900, "aten::mm", EVENT_OPERATOR, "MemcpyAsync. A larger batch"},
        {"cudaStreamCreate", 1, 7000, "aten::mm", EVENT_OPERATOR,
         "Create. A process does this once"},
        {NULL, 0, 0, "aten::mm", EVENT_OPERATOR, "The host ran operators and Python meanwhile."},
        {NULL, 0, 0, "f.py(1): f", EVENT_PYTHON_FUNCTION, "The host ran Python meanwhile"},
        {NULL, 0, 0, "enumerate(DataLoader)#A.__next__", EVENT_OPERATOR, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct build b;
        build_begin(&b);
        build_step(&b, "ProfilerStep#1", 0, 10000);
        build_device_event(&b, EVENT_KERNEL, "k", 0, 0, 1000, 1, TRACE_NO_ID, 0, 0);
        build_host(&b, rows[i].host_kind, rows[i].host, 1, 0, 9900, TRACE_NO_ID);
        for (int64_t k = 0; k < rows[i].calls; k++) {
            build_host(&b, EVENT_RUNTIME, rows[i].call, 1, 2000 + k * 1000,
                       2000 + k * 1000 + rows[i].call_us, TRACE_NO_ID);
        }
        /* While the device works. */
        build_host(&b, EVENT_RUNTIME, "cudaDeviceSynchronize", 1, 0, 1000, TRACE_NO_ID);
        const struct recommendation_row *row = advice(build_run(&b), "utilisation");
        if ((row != NULL) != (rows[i].text != NULL) ||
            (row != NULL && strstr(row->text, rows[i].text) == NULL)) {
            fail_msg("row %d: %s", (int)i, row == NULL ? "no advice" : row->text);
        }
        if (row != NULL) {
            assert_string_equal(row->evidence, "idle");
        }
        build_end(&b);
    }
}

/* Their sum has more than 64 bits. */
static void calls_of_centuries_are_added_up(void **state)
{
    static const int64_t long_us = INT64_C(4000000000000000);
    struct build b;
    build_begin(&b);
    build_device_event(&b, EVENT_KERNEL, "k", 0, 0, 1, 1, TRACE_NO_ID, 0, 0);
    build_device_event(&b, EVENT_KERNEL, "k", 0, long_us, long_us + 1, 1, TRACE_NO_ID, 0, 0);
    build_op(&b, "aten::mm", 1, 0, 100, 1);
    for (int64_t thread = 1; thread < 5; thread++) {
        build_host(&b, EVENT_RUNTIME, "cudaMalloc", thread, 0, long_us, TRACE_NO_ID);
    }
    assert_non_null(strstr(advice(build_run(&b), "utilisation")->text, "mostly cudaMalloc"));
    build_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_the_step_are_told),
        cmocka_unit_test(ids_of_idle_devices_are_joined_as_the_plugin_does),
        cmocka_unit_test(parallel_wrappers_are_noticed),
        cmocka_unit_test(eligible_kernels_are_counted_at_the_lowest_operator),
        cmocka_unit_test(memory_peaks_index_the_properties),
        cmocka_unit_test(mlus_have_their_own_words),
        cmocka_unit_test(matrix_units_are_missed_only_where_they_are),
        cmocka_unit_test(matrix_units_have_their_makers_name),
        cmocka_unit_test(advice_saves_no_more_than_the_step),
        cmocka_unit_test(what_is_missing_names_its_option),
        cmocka_unit_test(what_was_set_is_not_asked_for_again),
        cmocka_unit_test(collectives_are_missed_only_where_several_processes_are),
        cmocka_unit_test(full_memory_is_answered_by_what_the_trace_does),
        cmocka_unit_test(what_the_host_did_decides_what_is_said_of_an_idle_device),
        cmocka_unit_test(calls_of_centuries_are_added_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "tests/unit/ingest/formats/kernel_table_fixture.h"

/* ---- names ---- */

static const char *clean(struct arena *arena, const char *name)
{
    const char *cleaned = kernel_utilisation_clean_name(arena, name, strlen(name));
    assert_non_null(cleaned);
    return cleaned;
}

static void names_are_cleaned(void **state)
{
    static const struct {
        const char *full;
        const char *cleaned;
    } rows[] = {
        {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
         "at::detail::Array<char*, 1> >(int, at::native::FillFunctor<float>, "
         "at::detail::Array<char*, 1>)",
         "vectorized_elementwise_kernel"},
        {"void at::native::vectorized_elementwise_kernel<(int)4, "
         "at::native::FillFunctor<float>>(int)",
         "vectorized_elementwise_kernel"},
        {"void at::native::(anonymous namespace)::softmax_warp_forward<float, float, 8, "
         "false>(float*, float const*, int)",
         "softmax_warp_forward"},
        {"void at::native::<unnamed>::indexSelectLargeIndex<float, (int)2>(int)",
         "indexSelectLargeIndex"},
        {"<unnamed>::foo", "foo"},
        {"(anonymous namespace)::foo(int)", "foo"},
        {"{anonymous}::foo", "foo"},
        {"void at::native::_GLOBAL__N__6f2a_12_Reduce_cu_1::fold<int>(int)", "fold"},
        {"cudnn::bn_fw_tr_1C11_kernel_NCHW", "cudnn::bn_fw_tr_1C11_kernel_NCHW"},
        {"void cudnn::ops::nchwToNhwcKernel<__half, __half, float, false>(cudnn::ops::P)",
         "cudnn::ops::nchwToNhwcKernel"},
        {"at::native::modern::elementwise<2>", "modern::elementwise"},
        /* launchers of CUTLASS */
        {"void cutlass::Kernel<cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x128_32x3_nn_align8>"
         "(cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x128_32x3_nn_align8::Params)",
         "cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x128_32x3_nn_align8"},
        {"void cutlass_cudnn_train::Kernel<cutlass_tensorop_s1688fprop<int> >(P)",
         "cutlass_tensorop_s1688fprop"},
        {"void Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8>(P)",
         "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8"},
        {"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int>, "
         "X>>(T1::Params)",
         "GemmUniversal"},
        {"void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<"
         "flash::Mainloop<2>>>>(T1::Params)",
         "FlashAttnFwdSm90"},
        {"void cutlass::Kernel<cutlass_80_tensorop_f16_s168...", "cutlass_80_tensorop_f16_s168..."},
        {"cutlass_cudnn_infer::Kernel", "cutlass_cudnn_infer::Kernel"},
        {"cutlass::Kernel", "Kernel"},
        {"Kernel", "Kernel"},
        {"void mine::Kernel<float>(float*)", "mine::Kernel"},
        /* what stands between the parts */
        {"std::enable_if<(bool)1, void>::type foo::bar<int, (Kind)2>(int*) [clone .0]", "foo::bar"},
        {"unsigned long long const* pick<float>(int)", "pick"},
        {"void foo(int)", "foo"},
        {"decltype (a > b) foo<(1 > 0), &ns::operator> >(int)", "foo"},
        {"void foo<(a < b), 3>(int)", "foo"},
        {"Functor::operator()(int) const", "Functor::operator()"},
        {"void Functor::operator()<float>(int)", "Functor::operator()"},
        {"outer(int)::{lambda(float)#2}::operator()(float) const", "outer::{lambda#2}::operator()"},
        {"outer(int)::[lambda(float) (instance 2)]::operator()(float) const",
         "outer::{lambda#2}::operator()"},
        {"void run<outer(int)::{lambda(float)#1}>(int, outer(int)::{lambda(float)#1})", "run"},
        /* tables cut names off */
        {"void at::native::vectorized_elementwise_kernel<4,...", "vectorized_elementwise_kernel"},
        {"void at::native::(anonymous namespace)::softmax_wa...", "softmax_wa..."},
        {"cudnn_infer_ampere_fp16_scudnn_fp16_128x32_relu...",
         "cudnn_infer_ampere_fp16_scudnn_fp16_128x32_relu..."},
        {"void at::native::(anonymous nam...", "void at::native::(anonymous nam..."},
        {"outer::{lambda#2", "outer::{lambda#2}"},
        /* what is no demangled name stays */
        {"_ZN2at6native29vectorized_elementwise_kernelILi4E",
         "_ZN2at6native29vectorized_elementwise_"
         "kernelILi4E"},
        {"triton_poi_fused_add_0", "triton_poi_fused_add_0"},
        {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
         "ncclDevKernel_AllReduce_Sum_f32_RING_LL"},
        {"my kernel (second try)", "my kernel (second try)"},
        {"my kernel", "my kernel"},
        {"step 3: scale", "step 3: scale"},
        {"(int)", "(int)"},
        {"<>", "<>"},
        {">>>", ">>>"},
        {"...", "..."},
        {"", ""},
    };
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *cleaned = clean(&arena, rows[i].full);
        if (strcmp(cleaned, rows[i].cleaned) != 0) {
            fail_msg("%s: %s, not %s", rows[i].full, cleaned, rows[i].cleaned);
        }
        assert_string_equal(clean(&arena, cleaned), cleaned);
    }
    arena_free(&arena);
}

static void hostile_names_are_left_alone(void **state)
{
    static const char *const units[] = {"<", "(", ">", "a::", " ", "operator<", "{lambda#1}", "<>"};
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        size_t len = strlen(units[i]) * 20000;
        char *name = malloc(len + 1);
        assert_non_null(name);
        for (size_t at = 0; at < len; at += strlen(units[i])) {
            memcpy(name + at, units[i], strlen(units[i]));
        }
        name[len] = '\0';
        assert_true(strlen(clean(&arena, name)) > 0);
        for (size_t cut = 1; cut < 60; cut++) {
            assert_true(strlen(kernel_utilisation_clean_name(&arena, name, cut)) > 0);
        }
        free(name);
    }
    arena_free(&arena);
}

/* ---- figures ---- */

static void classes_follow_use(void **state)
{
    const double none = (double)NAN;
    assert_int_equal(kernel_utilisation_classify(0.1, 0.1, none), USE_BOTH_LOW);
    assert_int_equal(kernel_utilisation_classify(0.1, 0.5, 0.2), USE_LOW_COMPUTE);
    assert_int_equal(kernel_utilisation_classify(0.1, 0.1, 0.5), USE_LOW_DRAM);
    assert_int_equal(kernel_utilisation_classify(0.5, 0.5, 0.1), USE_NEITHER_LOW);
    assert_int_equal(kernel_utilisation_classify(1.0 / 3, 1.0 / 3, none), USE_NEITHER_LOW);
    assert_int_equal(kernel_utilisation_classify(none, 0.1, 0.5), USE_LOW_DRAM);
    assert_int_equal(kernel_utilisation_classify(none, 0.1, none), USE_UNKNOWN);
    assert_int_equal(kernel_utilisation_classify(0.1, none, 0.1), USE_UNKNOWN);
}

static struct trace_results *run_text(const char *text)
{
    struct err err = ERR_INIT;
    struct trace_results *results;
    struct format_bundle bundle = read_text(text);
    assert_true(kernel_utilisation_run(bundle.items[0].kernel_table, &results, &err));
    format_bundle_free(&bundle);
    return results;
}

static void rows_are_summed_by_cleaned_name(void **state)
{
    struct trace_results *results = run_text("Kernel Latency Tensor DRAM\n"
                                             "void at::native::mul<int>(int) | 100 0.10 0.20\n"
                                             "gemm | 1000 0.80 0.10\n"
                                             "void at::native::mul<float>(float) | 300 0.50 n/a\n"
                                             "bad\n"
                                             "void at::native::mul<int>(int) | 200 n/a 0.60\n");
    assert_true(results->has_kernel_use);
    assert_int_equal(results->views, 1u << VIEW_UTILISATION | 1u << VIEW_KERNEL);
    assert_int_equal(results->event_count, 4);
    assert_int_equal(results->start_ns, 0);
    assert_int_equal(results->duration_ns, 1600);
    assert_int_equal(results->kernel_utilisation_count, 2);
    assert_string_equal(results->kernel_utilisation[0].name, "gemm");
    const struct kernel_utilisation_row *mul = &results->kernel_utilisation[1];
    assert_string_equal(mul->name, "mul");
    assert_string_equal(mul->full_name, "void at::native::mul<int>(int)");
    assert_int_equal(mul->launches, 3);
    assert_int_equal(mul->total_ns, 600);
    assert_int_equal(mul->min_ns, 100);
    assert_int_equal(mul->max_ns, 300);
    assert_near(mul->mean_ns, 200);
    assert_near(mul->p50_ns, 200);
    assert_near(mul->p95_ns, 290);
    assert_near(mul->p99_ns, 298);
    assert_near(mul->tensor, (100 * 0.1 + 300 * 0.5) / 400);
    assert_near(mul->dram, (100 * 0.2 + 200 * 0.6) / 300);
    assert_true(isnan(mul->sm));
    assert_int_equal(mul->use, USE_NEITHER_LOW);
    assert_near(mul->headroom_ns, 600 * (1 - (100 * 0.2 + 200 * 0.6) / 300));

    const struct kernel_utilisation_totals *totals = &results->kernel_utilisation_totals;
    assert_int_equal(totals->launches, 4);
    assert_int_equal(totals->kernels, 2);
    assert_int_equal(totals->total_ns, 1600);
    assert_near(totals->tensor, (100 * 0.1 + 1000 * 0.8 + 300 * 0.5) / 1400);
    assert_near(totals->headroom_ns, mul->headroom_ns + 1000 * (1 - 0.8));
    assert_int_equal(totals->class_ns[USE_BOTH_LOW], 100);
    assert_int_equal(totals->class_ns[USE_LOW_DRAM], 1000);
    assert_int_equal(totals->class_ns[USE_UNKNOWN], 500);
    assert_int_equal(totals->class_launches[USE_UNKNOWN], 2);

    assert_int_equal(results->kernel_utilisation_launch_count, 4);
    assert_string_equal(results->kernel_utilisation_launches[2].full_name,
                        "void at::native::mul<float>(float)");
    assert_int_equal(results->kernel_utilisation_launches[2].use, USE_UNKNOWN);
    assert_true(results->kernel_utilisation_launches[0].start_ns == INT64_MIN);
    assert_int_equal(results->bad_row_count, 1);
    assert_int_equal(results->warnings.by_code[WARN_BAD_LINE].count, 1);
    assert_int_equal(results->missing_count, 0);
    results_destroy(results);
}

static void the_kernel_view_has_full_names(void **state)
{
    struct trace_results *results = run_text("Kernel Latency Tensor DRAM\n"
                                             "f<int> | 10 0 0\nf<char> | 30 0 0\n"
                                             "f<int> | 11 0 0\n"
                                             "ampere_fp16_s16816gemm_fp16 | 60 1 0\n"
                                             "f<char> | 30 0 0\n");
    assert_true(results->has_kernel);
    assert_int_equal(results->kernel_count, 3);
    assert_string_equal(results->kernels[0].name, "f<char>");
    assert_string_equal(results->kernels[1].name, "ampere_fp16_s16816gemm_fp16");
    assert_string_equal(results->kernels[2].name, "f<int>");
    assert_int_equal(results->kernels[2].calls, 2);
    assert_int_equal(results->kernels[2].total_ns, 21);
    assert_int_equal(results->kernels[2].p50_ns, 11);
    assert_true(results->kernels[1].tensor_used);
    assert_near(results->tensor_pie_used, 60.0 / 141);
    results_destroy(results);
}

/* A table made by hand, with what the text table cannot say. */
static struct kernel_table *table_with_times(void)
{
    struct kernel_table *table = kernel_table_create();
    assert_non_null(table);
    uint32_t f = strtab_intern(table->strings, "f", 1);
    uint32_t g = strtab_intern(table->strings, "g", 1);
    uint32_t copy = strtab_intern(table->strings, "[CUDA memcpy HtoD]", 18);
    uint32_t grid = strtab_intern(table->strings, "[8, 1, 1]", 9);
    double none = (double)NAN;
    const struct kernel_table_launch launches[] = {
        {copy, STRTAB_NONE, STRTAB_NONE, KERNEL_TABLE_MEMCPY, 40, 1000, 0, 7, 512, none, none,
         none},
        {f, grid, grid, KERNEL_TABLE_KERNEL, 10, 1100, 1, 7, INT64_MIN, none, none, 0.5},
        {copy, STRTAB_NONE, STRTAB_NONE, KERNEL_TABLE_MEMCPY, 20, 1200, 0, 7, 512, none, none,
         none},
        {g, grid, grid, KERNEL_TABLE_KERNEL, 30, 1300, 1, 7, INT64_MIN, none, 0.25, none},
        {f, grid, grid, KERNEL_TABLE_KERNEL, 30, 1400, 1, 7, INT64_MIN, none, none, 0.9},
    };
    for (size_t i = 0; i < COUNT_OF(launches); i++) {
        assert_true(kernel_table_add_launch(table, &launches[i]));
    }
    uint32_t occupancy = strtab_intern(table->strings, "occupancy", 9);
    uint32_t percent = strtab_intern(table->strings, "%", 1);
    const struct kernel_table_metric metrics[] = {
        {1, occupancy, percent, 40}, {3, occupancy, percent, 10}, {4, occupancy, percent, 80}};
    for (size_t i = 0; i < COUNT_OF(metrics); i++) {
        assert_true(kernel_table_add_metric(table, &metrics[i]));
    }
    return table;
}

static void times_metrics_and_transfers_are_kept(void **state)
{
    struct err err = ERR_INIT;
    struct trace_results *results;
    struct kernel_table *table = table_with_times();
    assert_true(kernel_utilisation_run(table, &results, &err));
    kernel_table_destroy(table);
    assert_int_equal(results->start_ns, 1000);
    assert_int_equal(results->duration_ns, 430);
    assert_int_equal(results->event_count, 5);
    assert_int_equal(results->kernel_utilisation_launch_count, 3);
    assert_int_equal(results->kernel_utilisation_launches[1].start_ns, 300);
    assert_int_equal(results->kernel_utilisation_launches[1].device, 1);
    assert_string_equal(results->kernel_utilisation_launches[1].grid, "[8, 1, 1]");
    assert_int_equal(results->kernel_utilisation_totals.total_ns, 70);

    assert_int_equal(results->kernel_utilisation_metric_count, 2);
    const struct kernel_utilisation_metric_row *metric = &results->kernel_utilisation_metrics[0];
    assert_int_equal(metric->kernel, 0);
    assert_string_equal(metric->metric, "occupancy");
    assert_string_equal(metric->unit, "%");
    assert_int_equal(metric->launches, 2);
    assert_near(metric->mean, (40.0 * 10 + 80.0 * 30) / 40);
    assert_near(metric->min, 40);
    assert_near(metric->max, 80);
    assert_int_equal(results->kernel_utilisation_value_count, 3);
    assert_int_equal(results->kernel_utilisation_values[2].launch, 2);
    assert_near(results->kernel_utilisation_values[2].value, 80);

    assert_int_equal(results->transfer_count, 1);
    assert_string_equal(results->transfers[0].kind, "memcpy");
    assert_int_equal(results->transfers[0].operations, 2);
    assert_int_equal(results->transfers[0].total_ns, 60);
    assert_int_equal(results->transfers[0].min_ns, 20);
    assert_int_equal(results->transfers[0].size_bytes, 1024);
    assert_true(results->has_memcpy_or_memset);
    results_destroy(results);
}

static void summaries_say_what_they_say(void **state)
{
    struct err err = ERR_INIT;
    struct trace_results *results;
    struct kernel_table *table = kernel_table_create();
    assert_non_null(table);
    const struct kernel_table_summary summaries[] = {
        {strtab_intern(table->strings, "f<1>", 4), 2, 20, 5, 15, 10, 10},
        {strtab_intern(table->strings, "g", 1), 4, 400, INT64_MIN, 150, 100, (double)NAN},
        {strtab_intern(table->strings, "f<2>", 4), 1, 40, 40, 40, 40, 40},
    };
    for (size_t i = 0; i < COUNT_OF(summaries); i++) {
        assert_true(kernel_table_add_summary(table, &summaries[i]));
    }
    assert_true(kernel_utilisation_run(table, &results, &err));
    kernel_table_destroy(table);
    assert_int_equal(results->kernel_utilisation_count, 2);
    const struct kernel_utilisation_row *g = &results->kernel_utilisation[0];
    const struct kernel_utilisation_row *f = &results->kernel_utilisation[1];
    assert_string_equal(g->name, "g");
    assert_true(g->min_ns == INT64_MIN && isnan(g->p50_ns) && isnan(g->p95_ns));
    assert_int_equal(g->max_ns, 150);
    assert_string_equal(f->name, "f");
    assert_int_equal(f->launches, 3);
    assert_int_equal(f->total_ns, 60);
    assert_int_equal(f->min_ns, 5);
    assert_int_equal(f->max_ns, 40);
    assert_true(isnan(f->p50_ns));
    assert_near(f->mean_ns, 20);
    assert_int_equal(results->kernel_utilisation_totals.launches, 7);
    assert_int_equal(results->kernel_utilisation_totals.class_ns[USE_UNKNOWN], 460);
    assert_int_equal(results->views, 1u << VIEW_UTILISATION);
    assert_int_equal(results->missing_count, 2);
    assert_string_equal(results->missing[0].view, "utilisation");
    assert_string_equal(results->missing[1].view, "kernels");
    results_destroy(results);
}

static void the_seeds_have_their_figures(void **state)
{
    static const struct {
        const char *name;
        int64_t launches, kernels, total_ns;
        double tensor, dram;
    } seeds[] = {
        {"seeds/000_abc90e299168b04d.txt", 560, 39, 59945216, 0.2080, 0.1763},
        {"seeds/001_2e6eb07346960d83.txt", 1626, 20, 57191968, 0.2483, 0.2436},
        {"seeds/002_a62fcc25c90d6fd4.txt", 971, 15, 32061824, 0.2458, 0.1847},
    };
    for (size_t i = 0; i < COUNT_OF(seeds); i++) {
        char path[1024];
        if (!reference_path(path, sizeof path, seeds[i].name)) {
            skip();
        }
        struct err err = ERR_INIT;
        struct trace_results *results;
        struct format_bundle bundle = read_path(path);
        assert_true(kernel_utilisation_run(bundle.items[0].kernel_table, &results, &err));
        format_bundle_free(&bundle);
        const struct kernel_utilisation_totals *totals = &results->kernel_utilisation_totals;
        assert_int_equal(totals->launches, seeds[i].launches);
        assert_int_equal(totals->kernels, seeds[i].kernels);
        assert_int_equal(totals->total_ns, seeds[i].total_ns);
        assert_true(fabs(totals->tensor - seeds[i].tensor) < 0.00005);
        assert_true(fabs(totals->dram - seeds[i].dram) < 0.00005);
        for (size_t row = 0; row < results->kernel_utilisation_count; row++) {
            assert_string_equal(results->kernel_utilisation[row].name,
                                results->kernel_utilisation[row].full_name);
        }
        results_destroy(results);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_cleaned),
        cmocka_unit_test(hostile_names_are_left_alone),
        cmocka_unit_test(classes_follow_use),
        cmocka_unit_test(rows_are_summed_by_cleaned_name),
        cmocka_unit_test(the_kernel_view_has_full_names),
        cmocka_unit_test(times_metrics_and_transfers_are_kept),
        cmocka_unit_test(summaries_say_what_they_say),
        cmocka_unit_test(the_seeds_have_their_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "ingest/analysis/classify/names.h"
#include "ingest/analysis/classify/tensor_core.h"
#include "ingest/analysis/kernel_classes/kernel_classes.h"
#include "ingest/analysis/util/percentiles.h"
#include "ingest/base/containers/introsort.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"
#include "ingest/tb_plugin/tables/device_set.h"
#include "tests/unit/ingest/analysis/model_builder.h"

#include <stdlib.h>

static void few_ties_keep_the_order_of_names(void **state)
{
    const int64_t reversed_totals[] = {5, 5, 9, 5};
    uint32_t order[4];
    introsort_kernel_order(order, reversed_totals, 4);
    const uint32_t want[] = {1, 0, 2, 3};
    assert_memory_equal(order, want, sizeof want);
}

/* Twenty equal values, argsorted by NumPy 1.24's quicksort without vector instructions. */
static void many_ties_swap_as_numpy_swaps(void **state)
{
    int64_t values[20];
    uint32_t index[20];
    for (uint32_t i = 0; i < 20; i++) {
        values[i] = 1;
        index[i] = i;
    }
    introsort_positions(index, 20, values);
    static const uint32_t want[20] = {0, 17, 16, 15, 14, 13, 12, 11, 10, 9,
                                      8, 7,  6,  5,  4,  3,  2,  1,  18, 19};
    assert_memory_equal(index, want, sizeof want);
}

static void introsort_sorts(void **state)
{
    enum { COUNT = 5000 };
    static int64_t values[COUNT];
    static uint32_t index[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        values[i] = (int64_t)(i * 2654435761u % 1000);
        index[i] = i;
    }
    introsort_positions(index, COUNT, values);
    for (uint32_t i = 1; i < COUNT; i++) {
        assert_true(values[index[i - 1]] <= values[index[i]]);
    }
}

static int by_value(uint32_t a, uint32_t b, const void *ctx)
{
    const int64_t *values = ctx;
    return (values[a] > values[b]) - (values[a] < values[b]);
}

static void both_sorts_are_stable(void **state)
{
    enum { COUNT = 3000 };
    static int64_t values[COUNT];
    static uint32_t merged[COUNT];
    static uint32_t radix[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        values[i] = (int64_t)(i * 2654435761u % 100) - 50;
        values[i] *= i % 3 == 0 ? INT64_C(1000000007) : 1;
        merged[i] = i;
        radix[i] = i;
    }
    assert_true(sort_stable(merged, COUNT, by_value, values));
    assert_true(sort_by_key(radix, COUNT, values));
    assert_memory_equal(merged, radix, sizeof merged);
    for (uint32_t i = 1; i < COUNT; i++) {
        int order = by_value(merged[i - 1], merged[i], values);
        assert_true(order < 0 || (order == 0 && merged[i - 1] < merged[i]));
    }
}

static void devices_stand_in_the_order_of_a_python_set(void **state)
{
    static const struct {
        uint8_t ids[8];
        size_t count;
        uint8_t walk[8];
    } rows[] = {{{3, 1, 0}, 3, {0, 1, 3}}, {{1, 8}, 2, {8, 1}},
                {{8, 0}, 2, {8, 0}},       {{0, 8}, 2, {0, 8}},
                {{9, 7}, 2, {9, 7}},       {{63, 1, 33, 9, 40}, 5, {1, 33, 40, 9, 63}}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct device_set set;
        uint8_t walk[DEVICE_SET_IDS];
        device_set_init(&set);
        for (size_t k = 0; k < rows[i].count; k++) {
            device_set_add(&set, rows[i].ids[k]);
            device_set_add(&set, rows[i].ids[0]);
        }
        assert_int_equal(device_set_walk(&set, walk), rows[i].count);
        assert_memory_equal(walk, rows[i].walk, rows[i].count);
    }
}

static void percentiles_interpolate(void **state)
{
    int64_t values[] = {40, 7, 10, 30, 20};
    uint32_t group[] = {0, 1, 0, 0, 0};
    const int64_t calls[] = {4, 1};
    struct percentiles out[2];
    assert_true(percentiles_by_group(values, group, 5, calls, 2, out));
    assert_int_equal(out[0].p50, 25);
    assert_int_equal(out[0].p95, 39); /* 38.5, away from zero */
    assert_int_equal(out[0].p99, 40);
    assert_int_equal(out[1].p50, 7);
    assert_int_equal(out[1].p99, 7);
}

static void tensor_core_kernels_are_told_by_name(void **state)
{
    static const struct {
        const char *name;
        bool listed;
        enum matrix_unit ours; /* list or rules */
    } rows[] = {
        {"volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", true, MATRIX_UNIT_USED},
        {"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_32x6_tn", true, MATRIX_UNIT_USED},
        {"cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128_32x4_nn_align8", true, MATRIX_UNIT_USED},
        {"cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8", false,
         MATRIX_UNIT_USED},
        {"cutlass_80_simt_sgemm_128x32_8x5_nn_align1", false, MATRIX_UNIT_UNKNOWN},
        {"cutlass3x_sm90_tensorop_s64x128x16gemm_bf16", false, MATRIX_UNIT_USED},
        {"cutlass3x_sm100_tensorop_h256x128x16gemm_bf16", false, MATRIX_UNIT_USED},
        {"cutlass3x_sm120_tensorop_s16x8x32gemm_e4m3", false, MATRIX_UNIT_USED},
        {"ampere_sgemm_128x64_nn", false, MATRIX_UNIT_UNUSED},
        {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_ffma_kernel__5x_cublas", true,
         MATRIX_UNIT_USED},
        {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas", true,
         MATRIX_UNIT_USED},
        {"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc", false, MATRIX_UNIT_UNKNOWN},
        {"nvjet_tst_192x192_64x4_2x1_v_bz_coopA_TNT", false, MATRIX_UNIT_USED},
        {"void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>", false, MATRIX_UNIT_USED},
        {"flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel", false, MATRIX_UNIT_USED},
        {"void flash::flash_bwd_dot_do_o_kernel<true>", false, MATRIX_UNIT_UNUSED},
        {"void flash::flash_fwd_splitkv_combine_kernel<>", false, MATRIX_UNIT_UNUSED},
        {"fmha_cutlassF_bf16_aligned_64x64_rf_sm80", false, MATRIX_UNIT_USED},
        {"fmha_cutlassF_f32_aligned_64x64_rf_sm50", false, MATRIX_UNIT_USED},
        {"fmha_cutlassF_f32_aligned_64x64_rf_sm80", false, MATRIX_UNIT_USED},
        {"Cijk_Ailk_Bljk_BBS_BH_MT128x128x32_MI16x16x16x1_SN", false, MATRIX_UNIT_USED},
        {"Cijk_Ailk_Bljk_SB_MT64x64x8_SE_TT4_4", false, MATRIX_UNIT_UNKNOWN},
        {"cutlass::device_kernel<cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized>", false,
         MATRIX_UNIT_USED},
        {"void at::native::digamma_kernel", false, MATRIX_UNIT_UNKNOWN},
        {"elementwise_kernel", false, MATRIX_UNIT_UNUSED},
        {"", false, MATRIX_UNIT_UNKNOWN},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct strtab *strings = strtab_create();
        uint32_t id = strtab_intern(strings, rows[i].name, strlen(rows[i].name));
        struct names names;
        assert_true(names_init(&names, strings) && names_read_kernel(&names, id, NULL));
        uint32_t flags = names_kernel_flags(&names, id);
        enum matrix_unit unit = (flags & NAME_TENSOR_KERNEL) != 0  ? MATRIX_UNIT_USED
                                : (flags & NAME_PLAIN_KERNEL) != 0 ? MATRIX_UNIT_UNUSED
                                                                   : MATRIX_UNIT_UNKNOWN;
        if (tensor_core_listed_kernel(rows[i].name) != rows[i].listed || unit != rows[i].ours) {
            fail_msg("%s: %d", rows[i].name, (int)unit);
        }
        names_free(&names);
        strtab_destroy(strings);
    }
}

static void tensor_core_operators_are_told_by_name(void **state)
{
    assert_true(tensor_core_listed_operator("aten::mm"));
    assert_true(tensor_core_listed_operator("BmmBackward0"));
    assert_false(tensor_core_listed_operator("AddmmBackward0"));
    assert_false(tensor_core_listed_operator("aten::mm2"));
    assert_true(tensor_core_operator("AddmmBackward0"));
    assert_true(tensor_core_operator("aten::convolution_backward"));
    assert_true(tensor_core_operator("aten::_scaled_dot_product_flash_attention"));
    assert_true(tensor_core_operator("aten::_scaled_mm"));
    assert_false(tensor_core_operator("aten::add"));
}

static void kernel_rows_weigh_by_duration(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "op", 1, 0, 100, 1);
    build_runtime(&b, 1, 1, 2, 1, 1);
    build_device_event(&b, EVENT_KERNEL, "b", 0, 10, 20, 1, TRACE_NO_ID, 2.0, 50.0);
    build_device_event(&b, EVENT_KERNEL, "b", 0, 20, 50, 1, TRACE_NO_ID, (double)NAN, (double)NAN);
    build_device_event(&b, EVENT_KERNEL, "a", 0, 60, 100, 1, TRACE_NO_ID, 1.0, 10.0);
    const struct trace_results *r = build_run(&b);
    assert_int_equal(r->kernel_count, 2);
    assert_string_equal(r->kernels[0].name, "a"); /* equal totals: by name */
    assert_true(r->kernels[1].blocks_per_sm == 0.5);
    assert_true(r->kernels[1].occupancy_pct == 12.5);
    assert_int_equal(r->kernels[1].min_ns, 10000);
    assert_int_equal(r->kernels[1].max_ns, 30000);
    assert_true(r->has_blocks_per_sm && r->has_occupancy);
    assert_string_equal(r->kernel_launches[0].name, "b"); /* ties: the one seen first */
    assert_string_equal(r->kernel_launches[0].operator_name, "op");
    assert_string_equal(r->kernel_launches[0].config[0], "[1, 1, 1]");
    assert_string_equal(r->kernel_launches[0].config[1], "None");
    assert_string_equal(r->kernel_launches[0].config[2], "0");
    assert_string_equal(r->kernel_launches[0].config[3], "1024");
    assert_true(r->kernel_launches[0].blocks_per_sm == 0.5);
    build_end(&b);
}

static void devices_share_the_window_of_the_steps(void **state)
{
    struct build b;
    build_begin(&b);
    build_step(&b, "ProfilerStep#1", 0, 100);
    build_op(&b, "op", 1, 0, 100, 1);
    build_runtime(&b, 1, 1, 2, 1, 1);
    build_device_event(&b, EVENT_KERNEL, "hmma", 0, 10, 30, 1, TRACE_NO_ID, 0.5, 40.0);
    build_device_event(&b, EVENT_KERNEL, "k", 0, 20, 40, 1, TRACE_NO_ID, 0.75, 20.0);
    build_device_event(&b, EVENT_KERNEL, "k", 64, 20, 40, 1, TRACE_NO_ID, 0.75, 20.0);
    const struct trace_results *r = build_run(&b);
    assert_int_equal(r->device_count, 2); /* the second has an id that the plugin does not take */
    assert_int_equal(r->warnings.by_code[WARN_DEVICE_ID].count, 1);
    assert_true(r->devices[0].utilisation == 0.3);
    assert_int_equal(r->devices[1].id, 64);
    assert_true(r->devices[1].utilisation == 0.2);
    /* 10 us at 0.5, 10 at 1 (1.25 clipped), 10 at 0.75 */
    assert_true(fabs(r->devices[0].sm_efficiency - 0.225) < 1e-15);
    assert_true(r->devices[0].occupancy_pct == 30.0);
    assert_true(r->devices[0].tensor_share == 0.5);
    assert_null(r->devices[0].name);
    build_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_ties_keep_the_order_of_names),
        cmocka_unit_test(many_ties_swap_as_numpy_swaps),
        cmocka_unit_test(introsort_sorts),
        cmocka_unit_test(both_sorts_are_stable),
        cmocka_unit_test(devices_stand_in_the_order_of_a_python_set),
        cmocka_unit_test(percentiles_interpolate),
        cmocka_unit_test(tensor_core_kernels_are_told_by_name),
        cmocka_unit_test(tensor_core_operators_are_told_by_name),
        cmocka_unit_test(kernel_rows_weigh_by_duration),
        cmocka_unit_test(devices_share_the_window_of_the_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

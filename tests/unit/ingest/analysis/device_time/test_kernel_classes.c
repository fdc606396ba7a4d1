/* Classes of device work by name: what each rule says, and which of two comes first [DEV-1]. */
#include "ingest/analysis/kernel_classes/kernel_classes.h"
#include "tests/unit/unit.h"

// clang-format off
// clang-format on
#include <string.h>

struct expected {
    const char *name;
    const char *class;
    enum matrix_unit matrix_unit;
    const char *kind;
};

static void check(const struct expected *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct kernel_class class;
        assert_true(kernel_class_of(NULL, rows[i].name, &class));
        assert_string_equal(class.name, rows[i].class);
        assert_int_equal(class.matrix_unit, rows[i].matrix_unit);
        assert_int_equal(class.communication_kind == NULL, rows[i].kind == NULL);
        if (rows[i].kind != NULL) {
            assert_string_equal(class.communication_kind, rows[i].kind);
        }
    }
}

#define CHECK(rows) check(rows, sizeof(rows) / sizeof(rows)[0])

static void names_have_the_class_of_the_first_rule(void **state)
{
    static const struct expected rows[] = {
        {"Memcpy HtoD (Pageable -> Device)", "memcpy", MATRIX_UNIT_UNUSED, NULL},
        {"__amd_rocclr_fillBufferAligned", "memset", MATRIX_UNIT_UNUSED, NULL},
        {"Event_Wait", "sync", MATRIX_UNIT_UNUSED, NULL},
        {"Wait of a stream for an event", "other", MATRIX_UNIT_UNKNOWN, NULL},
        {"Stream 7 waits for Event 3", "sync", MATRIX_UNIT_UNUSED, NULL},
        {"triton_poi_fused_all_gather_into_tensor_1", "elementwise", MATRIX_UNIT_UNUSED, NULL},
        {"triton_red_fused_native_layer_norm_0", "norm", MATRIX_UNIT_UNUSED, NULL},
        {"triton_tem_fused_flex_attention_2", "attention", MATRIX_UNIT_USED, NULL},
        {"triton_tem_fused_mm_2", "gemm", MATRIX_UNIT_USED, NULL},
        {"void flash_fwd_splitkv_combine_kernel<>", "attention", MATRIX_UNIT_UNUSED, NULL},
        {"void flash_fwd_kernel<>", "attention", MATRIX_UNIT_USED, NULL},
        {"_matmul_ogs_bf16", "moe", MATRIX_UNIT_USED, NULL},
        {"nvjet_tst_128x256", "gemm", MATRIX_UNIT_USED, NULL},
        {"Cijk_Ailk_Bljk_SB_MT64_MI32x32", "gemm", MATRIX_UNIT_USED, NULL},
        {"void gemv2T_kernel_val", "gemm", MATRIX_UNIT_UNUSED, NULL},
        {"cublasSgemm", "gemm", MATRIX_UNIT_UNKNOWN, NULL},
        {"ampere_fp8_gemm_any", "gemm", MATRIX_UNIT_USED, NULL},
        {"cudnn::winograd_nonfused::winogradForwardData4x4", "conv", MATRIX_UNIT_UNKNOWN, NULL},
        {"something new", "other", MATRIX_UNIT_UNKNOWN, NULL},
        {"", "other", MATRIX_UNIT_UNKNOWN, NULL},
    };
    CHECK(rows);
}

static void communication_has_a_kind(void **state)
{
    static const struct expected rows[] = {
        {"ncclDevKernel_AllReduce_Sum_bf16", "communication", MATRIX_UNIT_UNUSED, "nccl"},
        {"deep_ep::internode::dispatch", "communication", MATRIX_UNIT_UNUSED, "deepep"},
        {"vllm::cross_device_reduce_1stage", "communication", MATRIX_UNIT_UNUSED,
         "custom_all_reduce"},
        {"trtllm_x_allreduce", "communication", MATRIX_UNIT_UNUSED, "all_reduce_fusion"},
        {"my_all_gather", "communication", MATRIX_UNIT_UNUSED, "other"},
        {"deep_ep::get_dispatch_layout", "moe", MATRIX_UNIT_UNUSED, NULL},
    };
    CHECK(rows);
}

/* `fbgemm` is a library: its other kernels are no gemms. */
static void fbgemm_is_no_gemm(void **state)
{
    static const struct expected rows[] = {
        {"FBGEMM_gpu::split_kernel", "other", MATRIX_UNIT_UNKNOWN, NULL},
        {"fbgemmgemm_kernel", "gemm", MATRIX_UNIT_UNKNOWN, NULL},
        {"fbgemm_gpu::gemm_kernel", "gemm", MATRIX_UNIT_UNKNOWN, NULL},
    };
    CHECK(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_the_class_of_the_first_rule),
        cmocka_unit_test(communication_has_a_kind),
        cmocka_unit_test(fbgemm_is_no_gemm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

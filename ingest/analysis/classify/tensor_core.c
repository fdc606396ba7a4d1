#include "ingest/analysis/classify/tensor_core.h"

#include <stddef.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char *const PLUGIN_KERNELS[] = {
    "h884",
    "s884",
    "h1688",
    "s1688",
    "hmma",
    "i8816",
    "16816",
    "dgrad_1x1_stride_2x2",
    "first_layer_wgrad_kernel",
    "conv1x1",
    "conv2d_c1_k1",
    "direct_group",
    "xmma_implicit_gemm",
    "xmma_sparse_conv",
    "xmma_warp_specialized_implicit_gemm",
    "xmma_gemm",
    "xmma_sparse_gemm",
    "c1688",
};

/* What the libraries of today put into kernel names, beyond the plugin's list. */
static const char *const KERNELS[] = {
    /* instructions and their shapes: Volta to Ampere, integer and double precision */
    "d884",
    "i16832",
    "s16832",
    "161616",
    "_imma",
    "imma_",
    "_dmma",
    "dmma_",
    "_qmma",
    "qmma_",
    "wmma",
    "mma.sync",
    "mma_sync",
    "mma_m16n8k",
    "m16n8k",
    "m16n16k",
    "m16nXk",
    /* Hopper and Blackwell */
    "gmma",
    "Gmma",
    "GMMA",
    "Umma",
    "UMMA",
    "utcmma",
    "UTCMMA",
    "tcgen05",
    "nvjet",
    /* cuBLAS, cuDNN, CUTLASS 2 and 3, CuTe atoms */
    "xmma_",
    "tensorop",
    "OpClassTensorOp",
    "OpClassWmmaTensorOp",
    "OpClassBlockScaledTensorOp",
    "MmaTensorOp",
    "SM70_8x8x4",
    "SM75_16x8x8",
    "SM75_8x8x16",
    "SM80_16x8x",
    "SM80_8x8x",
    "SM89_16x8x",
    "SM90_16x8x",
    "SM90_64x",
    "SM100_MMA",
    "SM120_16x8x",
    /* attention: the matrix kernels, not their helpers (combine, convert, dot_do_o) */
    "flash_fwd_kernel",
    "flash_fwd_splitkv_kernel",
    "flash_fwd_splitkv_mla",
    "flash_bwd_kernel",
    "flash_bwd_dq_dk_dv",
    "FlashAttnFwdSm",
    "FlashAttnBwdSm",
    "_flash_fprop",
    "_flash_bprop",
    "fmha_cutlassF_f16",
    "fmha_cutlassF_bf16",
    "fmha_cutlassB_f16",
    "fmha_cutlassB_bf16",
    "fmha_v2_",
    "fmha_fwd_loop",
    "fmha_bwd_dq_dk_dv",
    "fmha_fwd_hd",
    "fmha_bwd_hd",
    "PrefillWithPagedKV",
    "PrefillWithRaggedKV",
    "SinglePrefillWithKV",
    /* quantised and generated GEMMs */
    "fp8_gemm",
    "Marlin<",
    "marlin_gemm",
    "triton_tem_",
    /* ROCm: MFMA and WMMA of Tensile, composable kernels, MIOpen */
    "mfma",
    "MFMA",
    "xdlops",
    "_xdl_",
    "Xdl",
    "_gtcx",
    "FmhaFwdKernel",
    "FmhaFwdSplitKVKernel",
    "FmhaBwdDQDKDVKernel",
};

/* Names that tell of ordinary arithmetic. */
static const char *const NOT_KERNELS[] = {
    "simt", "Simt", "ffma", "hfma2", "dfma_", "_sm50",
};

static const char *const PLUGIN_OPERATORS[] = {
    "aten::_convolution",
    "aten::conv1d",
    "aten::conv2d",
    "aten::conv3d",
    "aten::conv_tbc",
    "aten::conv_transpose1d",
    "aten::conv_transpose2d",
    "aten::conv_transpose3d",
    "aten::convolution",
    "aten::cudnn_convolution",
    "aten::cudnn_convolution_transpose",
    "aten::prelu",
    "aten::addmm",
    "aten::addmv",
    "aten::addr",
    "aten::matmul",
    "aten::mm",
    "aten::mv",
    "aten::linear",
    "aten::addbmm",
    "aten::baddbmm",
    "aten::bmm",
    "aten::chain_matmul",
    "aten::linalg_multi_dot",
    "aten::_thnn_fused_lstm_cell",
    "aten::_thnn_fused_gru_cell",
    "aten::lstm_cell",
    "aten::gru_cell",
    "aten::rnn_tanh_cell",
    "aten::rnn_relu_cell",
    "aten::addmm_",
    "aten::cudnn_convolution_transpose_backward",
    "aten::cudnn_convolution_transpose_backward_weight",
    "aten::cudnn_convolution_transpose_backward_input",
    "aten::cudnn_convolution_backward",
    "aten::cudnn_convolution_backward_weight",
    "aten::cudnn_convolution_backward_input",
    "CudnnConvolutionBackward",
    "CudnnConvolutionTransposeBackward",
    "BmmBackward0",
    "MmBackward",
    "AddmvBackward",
    "MvBackward",
    "AddmmBackward",
    "AddbmmBackward",
};

static const char *const OPERATORS[] = {
    "aten::convolution_backward",
    "aten::convolution_overrideable",
    "aten::convolution_backward_overrideable",
    "aten::_convolution_double_backward",
    "aten::cudnn_convolution_relu",
    "aten::cudnn_convolution_add_relu",
    "aten::miopen_convolution",
    "aten::miopen_convolution_relu",
    "aten::miopen_convolution_add_relu",
    "aten::miopen_convolution_transpose",
    "aten::slow_conv2d_forward",
    "aten::_slow_conv2d_forward",
    "aten::_slow_conv2d_backward",
    "aten::thnn_conv2d",
    "aten::addbmm_",
    "aten::addmv_",
    "aten::addr_",
    "aten::baddbmm_",
    "aten::_addmm_activation",
    "aten::_scaled_mm",
    "aten::_scaled_grouped_mm",
    "aten::_grouped_mm",
    "aten::_int_mm",
    "aten::_weight_int4pack_mm",
    "aten::_weight_int8pack_mm",
    "aten::_cslt_sparse_mm",
    "aten::_sparse_semi_structured_mm",
    "aten::_sparse_semi_structured_addmm",
    "aten::_sparse_semi_structured_linear",
    "aten::linalg_matmul",
    "aten::linalg_vecdot",
    "aten::inner",
    "aten::dot",
    "aten::vdot",
    "aten::einsum",
    "aten::tensordot",
    "aten::bilinear",
    "aten::_trilinear",
    "aten::matmul_backward",
    "aten::linear_backward",
    "aten::lstm",
    "aten::gru",
    "aten::rnn_tanh",
    "aten::rnn_relu",
    "aten::_cudnn_rnn",
    "aten::_cudnn_rnn_backward",
    "aten::miopen_rnn",
    "aten::miopen_rnn_backward",
    "aten::_native_multi_head_attention",
    "aten::_transformer_encoder_layer_fwd",
    "aten::_flash_attention_forward",
    "aten::_flash_attention_backward",
    "aten::_efficient_attention_forward",
    "aten::_efficient_attention_backward",
    "aten::_cudnn_attention_forward",
    "aten::_cudnn_attention_backward",
    "AddmmBackward0",
    "MmBackward0",
    "MvBackward0",
    "AddmvBackward0",
    "AddbmmBackward0",
    "BaddbmmBackward0",
    "BmmBackward",
    "BaddbmmBackward",
    "LinearBackward0",
    "MatmulBackward0",
    "ConvolutionBackward0",
    "CudnnConvolutionBackward0",
    "MiopenConvolutionBackward0",
    "CudnnRnnBackward0",
    "FlashAttnFunc",
    "FlashAttnFuncBackward",
    "FlashAttnVarlenFunc",
    "FlashAttnVarlenFuncBackward",
};

static const char *const OPERATOR_PREFIXES[] = {
    "aten::scaled_dot_product_",
    "aten::_scaled_dot_product_",
    "ScaledDotProduct",
    "flash_attn::_flash_attn_",
    "flash_attn_3::",
};

static bool contains_one_of(const char *name, const char *const *fragments, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strstr(name, fragments[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static bool is_one_of(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, list[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool begins_with_one_of(const char *name, const char *const *prefixes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Tensile writes the matrix instruction it uses as _MI16x16x4x1; without one the kernel uses plain
 * FMAs. */
static bool is_tensile_matrix_kernel(const char *name)
{
    const char *at = strstr(name, "Cijk_");
    while (at != NULL && (at = strstr(at, "_MI")) != NULL) {
        at += strlen("_MI");
        const char *digits = at;
        while (is_digit(*at)) {
            at++;
        }
        if (at != digits && *at == 'x' && is_digit(at[1])) {
            return true;
        }
    }
    return false;
}

/* The single precision kernels of memory-efficient attention use Tensor Cores from sm80 on. */
static bool is_single_precision_attention(const char *name)
{
    bool is_f32 =
        strstr(name, "fmha_cutlassF_f32") != NULL || strstr(name, "fmha_cutlassB_f32") != NULL;
    return is_f32 && strstr(name, "_sm80") != NULL;
}

bool tensor_core_plugin_kernel(const char *name)
{
    return contains_one_of(name, PLUGIN_KERNELS, COUNT(PLUGIN_KERNELS));
}

bool tensor_core_plugin_operator(const char *name)
{
    return is_one_of(name, PLUGIN_OPERATORS, COUNT(PLUGIN_OPERATORS));
}

bool tensor_core_kernel(const char *name)
{
    if (contains_one_of(name, NOT_KERNELS, COUNT(NOT_KERNELS))) {
        return false;
    }
    return tensor_core_plugin_kernel(name) || contains_one_of(name, KERNELS, COUNT(KERNELS)) ||
           is_tensile_matrix_kernel(name) || is_single_precision_attention(name);
}

bool tensor_core_operator(const char *name)
{
    return tensor_core_plugin_operator(name) || is_one_of(name, OPERATORS, COUNT(OPERATORS)) ||
           begins_with_one_of(name, OPERATOR_PREFIXES, COUNT(OPERATOR_PREFIXES));
}

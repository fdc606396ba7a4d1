#include "ingest/analysis/classify/tensor_core.h"

#include <stddef.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Most names of a trace are in no list, which their length tells nearly always. */
struct operator_name {
    size_t len;
    const char *text;
};
#define NAME(literal)                \
    {                                \
        sizeof(literal) - 1, literal \
    }

static const char *const LISTED_KERNELS[] = {
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

static const struct operator_name LISTED_OPERATORS[] = {
    NAME("aten::_convolution"),
    NAME("aten::conv1d"),
    NAME("aten::conv2d"),
    NAME("aten::conv3d"),
    NAME("aten::conv_tbc"),
    NAME("aten::conv_transpose1d"),
    NAME("aten::conv_transpose2d"),
    NAME("aten::conv_transpose3d"),
    NAME("aten::convolution"),
    NAME("aten::cudnn_convolution"),
    NAME("aten::cudnn_convolution_transpose"),
    NAME("aten::prelu"),
    NAME("aten::addmm"),
    NAME("aten::addmv"),
    NAME("aten::addr"),
    NAME("aten::matmul"),
    NAME("aten::mm"),
    NAME("aten::mv"),
    NAME("aten::linear"),
    NAME("aten::addbmm"),
    NAME("aten::baddbmm"),
    NAME("aten::bmm"),
    NAME("aten::chain_matmul"),
    NAME("aten::linalg_multi_dot"),
    NAME("aten::_thnn_fused_lstm_cell"),
    NAME("aten::_thnn_fused_gru_cell"),
    NAME("aten::lstm_cell"),
    NAME("aten::gru_cell"),
    NAME("aten::rnn_tanh_cell"),
    NAME("aten::rnn_relu_cell"),
    NAME("aten::addmm_"),
    NAME("aten::cudnn_convolution_transpose_backward"),
    NAME("aten::cudnn_convolution_transpose_backward_weight"),
    NAME("aten::cudnn_convolution_transpose_backward_input"),
    NAME("aten::cudnn_convolution_backward"),
    NAME("aten::cudnn_convolution_backward_weight"),
    NAME("aten::cudnn_convolution_backward_input"),
    NAME("CudnnConvolutionBackward"),
    NAME("CudnnConvolutionTransposeBackward"),
    NAME("BmmBackward0"),
    NAME("MmBackward"),
    NAME("AddmvBackward"),
    NAME("MvBackward"),
    NAME("AddmmBackward"),
    NAME("AddbmmBackward"),
};

static const struct operator_name OPERATORS[] = {
    NAME("aten::convolution_backward"),
    NAME("aten::convolution_overrideable"),
    NAME("aten::convolution_backward_overrideable"),
    NAME("aten::_convolution_double_backward"),
    NAME("aten::cudnn_convolution_relu"),
    NAME("aten::cudnn_convolution_add_relu"),
    NAME("aten::miopen_convolution"),
    NAME("aten::miopen_convolution_relu"),
    NAME("aten::miopen_convolution_add_relu"),
    NAME("aten::miopen_convolution_transpose"),
    NAME("aten::slow_conv2d_forward"),
    NAME("aten::_slow_conv2d_forward"),
    NAME("aten::_slow_conv2d_backward"),
    NAME("aten::thnn_conv2d"),
    NAME("aten::addbmm_"),
    NAME("aten::addmv_"),
    NAME("aten::addr_"),
    NAME("aten::baddbmm_"),
    NAME("aten::_addmm_activation"),
    NAME("aten::_scaled_mm"),
    NAME("aten::_scaled_grouped_mm"),
    NAME("aten::_grouped_mm"),
    NAME("aten::_int_mm"),
    NAME("aten::_weight_int4pack_mm"),
    NAME("aten::_weight_int8pack_mm"),
    NAME("aten::_cslt_sparse_mm"),
    NAME("aten::_sparse_semi_structured_mm"),
    NAME("aten::_sparse_semi_structured_addmm"),
    NAME("aten::_sparse_semi_structured_linear"),
    NAME("aten::linalg_matmul"),
    NAME("aten::linalg_vecdot"),
    NAME("aten::inner"),
    NAME("aten::dot"),
    NAME("aten::vdot"),
    NAME("aten::einsum"),
    NAME("aten::tensordot"),
    NAME("aten::bilinear"),
    NAME("aten::_trilinear"),
    NAME("aten::matmul_backward"),
    NAME("aten::linear_backward"),
    NAME("aten::lstm"),
    NAME("aten::gru"),
    NAME("aten::rnn_tanh"),
    NAME("aten::rnn_relu"),
    NAME("aten::_cudnn_rnn"),
    NAME("aten::_cudnn_rnn_backward"),
    NAME("aten::miopen_rnn"),
    NAME("aten::miopen_rnn_backward"),
    NAME("aten::_native_multi_head_attention"),
    NAME("aten::_transformer_encoder_layer_fwd"),
    NAME("aten::_flash_attention_forward"),
    NAME("aten::_flash_attention_backward"),
    NAME("aten::_efficient_attention_forward"),
    NAME("aten::_efficient_attention_backward"),
    NAME("aten::_cudnn_attention_forward"),
    NAME("aten::_cudnn_attention_backward"),
    NAME("AddmmBackward0"),
    NAME("MmBackward0"),
    NAME("MvBackward0"),
    NAME("AddmvBackward0"),
    NAME("AddbmmBackward0"),
    NAME("BaddbmmBackward0"),
    NAME("BmmBackward"),
    NAME("BaddbmmBackward"),
    NAME("LinearBackward0"),
    NAME("MatmulBackward0"),
    NAME("ConvolutionBackward0"),
    NAME("CudnnConvolutionBackward0"),
    NAME("MiopenConvolutionBackward0"),
    NAME("CudnnRnnBackward0"),
    NAME("FlashAttnFunc"),
    NAME("FlashAttnFuncBackward"),
    NAME("FlashAttnVarlenFunc"),
    NAME("FlashAttnVarlenFuncBackward"),
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

static bool is_one_of(const char *name, const struct operator_name *list, size_t count)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < count; i++) {
        if (len == list[i].len && memcmp(name, list[i].text, len) == 0) {
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

bool tensor_core_listed_kernel(const char *name)
{
    return contains_one_of(name, LISTED_KERNELS, COUNT(LISTED_KERNELS));
}

bool tensor_core_listed_operator(const char *name)
{
    return is_one_of(name, LISTED_OPERATORS, COUNT(LISTED_OPERATORS));
}

bool tensor_core_operator(const char *name)
{
    return tensor_core_listed_operator(name) || is_one_of(name, OPERATORS, COUNT(OPERATORS)) ||
           begins_with_one_of(name, OPERATOR_PREFIXES, COUNT(OPERATOR_PREFIXES));
}

#include "ingest/analysis/kernel_classes/kernel_classes.h"

#include "ingest/base/text/affix.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_LETTERS 3
#define GROUP_HASH_BITS 11
#define GROUP_HASHES (1u << GROUP_HASH_BITS)
#define NOWHERE UINT32_MAX

/* The first with a pattern in the name decides [DEV-1]. */
static const struct kernel_rule class_rules[] = {
    {"memcpy", NULL, MATRIX_RULE_UNUSED, "^memcpy ^hipmemcpy ^__amd_rocclr_copybuffer"},
    {"memset", NULL, MATRIX_RULE_UNUSED, "^memset ^hipmemset ^__amd_rocclr_fillbuffer"},
    {"sync", NULL, MATRIX_RULE_UNUSED,
     "^event_wait ^event_record ^notify_wait ^notify_record ^stream*wait*event "
     "^context*sync ^event*sync"},
    {"attention", NULL, MATRIX_RULE_USED, "^triton_tem_*attention"},
    {"conv", NULL, MATRIX_RULE_BY_NAME, "^triton_tem_*conv"},
    {"gemm", NULL, MATRIX_RULE_USED, "^triton_tem_"},
    {"norm", NULL, MATRIX_RULE_UNUSED,
     "^triton_red_*norm ^triton_per_*norm ^triton_red_*rsqrt ^triton_per_*rsqrt "
     "^triton_red_*mean*pow ^triton_per_*mean*pow"},
    {"softmax", NULL, MATRIX_RULE_UNUSED, "^triton_red_*softmax ^triton_per_*softmax"},
    {"reduce", NULL, MATRIX_RULE_UNUSED, "^triton_red_ ^triton_per_"},
    {"optimizer", NULL, MATRIX_RULE_UNUSED, "^triton_for_"},
    {"elementwise", NULL, MATRIX_RULE_UNUSED, "^triton_poi_"},
    {"moe", NULL, MATRIX_RULE_UNUSED, "get_dispatch_layout ep::layout::"},
    {"communication", NULL, MATRIX_RULE_UNUSED,
     "^nccl ncclkernel nccldevkernel rccl hccl ^hcom_ cncl oneccl ep::intranode:: "
     "ep::internode:: ep::internode_ll:: deep_ep:: nvshmem multimem_ one_shot_all "
     "two_shot_all symm_mem cross_device_reduce reduce_scatter_cross_device "
     "quick_all_reduce quickreduce oneshotlamport mscclpp userbuffers allreduce "
     "all_reduce allgather all_gather reducescatter reduce_scatter alltoall "
     "all_to_all all2all"},
    {"kv_cache", NULL, MATRIX_RULE_UNUSED,
     "reshape_and_cache concat_and_cache store_cache store_kv set_kv_buffer "
     "copy_page_indices kv_indices swap_blocks copy_blocks"},
    {"attention", NULL, MATRIX_RULE_UNUSED,
     "flashattnbwdpre flashattnbwdpost flash_bwd_dot_do_o flash_bwd_convert_dq "
     "flash_fwd_splitkv_combine flashattnfwdcombine fmhafwdsplitkvcombine "
     "reduce_segments merge_attn_states mergestate bwd_preprocess "
     "paged_attention*reduce"},
    {"attention", NULL, MATRIX_RULE_USED,
     "flash_fwd flash_bwd flash_attn flashattn flashattention flash:: fmha attn_fwd "
     "attn_bwd sage_fwd sageattn paged_attn pagedattention attention "
     "batchprefillwith batchdecodewith singleprefillwith singledecodewith "
     "_fwd_grouped_kernel_stage flash_mla flashmla mla_fwd mha_fwd mha_bwd "
     "gated_delta_rule"},
    {"moe", NULL, MATRIX_RULE_USED,
     "_matmul_ogs_ fused_moe_kernel fmoe moe_gemm moegemm kernel_moe"},
    {"moe", NULL, MATRIX_RULE_UNUSED,
     "moe topkgating topk_gating topk_forward bitmatrix combined_routing "
     "routingindices routingrenormalize finalize_matmul_scatter finalizekernel "
     "expand_to_fused reduce_fused unique_group_indices get_fused_mapping expert"},
    {"copy", NULL, MATRIX_RULE_UNUSED,
     "subtensorop nchwtonhwc nhwctonchw batched_transpose cnhw2nchw nchw2cnhw"},
    {"conv", NULL, MATRIX_RULE_UNUSED,
     "computeoffsets computeboffsets computewgrad conv_depthwise conv1d im2col "
     "im2d2col col2im"},
    {"conv", NULL, MATRIX_RULE_USED,
     "implicit_gemm*tensor fprop*16816 wgrad*16816 dgrad*16816 igemm_*gtcx conv*xdl "
     "xdl*conv xdlops_bwd_weight conv*tensorop conv*wmma"},
    {"conv", NULL, MATRIX_RULE_BY_NAME,
     "scudnn winograd implicitgemm implicit_gemm convolution conv2d conv3d 3dconv "
     "conv_fwd conv_bwd _conv_ ::conv:: fprop wgrad dgrad igemm_ convbp convforward "
     "convbackward"},
    {"gemm", NULL, MATRIX_RULE_UNUSED,
     "gemv splitkreduce splitk_reduce volta_sgemm maxwell_sgemm ampere_sgemm gcgemm "
     "gemmk1_kernel fill_tensormaps"},
    {"gemm", NULL, MATRIX_RULE_USED,
     "nvjet cijk_*_mi xmma_gemm h884 s884 h16816 s16816 s1688 i8816 i16832 tensorop "
     "wgmma grouped_gemm deep_gemm gemm*xdl xdl*gemm gemm*fp8 fp8*gemm gemm*sm90 "
     "sm90*gemm gemm*sm100 sm100*gemm cutlass::device_kernel*gemm bmm_ matmul "
     "wvsplitk"},
    {"gemm", NULL, MATRIX_RULE_BY_NAME, "gemm cijk_ cublas"},
    {"norm", NULL, MATRIX_RULE_UNUSED,
     "layer_norm layernorm rmsnorm rms_norm batch_norm batchnorm group_norm "
     "groupnorm l2norm rowwisemoments gammabeta bn_fw bn_bw computeinternalgradients "
     "fusedparamscuda"},
    {"softmax", NULL, MATRIX_RULE_UNUSED, "softmax"},
    {"loss", NULL, MATRIX_RULE_UNUSED, "cross_entropy nll_loss"},
    {"elementwise", NULL, MATRIX_RULE_UNUSED, "rotary rope_ _rope"},
    {"embedding", NULL, MATRIX_RULE_UNUSED, "embedding"},
    {"optimizer", NULL, MATRIX_RULE_UNUSED,
     "multi_tensor_apply adamw fusedadam fused_adam adagrad lamb_ sgd_"},
    {"quantize", NULL, MATRIX_RULE_UNUSED, "quant"},
    {"sampling", NULL, MATRIX_RULE_UNUSED,
     "sampling sampler top_p topp argmax argmin multinomial penalt"},
    {"sort", NULL, MATRIX_RULE_UNUSED,
     "sort devicescan scan_by_key lookback_scan nonzero devicepartition deviceselect "
     "devicecompact topk top_k unique"},
    {"copy", NULL, MATRIX_RULE_UNUSED,
     "catarray copy_kernel direct_copy copy_async transpose permute copybuffer "
     "gather scatter index_elementwise index_kernel indexselect slice flip_kernel "
     "_copy_tensor tensormove memcpy"},
    {"random", NULL, MATRIX_RULE_UNUSED, "distribution philox random"},
    {"pool", NULL, MATRIX_RULE_UNUSED, "pool upsample interpolate"},
    {"reduce", NULL, MATRIX_RULE_UNUSED, "reduce norm_kernel cumsum"},
    {"elementwise", NULL, MATRIX_RULE_UNUSED,
     "elementwise act_and_mul silu gelu swiglu fill dropout rotary rope functor "
     "pointwise arange activation cast"},
};

/* Of class communication. */
static const struct {
    const char *kind, *patterns;
} kind_rules[] = {
    {"deepep", "ep::intranode:: ep::internode:: ep::internode_ll:: deep_ep::"},
    {"nvshmem", "nvshmem"},
    {"symmetric_memory", "multimem_ one_shot_all two_shot_all symm_mem"},
    {"custom_all_reduce", "cross_device_reduce reduce_scatter_cross_device"},
    {"quick_all_reduce", "quick_all_reduce quickreduce"},
    {"all_reduce_fusion", "allreduce_fusion all_reduce_fusion oneshotlamport trtllm_allreduce "
                          "trtllm*allreduce"},
    {"mscclpp", "mscclpp"},
    {"userbuffers", "userbuffers"},
    {"hccl", "hccl ^hcom_"},
    {"cncl", "cncl"},
    {"oneccl", "oneccl"},
    {"rccl", "rccl"},
    {"nccl", "nccl"},
};

/* In names of matrix kernels, where the rule says that the name tells. */
static const char matrix_patterns[] = "tensorop 16816 s1688 h1688 884 wgmma mfma _mi16x _mi32x "
                                      "_mi4x xdl wmma fp8 e4m3";

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* ---- patterns ---- */

/* A name in lower case, and where each group of three letters stands in it: hardly any of some 300
 * patterns begins with one of them, and only there a pattern is compared. */
struct plain_name {
    char *text;
    uint32_t *next; /* by place: the next one with a group of the same hash; NOWHERE: none */
    uint32_t first[GROUP_HASHES]; /* by hash */
};

static uint32_t hash_group(const char *letters)
{
    const uint32_t spread = 2654435761; /* of Fibonacci hashing */
    uint32_t group = (uint32_t)(unsigned char)letters[0] << 16 |
                     (uint32_t)(unsigned char)letters[1] << 8 | (uint32_t)(unsigned char)letters[2];
    return group * spread >> (32 - GROUP_HASH_BITS);
}

static bool is_letter(char c)
{
    return c != '*' && c != ' ' && c != '\0';
}

/* False: the pattern does not fit. Spares the search for its parts. */
static bool may_fit(const struct plain_name *plain, const char *pattern)
{
    if (*pattern == '^') {
        return !is_letter(pattern[1]) || plain->text[0] == pattern[1];
    }
    for (size_t i = 0; i < GROUP_LETTERS; i++) {
        if (!is_letter(pattern[i])) {
            return true;
        }
    }
    return plain->first[hash_group(pattern)] != NOWHERE;
}

static bool begins(const char *text, const char *part, size_t len)
{
    return strncmp(text, part, len) == 0;
}

static const char *
find(const struct plain_name *plain, const char *from, const char *part, size_t len)
{
    if (len < GROUP_LETTERS) {
        while (*from != '\0' && !begins(from, part, len)) {
            from++;
        }
        return *from == '\0' ? NULL : from;
    }
    for (uint32_t i = plain->first[hash_group(part)]; i != NOWHERE; i = plain->next[i]) {
        const char *at = plain->text + i;
        if (*at == *part && at >= from && begins(at, part, len)) {
            return at;
        }
    }
    return NULL;
}

/* The leftmost place of each part leaves most room for the parts behind it. */
static bool fits(const struct plain_name *plain, const char *pattern, const char *end)
{
    const char *name = plain->text;
    bool is_bound = *pattern == '^';
    for (const char *part = pattern + is_bound; part < end;) {
        const char *star = memchr(part, '*', (size_t)(end - part));
        size_t len = (size_t)((star == NULL ? end : star) - part);
        const char *at = name;
        if (is_bound) {
            at = begins(name, part, len) ? name : NULL;
        } else if (len > 0) {
            at = find(plain, name, part, len);
        }
        if (at == NULL) {
            return false;
        }
        is_bound = false;
        name = at + len;
        part += len + 1;
    }
    return true;
}

static bool fits_any(const struct plain_name *plain, const char *patterns)
{
    for (const char *pattern = patterns; *pattern != '\0';) {
        const char *end = pattern;
        while (*end != ' ' && *end != '\0') {
            end++;
        }
        if (may_fit(plain, pattern) && fits(plain, pattern, end)) {
            return true;
        }
        pattern = end + (*end == ' ');
    }
    return false;
}

/* ---- names ---- */

static const char library[] = "fbgemm";
#define LIBRARY_BYTES (sizeof library - 1)
#define LIBRARY_KEPT_BYTES 2

/* In lower case, and without the letters of `fbgemm` that look like a gemm; `next` is to be freed.
 */
static bool make_plain(struct plain_name *plain, const char *name)
{
    size_t len = strlen(name);
    size_t kept = 0;
    size_t begin = 0; /* behind the last that was cut */
    uint32_t *next = len >= NOWHERE ? NULL : malloc((len + 1) * (sizeof *next + 1));
    if (next == NULL) {
        return false;
    }
    char *text = (char *)(next + len + 1);
    plain->text = text;
    plain->next = next;
    for (size_t i = 0; i <= len; i++) {
        text[kept++] = text_lower(name[i]);
        if (kept - begin >= LIBRARY_BYTES &&
            memcmp(text + kept - LIBRARY_BYTES, library, LIBRARY_BYTES) == 0) {
            kept -= LIBRARY_BYTES - LIBRARY_KEPT_BYTES;
            begin = kept;
        }
    }
    memset(plain->first, 0xff, sizeof plain->first);
    for (size_t i = kept; i-- > GROUP_LETTERS;) {
        uint32_t hash = hash_group(text + i - GROUP_LETTERS);
        next[i - GROUP_LETTERS] = plain->first[hash];
        plain->first[hash] = (uint32_t)(i - GROUP_LETTERS);
    }
    return true;
}

static enum matrix_unit matrix_of(const struct plain_name *plain, enum matrix_rule rule)
{
    switch (rule) {
    case MATRIX_RULE_UNUSED:
        return MATRIX_UNIT_UNUSED;
    case MATRIX_RULE_USED:
        return MATRIX_UNIT_USED;
    case MATRIX_RULE_BY_NAME:
        return fits_any(plain, matrix_patterns) ? MATRIX_UNIT_USED : MATRIX_UNIT_UNKNOWN;
    case MATRIX_RULE_UNKNOWN:
        break;
    }
    return MATRIX_UNIT_UNKNOWN;
}

static const char *kind_of(const struct plain_name *plain)
{
    for (size_t i = 0; i < COUNT_OF(kind_rules); i++) {
        if (fits_any(plain, kind_rules[i].patterns)) {
            return kind_rules[i].kind;
        }
    }
    return "other";
}

static const struct kernel_rule *
first_that_fits(const struct kernel_rule *rules, size_t count, const struct plain_name *plain)
{
    for (size_t i = 0; i < count; i++) {
        if (fits_any(plain, rules[i].patterns)) {
            return &rules[i];
        }
    }
    return NULL;
}

static struct kernel_class classify(const struct kernel_rules *own, const struct plain_name *plain)
{
    struct kernel_class out = {"other", NULL, MATRIX_UNIT_UNKNOWN};
    const struct kernel_rule *rule =
        own == NULL ? NULL : first_that_fits(own->rules, own->count, plain);
    if (rule == NULL) {
        rule = first_that_fits(class_rules, COUNT_OF(class_rules), plain);
    }
    if (rule == NULL) {
        return out;
    }
    out.name = rule->class;
    out.matrix_unit = matrix_of(plain, rule->matrix);
    if (strcmp(out.name, KERNEL_CLASS_COMMUNICATION) == 0) {
        out.communication_kind = rule->kind != NULL ? rule->kind : kind_of(plain);
    }
    return out;
}

bool kernel_class_of(const struct kernel_rules *own, const char *name, struct kernel_class *out)
{
    struct plain_name plain;
    if (!make_plain(&plain, name)) {
        return false;
    }
    *out = classify(own, &plain);
    free(plain.next);
    return true;
}

/* Operations and bytes of operators, worked out by hand from the table of [CAU-4.2]. */
#include "ingest/analysis/efficiency/formulas.h"
#include "tests/unit/unit.h"

#include <string.h>

#define NO_BYTES (-1)

struct example {
    const char *name, *dims, *types, *concrete;
    int64_t flops, bytes; /* NO_BYTES: the size of a type is not known */
};

static bool compute(const struct example *it, struct formula *out)
{
    struct op_inputs inputs;
    const struct formula_rule *rule = formula_find(it->name);
    assert_non_null(rule);
    op_inputs_read(it->dims, it->types, it->concrete, &inputs);
    return formula_compute(rule, &inputs, out);
}

static void check(const struct example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct example *it = &examples[i];
        struct formula formula;
        bool has_bytes = it->bytes != NO_BYTES;
        if (!compute(it, &formula) || formula.flops != it->flops ||
            formula.bytes != (has_bytes ? (wide_int)it->bytes : WIDE_NONE)) {
            fail_msg("%s %s %s: %lld operations, %lld bytes, wanted %lld and %lld", it->name,
                     it->dims, it->concrete, (long long)formula.flops, (long long)formula.bytes,
                     (long long)it->flops, (long long)it->bytes);
        }
    }
}

#define CHECK(examples) check(examples, sizeof(examples) / sizeof *(examples))
#define FLOATS "[\"float\",\"float\",\"float\",\"float\",\"float\"]"
#define HALVES "[\"c10::Half\",\"c10::Half\",\"c10::Half\",\"c10::Half\",\"c10::Half\"]"
#define BFLOATS \
    "[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\"]"

static void products_of_matrices(void **state)
{
    static const struct example examples[] = {
        {"aten::mm", "[[2,3],[3,5]]", HALVES, NULL, 60, (6 + 15 + 10) * 2},
        {"aten::mm", "[[2,3],[3,5]]", "[\"c10::Half\",\"float\"]", NULL, 60, 12 + 60 + 20},
        {"aten::mm", "[[2,3],[3,5]]", "[\"c10::Half\",\"odd\"]", NULL, 60, NO_BYTES},
        {"aten::mm", "[[2,3],[3,5]]", NULL, NULL, 60, NO_BYTES},
        {"aten::addmm", "[[5],[2,3],[3,5]]", FLOATS, NULL, 70, (6 + 15 + 10 + 5) * 4},
        {"aten::bmm", "[[4,2,3],[4,3,5]]", BFLOATS, NULL, 240, 248},
        {"aten::baddbmm", "[[1],[4,2,3],[4,3,5]]", FLOATS, NULL, 280, 4 * 36 * 4},
        {"aten::_grouped_mm", "[[10,4],[3,4,6]]", BFLOATS, NULL, 480, (40 + 72 + 60) * 2},
        {"aiter::gemm_a16w16", "[[2,3,4],[5,4]]", HALVES, NULL, 240, (24 + 20 + 30) * 2},
        {"vllm::rocm_unquantized_gemm", "[[6,4],[5,4],[5]]", HALVES, NULL, 270, 148 + 10},
    };
    CHECK(examples);
}

#define FLOAT8 "[\"c10::Float8_e4m3fn\",\"c10::Float8_e4m3fn\"]"

/* 16 x 32 x 8; the output has the type that the operator names, else two bytes. */
static void scaled_products_say_their_output(void **state)
{
    static const struct example examples[] = {
        {"aten::_scaled_mm", "[[16,32],[32,8]]", FLOAT8, "[\"\",\"\",\"\",\"\",\"\",\"\",\"15\"]",
         8192, 512 + 256 + 256},
        {"aten::_scaled_mm", "[[16,32],[32,8]]", FLOAT8, "[\"\",\"\",\"\",\"\",\"\",\"\",\"6\"]",
         8192, 512 + 256 + 512},
        {"aten::_scaled_mm", "[[16,32],[32,8],[],[],[8]]", FLOAT8, "[]", 8192 + 128,
         512 + 256 + 256 + 8},
        {"aten::_scaled_mm", "[[16,32],[32,8]]", FLOATS, "[]", 8192, (512 + 256 + 128) * 4},
    };
    CHECK(examples);
}

/* x [1,3,8,8] by 3 x 3 with a stride of 2: 4 x 4 outputs of 27 products each. */
static void convolutions(void **state)
{
    static const struct example examples[] = {
        {"aten::convolution", "[[1,3,8,8],[4,3,3,3],[4]]", FLOATS,
         "[\"\",\"\",\"\",\"[2, 2]\",\"[1, 1]\",\"[1]\",\"False\",\"[0]\",\"1\"]", 2 * 27 * 64,
         (192 + 108 + 64) * 4},
        {"aten::convolution", "[[1,3,8,8],[4,3,3,3]]", FLOATS, NULL, 2 * 27 * 144,
         (192 + 108 + 144) * 4},
        /* Transposed: every input goes into 27 outputs; 3 x 4 x 4 of them. */
        {"aten::convolution", "[[1,4,2,2],[4,3,3,3],[]]", FLOATS,
         "[\"\",\"\",\"\",\"[2, 2]\",\"[1, 1]\",\"[1, 1]\",\"True\",\"[1, 1]\",\"1\"]", 2 * 27 * 16,
         (16 + 108 + 48) * 4},
        {"aten::convolution_backward", "[[],[1,3,8,8],[4,3,3,3]]", FLOATS,
         "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"[True, False, True]\"]",
         2 * 27 * 144, (192 + 108 + 144) * 4},
        {"aten::convolution_backward", "[[],[1,3,8,8],[4,3,3,3]]", FLOATS, NULL, 2 * 2 * 27 * 144,
         2 * (192 + 108 + 144) * 4},
    };
    CHECK(examples);
}

#define CAUSAL_4 "[\"\",\"\",\"\",\"\",\"True\"]"
#define CAUSAL_14 "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"True\"]"
#define CAUSAL_11 "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"True\"]"
#define FLASH "aten::_scaled_dot_product_flash_attention"

/* 8 heads of queries share 2 of keys [CAU-4.2]: no outside oracle has such a case. */
static void attention_with_fewer_heads_of_keys(void **state)
{
    static const struct example examples[] = {
        /* 16 queries by 32 keys: 512 pairs a head, dimensions 64 and 128. */
        {FLASH, "[[2,8,16,64],[2,2,32,64],[2,2,32,128]]", BFLOATS, NULL, 2 * 16 * 512 * 192,
         (16384 + 8192 + 16384 + 32768) * 2},
        {"flash_attn::_flash_attn_forward", "[[2,16,8,64],[2,32,2,64],[2,32,2,128]]", BFLOATS, NULL,
         2 * 16 * 512 * 192, (16384 + 8192 + 16384 + 32768) * 2},
        /* 4 heads of 2 keys' gradients are summed over 2 queries' heads: 2 x 16 additions. */
        {FLASH "_backward", "[[],[1,4,2,8],[1,2,2,8],[1,2,2,8]]", BFLOATS, NULL,
         2 * 4 * 4 * 40 + 32, (2 * (64 + 32 + 32) + 64) * 2},
        {FLASH "_backward", "[[],[1,4,2,8],[1,2,2,8],[1,2,2,8]]", BFLOATS, CAUSAL_11,
         2 * 4 * 2 * 40 + 16, (2 * (64 + 32 + 32) + 64) * 2},
        /* 5 heads of queries on 2 of keys: whole ones count, 2. 2 queries by 3 keys of dimension 8:
         * 6 pairs, and 3 x 16 additions; causal 2 pairs, and half of the additions. */
        {"aten::_scaled_dot_product_cudnn_attention_backward", "[[],[1,5,2,8],[1,2,3,8],[1,2,3,8]]",
         BFLOATS, NULL, 2 * 5 * 6 * 40 + 48, (2 * (80 + 48 + 48) + 80) * 2},
        {"aten::_scaled_dot_product_cudnn_attention_backward", "[[],[1,5,2,8],[1,2,3,8],[1,2,3,8]]",
         BFLOATS, CAUSAL_14, 2 * 5 * 2 * 40 + 24, (2 * (80 + 48 + 48) + 80) * 2},
        {"aten::_scaled_dot_product_efficient_attention_backward",
         "[[],[1,5,2,8],[1,2,3,8],[1,2,3,8]]", BFLOATS, CAUSAL_11, 2 * 5 * 2 * 40 + 24,
         (2 * (80 + 48 + 48) + 80) * 2},
        /* Causal unless it says otherwise. */
        {"flash_attn::_flash_attn_backward", "[[],[1,2,4,8],[1,2,2,8],[1,2,2,8]]", BFLOATS, NULL,
         2 * 4 * 2 * 40 + 16, (2 * (64 + 32 + 32) + 64) * 2},
    };
    CHECK(examples);
}

/* Half of a square, where there are more keys; all of the rest, where there are more queries. */
static void causal_attention_counts_pairs_that_see_each_other(void **state)
{
    static const struct example examples[] = {
        {FLASH, "[[1,1,4,8],[1,1,4,8],[1,1,4,8]]", HALVES, CAUSAL_4, 2 * 8 * 16, 128 * 2},
        {FLASH, "[[1,1,2,8],[1,1,4,8],[1,1,4,8]]", HALVES, CAUSAL_4, 2 * 2 * 16, 96 * 2},
        {FLASH, "[[1,1,4,8],[1,1,2,8],[1,1,2,8]]", HALVES, CAUSAL_4, 2 * (2 + 4) * 16, 96 * 2},
        {"aten::_scaled_dot_product_efficient_attention", "[[1,1,3,8],[1,1,3,8],[1,1,3,8]]", HALVES,
         "[\"\",\"\",\"\",\"\",\"\",\"\",\"True\"]", 9 * 16, 96 * 2},
    };
    CHECK(examples);
}

static void elementwise(void **state)
{
    static const struct example examples[] = {
        {"aten::clamp_min", "[[2,3],[]]", FLOATS, NULL, 6, 6 * 8},
        {"aten::copy_", "[[2,3],[2,3]]", "[\"float\",\"c10::Half\"]", NULL, 6, 6 * 6},
        {"aten::add", "[[2,1],[1,3],[]]", FLOATS, NULL, 6, 8 + 12 + 24},
        {"aten::add", "[[4],[]]", "[\"c10::Half\",\"Scalar\"]", NULL, 4, 8 + 4 + 8},
        {"aten::mul", "[[],[4]]", "[\"double\",\"c10::Half\"]", NULL, 4, 8 + 8 + 8},
        {"aten::sub", "[[4],[4]]", "[\"float\",\"double\"]", NULL, 4, 16 + 32 + 32},
    };
    CHECK(examples);
}

/* 24 elements; what is left of them. */
static void reductions_read_their_dimensions(void **state)
{
    static const struct example examples[] = {
        {"aten::sum", "[[2,3,4],[]]", FLOATS, "[\"\",\"[1]\"]", 24, (24 + 8) * 4},
        {"aten::sum", "[[2,3,4],[]]", FLOATS, "[\"\",\"[0, -1]\"]", 24, (24 + 3) * 4},
        {"aten::sum", "[[2,3,4],[]]", FLOATS, "[\"\",\"[]\"]", 24, (24 + 1) * 4},
        /* An integer is a dimension of max and min, elsewhere a type. */
        {"aten::max", "[[2,3,4],[]]", "[\"float\",\"Scalar\"]", "[\"\",\"-1\"]", 24, (24 + 6) * 4},
        {"aten::mean", "[[2,3,4],[]]", "[\"float\",\"Scalar\"]", "[\"\",\"1\"]", 24, 25 * 4},
        {"aten::norm", "[[2,3,4]]", FLOATS, "[\"\",\"2\",\"[2]\"]", 24, (24 + 6) * 4},
        {"aten::cumsum", "[[2,3,4]]", FLOATS, "[\"\",\"1\"]", 24, 48 * 4},
    };
    CHECK(examples);
}

static void resampling_and_embedding(void **state)
{
    static const struct example examples[] = {
        {"aten::upsample_nearest2d", "[[1,2,3,3]]", FLOATS, "[\"\",\"\",\"[2.0, 2.5]\"]", 84,
         (18 + 84) * 4},
        {"aten::upsample_nearest1d", "[[1,2,3]]", FLOATS, "[\"\",\"[5]\",\"\"]", 10, (6 + 10) * 4},
        {"aten::replication_pad2d", "[[1,2,3,3]]", FLOATS, "[\"\",\"[1, 2, 0, 1]\"]", 48,
         (18 + 48) * 4},
        {"aten::embedding", "[[100,16],[3,2]]", "[\"float\",\"long int\"]", NULL, 0, 48 + 768},
    };
    CHECK(examples);
}

#define TRAINING(word) "[\"\",\"\",\"\",\"\",\"\",\"" word "\"]"

static void norms(void **state)
{
    static const struct example examples[] = {
        {"aten::layer_norm", "[[2,8],[],[8],[8]]", FLOATS, "[\"\",\"[8]\"]", 48 + 32 + 48,
         (32 + 8 * 6) * 4},
        {"aten::batch_norm", "[[2,3,4],[3],[]]", FLOATS, TRAINING("False"), 18 + 48, (48 + 9) * 4},
        {"aten::batch_norm", "[[2,3,4],[3],[]]", FLOATS, TRAINING("True"), 18 + 48 + 72,
         (48 + 15) * 4},
        {"aten::group_norm", "[[2,6,4],[],[6],[6]]", FLOATS, "[\"\",\"3\"]", 36 + 5 * 48,
         (96 + 6 * 6) * 4},
        {"aten::native_layer_norm_backward", "[[2,8],[2,8]]", FLOATS,
         "[\"\",\"\",\"[8]\",\"\",\"\",\"\",\"\",\"[True, True, False]\"]", 9 * 16,
         (16 + 32 + 8 + 8 + 8) * 4},
        {"aten::native_batch_norm_backward", "[[],[2,3,4],[3]]", FLOATS,
         "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"False\",\"\",\"[True, True, True]\"]", 96 + 48 + 9,
         (24 + 24 + 3) * 4},
        {"aten::miopen_batch_norm_backward", "[[2,3,4],[],[3]]", FLOATS, NULL, 9 * 24,
         (24 + 48 + 3 + 3 + 6) * 4},
        {"aten::_fused_rms_norm", "[[2,8],[],[8]]", HALVES, "[\"\",\"[8]\"]", 2 * 18 + 32, 40 * 2},
        {"aten::_fused_rms_norm_backward", "[[2,8],[2,8],[],[],[8]]", HALVES,
         "[\"\",\"\",\"[8]\",\"\",\"\",\"[True, True]\"]", 10 * 16, (48 + 16) * 2},
    };
    CHECK(examples);
}

static void inputs_that_do_not_fit_have_no_formula(void **state)
{
    static const struct example examples[] = {
        {"aten::mm", "[[2,3]]", FLOATS, NULL, 0, 0},
        {"aten::mm", "[[2,3],[3]]", FLOATS, NULL, 0, 0},
        {"aten::mm", "[[2,2.5],[3,5]]", FLOATS, NULL, 0, 0},
        {"aten::mm", "{\"a\":1}", FLOATS, NULL, 0, 0},
        {"aten::mm", NULL, FLOATS, NULL, 0, 0},
        {"aten::add", "[[2],[3]]", FLOATS, NULL, 0, 0},
        {"aten::sum", "[[2,3]]", FLOATS, "[\"\",\"[2]\"]", 0, 0},
        {"aten::convolution", "[[1,3,8,8],[4,3,3,3]]", FLOATS, "[\"\",\"\",\"\",\"[2, 2, 2]\"]", 0,
         0},
        {"aten::layer_norm", "[[2,8]]", FLOATS, "[]", 0, 0},
        {"aten::native_layer_norm_backward", "[[2,8],[2,8]]", FLOATS,
         "[\"\",\"\",\"[8]\",\"\",\"\",\"\",\"\",\"[True]\"]", 0, 0},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct formula formula;
        if (compute(&examples[i], &formula)) {
            fail_msg("%s %s has a formula", examples[i].name, examples[i].dims);
        }
    }
    assert_null(formula_find("aten::linear"));
}

/* 2^31 cubed: beyond 64 bits, and exact; what exceeds 128 bits is given up. */
static void counts_are_exact_beyond_64_bits(void **state)
{
    static const struct example large = {
        "aten::mm", "[[2147483648,2147483648],[2147483648,2147483648]]", FLOATS, NULL, 0, 0};
    static const struct example too_large = {
        "aten::mm", "[[9000000000000000000,9000000000000000000],[9000000000000000000,9]]",
        FLOATS,     NULL,
        0,          0};
    struct formula formula;
    char text[WIDE_TEXT_BYTES];
    assert_true(compute(&large, &formula));
    assert_true(formula.flops == (wide_int)1 << 94);
    assert_string_equal(wide_text(formula.flops, text), "19807040628566084398385987584");
    assert_string_equal(wide_text(-12, text), "-12");
    assert_false(compute(&too_large, &formula));
}

static void a_type_says_the_precision(void **state)
{
    static const struct {
        const char *types;
        enum formula_precision precision;
    } examples[] = {
        {"[\"C10::HALF\"]", FORMULA_FP16},
        {"[\"c10::BFloat16\"]", FORMULA_BF16},
        {"[\"float\"]", FORMULA_FP32},
        {"[\"double\"]", FORMULA_FP64},
        {"[\"c10::Float8_e5m2\"]", FORMULA_FP8},
        {"[\"signed char\"]", FORMULA_INT8},
        {"[\"c10::Float4_e2m1fn_x2\"]", FORMULA_FP4},
        {"[\"long int\"]", FORMULA_NO_PRECISION},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example it = {"aten::exp", "[[2]]", examples[i].types, NULL, 0, 0};
        struct formula formula;
        assert_true(compute(&it, &formula));
        assert_int_equal(formula.precision, examples[i].precision);
    }
    assert_null(formula_precision_text(FORMULA_NO_PRECISION));
}

static void only_lists_that_are_json_are_copied(void **state)
{
    static const char *const good[] = {"[]", "[[2,-3],[],\"a\\\"\\u00e9\"]", "[true,null,1.5e-3]"};
    static const char *const bad[] = {"[",     "[1,]",      "[01]",  "[1]x", "{\"a\":1}",
                                      "[nan]", "[\"\\x\"]", "[1 2]", "",     "[\"a]"};
    char deep[128];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(op_inputs_is_json(good[i]));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (op_inputs_is_json(bad[i])) {
            fail_msg("%s is no list", bad[i]);
        }
    }
    memset(deep, '[', 50);
    memset(deep + 50, ']', 50);
    deep[100] = '\0';
    assert_false(op_inputs_is_json(deep));
    assert_false(op_inputs_is_json(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_matrices),
        cmocka_unit_test(scaled_products_say_their_output),
        cmocka_unit_test(convolutions),
        cmocka_unit_test(attention_with_fewer_heads_of_keys),
        cmocka_unit_test(causal_attention_counts_pairs_that_see_each_other),
        cmocka_unit_test(elementwise),
        cmocka_unit_test(reductions_read_their_dimensions),
        cmocka_unit_test(resampling_and_embedding),
        cmocka_unit_test(norms),
        cmocka_unit_test(inputs_that_do_not_fit_have_no_formula),
        cmocka_unit_test(counts_are_exact_beyond_64_bits),
        cmocka_unit_test(a_type_says_the_precision),
        cmocka_unit_test(only_lists_that_are_json_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

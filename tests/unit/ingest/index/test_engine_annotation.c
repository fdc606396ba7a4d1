/* What serving engines write into the names of their steps [DEV-4]. */
#include "ingest/index/engine_annotation.h"
#include "tests/unit/unit.h"

// clang-format off
// clang-format on

#define NOT_SAID ENGINE_UNKNOWN

static void assert_side(const struct engine_side *side, const int64_t want[5])
{
    assert_int_equal(side->requests, want[0]);
    assert_int_equal(side->tokens, want[1]);
    assert_int_equal(side->kv, want[2]);
    assert_int_equal(side->sqsq, want[3]);
    assert_int_equal(side->sqsk, want[4]);
}

struct expected {
    const char *name;
    enum engine engine;
    bool is_detailed;
    enum engine_phase phase;
    int64_t requests, tokens, pairs;
    int64_t context[5], generation[5]; /* requests, tokens, kv, sqsq, sqsk */
};

static const struct expected forms[] = {
    {"execute_3_context_1(sq4sk5sqsq16sqsk20)_generation_2(sq2sk30sqsq2sqsk30) and more",
     ENGINE_VLLM,
     true,
     ENGINE_MIXED,
     3,
     6,
     2 * 20 - 16 + 2 * 30,
     {1, 4, 5, 16, 20},
     {2, 2, 30, 2, 30}},
    {"execute_context_0(0)_generation_32(32)",
     ENGINE_VLLM,
     false,
     ENGINE_DECODE,
     32,
     32,
     NOT_SAID,
     {0, 0, NOT_SAID, NOT_SAID, NOT_SAID},
     {32, 32, NOT_SAID, NOT_SAID, NOT_SAID}},
    {"step[DECODE bs=8]",
     ENGINE_SGLANG,
     false,
     ENGINE_DECODE,
     8,
     8,
     NOT_SAID,
     {0, 0, NOT_SAID, NOT_SAID, NOT_SAID},
     {8, 8, NOT_SAID, NOT_SAID, NOT_SAID}},
    {"step[EXTEND bs=2 ctx=[4096, 12] toks=300]",
     ENGINE_SGLANG,
     false,
     ENGINE_PREFILL,
     2,
     300,
     NOT_SAID,
     {2, 300, NOT_SAID, NOT_SAID, NOT_SAID},
     {0, 0, NOT_SAID, NOT_SAID, NOT_SAID}},
    {"step[MIXED bs=2]",
     ENGINE_SGLANG,
     false,
     ENGINE_MIXED,
     2,
     NOT_SAID,
     NOT_SAID,
     {2, NOT_SAID, NOT_SAID, NOT_SAID, NOT_SAID},
     {0, 0, NOT_SAID, NOT_SAID, NOT_SAID}},
    {"step[MIXED c=1 g=3 c_sq=10 c_sk=10 c_sqsq=100 c_sqsk=100 g_sq=3 g_sk=60]",
     ENGINE_SGLANG,
     true,
     ENGINE_MIXED,
     4,
     13,
     100,
     {1, 10, 10, 100, 100},
     {3, 3, 60, 0, 0}},
    {"step[EXTEND]",
     ENGINE_SGLANG,
     false,
     ENGINE_IDLE,
     0,
     NOT_SAID,
     NOT_SAID,
     {0, NOT_SAID, NOT_SAID, NOT_SAID, NOT_SAID},
     {0, 0, NOT_SAID, NOT_SAID, NOT_SAID}},
    {"decode[bs=117/128 tok=117 sk=900 sqsq=117 sqsk=900]",
     ENGINE_ATOM,
     true,
     ENGINE_DECODE,
     117,
     117,
     1800,
     {0, 0, 0, 0, 0},
     {117, 117, 900, 117, 900}},
    {"prefill[bs=1 tok=x]",
     ENGINE_ATOM,
     false,
     ENGINE_PREFILL,
     1,
     NOT_SAID,
     NOT_SAID,
     {1, NOT_SAID, NOT_SAID, NOT_SAID, NOT_SAID},
     {0, 0, NOT_SAID, NOT_SAID, NOT_SAID}},
};

static void forms_are_read(void **state)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const struct expected *want = &forms[i];
        struct engine_annotation got;
        assert_true(engine_annotation_read(want->name, &got));
        assert_int_equal(got.engine, want->engine);
        assert_int_equal(got.is_detailed, want->is_detailed);
        assert_int_equal(got.phase, want->phase);
        assert_int_equal(got.requests, want->requests);
        assert_int_equal(got.tokens, want->tokens);
        assert_int_equal(got.attention_pairs, want->pairs);
        assert_side(&got.context, want->context);
        assert_side(&got.generation, want->generation);
    }
}

static void rare_fields_are_read(void **state)
{
    struct engine_annotation got;
    assert_true(engine_annotation_read("execute_diffusion_2_1024x768", &got));
    assert_int_equal(got.engine, ENGINE_DIFFUSION);
    assert_int_equal(got.phase, ENGINE_DENOISING);
    assert_int_equal(got.requests, 2);
    assert_int_equal(got.tokens, ENGINE_UNKNOWN);
    assert_int_equal(got.width, 1024);
    assert_int_equal(got.height, 768);
    assert_true(engine_annotation_read("decode[bs=117/128]", &got));
    assert_int_equal(got.requests, 117);
    assert_int_equal(got.padded_batch, 128);
    assert_int_equal(got.width, ENGINE_UNKNOWN);
    /* Too large a number is the largest. */
    assert_true(engine_annotation_read("step[DECODE bs=99999999999999999999]", &got));
    assert_int_equal(got.requests, INT64_MAX);
}

static void other_names_are_none(void **state)
{
    static const char *const names[] = {
        "",
        "step",
        "step[",
        "step[DECODE bs=1",
        "step[DECODED bs=1]",
        "a step[DECODE bs=1]",
        "decode",
        "execute_context_1(2)_generation_",
        "execute_3_context_1(sq4sk5sqsq16)_generation_2(sq2sk30sqsq2sqsk30)",
        "execute_diffusion_2_1024",
        "ProfilerStep#3",
    };
    struct engine_annotation got;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_false(engine_annotation_read(names[i], &got));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_are_read),
        cmocka_unit_test(rare_fields_are_read),
        cmocka_unit_test(other_names_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The stacks of kernels and operators come from the Python frames around their launch. */
#include "ingest/analysis/stacks/stacks.h"
#include "tests/unit/ingest/analysis/stacks/stacks_fixture.h"

static const struct kernel_stack *
find(const struct kernel_stacks *stacks, const char *name, int64_t total_us)
{
    for (size_t i = 0; i < stacks->count; i++) {
        if (strcmp(stacks->rows[i].name, name) == 0 && stacks->rows[i].total_ns == total_us * US) {
            return &stacks->rows[i];
        }
    }
    fail_msg("no row %s", name);
    return NULL;
}

static void kernels_have_the_stack_of_their_launch(void **state)
{
    struct build b;
    struct arena arena;
    struct kernel_stacks stacks;
    build_begin(&b);
    arena_init(&arena, 0);
    build_training(&b);
    build_kernel(&b, "gemm", 300, 309, 99);
    assert_true(kernel_stacks_analyse(b.trace, NULL, MODULES_APART, &arena, &stacks));
    assert_int_equal(stacks.count, 4);
    assert_int_equal(stacks.device_ns, 23 * US);
    const struct kernel_stack *row = find(&stacks, "gemm", 5);
    assert_string_equal(row->operator_name, "aten::mm");
    assert_string_equal(row->module, "nn.Module: Net_0");
    assert_string_equal(row->call_stack, "net.py(4): forward;nn.Module: Net_0;train.py(9): main");
    assert_int_equal(row->calls, 1);
    row = find(&stacks, "fill", 2);
    assert_null(row->operator_name);
    assert_null(row->module);
    assert_string_equal(row->call_stack,
                        "<built-in method fill of Tensor object>;train.py(9): main");
    row = find(&stacks, "gemm", 7);
    assert_string_equal(row->operator_name, "MmBackward0");
    assert_string_equal(row->call_stack,
                        "(backward);net.py(4): forward;nn.Module: Net_0;train.py(9): main");
    row = find(&stacks, "gemm", 9);
    assert_null(row->operator_name);
    assert_null(row->call_stack);
    arena_free(&arena);
    build_end(&b);
}

static void one_name_is_enough(void **state)
{
    struct build b;
    struct arena arena;
    struct kernel_stacks stacks;
    build_begin(&b);
    arena_init(&arena, 0);
    build_training(&b);
    assert_true(kernel_stacks_analyse(b.trace, "fill", MODULES_BY_TYPE, &arena, &stacks));
    assert_int_equal(stacks.count, 1);
    assert_int_equal(stacks.device_ns, 14 * US);
    assert_true(kernel_stacks_analyse(b.trace, "no such kernel", MODULES_BY_TYPE, &arena, &stacks));
    assert_int_equal(stacks.count, 0);
    arena_free(&arena);
    build_end(&b);
}

/* Equal launches are one row; an address in a frame does not make two. */
static void equal_stacks_are_one_row(void **state)
{
    struct build b;
    struct arena arena;
    struct kernel_stacks stacks;
    build_begin(&b);
    arena_init(&arena, 0);
    for (int64_t i = 0; i < 10; i++) {
        char name[80];
        (void)snprintf(name, sizeof name, "<built-in method to of Tensor object at 0x7f%lld>",
                       (long long)i);
        build_frame(&b, name, 1, 10 * i, 10 * i + 5);
        build_runtime(&b, 1, 10 * i + 1, 10 * i + 2, i + 1, 0);
        build_kernel(&b, "copy", 1000 + 10 * i, 1000 + 10 * i + 1 + i, i + 1);
    }
    assert_true(kernel_stacks_analyse(b.trace, NULL, MODULES_BY_TYPE, &arena, &stacks));
    assert_int_equal(stacks.count, 1);
    assert_int_equal(stacks.rows[0].calls, 10);
    assert_int_equal(stacks.rows[0].min_ns, 1 * US);
    assert_int_equal(stacks.rows[0].max_ns, 10 * US);
    arena_free(&arena);
    build_end(&b);
}

/* So do the layers of a network, unless they are to be kept apart. */
static void layers_join(void **state)
{
    struct build b;
    struct arena arena;
    struct kernel_stacks stacks;
    build_begin(&b);
    arena_init(&arena, 0);
    for (int64_t i = 0; i < 10; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "nn.Module: Linear_%lld", (long long)i);
        build_module(&b, name, 10 * i, 10 * i + 5, i, 0);
        build_runtime(&b, 1, 10 * i + 1, 10 * i + 2, i + 1, 0);
        build_kernel(&b, "gemm", 1000 + 10 * i, 1001 + 10 * i, i + 1);
    }
    assert_true(kernel_stacks_analyse(b.trace, NULL, MODULES_BY_TYPE, &arena, &stacks));
    assert_int_equal(stacks.count, 1);
    assert_string_equal(stacks.rows[0].module, "nn.Module: Linear");
    assert_true(kernel_stacks_analyse(b.trace, NULL, MODULES_APART, &arena, &stacks));
    assert_int_equal(stacks.count, 10);
    assert_string_equal(stacks.rows[9].module, "nn.Module: Linear_9");
    arena_free(&arena);
    build_end(&b);
}

static void an_argument_wins_over_frames(void **state)
{
    struct build b;
    struct arena arena;
    struct kernel_stacks stacks;
    build_begin(&b);
    arena_init(&arena, 0);
    build_frame(&b, "train.py(9): main", 1, 0, 100);
    build_op(&b, "aten::mm", 1, 20, 30, 1);
    struct op_args args = {.shape = build_text(&b, "[]"),
                           .call_stack = build_text(&b, "a.py(1): f"),
                           .input_types = STRTAB_NONE};
    b.trace->events.args[b.trace->events.count - 1] = trace_add_op_args(b.trace, &args);
    build_runtime(&b, 1, 22, 24, 1, 1);
    build_kernel(&b, "gemm", 200, 205, 1);
    assert_true(kernel_stacks_analyse(b.trace, NULL, MODULES_BY_TYPE, &arena, &stacks));
    assert_string_equal(stacks.rows[0].call_stack, "a.py(1): f");
    arena_free(&arena);
    build_end(&b);
}

static void operators_are_grouped_by_stack(void **state)
{
    struct build b;
    build_begin(&b);
    build_training(&b);
    struct trace_results *results = results_create();
    assert_non_null(results);
    assert_true(operator_stacks_analyse(b.trace, NULL, OPERATOR_BY_NAME_STACK, results));
    assert_int_equal(results->operator_count[OPERATOR_BY_NAME_STACK], 2);
    assert_int_equal(results->operator_count[OPERATOR_BY_NAME], 0);
    const struct operator_row *row = build_find(results, OPERATOR_BY_NAME_STACK, "aten::mm");
    assert_string_equal(row->call_stack, "net.py(4): forward;nn.Module: Net;train.py(9): main");
    assert_int_equal(row->device_self_ns, 5 * US);
    assert_int_equal(row->host_p50_ns, 10 * US);
    results_destroy(results);
    build_end(&b);
}

/* What is stored at ingest says that there are stacks, and holds none of them. */
static void frames_count_as_stacks(void **state)
{
    struct build b;
    build_begin(&b);
    build_training(&b);
    const struct trace_results *results = build_run(&b);
    assert_true(build_find(results, OPERATOR_BY_NAME, "aten::mm")->has_call_stack);
    assert_false(build_find(results, OPERATOR_BY_NAME, "MmBackward0")->has_call_stack);
    assert_int_equal(results->operator_count[OPERATOR_BY_NAME_STACK], 0);
    build_end(&b);
}

/* Ten thousand nested frames, each with a launch: no stack names more than its innermost ones. */
static void deep_stacks_are_bounded(void **state)
{
    enum { DEPTH = 10000 };
    struct build b;
    struct arena arena;
    struct kernel_stacks stacks;
    build_begin(&b);
    arena_init(&arena, 0);
    for (int64_t i = 0; i < DEPTH; i++) {
        build_frame(&b, i % 2 == 0 ? "a.py(1): even" : "a.py(2): odd", 1, 3 * i,
                    10 * DEPTH - 3 * i);
        build_runtime(&b, 1, 3 * i + 1, 3 * i + 2, i + 1, 0);
        build_kernel(&b, "k", 100000 + i, 100001 + i, i + 1);
    }
    assert_true(kernel_stacks_analyse(b.trace, NULL, MODULES_BY_TYPE, &arena, &stacks));
    assert_int_equal(stacks.count, DEPTH);
    size_t longest = 0;
    for (size_t i = 0; i < stacks.count; i++) {
        size_t len = strlen(stacks.rows[i].call_stack);
        longest = len > longest ? len : longest;
    }
    assert_in_range(longest, STACK_FRAMES_MAX * 12, STACK_FRAMES_MAX * 14);
    assert_in_range(arena.used_bytes, 0, 2 * STACK_TEXTS_MAX_BYTES);
    arena_free(&arena);
    build_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_have_the_stack_of_their_launch),
        cmocka_unit_test(one_name_is_enough),
        cmocka_unit_test(equal_stacks_are_one_row),
        cmocka_unit_test(layers_join),
        cmocka_unit_test(an_argument_wins_over_frames),
        cmocka_unit_test(operators_are_grouped_by_stack),
        cmocka_unit_test(frames_count_as_stacks),
        cmocka_unit_test(deep_stacks_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Whose the device work is: a row for each owner, nothing left out [DEV-3]. */
#include "ingest/analysis/device_time/device_operators.h"
#include "tests/unit/ingest/analysis/model_builder.h"

#define US INT64_C(1000)

static const struct device_operator *
find(const struct device_operators *operators, enum device_owner owner, const char *name)
{
    for (size_t i = 0; i < operators->count; i++) {
        if (operators->rows[i].owner == owner && strcmp(operators->rows[i].name, name) == 0) {
            return &operators->rows[i];
        }
    }
    fail_msg("no row %s %s", device_owner_text(owner), name);
    return NULL;
}

static void assert_row(const struct device_operator *row,
                       int64_t calls,
                       int64_t kernels,
                       int64_t device_us,
                       const char *class)
{
    assert_int_equal(row->calls, calls);
    assert_int_equal(row->kernels, kernels);
    assert_int_equal(row->device_ns, device_us * US);
    assert_string_equal(row->class, class);
}

static void graph_call(struct build *b, int64_t start_us, int64_t end_us, int64_t correlation)
{
    build_runtime(b, 1, start_us, end_us, correlation, correlation);
    b->trace->events.name[b->trace->events.count - 1] = build_text(b, "hipGraphLaunch");
}

static void every_piece_of_work_has_one_owner(void **state)
{
    struct build b;
    struct arena arena;
    struct device_operators operators;
    build_begin(&b);
    arena_init(&arena, 0);
    build_op(&b, "aten::mm", 1, 0, 10, 1);
    build_runtime(&b, 1, 1, 2, 1, 1);
    build_runtime(&b, 1, 3, 4, 2, 1);
    build_op(&b, "aten::mm", 1, 20, 30, 2);
    build_runtime(&b, 1, 21, 22, 3, 2);
    build_runtime(&b, 1, 50, 51, 4, 3);
    build_op(&b, "replay", 1, 60, 70, 4);
    graph_call(&b, 61, 62, 5);
    build_kernel(&b, "sgemm", 100, 110, 1);
    build_kernel(&b, "elementwise", 110, 113, 2);
    build_kernel(&b, "sgemm", 120, 130, 3);
    build_kernel(&b, "softmax", 130, 135, 4);
    build_kernel(&b, "sgemm", 140, 141, 5);
    build_kernel(&b, "layer_norm", 141, 142, 5);
    build_kernel(&b, "sgemm", 150, 157, 99);
    build_kernel(&b, "Event_Wait", 150, 190, 4);
    assert_true(device_operators_analyse(b.trace, NULL, &(struct device_captures){.count = 0},
                                         &arena, &operators));
    assert_int_equal(operators.count, 4);
    assert_int_equal(operators.device_ns, (23 + 5 + 2 + 7) * US);
    assert_row(find(&operators, DEVICE_OWNER_OPERATOR, "aten::mm"), 2, 3, 23, "gemm");
    assert_row(find(&operators, DEVICE_OWNER_CALL, "cudaLaunchKernel"), 1, 1, 5, "softmax");
    /* Of two classes with as much time the first by name; the operator around it does not count. */
    assert_row(find(&operators, DEVICE_OWNER_GRAPH_LAUNCH, "hipGraphLaunch"), 1, 2, 2, "gemm");
    assert_row(find(&operators, DEVICE_OWNER_NOT_RECORDED, ""), 1, 1, 7, "gemm");
    assert_string_equal(operators.rows[0].name, "aten::mm");
    arena_free(&arena);
    build_end(&b);
}

/* Recorders of 2021 write steps as operators: what a step launches itself is the step's. */
static void a_step_that_is_an_operator_owns_what_it_launches(void **state)
{
    struct build b;
    struct arena arena;
    struct device_operators operators;
    build_begin(&b);
    arena_init(&arena, 0);
    build_op(&b, "ProfilerStep#3", 1, 0, 40, 1);
    build_op(&b, "aten::mm", 1, 10, 20, 2);
    build_runtime(&b, 1, 11, 12, 1, 2);
    build_runtime(&b, 1, 30, 31, 2, 1);
    build_runtime(&b, 1, 50, 51, 3, 0);
    build_host(&b, EVENT_USER_ANNOTATION, "epoch", 1, 32, 60,
               TRACE_NO_ID); /* ends after the step */
    build_runtime(&b, 1, 35, 36, 4, 1);
    build_kernel(&b, "sgemm", 100, 110, 1);
    build_kernel(&b, "softmax", 110, 113, 2);
    build_kernel(&b, "elementwise", 120, 125, 3);
    build_kernel(&b, "softmax", 130, 134, 4);
    assert_true(device_operators_analyse(b.trace, NULL, &(struct device_captures){.count = 0},
                                         &arena, &operators));
    assert_int_equal(operators.count, 3);
    assert_row(find(&operators, DEVICE_OWNER_OPERATOR, "aten::mm"), 1, 1, 10, "gemm");
    assert_row(find(&operators, DEVICE_OWNER_OPERATOR, "ProfilerStep#3"), 1, 2, 7, "softmax");
    assert_row(find(&operators, DEVICE_OWNER_CALL, "cudaLaunchKernel"), 1, 1, 5, "elementwise");
    arena_free(&arena);
    build_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_piece_of_work_has_one_owner),
        cmocka_unit_test(a_step_that_is_an_operator_owns_what_it_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

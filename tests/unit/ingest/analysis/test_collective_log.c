/* The collectives of a trace: order, steps, bytes, ranges [TB-15a] [TB-15.1c]. */
#include "ingest/analysis/collectives/log.h"
#include "tests/unit/ingest/analysis/model_builder.h"

/* A collective with inputs. */
static void build_collective(struct build *b,
                             const char *name,
                             int64_t start_us,
                             int64_t end_us,
                             int64_t external_id,
                             const char *shapes,
                             const char *types)
{
    struct op_args args = {.shape = build_text(b, shapes),
                           .call_stack = build_text(b, ""),
                           .input_types = types == NULL ? STRTAB_NONE : build_text(b, types)};
    build_event(b,
                (struct trace_event){.ts_ns = start_us * 1000,
                                     .dur_ns = (end_us - start_us) * 1000,
                                     .correlation = TRACE_NO_ID,
                                     .external_id = external_id,
                                     .track = build_track(b, BUILD_HOST_PID, 1),
                                     .args = trace_add_op_args(b->trace, &args),
                                     .kind = EVENT_OPERATOR,
                                     .flags = EVENT_HAS_DUR},
                name);
}

static void
build_comm_kernel(struct build *b, int64_t start_us, int64_t end_us, int64_t external_id)
{
    build_device_event(b, EVENT_KERNEL, "ncclKernel_AllReduce", 0, start_us, end_us, 0, external_id,
                       (double)NAN, (double)NAN);
}

static void bytes_of_inputs(void **state)
{
    static const struct {
        const char *shapes, *types;
        int64_t size_bytes;
    } rows[] = {
        {"[[2, 3]]", "['float']", 24},
        {"[[2, 3], [4]]", "['float', 'long int']", 24 + 32},
        {"[[10]]", "['int']", 40},
        {"[[10]]", "['c10::Half']", 20},
        {"[[10]]", "['c10::BFloat16']", 20},
        {"[[10]]", "['unsigned char']", 10},
        {"[[10]]", "['double']", 0}, /* not in the list */
        {"[[10]]", "[\"float\"]", 40},
        {"[[]]", "['float']", 4},           /* a scalar */
        {"[[], [5]]", "['', 'float']", 20}, /* an input without a type */
        {"[]", "[]", 0},
        {"[[10]]", "[]", 0}, /* fewer types than shapes */
        {"[[0, 10]]", "['float']", 0},
        {"None", "['float']", 0},
        {"", "", 0},
        {"[[10", "['float", 0}, /* cut off */
        {"[[9223372036854775807, 9]]", "['float']", INT64_MAX},
        {"[[99999999999999999999999999]]", "['float']", INT64_MAX},
        {"[[1, 2], [3, 4]", "['float', 'float']", 8 + 48},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t got = collective_input_bytes(rows[i].shapes, rows[i].types);
        if (got != rows[i].size_bytes) {
            print_message("%s %s\n", rows[i].shapes, rows[i].types);
        }
        assert_true(got == rows[i].size_bytes);
    }
}

/* In order of time, each with its own interval and its kernels, in order of time too. */
static void ops_with_their_ranges(void **state)
{
    struct build b;
    build_begin(&b);
    build_step(&b, "ProfilerStep#5", 0, 1000);
    build_collective(&b, "nccl:broadcast", 300, 310, 7, "[[8]]", "['float']");
    build_collective(&b, "nccl:all_reduce", 100, 110, 6, "[[4, 4]]", "['float']");
    build_comm_kernel(&b, 150, 170, 6);
    build_comm_kernel(&b, 120, 130, 6);
    build_comm_kernel(&b, 120, 140, 6);
    const struct collective_log *log = build_run_plugin(&b)->comm_log;
    assert_non_null(log);
    assert_int_equal(log->op_count, 2);
    assert_string_equal(log->ops[0].name, "nccl:all_reduce");
    assert_int_equal(log->ops[0].size_bytes, 64);
    assert_int_equal(log->ops[0].step, 0);
    assert_int_equal(log->ops[0].range_count, 4);
    const int64_t expected[][2] = {{100, 110}, {120, 140}, {120, 130}, {150, 170}};
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_int_equal(log->ranges[log->ops[0].first_range + i].start, expected[i][0] * 1000);
        assert_int_equal(log->ranges[log->ops[0].first_range + i].end, expected[i][1] * 1000);
    }
    assert_string_equal(log->ops[1].name, "nccl:broadcast");
    assert_int_equal(log->ops[1].range_count, 1);
    build_end(&b);
}

/* Inside a step: that step. Behind it: the next one is asked. Across a border: none, and the walk
 * stays. */
static void steps_of_collectives(void **state)
{
    static const int64_t at[][3] = {
        /* start, end, step */
        {10, 20, 0},   {90, 110, COLLECTIVE_NO_STEP},  {100, 120, 1},
        {195, 200, 1}, {300, 310, COLLECTIVE_NO_STEP},
    };
    struct build b;
    build_begin(&b);
    build_step(&b, "ProfilerStep#1", 0, 100);
    build_step(&b, "ProfilerStep#2", 100, 200);
    for (size_t i = 0; i < COUNT_OF(at); i++) {
        build_collective(&b, "nccl:all_reduce", at[i][0], at[i][1], (int64_t)i + 1, "[]", NULL);
    }
    const struct trace_results *r = build_run_plugin(&b);
    assert_int_equal(r->comm_log->op_count, COUNT_OF(at));
    for (size_t i = 0; i < COUNT_OF(at); i++) {
        assert_int_equal(r->comm_log->ops[i].step, at[i][2]);
        assert_int_equal(r->comm_log->ops[i].size_bytes, 0);
    }
    build_end(&b);
}

static void mixed_libraries_have_no_log(void **state)
{
    struct build b;
    build_begin(&b);
    build_collective(&b, "nccl:all_reduce", 10, 20, 1, "[]", NULL);
    build_collective(&b, "gloo:broadcast", 30, 40, 2, "[]", NULL);
    assert_null(build_run_plugin(&b)->comm_log);
    build_end(&b);
    build_begin(&b);
    build_op(&b, "aten::add", 1, 10, 20, 1);
    assert_null(build_run_plugin(&b)->comm_log);
    build_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_inputs),
        cmocka_unit_test(ops_with_their_ranges),
        cmocka_unit_test(steps_of_collectives),
        cmocka_unit_test(mixed_libraries_have_no_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

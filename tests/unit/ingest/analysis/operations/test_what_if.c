/* Bubbles and what-if of small jobs, worked by hand [RANK-5] [RANK-7]. */
#include "ingest/analysis/operations/what_if.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

static struct operation
op(enum operation_type type, uint32_t dp_rank, uint32_t stage, double start_s, double end_s)
{
    return (struct operation){.start_s = start_s,
                              .duration_s = end_s - start_s,
                              .rank = dp_rank,
                              .chunk = 0,
                              .model_chunk = stage,
                              .dp_rank = dp_rank,
                              .stage = stage,
                              .type = (uint8_t)type};
}

/* One stage, two replicas: one computes forward in 1 s, the other in 3. */
enum { JOB_OPS = 14 };
static void make_job(struct operation ops[JOB_OPS])
{
    size_t count = 0;
    for (uint32_t dp = 0; dp < 2; dp++) {
        double forward_s = dp == 0 ? 1 : 3;
        double end_s = forward_s + 2;
        ops[count++] = op(OPERATION_FORWARD_COMPUTE, dp, 0, 0, forward_s);
        ops[count++] = op(OPERATION_BACKWARD_COMPUTE, dp, 0, forward_s, end_s);
        ops[count++] = op(OPERATION_GC, dp, 0, end_s, end_s);
        ops[count++] = op(OPERATION_LAYERNORM_GRADS, dp, 0, end_s, end_s);
        ops[count++] = op(OPERATION_EMBEDDING_GRADS, dp, 0, end_s, end_s);
        ops[count++] = op(OPERATION_CLIP, dp, 0, end_s, 5); /* the replicas wait here */
        ops[count++] = op(OPERATION_OPTIMIZER, dp, 0, 5, 5.5);
    }
}

static const struct what_if_part *part_of(const struct what_if_parts *parts, const char *name)
{
    for (size_t i = 0; i < parts->count; i++) {
        if (strcmp(parts->items[i].name, name) == 0) {
            return &parts->items[i];
        }
    }
    fail_msg("no part %s", name);
    return NULL;
}

static bool is_about(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

/* [RANK-6c]: forward, backward and optimizer alone, then without the optimizer. */
static void annotations_may_leave_out_the_tail(void **state)
{
    struct operation job[JOB_OPS];
    struct operation ops[JOB_OPS];
    struct operation_table table = {.items = ops, .is_annotated = true};
    const uint32_t tail = 1U << OPERATION_GC | 1U << OPERATION_LAYERNORM_GRADS |
                          1U << OPERATION_EMBEDDING_GRADS | 1U << OPERATION_CLIP;
    struct arena arena;
    struct what_if out;
    struct err err = ERR_INIT;
    arena_init(&arena, 0);
    make_job(job);
    for (size_t i = 0; i < JOB_OPS; i++) {
        ops[table.count] = job[i];
        table.count += (tail & 1U << job[i].type) == 0;
    }
    assert_true(what_if_run(&table, 1, &arena, &out, &err));
    assert_true(is_about(out.no_delay_s, 5.5) && is_about(out.ideal_s, 4.5));
    assert_int_equal(out.missing, tail);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < table.count; i++) {
        ops[kept] = ops[i];
        kept += ops[i].type != OPERATION_OPTIMIZER;
    }
    table.count = kept;
    assert_true(what_if_run(&table, 1, &arena, &out, &err));
    assert_true(is_about(out.no_delay_s, 5) && is_about(out.ideal_s, 4));
    assert_int_equal(out.missing, tail | 1U << OPERATION_OPTIMIZER);
    table.is_annotated = false;
    assert_false(what_if_run(&table, 1, &arena, &out, &err));
    assert_int_equal(err.code, ERR_BAD_INPUT);
    arena_free(&arena);
}

static void a_slow_replica_is_all_the_delay(void **state)
{
    struct operation ops[JOB_OPS];
    const struct operation_table table = {.items = ops, .count = JOB_OPS};
    const double slow = 5.5 / 4.5;
    struct arena arena;
    struct what_if out;
    struct err err = ERR_INIT;
    arena_init(&arena, 0);
    make_job(ops);
    assert_true(what_if_run(&table, 1, &arena, &out, &err));
    assert_true(is_about(out.measured_s, 5.5) && is_about(out.no_delay_s, 5.5));
    assert_true(is_about(out.ideal_s, 4.5)); /* forward takes 2 s on average */
    assert_true(is_about(part_of(&out.by_type, "forward-compute")->slowdown, slow));
    assert_true(is_about(part_of(&out.by_type, "backward-compute")->slowdown, 1));
    assert_true(is_about(part_of(&out.by_stage, "0")->slowdown, slow));
    assert_true(is_about(part_of(&out.by_replica, "0")->slowdown, 1));
    assert_true(is_about(part_of(&out.by_replica, "1")->step_slowdown[0], slow));
    assert_int_equal(out.worst_rank_count, 1);
    assert_int_equal(out.worst_ranks[0], 1);
    assert_true(is_about(out.worst.removed_s, 4.5) && is_about(out.worst.removal, 1));
    assert_true(is_about(out.last_stage.addition, 1));
    arena_free(&arena);
}

static void a_lane_runs_ideally(void **state)
{
    struct operation ops[JOB_OPS];
    const struct operation_table table = {.items = ops, .count = JOB_OPS};
    struct what_if_lane lane = {.step = INT64_MIN, .dp_rank = 0, .dsp_size = 1};
    struct arena arena;
    struct what_if_timeline out;
    struct err err = ERR_INIT;
    arena_init(&arena, 0);
    make_job(ops);
    assert_true(what_if_timeline_run(&table, &lane, &arena, &out, &err));
    assert_int_equal(out.row_count, 7);
    assert_string_equal(out.rows[0].optype, "forward-compute");
    assert_int_equal(out.rows[0].duration_ns, 2000000000);
    assert_string_equal(out.rows[1].optype, "backward-compute");
    assert_int_equal(out.rows[1].start_ns, 2000000000);
    lane.dp_rank = 5;
    assert_false(what_if_timeline_run(&table, &lane, &arena, &out, &err));
    assert_int_equal(err.code, ERR_NOT_FOUND);
    arena_free(&arena);
}

/* With its waiting; without what the simulation would need. */
static void a_lane_as_it_was(void **state)
{
    struct operation ops[JOB_OPS];
    const struct operation_table table = {.items = ops, .count = JOB_OPS};
    struct what_if_lane lane = {.step = INT64_MIN, .dp_rank = 0, .scenario = WHAT_IF_MEASURED};
    struct arena arena;
    struct what_if_timeline out;
    struct err err = ERR_INIT;
    arena_init(&arena, 0);
    make_job(ops);
    ops[2].type = ops[9].type = OPERATION_SEPARATE_GRADS; /* no gc */
    assert_true(what_if_timeline_run(&table, &lane, &arena, &out, &err));
    assert_int_equal(out.row_count, 7);
    assert_string_equal(out.rows[1].optype, "backward-compute");
    assert_int_equal(out.rows[1].start_ns, 1000000000);
    assert_int_equal(out.rows[1].duration_ns, 2000000000);
    assert_string_equal(out.rows[6].optype, "optimizer");
    for (size_t i = 0; i < out.row_count; i++) {
        bool is_clip = strcmp(out.rows[i].optype, "optimizer-clip-main-grad") == 0;
        assert_true(!is_clip || out.rows[i].duration_ns == 2000000000);
    }
    arena_free(&arena);
}

static void what_is_missing_is_named(void **state)
{
    struct operation ops[JOB_OPS];
    const struct operation_table table = {.items = ops, .count = JOB_OPS};
    struct arena arena;
    struct what_if out;
    struct err err = ERR_INIT;
    arena_init(&arena, 0);
    make_job(ops);
    ops[9].seq_id = 1; /* the second replica's gc */
    assert_false(what_if_run(&table, 1, &arena, &out, &err));
    assert_int_equal(err.code, ERR_BAD_INPUT);
    assert_non_null(strstr(err.msg, "gc 0 of stage 0"));
    ops[2].seq_id = 1;
    err = (struct err)ERR_INIT;
    assert_false(what_if_run(&table, 1, &arena, &out, &err));
    assert_non_null(strstr(err.msg, "A dependency on gc 0 of stage 0"));
    arena_free(&arena);
}

static void stages_leave_bubbles(void **state)
{
    const struct operation ops[] = {
        op(OPERATION_FORWARD_COMPUTE, 0, 0, 0, 1), op(OPERATION_BACKWARD_COMPUTE, 0, 0, 4, 5),
        op(OPERATION_FORWARD_COMPUTE, 0, 1, 1, 2), op(OPERATION_BACKWARD_COMPUTE, 0, 1, 2, 4)};
    struct operation copy[4];
    const struct operation_table table = {.items = copy, .count = 4};
    struct arena arena;
    struct pipeline out;
    struct err err = ERR_INIT;
    arena_init(&arena, 0);
    memcpy(copy, ops, sizeof copy);
    assert_true(bubbles_run(&table, &arena, &out, &err));
    assert_int_equal(out.row_count, 2);
    assert_int_equal(out.rows[0].window_ns, 5000000000);
    assert_int_equal(out.rows[0].compute_ns, 2000000000);
    assert_true(is_about(out.rows[0].bubble, 0.6) && is_about(out.rows[1].bubble, 0.4));
    assert_int_equal(out.rows[1].before_first_ns, 1000000000);
    assert_int_equal(out.rows[1].after_last_ns, 1000000000);
    assert_true(is_about(out.theory, 0.5) && is_about(out.bubble, 0.5));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_replica_is_all_the_delay),
        cmocka_unit_test(annotations_may_leave_out_the_tail),
        cmocka_unit_test(a_lane_runs_ideally),
        cmocka_unit_test(a_lane_as_it_was),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(stages_leave_bubbles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

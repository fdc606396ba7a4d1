/* Collectives of several workers laid beside each other [TB-15]. */
#include "ingest/analysis/collectives/distributed.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define OPS_MAX 8

/* A comm log made by hand: ops with their ranges, times in whole units. */
struct hand_log {
    struct collective_log log;
    struct collective_op ops[OPS_MAX];
    struct collective_range ranges[OPS_MAX * 2];
};

static void hand_op(struct hand_log *hand, const char *name, int64_t step, int64_t size_bytes)
{
    struct collective_log *log = &hand->log;
    log->ops = hand->ops;
    log->ranges = hand->ranges;
    hand->ops[log->op_count++] = (struct collective_op){
        .name = name, .step = step, .size_bytes = size_bytes, .first_range = log->range_count};
}

static void hand_range(struct hand_log *hand, int64_t start, int64_t end)
{
    struct collective_log *log = &hand->log;
    hand->ranges[log->range_count++] = (struct collective_range){start, end};
    hand->ops[log->op_count - 1].range_count++;
}

static void assert_range(struct collective_range range, int64_t start, int64_t end)
{
    assert_int_equal(range.start, start);
    assert_int_equal(range.end, end);
}

struct matching {
    struct arena arena;
    struct distributed out;
};

static void match(struct matching *m, struct hand_log *const *hands, size_t count)
{
    const struct collective_log *logs[4];
    for (size_t i = 0; i < count; i++) {
        logs[i] = &hands[i]->log;
    }
    arena_init(&m->arena, 0);
    assert_true(distributed_match(&m->out, &m->arena, logs, count));
}

/* The shortest of the workers is the transfer, at the end of what the others took. */
static void the_shortest_is_the_transfer(void **state)
{
    struct hand_log slow = {.log.op_count = 0};
    struct hand_log fast = {.log.op_count = 0};
    struct matching m;
    hand_op(&slow, "nccl:all_reduce", 0, 100);
    hand_range(&slow, 10, 60);
    hand_range(&slow, 70, 75);
    hand_op(&fast, "nccl:all_reduce", 0, 100);
    hand_range(&fast, 1040, 1060);
    hand_range(&fast, 1070, 1090);
    match(&m, (struct hand_log *[]){&slow, &fast}, 2);
    assert_true(m.out.agrees);
    assert_range(m.out.workers[0].real[0], 40, 60);
    assert_range(m.out.workers[0].real[1], 70, 75);
    assert_range(m.out.workers[1].real[0], 1040, 1060);
    assert_range(m.out.workers[1].real[1], 1085, 1090);
    assert_int_equal(m.out.workers[0].matched_count, 1);
    arena_free(&m.arena);
}

static void one_worker_waits_for_nobody(void **state)
{
    struct hand_log alone = {.log.op_count = 0};
    struct matching m;
    struct distributed_wait *waits = NULL;
    size_t count = 0;
    hand_op(&alone, "gloo:broadcast", 0, 8);
    hand_range(&alone, 10, 60);
    match(&m, (struct hand_log *[]){&alone}, 1);
    assert_true(m.out.agrees);
    assert_true(distributed_waits(&waits, &count, &m.arena, &m.out.workers[0]));
    assert_int_equal(count, 1);
    assert_int_equal(waits[0].total, 50);
    assert_int_equal(waits[0].real, 50);
    arena_free(&m.arena);
}

/* Equal counts: the plugin's condition, by place and whatever the names. */
static void agreement_goes_by_place(void **state)
{
    struct hand_log a = {.log.op_count = 0};
    struct hand_log b = {.log.op_count = 0};
    struct matching m;
    hand_op(&a, "x", 0, 0);
    hand_range(&a, 0, 9);
    hand_op(&b, "y", 0, 0);
    hand_range(&b, 0, 4);
    match(&m, (struct hand_log *[]){&a, &b}, 2);
    assert_true(m.out.agrees);
    assert_range(m.out.workers[0].real[0], 5, 9);
    arena_free(&m.arena);
}

/* One has an op more: the k-th of a name belongs to the k-th of the other. */
static void disagreement_goes_by_name(void **state)
{
    struct hand_log a = {.log.op_count = 0};
    struct hand_log b = {.log.op_count = 0};
    struct matching m;
    hand_op(&a, "reduce", 0, 0);
    hand_range(&a, 0, 10);
    hand_op(&a, "gather", 0, 0);
    hand_range(&a, 10, 20);
    hand_op(&a, "reduce", 0, 0);
    hand_range(&a, 20, 30);
    hand_op(&b, "broadcast", 0, 0);
    hand_range(&b, 0, 1);
    hand_op(&b, "reduce", 0, 0);
    hand_range(&b, 1, 5);
    match(&m, (struct hand_log *[]){&a, &b}, 2);
    assert_false(m.out.agrees);
    assert_int_equal(m.out.workers[0].matched_count, 1);
    assert_int_equal(m.out.workers[1].matched_count, 1);
    assert_int_equal(m.out.workers[0].is_matched[0], 1);
    assert_int_equal(m.out.workers[0].is_matched[2], 0);
    assert_int_equal(m.out.workers[1].is_matched[0], 0);
    assert_range(m.out.workers[0].real[0], 6, 10);
    assert_range(m.out.workers[0].real[2], 20, 30);
    arena_free(&m.arena);
}

/* The same number of ops, but one of them has another number of ranges. */
static void ranges_must_agree_too(void **state)
{
    struct hand_log a = {.log.op_count = 0};
    struct hand_log b = {.log.op_count = 0};
    struct matching m;
    hand_op(&a, "reduce", 0, 0);
    hand_range(&a, 0, 10);
    hand_range(&a, 5, 15);
    hand_op(&b, "reduce", 0, 0);
    hand_range(&b, 0, 10);
    match(&m, (struct hand_log *[]){&a, &b}, 2);
    assert_false(m.out.agrees);
    assert_int_equal(m.out.workers[0].matched_count, 0);
    struct distributed_op *ops = NULL;
    size_t count = 1;
    assert_true(distributed_ops(&ops, &count, &m.arena, &m.out.workers[0]));
    assert_int_equal(count, 0);
    arena_free(&m.arena);
}

static void nobody_and_nothing(void **state)
{
    struct hand_log a = {.log.op_count = 0};
    struct hand_log b = {.log.op_count = 0};
    struct matching m;
    match(&m, NULL, 0);
    assert_false(m.out.agrees);
    assert_int_equal(m.out.worker_count, 0);
    arena_free(&m.arena);
    hand_op(&b, "reduce", 0, 0);
    hand_range(&b, 0, 10);
    match(&m, (struct hand_log *[]){&a, &b}, 2);
    assert_false(m.out.agrees);
    assert_int_equal(m.out.workers[1].matched_count, 0);
    arena_free(&m.arena);
}

/* Ranges are merged per step and per name; steps and names in the order they come [TB-15c]
 * [TB-15d]. */
static void sums_merge_ranges(void **state)
{
    struct hand_log a = {.log.op_count = 0};
    struct hand_log b = {.log.op_count = 0};
    struct hand_log *both[] = {&a, &b};
    struct matching m;
    for (int i = 0; i < 2; i++) {
        int64_t shift = i == 0 ? 0 : 5;
        hand_op(both[i], "reduce", COLLECTIVE_NO_STEP, 10);
        hand_range(both[i], 0, 20 - shift);
        hand_op(both[i], "gather", 1, 1);
        hand_range(both[i], 30, 40);
        hand_op(both[i], "reduce", 1, 10);
        hand_range(both[i], 35, 50 - shift);
        hand_op(both[i], "reduce", COLLECTIVE_NO_STEP, 10);
        hand_range(both[i], 10, 30);
    }
    match(&m, both, 2);
    struct distributed_wait *waits = NULL;
    size_t count = 0;
    assert_true(distributed_waits(&waits, &count, &m.arena, &m.out.workers[0]));
    assert_int_equal(count, 2);
    assert_int_equal(waits[0].step, COLLECTIVE_NO_STEP);
    assert_int_equal(waits[0].total, 30); /* [0, 20] and [10, 30] */
    assert_int_equal(waits[0].real, 25);  /* [5, 20] and [10, 30] */
    assert_int_equal(waits[1].step, 1);
    assert_int_equal(waits[1].total, 20); /* [30, 40] and [35, 50] */
    assert_int_equal(waits[1].real, 20);  /* [30, 40] and [40, 50] */
    struct distributed_op *ops = NULL;
    assert_true(distributed_ops(&ops, &count, &m.arena, &m.out.workers[0]));
    assert_int_equal(count, 2);
    assert_string_equal(ops[0].name, "reduce");
    assert_int_equal(ops[0].calls, 3);
    assert_int_equal(ops[0].size_bytes, 30);
    assert_int_equal(ops[0].total, 45);
    assert_int_equal(ops[0].real, 35);
    assert_string_equal(ops[1].name, "gather");
    assert_int_equal(ops[1].total, 10);
    arena_free(&m.arena);
}

/* Absurd times neither overflow nor lose the workers. */
static void absurd_times_stay_at_the_bound(void **state)
{
    struct hand_log a = {.log.op_count = 0};
    struct hand_log b = {.log.op_count = 0};
    struct matching m;
    hand_op(&a, "reduce", 0, INT64_MAX);
    hand_range(&a, INT64_MIN, INT64_MAX);
    hand_op(&a, "reduce", 0, INT64_MAX);
    hand_range(&a, 5, -5);
    hand_op(&b, "reduce", 0, 1);
    hand_range(&b, INT64_MIN, INT64_MAX);
    hand_op(&b, "reduce", 0, 1);
    hand_range(&b, INT64_MAX, INT64_MIN);
    match(&m, (struct hand_log *[]){&a, &b}, 2);
    struct distributed_op *ops = NULL;
    size_t count = 0;
    assert_true(distributed_ops(&ops, &count, &m.arena, &m.out.workers[0]));
    assert_int_equal(count, 1);
    assert_true(ops[0].size_bytes == INT64_MAX);
    assert_true(ops[0].total == INT64_MAX);
    arena_free(&m.arena);
}

#define WORKERS 1000
#define EQUAL_NAMES 100

/* A thousand workers with a hundred ops of one name, one of which has an op less. */
static void a_thousand_workers(void **state)
{
    struct collective_log *logs = calloc(WORKERS, sizeof *logs);
    const struct collective_log **pointers = calloc(WORKERS, sizeof *pointers);
    struct collective_op *ops = calloc(EQUAL_NAMES, sizeof *ops);
    struct collective_range *ranges = calloc(EQUAL_NAMES, sizeof *ranges);
    assert_true(logs != NULL && pointers != NULL && ops != NULL && ranges != NULL);
    for (uint32_t i = 0; i < EQUAL_NAMES; i++) {
        ops[i] = (struct collective_op){.name = "reduce", .first_range = i, .range_count = 1};
        ranges[i] = (struct collective_range){i * 10, i * 10 + 5};
    }
    for (size_t w = 0; w < WORKERS; w++) {
        uint32_t count = w == 500 ? EQUAL_NAMES - 1 : EQUAL_NAMES;
        logs[w] = (struct collective_log){
            .ops = ops, .ranges = ranges, .op_count = count, .range_count = count};
        pointers[w] = &logs[w];
    }
    struct arena arena;
    struct distributed out;
    arena_init(&arena, 0);
    assert_true(distributed_match(&out, &arena, pointers, WORKERS));
    assert_false(out.agrees);
    for (size_t w = 0; w < WORKERS; w++) {
        assert_int_equal(out.workers[w].matched_count, EQUAL_NAMES - 1);
    }
    arena_free(&arena);
    free(logs);
    free(pointers);
    free(ops);
    free(ranges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shortest_is_the_transfer),
        cmocka_unit_test(one_worker_waits_for_nobody),
        cmocka_unit_test(agreement_goes_by_place),
        cmocka_unit_test(disagreement_goes_by_name),
        cmocka_unit_test(ranges_must_agree_too),
        cmocka_unit_test(nobody_and_nothing),
        cmocka_unit_test(sums_merge_ranges),
        cmocka_unit_test(absurd_times_stay_at_the_bound),
        cmocka_unit_test(a_thousand_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Operations from annotations [RANK-4c] [RANK-4d], by hand. */
#include "ingest/analysis/operations/annotated.h"
#include "ingest/analysis/ranks/digest.h"
#include "tests/unit/unit.h"

#include <string.h>

static void names_tell_types_and_stages(void **state)
{
    static const struct {
        const char *name;
        int type; /* -1: none */
        int64_t stage;
    } rows[] = {
        {"PP:1F3", OPERATION_FORWARD_COMPUTE, 1},
        {"PP:12B0", OPERATION_BACKWARD_COMPUTE, 12},
        {"PP:0I1", OPERATION_BACKWARD_COMPUTE, 0},
        {"PP:0W1", OPERATION_BACKWARD_COMPUTE, 0},
        {"PP:3SEND_F1", OPERATION_FORWARD_SEND, 3},
        {"PP:3RECV_B1", OPERATION_BACKWARD_RECV, 3},
        {"PP:3UNSHARD", -1, 0},
        {"PP:F1", -1, 0},
        {"PP:1F1x", -1, 0},
        {"PP:99999999999999999999F1", -1, 0},
        {"PP:(0F1;1B2)OVERLAP_F_B", -1, 0},
        {"Forward 3", OPERATION_FORWARD_COMPUTE, RANK_UNKNOWN},
        {"Backward 12", OPERATION_BACKWARD_COMPUTE, RANK_UNKNOWN},
        {"Forward ", -1, 0},
        {"Forward pass", -1, 0},
        {"forward-compute", OPERATION_FORWARD_COMPUTE, RANK_UNKNOWN},
        {"optimizer", OPERATION_OPTIMIZER, RANK_UNKNOWN},
        {"/m/megatron/core/pipeline_parallel/schedules.py(264): forward_step",
         OPERATION_FORWARD_COMPUTE, RANK_UNKNOWN},
        {"/m/pretrain_gpt.py(90): forward_step", -1, 0},
        {"deepspeed/runtime/pipe/engine.py(700): _exec_send_grads", OPERATION_BACKWARD_SEND,
         RANK_UNKNOWN},
        {"deepspeed/runtime/pipe/engine.py(700): _exec_schedule", -1, 0},
        {"", -1, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct rank_operation_name told = rank_operation_named(rows[i].name);
        if (rows[i].type < 0) {
            assert_int_equal(told.rule, 0);
            continue;
        }
        assert_true(told.rule > 0);
        assert_int_equal(told.type, rows[i].type);
        assert_int_equal(told.stage, rows[i].stage);
    }
}

#define F OPERATION_FORWARD_COMPUTE
#define B OPERATION_BACKWARD_COMPUTE

/* Two replicas of two stages whose names tell no stage: ranks 0 and 2, 1 and 3 send to each other.
 */
static void peers_tell_stages(void **state)
{
    static const struct rank_operation ops[] = {
        {1000, 10, 1, RANK_UNKNOWN, F}, {1010, 10, 1, RANK_UNKNOWN, F},
        {1020, 10, 1, RANK_UNKNOWN, B}, {1030, 10, 1, RANK_UNKNOWN, B},
        {2000, 10, 2, RANK_UNKNOWN, F}, /* cut off */
    };
    const char *even[] = {"[0,2]"};
    const char *odd[] = {"[1,3]", "no list", "[99999999999999999999999]"};
    struct annotated_rank ranks[] = {{0, 1000, even, ops, 5, 1},
                                     {1, 1000, odd, ops, 5, 3},
                                     {2, 990, even, ops, 5, 1},
                                     {3, 1000, odd, ops, 5, 1}};
    struct operation_table *table = NULL;
    struct arena arena;
    (void)state;
    arena_init(&arena, 0);
    assert_true(annotated_operations(ranks, 4, &arena, &table));
    assert_non_null(table);
    assert_int_equal(table->count, 16);
    for (uint32_t i = 0; i < table->count; i++) {
        const struct operation *op = &table->items[i];
        assert_int_equal(op->stage, op->rank / 2);
        assert_int_equal(op->dp_rank, op->rank % 2);
        assert_int_equal(op->model_chunk, op->stage);
        assert_int_equal(op->step, 1);
        assert_int_equal(op->seq_id, i % 2);
    }
    assert_true(table->items[8].start_s > 19e-9 && table->items[8].start_s < 31e-9);
    /* Without peers nothing tells the stage. */
    for (size_t r = 0; r < 4; r++) {
        ranks[r].peer_count = 0;
    }
    assert_true(annotated_operations(ranks, 4, &arena, &table));
    assert_null(table);
    arena_free(&arena);
}

/* Chunks 0 and 3 of a model on one rank, 1 and 2 on the other. */
static void chunks_of_a_rank(void **state)
{
    static const struct rank_operation outer[] = {{0, 5, 0, 0, F}, {15, 5, 0, 3, F}};
    static const struct rank_operation inner[] = {{5, 5, 0, 1, F}, {10, 5, 0, 2, F}};
    const struct annotated_rank ranks[] = {{4, 0, NULL, inner, 2, 0}, {7, 0, NULL, outer, 2, 0}};
    struct operation_table *table = NULL;
    struct arena arena;
    (void)state;
    arena_init(&arena, 0);
    assert_true(annotated_operations(ranks, 2, &arena, &table));
    assert_non_null(table);
    assert_int_equal(table->count, 4);
    assert_int_equal(table->items[0].stage, 1); /* rank 4 */
    assert_int_equal(table->items[2].stage, 0);
    assert_int_equal(table->items[3].chunk, 1);
    assert_int_equal(table->items[3].model_chunk, 3);
    assert_int_equal(table->items[3].dp_rank, 0);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_tell_types_and_stages),
        cmocka_unit_test(peers_tell_stages),
        cmocka_unit_test(chunks_of_a_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

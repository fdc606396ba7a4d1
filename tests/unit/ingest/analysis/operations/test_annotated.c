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
    struct annotated_rank ranks[] = {{0, 1000, even, ops, 5, 1, NULL, 0},
                                     {1, 1000, odd, ops, 5, 3, NULL, 0},
                                     {2, 990, even, ops, 5, 1, NULL, 0},
                                     {3, 1000, odd, ops, 5, 1, NULL, 0}};
    struct operation_table *table = NULL;
    struct arena arena;
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
    const struct annotated_rank ranks[] = {{4, 0, NULL, inner, 2, 0, NULL, 0},
                                           {7, 0, NULL, outer, 2, 0, NULL, 0}};
    struct operation_table *table = NULL;
    struct arena arena;
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

/* Two stages that receive and send by kernels of groups of two; nothing names the transfers. */
static void kernels_tell_transfers(void **state)
{
    static const char *texts[] = {"SEND",  "recv",  "[0,3]",    "[0,1,3]",
                                  "[0,9]", "[3,3]", "coalesced"};
    static struct rank_operation ops[] = {{110, 10, 7, 0, F}, {130, 10, 7, 0, B}};
    static struct rank_operation above[] = {{120, 5, 7, 1, F}, {125, 5, 7, 1, B}};
    static struct rank_step steps[] = {{8, 300, 100}, {7, 100, 100}};
#define KERNEL(start, text, ranks)                                                     \
    {                                                                                  \
        .start_ns = (start), .duration_ns = 4, .name = (text), .group_ranks = (ranks), \
        .kind = RANK_SEND_RECEIVE                                                      \
    }
    static struct rank_collective own[] = {
        KERNEL(90, 0, 2), /* before all steps */
        KERNEL(120, 0, 2), KERNEL(126, 1, 2), KERNEL(127, 0, 3),           KERNEL(127, 0, 4),
        KERNEL(127, 0, 5), KERNEL(127, 6, 2), KERNEL(127, 0, RANK_NO_TEXT)};
    static struct rank_collective other[] = {KERNEL(118, 1, 2), KERNEL(130, 0, 2)};
    struct rank_digest digests[] = {{.texts = texts,
                                     .text_count = 7,
                                     .operations = ops,
                                     .operation_count = 2,
                                     .steps = steps,
                                     .step_count = 2,
                                     .collectives = own,
                                     .collective_count = COUNT_OF(own)},
                                    {.texts = texts,
                                     .text_count = 7,
                                     .operations = above,
                                     .operation_count = 2,
                                     .steps = steps,
                                     .step_count = 2,
                                     .collectives = other,
                                     .collective_count = COUNT_OF(other)}};
    struct annotated_rank ranks[2] = {{.rank = 0, .zero_ns = 100}, {.rank = 3, .zero_ns = 100}};
    static const int expected[][2] = {
        {B, 0}, {F, 0}, {OPERATION_BACKWARD_RECV, 0}, {OPERATION_FORWARD_SEND, 0},
        {B, 1}, {F, 1}, {OPERATION_BACKWARD_SEND, 1}, {OPERATION_FORWARD_RECV, 1}};
    struct operation_table *table = NULL;
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t r = 0; r < 2; r++) {
        assert_true(annotated_read(&ranks[r], &digests[r], &arena));
    }
    assert_true(annotated_operations(ranks, 2, &arena, &table));
    assert_non_null(table);
    assert_int_equal(table->count, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        bool found = false;
        for (uint32_t k = 0; k < table->count; k++) {
            found |= table->items[k].type == expected[i][0] &&
                     table->items[k].stage == (uint32_t)expected[i][1] && table->items[k].step == 7;
        }
        assert_true(found);
    }
    /* A name tells one: the kernels tell none. */
    above[0].type = OPERATION_FORWARD_RECV;
    ranks[1] = (struct annotated_rank){.rank = 3, .zero_ns = 100};
    assert_true(annotated_read(&ranks[1], &digests[1], &arena));
    assert_true(annotated_operations(ranks, 2, &arena, &table));
    assert_int_equal(table->count, 4);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_tell_types_and_stages),
        cmocka_unit_test(peers_tell_stages),
        cmocka_unit_test(chunks_of_a_rank),
        cmocka_unit_test(kernels_tell_transfers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

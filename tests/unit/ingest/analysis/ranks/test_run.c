/* Ranks laid beside each other [RANK-1] to [RANK-3], on digests whose answers are worked by hand.
 */
#include "ingest/analysis/ranks/run.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#define STEP_NS 1000000
#define END_NS 300000
#define ARRIVE_NS 100000

enum { TEXT_ALLREDUCE, TEXT_GROUP, TEXT_RANKS, TEXT_FLOAT, TEXT_GEMM, TEXT_BARRIER, TEXT_SPLIT };
static const char *texts[] = {"allreduce", "0", "[0,1,2]", "Float", "gemm", "barrier", "[1,0,3]"};

/* Two steps with an all-reduce each, which all ranks leave at END_NS of the step. */
struct rank {
    struct rank_digest digest;
    struct rank_collective collectives[2];
    struct rank_step steps[2];
    struct rank_segment segments[6];
    struct rank_part parts[2];
};

static struct rank_collective collective(int64_t start_ns, int64_t end_ns, uint32_t event)
{
    return (struct rank_collective){.start_ns = start_ns,
                                    .duration_ns = end_ns - start_ns,
                                    .sequence = RANK_UNKNOWN,
                                    .size = 3,
                                    .in_bytes = 4000,
                                    .out_bytes = 4000,
                                    .event = event,
                                    .name = TEXT_ALLREDUCE,
                                    .dtype = TEXT_FLOAT,
                                    .group = TEXT_GROUP,
                                    .group_ranks = TEXT_RANKS,
                                    .in_split = RANK_NO_TEXT,
                                    .kind = RANK_ALL_REDUCE};
}

static void make_rank(struct rank *rank, int64_t ahead_ns, int64_t arrive_ns, int64_t compute_ns)
{
    memset(rank, 0, sizeof *rank);
    for (int s = 0; s < 2; s++) {
        int64_t begin_ns = ahead_ns + (int64_t)s * STEP_NS;
        rank->collectives[s] =
            collective(begin_ns + arrive_ns, begin_ns + END_NS, 10U + (uint32_t)s);
        rank->steps[s] = (struct rank_step){7 + s, begin_ns, STEP_NS};
        rank->segments[3 * s] = (struct rank_segment){begin_ns, compute_ns, 10000, 0};
        rank->segments[3 * s + 1] = (struct rank_segment){begin_ns + arrive_ns, 0, 0, 0};
        rank->segments[3 * s + 2] = (struct rank_segment){begin_ns + END_NS, 0, 0, 0};
        rank->parts[s] = (struct rank_part){3U * (uint32_t)s, TEXT_GEMM, compute_ns};
    }
    rank->digest = (struct rank_digest){.rank = RANK_UNKNOWN,
                                        .first_ns = ahead_ns,
                                        .texts = texts,
                                        .text_count = sizeof texts / sizeof *texts,
                                        .collectives = rank->collectives,
                                        .collective_count = 2,
                                        .steps = rank->steps,
                                        .step_count = 2,
                                        .segments = rank->segments,
                                        .segment_count = 6,
                                        .parts = rank->parts,
                                        .part_count = 2};
}

/* Rank 1 computes 200 us where the others take 80 and 90, so that they wait for it. */
static void make_ranks(struct rank ranks[3])
{
    make_rank(&ranks[0], 0, ARRIVE_NS, 80000);
    make_rank(&ranks[1], 5000, 250000, 200000);
    make_rank(&ranks[2], -2000, 120000, 90000);
}

struct made {
    struct ranks_run *run;
    struct arena arena;
    struct ranks_collectives collectives;
    struct ranks_verdict verdict;
};

static void make(struct made *made, struct rank *ranks, size_t count, bool is_raw)
{
    static const int64_t numbers[] = {0, 1, 2};
    static const int64_t ids[] = {100, 101, 102};
    arena_init(&made->arena, 0);
    made->run = ranks_run_create(numbers, ids, count);
    assert_non_null(made->run);
    for (size_t i = 0; i < count; i++) {
        assert_true(ranks_run_add(made->run, i, &ranks[i].digest));
    }
    assert_true(ranks_run_match(made->run));
    for (size_t i = 0; i < count; i++) {
        assert_true(ranks_run_describe(made->run, i, &ranks[i].digest));
    }
    for (size_t i = 0; ranks_run_has_culprits(made->run) && i < count; i++) {
        assert_true(ranks_run_kernels(made->run, i, &ranks[i].digest));
    }
    assert_true(ranks_run_verdict(made->run, &made->arena, &made->verdict));
    assert_true(ranks_run_collectives(made->run, is_raw, true, &made->arena, &made->collectives));
}

static void unmake(struct made *made)
{
    ranks_run_destroy(made->run);
    arena_free(&made->arena);
}

static void clocks_come_from_the_ends(void **state)
{
    struct rank ranks[3];
    struct made made;
    make_ranks(ranks);
    make(&made, ranks, 3, false);
    const struct clock_row *clocks = made.verdict.clocks;
    assert_int_equal(clocks[0].offset_ns, 0);
    assert_int_equal(clocks[0].samples, RANK_UNKNOWN);
    assert_string_equal(clocks[0].confidence, "reference");
    assert_int_equal(clocks[1].offset_ns, 5000);
    assert_int_equal(clocks[1].samples, 2);
    assert_int_equal(clocks[1].residual_ns, 0);
    assert_string_equal(clocks[1].confidence, "low"); /* two samples */
    assert_int_equal(clocks[2].offset_ns, -2000);
    assert_int_equal(made.verdict.island_count, 1);
    unmake(&made);
}

static void a_collective_has_its_figures(void **state)
{
    struct rank ranks[3];
    struct made made;
    make_ranks(ranks);
    make(&made, ranks, 3, false);
    assert_int_equal(made.collectives.row_count, 2);
    const struct collective_row *row = &made.collectives.rows[1];
    assert_string_equal(row->kind, "all_reduce");
    assert_string_equal(row->matched_by, "order");
    assert_int_equal(row->sequence, 1);
    assert_int_equal(row->step, 8);
    assert_true(row->complete);
    assert_int_equal(row->start_ns, STEP_NS + ARRIVE_NS); /* the run begins with step 7 */
    assert_int_equal(row->skew_ns, 150000);
    assert_int_equal(row->end_skew_ns, 0);
    assert_int_equal(row->transfer_ns, 50000);
    assert_true(row->mean_wait_ns == 280000.0 / 3);
    assert_int_equal(row->first_rank, 0);
    assert_int_equal(row->last_rank, 1);
    assert_true(row->algorithm_bytes_per_s == 8e7);
    assert_true(fabs(row->bus_bytes_per_s - 8e7 * 4 / 3) < 1);
    const struct collective_part *part =
        &made.collectives.parts[made.collectives.first[row->instance] + 2];
    assert_int_equal(part->rank, 2);
    assert_int_equal(part->trace, 102);
    assert_int_equal(part->event, 11);
    assert_int_equal(part->wait_ns, 130000);
    assert_int_equal(made.collectives.sum_count, 1);
    assert_int_equal(made.collectives.sums[0].transfer_ns, 100000);
    unmake(&made);
    make(&made, ranks, 3, true);
    assert_int_equal(made.collectives.rows[0].skew_ns, 155000); /* 255000 - 100000 */
    assert_int_equal(made.collectives.rows[0].start_ns, ARRIVE_NS + 2000);
    unmake(&made);
}

static void the_culprit_waits_least(void **state)
{
    struct rank ranks[3];
    struct made made;
    make_ranks(ranks);
    make(&made, ranks, 3, false);
    const struct ranks_verdict *verdict = &made.verdict;
    static const int64_t wait_ns[] = {150000, 150000, 0, 0, 130000, 130000};
    static const int64_t work_ns[] = {100000, 800000, 250000, 950000, 120000, 820000};
    assert_int_equal(verdict->step_count, 2);
    assert_memory_equal(verdict->wait_ns, wait_ns, sizeof wait_ns);
    assert_memory_equal(verdict->work_ns, work_ns, sizeof work_ns);
    for (int s = 0; s < 2; s++) {
        const struct culprit_row *row = &verdict->culprits[s];
        assert_int_equal(row->rank, 1);
        assert_int_equal(row->margin_ns, 130000); /* of 0, 130, 150 us the middle one */
        assert_int_equal(row->cause, CAUSE_COMPUTE);
        assert_int_equal(row->excess_ns[CAUSE_COMPUTE], 110000); /* beyond the middle 90 us */
        assert_int_equal(row->excess_ns[CAUSE_MEMORY], 0);
        assert_int_equal(row->excess_ns[CAUSE_HOST], 20000);
        assert_int_equal(row->kernel_count, 1);
        assert_string_equal(row->kernels[0].name, "gemm");
        assert_int_equal(row->kernels[0].excess_ns, 110000);
    }
    assert_int_equal(verdict->kind, VERDICT_PERSISTENT);
    assert_int_equal(verdict->lost_ns, 260000);
    assert_string_equal(verdict->text, "Rank 1 makes the others wait in 2 of 2 steps, 0.13 ms a "
                                       "step, by compute kernels (gemm +0.11 ms).");
    unmake(&made);
}

static void a_small_margin_is_none(void **state)
{
    struct rank ranks[3];
    struct made made;
    make_rank(&ranks[0], 0, ARRIVE_NS, 80000);
    make_rank(&ranks[1], 0, ARRIVE_NS + 19999, 80000);
    make_rank(&ranks[2], 0, ARRIVE_NS, 80000);
    make(&made, ranks, 3, false);
    assert_int_equal(made.verdict.culprits[0].rank, RANK_UNKNOWN);
    assert_int_equal(made.verdict.culprits[0].margin_ns, 19999);
    assert_int_equal(made.verdict.kind, VERDICT_BALANCED);
    unmake(&made);
}

static void other_names_are_a_mismatch(void **state)
{
    struct rank ranks[3];
    struct made made;
    make_ranks(ranks);
    ranks[2].collectives[0].name = TEXT_BARRIER;
    make(&made, ranks, 3, false);
    assert_true(made.collectives.rows[0].mismatch);
    assert_false(made.collectives.rows[1].mismatch);
    assert_int_equal(made.collectives.sums[0].count, 1);
    assert_int_equal(made.verdict.wait_ns[0], RANK_UNKNOWN); /* nothing left in the step */
    assert_int_equal(made.verdict.clocks[1].samples, 1);
    unmake(&made);
}

/* Both Seq are of the trace's own order, but swapped on rank 2. */
static void a_sequence_matches_across_order(void **state)
{
    struct rank ranks[3];
    struct made made;
    make_ranks(ranks);
    for (int r = 0; r < 3; r++) {
        ranks[r].collectives[0].sequence = r == 2 ? 9 : 4;
        ranks[r].collectives[1].sequence = r == 2 ? 4 : 9;
    }
    make(&made, ranks, 3, true);
    assert_string_equal(made.collectives.rows[0].matched_by, "sequence");
    assert_int_equal(made.collectives.rows[0].sequence, 4);
    assert_int_equal(made.collectives.rows[0].last_rank, 2);
    unmake(&made);
    ranks[1].collectives[1].sequence = 4; /* twice on a rank: by order */
    make(&made, ranks, 3, true);
    assert_string_equal(made.collectives.rows[0].matched_by, "order");
    unmake(&made);
}

static void a_rank_alone_is_an_island(void **state)
{
    struct rank ranks[3];
    struct made made;
    make_ranks(ranks);
    ranks[2].digest.collective_count = 0;
    make(&made, ranks, 3, false);
    assert_int_equal(made.verdict.island_count, 2);
    assert_int_equal(made.verdict.clocks[2].residual_ns, RANK_UNKNOWN);
    assert_int_equal(made.collectives.rows[0].ranks_n, 2);
    assert_false(made.collectives.rows[0].complete);
    assert_int_equal(made.collectives.sum_count, 0);
    unmake(&made);
    make(&made, ranks, 1, false);
    assert_int_equal(made.verdict.kind, VERDICT_UNKNOWN);
    unmake(&made);
}

static void experts_send_shares(void **state)
{
    struct rank ranks[3];
    struct made made;
    make_ranks(ranks);
    ranks[1].collectives[0].kind = RANK_ALL_TO_ALL;
    ranks[1].collectives[0].in_split = TEXT_SPLIT;
    ranks[1].collectives[0].in_bytes = 4001; /* the rest of a division is nobody's */
    make(&made, ranks, 3, false);
    static const int64_t sent_bytes[] = {0, 0, 0, 1000, 0, 3000, 0, 0, 0};
    assert_memory_equal(made.collectives.sent_bytes, sent_bytes, sizeof sent_bytes);
    assert_true(made.collectives.imbalance_send == 3);
    assert_true(made.collectives.imbalance_receive == 3000.0 * 3 / 4000);
    unmake(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks_come_from_the_ends),
        cmocka_unit_test(a_collective_has_its_figures),
        cmocka_unit_test(the_culprit_waits_least),
        cmocka_unit_test(a_small_margin_is_none),
        cmocka_unit_test(other_names_are_a_mismatch),
        cmocka_unit_test(a_sequence_matches_across_order),
        cmocka_unit_test(a_rank_alone_is_an_island),
        cmocka_unit_test(experts_send_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

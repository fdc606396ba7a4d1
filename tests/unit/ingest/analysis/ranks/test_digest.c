/* A trace's digest: its collectives and steps, and how device time divides between them [RANK-3e].
 */
#include "ingest/analysis/ranks/digest.h"
#include "tests/unit/ingest/analysis/model_builder.h"

#define GEMM "gemm_kernel"
#define COPY "Memcpy HtoD"
#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

static int64_t part_ns(const struct rank_digest *digest, uint32_t segment, const char *name)
{
    for (uint32_t i = 0; i < digest->part_count; i++) {
        const struct rank_part *part = &digest->parts[i];
        if (part->segment == segment && strcmp(digest->texts[part->name], name) == 0) {
            return part->ns;
        }
    }
    return 0;
}

static void time_divides_by_layer(void **state)
{
    struct build b;
    build_begin(&b);
    b.trace->base_time_ns = 7000000000;
    b.trace->distributed_rank = 3;
    build_step(&b, "ProfilerStep#12", 0, 100);
    build_step(&b, "ProfilerStep#12", 200, 300); /* the first of a number counts */
    build_host(&b, EVENT_USER_ANNOTATION, "enumerate(DataLoader)#X.__next__", 1, 1, 12,
               TRACE_NO_ID);
    build_kernel(&b, GEMM, 10, 30, 1);
    build_kernel(&b, "other_kernel", 20, 35, 2);
    build_device_event(&b, EVENT_MEMCPY, COPY, 0, 30, 40, 3, TRACE_NO_ID, (double)NAN, (double)NAN);
    build_kernel(&b, ALL_REDUCE, 50, 70, 4);
    build_kernel(&b, GEMM, 60, 75, 5);
    const struct rank_digest *digest = build_run(&b)->rank_digest;
    assert_non_null(digest);
    assert_int_equal(digest->rank, 3);
    assert_int_equal(digest->first_ns, 7000000000);
    assert_int_equal(digest->collective_count, 1);
    const struct rank_collective *item = &digest->collectives[0];
    assert_int_equal(item->start_ns, 7000050000);
    assert_int_equal(item->duration_ns, 20000);
    assert_int_equal(item->kind, RANK_ALL_REDUCE);
    assert_int_equal(item->event, 6);
    assert_int_equal(item->group, RANK_NO_TEXT);
    assert_string_equal(digest->texts[item->name], "unknown");
    assert_int_equal(digest->step_count, 1);
    assert_int_equal(digest->steps[0].number, 12);
    assert_int_equal(digest->steps[0].duration_ns, 100000);
    assert_int_equal(digest->segment_count, 3); /* 0, 50, 70 us */
    assert_int_equal(digest->segments[0].start_ns, 7000000000);
    assert_int_equal(digest->segments[0].compute_ns, 25000); /* 10 to 35 */
    assert_int_equal(digest->segments[0].memory_ns, 5000);   /* 35 to 40 */
    assert_int_equal(digest->segments[0].input_ns, 9000);    /* 1 to 10 */
    assert_int_equal(digest->segments[1].compute_ns, 10000);
    assert_int_equal(part_ns(digest, 0, GEMM), 20000);
    assert_int_equal(part_ns(digest, 0, "other_kernel"), 15000);
    assert_int_equal(part_ns(digest, 0, COPY), 10000); /* each counts, also where they overlap */
    assert_int_equal(part_ns(digest, 1, GEMM), 10000);
    assert_int_equal(digest->part_count, 4);
    assert_int_equal(digest->communication_ns, 20000);
    assert_int_equal(digest->hidden_ns, 10000);
    assert_int_equal(digest->last_ns, 7000300000);
    assert_int_equal(digest->busy_count, 2); /* 10 to 40, 60 to 75 us */
    assert_int_equal(digest->busy[0].start_ns, 7000010000);
    assert_int_equal(digest->busy[0].end_ns, 7000040000);
    assert_int_equal(digest->busy[1].end_ns, 7000075000);
    build_end(&b);
}

/* A gap of 1 us behind each kernel, but for one of 5 us. */
static void the_shortest_gaps_are_closed(void **state)
{
    struct build b;
    int64_t at_us = 0;
    build_begin(&b);
    for (uint32_t i = 0; i < 2 * RANK_BUSY_MAX; i++) {
        build_kernel(&b, GEMM, at_us, at_us + 1, i + 1);
        at_us += i == 100 ? 6 : 2;
    }
    const struct rank_digest *digest = build_run(&b)->rank_digest;
    assert_int_equal(digest->busy_count, 2);
    assert_int_equal(digest->busy[0].end_ns, 201000);
    assert_int_equal(digest->busy[1].start_ns, 206000);
    assert_int_equal(digest->busy[1].end_ns, digest->last_ns);
    build_end(&b);
}

static void a_trace_without_collectives_has_steps_alone(void **state)
{
    struct build b;
    build_begin(&b);
    build_step(&b, "ProfilerStep#1", 5, 100);
    build_kernel(&b, GEMM, 10, 30, 1);
    const struct rank_digest *digest = build_run(&b)->rank_digest;
    assert_int_equal(digest->rank, RANK_UNKNOWN);
    assert_int_equal(digest->first_ns, 5000);
    assert_int_equal(digest->step_count, 1);
    assert_int_equal(digest->segment_count, 0);
    assert_int_equal(digest->part_count, 0);
    build_end(&b);
}

/* Each of many kernels runs through all collectives: their parts would be kernels x collectives. */
static void long_kernels_of_many_names_stay_bounded(void **state)
{
    enum { COLLECTIVES = 2000, KERNELS = 600 };
    struct build b;
    char name[32];
    build_begin(&b);
    for (int i = 0; i < KERNELS; i++) {
        (void)snprintf(name, sizeof name, "kernel_%d", i);
        build_kernel(&b, name, 0, 4 * COLLECTIVES + i, i + 1);
    }
    for (int i = 0; i < COLLECTIVES; i++) {
        build_kernel(&b, ALL_REDUCE, 4 * i + 1, 4 * i + 3, KERNELS + i + 1);
    }
    const struct rank_digest *digest = build_run(&b)->rank_digest;
    assert_int_equal(digest->collective_count, COLLECTIVES);
    assert_true(digest->part_count <= RANK_PARTS_MAX);
    assert_int_equal(part_ns(digest, 0, "kernel_599"), 2000); /* the longest stays */
    assert_int_equal(part_ns(digest, 0, "kernel_0"), 0);
    assert_int_equal(digest->segments[0].compute_ns, 2000);
    build_end(&b);
}

static void names_tell_kinds_and_sizes(void **state)
{
    assert_int_equal(rank_kind_of("_Allgather_Base", NULL), RANK_ALL_GATHER);
    assert_int_equal(rank_kind_of("recv", NULL), RANK_SEND_RECEIVE);
    assert_int_equal(rank_kind_of("allreduce2", "AllReduce"), RANK_OTHER);
    assert_int_equal(rank_kind_of(NULL, "ncclKernel_REDUCESCATTER_x"), RANK_REDUCE_SCATTER);
    assert_int_equal(rank_kind_of(NULL, "gemm"), RANK_OTHER);
    assert_int_equal(rank_element_bytes("BFLOAT16"), 2);
    assert_int_equal(rank_element_bytes("Float8_e5m2"), 1);
    assert_int_equal(rank_element_bytes("Float16"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_divides_by_layer),
        cmocka_unit_test(the_shortest_gaps_are_closed),
        cmocka_unit_test(a_trace_without_collectives_has_steps_alone),
        cmocka_unit_test(long_kernels_of_many_names_stay_bounded),
        cmocka_unit_test(names_tell_kinds_and_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

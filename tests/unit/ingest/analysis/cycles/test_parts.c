/* The small parts that the analysis of cycles is made of. */
#include "ingest/analysis/cycles/events.h"
#include "ingest/analysis/cycles/names.h"
#include "ingest/analysis/cycles/rows/mean_variance.h"
#include "ingest/analysis/cycles/rows/rows.h"
#include "ingest/analysis/cycles/rows/types.h"
#include "ingest/analysis/cycles/tracks.h"
#include "ingest/base/containers/segment_tree.h"
#include "ingest/index/sort.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A fixed sequence that looks random. */
static uint64_t next_number(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 20;
}

static void hosts_stand_in_pids(void **state)
{
    static const struct {
        const char *pid;
        const char *host;
    } cases[] = {{"gpu-node-03(401365)", "gpu-node-03"},
                 {"gpu-node-03", "gpu-node-03"},
                 {"77", "77"},
                 {"(3317)", ""},
                 {"", ""},
                 {"a b.c_d", "b.c_d"},
                 {"node (12)", ""},
                 {"node()", ""},
                 {"node(1x)", ""},
                 {"x:node7(1)", "node7"},
                 {"12)", ""}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t begin = 0;
        size_t len = cycle_host_in_pid(cases[i].pid, strlen(cases[i].pid), &begin);
        assert_int_equal(len, strlen(cases[i].host));
        assert_memory_equal(cases[i].pid + begin, cases[i].host, len);
    }
}

static void numbers_stand_in_tids(void **state)
{
    assert_int_equal(cycle_number_behind("device:3 stream:7", "device:"), 3);
    assert_int_equal(cycle_number_behind("device: device:12", "device:"), 12);
    assert_int_equal(cycle_number_behind("CAT_XPU_5", "CAT_XPU_"), 5);
    assert_int_equal(cycle_number_behind("CAT_XPU_x", "CAT_XPU_"), -1);
    assert_int_equal(cycle_number_behind("device:99999999999999999999", "device:"), -1);
}

static void names_are_shortened(void **state)
{
    static const struct {
        const char *name;
        const char *simple;
    } cases[] = {
        {"void at::native::elementwise_kernel<128, 2>(int)", "at::native::elementwise_kernel"},
        {"void at::native::unrolled_elementwise_kernel<x>",
         "at::native::unrolled_elementwise_kernel"},
        {"void at::native::vectorized_elementwise_kernel<4>(int)",
         "at.native.vectorized_elementwise_kernel"},
        {"void pytorch_flash::flash_fwd_kernel<T>", "pytorch_flash::flash_fwd_kernel"},
        {"ampere_bf16_s16816gemm_bf16_128x64", "ampere_bf16_gemm"},
        {"triton_poi_fused_add_3", "triton_kernel"},
        {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x<4096ul>)",
         "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"},
        {"x ncclDevKernel::f", "nccl_kernel"},
        {"_Z17topk_topp", "_Z17topk_topp"},
        {"a triton_x", "a triton_x"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char out[256];
        assert_string_equal(cycle_simple_name(cases[i].name, out, sizeof out), cases[i].simple);
    }
}

static void counters_are_known_by_their_beginning(void **state)
{
    assert_int_equal(cycle_metric_of("process_cpu_usage_5.2e+05"), CYCLE_METRIC_PROCESS_CPU_USAGE);
    assert_int_equal(cycle_metric_of("gpu_mem_used"), CYCLE_METRIC_GPU_MEM_USED);
    assert_int_equal(cycle_metric_of("container_cpu_usage"), CYCLE_METRIC_COUNT);
    for (int i = 0; i < CYCLE_METRIC_COUNT; i++) {
        assert_int_equal(cycle_metric_of(cycle_metric_name((enum cycle_metric)i)), i);
    }
    assert_true(cycle_metric_scale(CYCLE_METRIC_NET_TX_RATE) > 99);
    assert_true(cycle_metric_scale(CYCLE_METRIC_GPU_SM_OCCUPANCY) > 99);
    assert_true(cycle_metric_scale(CYCLE_METRIC_CPU_FREQUENCY) < 2);
}

static void figures_round_as_their_text(void **state)
{
    uint64_t seed = 5;
    static const double edges[] = {0,        0.00005,    0.00015,  0.12345, 2.00025,
                                   1e300,    -0.00005,   -1.23455, 1e15,    0.000049,
                                   1e11 / 3, 4.5e15 / 7, 1e-9};
    for (size_t i = 0; i < 20000; i++) {
        char text[400];
        double value = i < COUNT_OF(edges)
                           ? edges[i]
                           : (double)next_number(&seed) / pow(2, (double)(next_number(&seed) % 60));
        /* Every other one close to the middle between two texts. */
        value = i % 2 == 0 ? value : floor(value) + 0.00005 + floor(value / 7) * 0.0001;
        (void)snprintf(text, sizeof text, "%.4f", value);
        double want = strtod(text, NULL);
        if (fabs(cycle_rounded(value) - want) > 0) {
            fail_msg("%.17g: %.17g is not %s", value, cycle_rounded(value), text);
        }
    }
    assert_true(isnan(cycle_rounded((double)NAN)));
}

static void moments_do_not_depend_on_the_way(void **state)
{
    enum { COUNT = 5000 };
    static double values[COUNT];
    struct mean_variance_tree tree = {NULL, 0};
    uint64_t seed = 1;
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = 1e6 + (double)(next_number(&seed) % 1000);
    }
    for (uint32_t i = 0; i < 400; i++) {
        uint32_t from = (uint32_t)(next_number(&seed) % COUNT);
        uint32_t to = from + 1 + (uint32_t)(next_number(&seed) % (COUNT - from));
        struct mean_variance have;
        assert_true(mean_variance_of(&tree, values, COUNT, from, to, &have));
        struct mean_variance want = mean_variance_direct(values + from, to - from);
        assert_true(fabs(have.count - want.count) <= 0);
        assert_true(fabs(have.mean - want.mean) <= 1e-12 * want.mean);
        assert_true(fabs(have.squares - want.squares) <= 1e-9 * (1 + want.squares));
    }
    assert_non_null(tree.nodes);
    mean_variance_tree_free(&tree);
}

static void extremes_of_stretches_are_found(void **state)
{
    enum { COUNT = 37 };
    int64_t values[COUNT];
    struct segment_tree least;
    struct segment_tree greatest;
    uint64_t seed = 3;
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = (int64_t)(next_number(&seed) % 100) - 50;
    }
    assert_true(segment_tree_init(&least, values, COUNT, false));
    assert_true(segment_tree_init(&greatest, values, COUNT, true));
    for (uint32_t from = 0; from < COUNT; from++) {
        int64_t low = values[from];
        int64_t high = values[from];
        for (uint32_t to = from + 1; to <= COUNT; to++) {
            low = values[to - 1] < low ? values[to - 1] : low;
            high = values[to - 1] > high ? values[to - 1] : high;
            assert_int_equal(segment_tree_query(&least, from, to), low);
            assert_int_equal(segment_tree_query(&greatest, from, to), high);
        }
    }
    segment_tree_free(&least);
    segment_tree_free(&greatest);
}

/* Keys that fit a word beside the item, and keys that do not. */
static void sorting_by_key_is_stable(void **state)
{
    enum { COUNT = 3000 };
    static int64_t keys[COUNT];
    static uint32_t items[COUNT];
    for (int wide = 0; wide < 2; wide++) {
        uint64_t seed = 9;
        for (uint32_t i = 0; i < COUNT; i++) {
            keys[i] = (int64_t)(next_number(&seed) % 700) - 350;
            keys[i] *= wide ? INT64_C(20000000000000000) : 1;
            items[i] = i;
        }
        assert_true(sort_by_key(items, COUNT, keys));
        for (size_t i = 1; i < COUNT; i++) {
            bool in_order = keys[items[i - 1]] < keys[items[i]] ||
                            (keys[items[i - 1]] == keys[items[i]] && items[i - 1] < items[i]);
            assert_true(in_order);
        }
    }
}

static void doubles_of_microseconds_are_recognised(void **state)
{
    static const struct {
        int64_t ns;
        bool is_short;
        int64_t meant_ns;
    } cases[] = {
        {INT64_C(1763001580008344200), true, INT64_C(1763001580008344250)},
        {INT64_C(1763001580008344500), true, INT64_C(1763001580008344500)},
        {INT64_C(1763001580008344800), true, INT64_C(1763001580008344750)},
        {INT64_C(1763001580008344000), true, INT64_C(1763001580008344000)},
        {INT64_C(1763001580008344250), false, INT64_C(1763001580008344250)},
        {INT64_C(1763001580008344201), false, INT64_C(1763001580008344250)},
        {INT64_C(-1763001580008344200), true, INT64_C(-1763001580008344250)},
        {INT64_C(5577123), true, INT64_C(5577123)},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(cycle_clock_is_short(cases[i].ns), cases[i].is_short);
        assert_true(cycle_clock_meant(cases[i].ns) == cases[i].meant_ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_stand_in_pids),
        cmocka_unit_test(numbers_stand_in_tids),
        cmocka_unit_test(names_are_shortened),
        cmocka_unit_test(counters_are_known_by_their_beginning),
        cmocka_unit_test(figures_round_as_their_text),
        cmocka_unit_test(moments_do_not_depend_on_the_way),
        cmocka_unit_test(extremes_of_stretches_are_found),
        cmocka_unit_test(sorting_by_key_is_stable),
        cmocka_unit_test(doubles_of_microseconds_are_recognised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

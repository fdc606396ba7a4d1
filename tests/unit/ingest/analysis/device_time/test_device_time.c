/* Device time by class of work: figures of a small trace, worked out by hand [DEV-2]. */
#include "ingest/analysis/device_time/device_time.h"
#include "ingest/index/index.h"
#include "tests/unit/ingest/analysis/model_builder.h"

#define US INT64_C(1000)

struct fixture {
    struct build build;
    struct arena arena;
    struct device_time times;
};

static void analyse(struct fixture *f, const int64_t *device)
{
    arena_init(&f->arena, 0);
    assert_true(device_time_analyse(f->build.trace, 0, NULL, device, &f->arena, &f->times));
}

static void end(struct fixture *f)
{
    arena_free(&f->arena);
    build_end(&f->build);
}

static void assert_block(const struct device_time_block *block,
                         int64_t start_us,
                         int64_t end_us,
                         int64_t busy_us,
                         int64_t events)
{
    assert_true(block->is_there);
    assert_int_equal(block->start_ns, start_us * US);
    assert_int_equal(block->end_ns, end_us * US);
    assert_int_equal(block->busy_ns, busy_us * US);
    assert_int_equal(block->events, events);
}

/* Computation 10–20 and 40–50, communication 15–30 and 45–60, a copy 18–35 and 70–80. */
static void build_overlaps(struct build *b)
{
    build_begin(b);
    build_step(b, "ProfilerStep#1", 0, 42);
    build_runtime(b, 1, 2, 3, 1, 1);
    build_runtime(b, 1, 4, 5, 2, 2);
    build_kernel(b, "sgemm", 10, 20, 1);
    build_kernel(b, "ncclDevKernel_AllReduce", 15, 30, 2);
    build_kernel(b, "Memcpy DtoD", 18, 35, 0);
    build_kernel(b, "sgemm", 40, 50, 0);
    build_kernel(b, "ncclDevKernel_AllReduce", 45, 60, 2);
    build_kernel(b, "Memcpy DtoD", 70, 80, 0);
    build_kernel(b, "Event_Wait", 0, 100, 0);
}

static void blocks_divide_their_time(void **state)
{
    struct fixture f;
    build_overlaps(&f.build);
    analyse(&f, NULL);
    const struct device_time_block *window = &f.times.blocks.window;
    assert_block(window, 10, 80, 25 + 20 + 10, 6);
    assert_int_equal(window->computation_ns, 20 * US);
    assert_int_equal(window->communication_ns, 30 * US);
    assert_int_equal(window->exposed_communication_ns, 20 * US);
    assert_int_equal(window->memcpy_ns, 27 * US);
    assert_int_equal(window->exposed_memcpy_ns, 15 * US);
    assert_block(&f.times.blocks.launched, 10, 60, 35, 3);
    /* To the end of what the step launched, not to the step's own. */
    assert_block(&f.times.blocks.steps, 0, 60, 45, 5);
    assert_int_equal(f.times.device_ns, (10 + 15 + 17 + 10 + 15 + 10) * US);
    end(&f);
}

static void classes_and_names_are_sums(void **state)
{
    struct fixture f;
    build_overlaps(&f.build);
    analyse(&f, NULL);
    static const char *const classes[] = {"communication", "memcpy", "gemm"};
    assert_int_equal(f.times.class_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(f.times.classes[i].name, classes[i]);
        assert_int_equal(f.times.classes[i].events, 2);
    }
    assert_int_equal(f.times.classes[1].busy_ns, 27 * US);
    assert_int_equal(f.times.kind_count, 1);
    assert_string_equal(f.times.kinds[0].name, "nccl");
    assert_int_equal(f.times.kernel_count, 4);
    assert_string_equal(f.times.kernels[0].name, "Event_Wait");
    assert_string_equal(f.times.kernels[0].class.name, KERNEL_CLASS_SYNC);
    end(&f);
}

static void devices_stand_apart(void **state)
{
    struct fixture f;
    build_begin(&f.build);
    build_device_event(&f.build, EVENT_KERNEL, "k", 1, 10, 20, 0, TRACE_NO_ID, 0.0, 0.0);
    build_device_event(&f.build, EVENT_KERNEL, "k", 0, 15, 40, 0, TRACE_NO_ID, 0.0, 0.0);
    analyse(&f, NULL);
    assert_block(&f.times.blocks.window, 10, 40, 30, 2);
    assert_false(f.times.blocks.launched.is_there);
    assert_false(f.times.blocks.steps.is_there);
    assert_int_equal(f.times.device_count, 2);
    assert_int_equal(f.times.devices[0].device, 0);
    assert_block(&f.times.devices[0].blocks.window, 15, 40, 25, 1);
    assert_block(&f.times.devices[1].blocks.window, 10, 20, 10, 1);
    arena_free(&f.arena);
    int64_t device = 1;
    analyse(&f, &device);
    assert_block(&f.times.blocks.window, 10, 20, 10, 1);
    assert_int_equal(f.times.device_ns, 10 * US);
    end(&f);
}

static void nothing_is_known_without_device_work(void **state)
{
    struct fixture f;
    build_begin(&f.build);
    build_step(&f.build, "ProfilerStep#1", 0, 42);
    analyse(&f, NULL);
    assert_false(f.times.blocks.window.is_there);
    assert_false(f.times.blocks.steps.is_there);
    assert_int_equal(f.times.kernel_count + f.times.class_count + f.times.device_count, 0);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_divide_their_time),
        cmocka_unit_test(classes_and_names_are_sums),
        cmocka_unit_test(devices_stand_apart),
        cmocka_unit_test(nothing_is_known_without_device_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

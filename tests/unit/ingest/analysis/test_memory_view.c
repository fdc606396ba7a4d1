/* Memory: placing, names, statistics, blocks, curves [TB-13]. */
#include "ingest/analysis/memory/view.h"
#include "tests/unit/ingest/analysis/memory_builder.h"

static const struct memory_window whole = {INT64_MIN, INT64_MAX};

struct memory {
    struct build b;
    struct arena arena;
    const struct trace_results *results;
};

static void begin(struct memory *m)
{
    build_begin(&m->b);
    arena_init(&m->arena, 0);
}

static void run(struct memory *m)
{
    m->results = build_run(&m->b);
    assert_non_null(m->results->memory_log);
}

static void end(struct memory *m)
{
    arena_free(&m->arena);
    build_end(&m->b);
}

static struct memory_stats stats_of(struct memory *m, struct memory_window window)
{
    struct memory_stats stats;
    assert_true(
        memory_stats_run(&stats, &m->arena, m->results->call_tree, m->results->memory_log, window));
    return stats;
}

static const struct memory_stat_row *
row_of(const struct memory_stats *stats, const char *device, const char *name)
{
    for (size_t d = 0; d < stats->device_count; d++) {
        for (size_t i = 0; i < stats->devices[d].row_count; i++) {
            if (strcmp(stats->devices[d].device, device) == 0 &&
                strcmp(stats->devices[d].rows[i].name, name) == 0) {
                return &stats->devices[d].rows[i];
            }
        }
    }
    return NULL;
}

static struct memory_block *blocks_of(struct memory *m, struct memory_window window, size_t *count)
{
    struct memory_block *blocks = NULL;
    assert_true(memory_blocks_run(&blocks, count, &m->arena, m->results->call_tree,
                                  m->results->memory_log, window));
    return blocks;
}

static void assert_block(const struct memory_block *block,
                         const char *op,
                         int64_t size_bytes,
                         int64_t allocated_us,
                         int64_t released_us)
{
    if (op == NULL) {
        assert_null(block->op);
    } else {
        assert_string_equal(block->op, op);
    }
    assert_int_equal(block->size_bytes, size_bytes);
    assert_true(block->allocated_at == (allocated_us < 0 ? MEMORY_NO_TIME : allocated_us * 1000));
    assert_true(block->released_at == (released_us < 0 ? MEMORY_NO_TIME : released_us * 1000));
}

/* ---- statistics ---- */

/* A record belongs to the deepest node that runs then; what called it has it in its totals. */
static void records_belong_to_the_deepest_operator(void **state)
{
    struct memory m;
    begin(&m);
    build_op(&m.b, "aten::conv", 1, 0, 100, 1);
    build_op(&m.b, "aten::empty", 1, 10, 30, 2);
    build_memory(&m.b, (struct build_record){1, 15, 64, 500, .device_type = BUILD_CUDA});
    build_memory(&m.b, (struct build_record){1, 20, 65, 100, .device_type = BUILD_CUDA});
    build_memory(&m.b, (struct build_record){
                           1, 30, 65, -100, .device_type = BUILD_CUDA}); /* its end is not inside */
    build_memory(&m.b,
                 (struct build_record){1, 40, 66, 7, .device_type = BUILD_CPU, .device_id = -1});
    run(&m);
    struct memory_stats stats = stats_of(&m, whole);
    assert_int_equal(stats.device_count, 2);
    assert_string_equal(stats.devices[0].device, "CPU"); /* by name */
    const struct memory_stat_row *empty = row_of(&stats, "GPU0", "aten::empty");
    assert_int_equal(empty->calls, 1);
    assert_int_equal(empty->size_bytes, 600);
    assert_int_equal(empty->self_size_bytes, 600);
    assert_int_equal(empty->allocations, 2);
    assert_int_equal(empty->self_allocated_bytes, 600);
    const struct memory_stat_row *conv = row_of(&stats, "GPU0", "aten::conv");
    assert_int_equal(conv->size_bytes, 500);
    assert_int_equal(conv->self_size_bytes, -100);
    assert_int_equal(conv->allocations, 2);
    assert_int_equal(conv->self_allocations, 0);
    assert_int_equal(conv->allocated_bytes, 600);
    assert_int_equal(conv->self_allocated_bytes, 0);
    assert_int_equal(row_of(&stats, "CPU", "aten::conv")->self_size_bytes, 7);
    assert_null(row_of(&stats, "CPU", "aten::empty")); /* all zero */
    end(&m);
}

/* Nodes that are no operators hand totals up; records in them belong to nobody. */
static void other_nodes_pass_totals_up(void **state)
{
    struct memory m;
    begin(&m);
    build_op(&m.b, "outer", 1, 0, 100, 1);
    build_host(&m.b, EVENT_PYTHON, "forward", 1, 5, 90, TRACE_NO_ID);
    build_op(&m.b, "inner", 1, 10, 50, 2);
    build_memory(&m.b, (struct build_record){1, 20, 1, 8, .device_type = BUILD_CUDA});
    build_memory(
        &m.b, (struct build_record){1, 60, 2, 16, .device_type = BUILD_CUDA}); /* in the function */
    run(&m);
    struct memory_stats stats = stats_of(&m, whole);
    assert_int_equal(row_of(&stats, "GPU0", "inner")->self_size_bytes, 8);
    assert_int_equal(row_of(&stats, "GPU0", "outer")->size_bytes, 8);
    assert_int_equal(row_of(&stats, "GPU0", "outer")->self_size_bytes, 0);
    assert_null(row_of(&stats, "GPU0", "forward"));
    end(&m);
}

/* An operator that no record is placed in or below counts as a call; what it called does not. */
static void unvisited_operators_end_the_descent(void **state)
{
    struct memory m;
    begin(&m);
    build_op(&m.b, "a", 1, 0, 10, 1);
    build_memory(&m.b, (struct build_record){1, 5, 1, 8, .device_type = BUILD_CUDA});
    build_op(&m.b, "b", 1, 20, 40, 2);
    build_op(&m.b, "a", 1, 25, 30, 3);
    build_op(&m.b, "a", 1, 50, 60, 4);
    build_op(&m.b, "a", 2, 0, 60, 5); /* a thread without any record */
    run(&m);
    struct memory_stats stats = stats_of(&m, whole);
    assert_int_equal(row_of(&stats, "GPU0", "a")->calls, 2);
    end(&m);
}

/* The same number for every device; every thread counts. */
static void calls_are_over_threads_and_devices(void **state)
{
    struct memory m;
    begin(&m);
    for (int64_t tid = 1; tid <= 2; tid++) {
        build_op(&m.b, "a", tid, 0, 10, tid);
        build_memory(&m.b, (struct build_record){tid, 5, tid, 8, .device_type = BUILD_CUDA,
                                                 .device_id = (int32_t)tid});
    }
    run(&m);
    struct memory_stats stats = stats_of(&m, whole);
    assert_int_equal(row_of(&stats, "GPU1", "a")->calls, 2);
    assert_int_equal(row_of(&stats, "GPU2", "a")->calls, 2);
    assert_int_equal(row_of(&stats, "GPU2", "a")->size_bytes, 8);
    end(&m);
}

/* Before the root begins and from its end on a record is stale. */
static void stale_records_belong_to_nobody(void **state)
{
    struct memory m;
    begin(&m);
    build_op(&m.b, "early", 2, 0, 5, 9);
    build_op(&m.b, "a", 1, 10, 20, 1);
    build_memory(&m.b, (struct build_record){1, 9, 1, 8, .device_type = BUILD_CUDA});
    build_memory(&m.b, (struct build_record){1, 20, 2, 16, .device_type = BUILD_CUDA});
    build_memory(
        &m.b, (struct build_record){7, 15, 3, 32, .device_type = BUILD_CUDA}); /* no such thread */
    run(&m);
    assert_int_equal(stats_of(&m, whole).device_count, 0);
    size_t count = 0;
    const struct memory_block *blocks = blocks_of(&m, whole, &count);
    assert_int_equal(count, 3);
    assert_block(&blocks[0], NULL, 8, 9, -1);
    end(&m);
}

/* Both ends of the window belong to it; operators wholly outside are not calls. */
static void a_window_narrows(void **state)
{
    struct memory m;
    begin(&m);
    for (int64_t i = 0; i < 4; i++) {
        build_op(&m.b, "a", 1, i * 100, i * 100 + 50, i + 1);
        build_memory(&m.b,
                     (struct build_record){1, i * 100 + 10, i, 1 << i, .device_type = BUILD_CUDA});
    }
    run(&m);
    struct memory_stats stats = stats_of(&m, (struct memory_window){110000, 210000});
    assert_int_equal(row_of(&stats, "GPU0", "a")->size_bytes, 2 + 4);
    assert_int_equal(row_of(&stats, "GPU0", "a")->calls, 2);
    stats = stats_of(&m, (struct memory_window){110001, 209999});
    assert_int_equal(stats.device_count, 0);
    stats = stats_of(&m, (struct memory_window){INT64_MIN, 10000});
    assert_int_equal(row_of(&stats, "GPU0", "a")->calls, 1);
    size_t count = 0;
    const struct memory_block *blocks =
        blocks_of(&m, (struct memory_window){110000, 210000}, &count);
    assert_int_equal(count, 2);
    assert_block(&blocks[0], "a", 2, 110, -1);
    end(&m);
}

/* ---- devices ---- */

static void devices_by_type(void **state)
{
    struct memory m;
    begin(&m);
    build_op(&m.b, "a", 1, 0, 100, 1);
    build_memory(&m.b,
                 (struct build_record){1, 10, 1, 8, .device_type = BUILD_PRIVATE, .device_id = 3});
    build_memory(&m.b, (struct build_record){1, 11, 2, 8, .device_type = 5, .device_id = 3});
    build_memory(&m.b,
                 (struct build_record){1, 12, 3, 8, .device_type = BUILD_CPU, .device_id = 9});
    run(&m);
    struct memory_stats stats = stats_of(&m, whole);
    assert_int_equal(stats.device_count, 2);
    assert_string_equal(stats.devices[0].device, "CPU");
    assert_string_equal(stats.devices[1].device,
                        "MLU3"); /* nothing says that 20 is something else */
    end(&m);
}

static void private_devices_are_not_shown_beside_gpus(void **state)
{
    struct memory m;
    begin(&m);
    build_op(&m.b, "a", 1, 0, 100, 1);
    build_memory(&m.b, (struct build_record){1, 10, 1, 8, .device_type = BUILD_PRIVATE});
    build_memory(&m.b, (struct build_record){1, 12, 1, 16, .device_type = BUILD_CUDA});
    build_memory(&m.b, (struct build_record){1, 14, 1, -16, .device_type = BUILD_PRIVATE});
    const struct device_properties gpu = {
        .id = 0, .name = "Tesla V100", .has = DEVICE_HAS_ID | DEVICE_HAS_NAME};
    assert_true(trace_add_device(m.b.trace, &gpu));
    run(&m);
    size_t count = 0;
    const struct memory_block *blocks = blocks_of(&m, whole, &count);
    /* they take part in the pairing all the same */
    assert_int_equal(count, 1);
    assert_string_equal(blocks[0].device, "GPU0");
    assert_block(&blocks[0], "a", 16, 12, 14);
    assert_int_equal(stats_of(&m, whole).device_count, 1);
    end(&m);
}

/* ---- blocks ---- */

static void blocks_are_paired_by_address(void **state)
{
    struct memory m;
    begin(&m);
    build_op(&m.b, "a", 1, 0, 10, 1);
    build_op(&m.b, "b", 1, 10, 100, 2);
    build_memory(&m.b, (struct build_record){1, 1, 64, 10, .device_type = BUILD_CUDA});
    build_memory(&m.b, (struct build_record){1, 2, 65, 20, .device_type = BUILD_CUDA});
    build_memory(&m.b, (struct build_record){1, 3, 66, 30, .device_type = BUILD_CUDA});
    build_memory(&m.b, (struct build_record){1, 20, 65, -21, .device_type = BUILD_CUDA});
    build_memory(&m.b, (struct build_record){1, 30, 99, -5, .device_type = BUILD_CUDA});
    build_memory(&m.b,
                 (struct build_record){1, 40, 66, 33, .device_type = BUILD_CUDA}); /* replaces */
    build_memory(&m.b, (struct build_record){1, 50, 98, -6, .device_type = BUILD_CUDA});
    build_memory(&m.b,
                 (struct build_record){1, 60, 99, -7, .device_type = BUILD_CUDA}); /* replaces */
    run(&m);
    size_t count = 0;
    const struct memory_block *blocks = blocks_of(&m, whole, &count);
    assert_int_equal(count, 5);
    assert_block(&blocks[0], "a", 21, 2, 20); /* named by the allocation, as large as the release */
    assert_block(&blocks[1], "a", 10, 1, -1);
    assert_block(&blocks[2], "b", 33, 40, -1); /* at the place of the address' first */
    assert_block(&blocks[3], NULL, 7, -1, 60);
    assert_block(&blocks[4], NULL, 6, -1, 50);
    end(&m);
}

/* Records without an address take part in statistics only. */
static void records_without_address(void **state)
{
    struct memory m;
    begin(&m);
    build_op(&m.b, "a", 1, 0, 10, 1);
    build_memory(&m.b, (struct build_record){1, 1, 64, 10, .device_type = BUILD_CUDA,
                                             .has = MEMORY_HAS_DEVICE_TYPE | MEMORY_HAS_DEVICE_ID});
    run(&m);
    size_t count = 1;
    (void)blocks_of(&m, whole, &count);
    assert_int_equal(count, 0);
    struct memory_stats stats = stats_of(&m, whole);
    assert_int_equal(row_of(&stats, "GPU0", "a")->size_bytes, 10);
    end(&m);
}

static void the_largest_negative_number_is_a_release(void **state)
{
    struct memory m;
    begin(&m);
    build_op(&m.b, "a", 1, 0, 10, 1);
    build_memory(&m.b,
                 (struct build_record){1, 1, INT64_MIN, INT64_MAX, .device_type = BUILD_CUDA});
    build_memory(&m.b,
                 (struct build_record){1, 2, INT64_MIN, INT64_MIN, .device_type = BUILD_CUDA});
    build_memory(&m.b,
                 (struct build_record){1, 3, INT64_MIN, INT64_MIN, .device_type = BUILD_CUDA});
    run(&m);
    size_t count = 0;
    const struct memory_block *blocks = blocks_of(&m, whole, &count);
    assert_int_equal(count, 2);
    assert_true(blocks[0].size_bytes == INT64_MAX);
    (void)stats_of(&m, whole);
    end(&m);
}

static void names_of_blocks(void **state)
{
    static const struct {
        const char *op, *parent, *name;
    } rows[] = {
        {NULL, NULL, "<unknown>"},
        {NULL, "parent", "<unknown>"},
        {"aten::mm", "parent", "aten::mm"},
        {"aten::empty", "aten::zeros", "aten::zeros (aten::empty)"},
        {"aten::empty_strided", "aten::to", "aten::to (aten::empty_strided)"},
        {"aten::empty", NULL, "aten::empty"},
        {"aten::empty", "", "aten::empty"},
        {"my::aten::empty", "parent", "my::aten::empty"},
    };
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct memory_block block = {.op = rows[i].op, .parent = rows[i].parent};
        assert_string_equal(memory_block_name(&arena, &block), rows[i].name);
    }
    arena_free(&arena);
}

/* The parent is the node above, of whatever class. */
static void the_parent_may_be_a_step(void **state)
{
    struct memory m;
    begin(&m);
    build_step(&m.b, "ProfilerStep#3", 0, 100);
    build_op(&m.b, "aten::empty", 1, 10, 20, 1);
    build_memory(&m.b, (struct build_record){1, 15, 1, 8, .device_type = BUILD_CUDA});
    build_memory(&m.b, (struct build_record){1, 90, 1, -8, .device_type = BUILD_CUDA});
    run(&m);
    size_t count = 0;
    const struct memory_block *blocks = blocks_of(&m, whole, &count);
    assert_int_equal(count, 1);
    assert_string_equal(memory_block_name(&m.arena, &blocks[0]), "ProfilerStep#3 (aten::empty)");
    end(&m);
}

#define EQUAL_BLOCKS 100000

/* As many blocks of one address and of equal names as a long training has. */
static void a_hundred_thousand_equal_blocks(void **state)
{
    struct memory m;
    begin(&m);
    for (int64_t i = 0; i < EQUAL_BLOCKS; i++) {
        build_op(&m.b, "aten::empty", 1, i * 10, i * 10 + 9, i + 1);
        build_memory(&m.b, (struct build_record){1, i * 10 + 1, 64, 8, .device_type = BUILD_CUDA});
        build_memory(&m.b, (struct build_record){1, i * 10 + 2, 64, -8, .device_type = BUILD_CUDA});
    }
    run(&m);
    size_t count = 0;
    const struct memory_block *blocks = blocks_of(&m, whole, &count);
    assert_int_equal(count, EQUAL_BLOCKS);
    assert_block(&blocks[EQUAL_BLOCKS - 1], "aten::empty", 8, EQUAL_BLOCKS * 10 - 9,
                 EQUAL_BLOCKS * 10 - 8);
    struct memory_stats stats = stats_of(&m, whole);
    assert_int_equal(row_of(&stats, "GPU0", "aten::empty")->calls, EQUAL_BLOCKS);
    assert_int_equal(row_of(&stats, "GPU0", "aten::empty")->allocated_bytes, EQUAL_BLOCKS * 8);
    end(&m);
}

#define NESTED 20000

static void deep_nesting(void **state)
{
    struct memory m;
    begin(&m);
    for (int64_t i = 0; i < NESTED; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "op%lld", (long long)(i % 7));
        build_op(&m.b, name, 1, i, 3 * NESTED - i, i + 1);
    }
    build_memory(&m.b, (struct build_record){1, NESTED + 5, 1, 8, .device_type = BUILD_CUDA});
    run(&m);
    struct memory_stats stats = stats_of(&m, whole);
    assert_int_equal(stats.device_count, 1);
    assert_int_equal(row_of(&stats, "GPU0", "op0")->size_bytes, 8 * ((NESTED + 6) / 7));
    end(&m);
}

/* ---- curves ---- */

static void curves_by_device(void **state)
{
    const uint32_t no_totals = BUILD_HAS_ALL & ~MEMORY_HAS_RESERVED;
    const uint32_t no_address = BUILD_HAS_ALL & ~MEMORY_HAS_ADDR;
    struct memory m;
    begin(&m);
    build_op(&m.b, "a", 1, 0, 100, 1);
    build_memory(&m.b, (struct build_record){1, 10, 1, 8, 108, 512, BUILD_CUDA, 1, 0});
    build_memory(&m.b, (struct build_record){1, 20, 2, 8, 8, 8, BUILD_CPU, -1, 0});
    build_memory(&m.b, (struct build_record){1, 30, 3, 8, 116, 512, BUILD_CUDA, 1, 0});
    build_memory(&m.b, (struct build_record){1, 35, 9, 9, 999, 999, BUILD_CUDA, 1, no_totals});
    build_memory(&m.b, (struct build_record){1, 36, 9, 9, 999, 999, BUILD_CUDA, 1, no_address});
    build_memory(&m.b, (struct build_record){1, 40, 3, -8, 108, 512, BUILD_CUDA, 1, 0});
    build_memory(&m.b, (struct build_record){1, 50, 3, 8, 116, 600, BUILD_CUDA, 1, 0});
    build_memory(&m.b,
                 (struct build_record){1, 60, 4, 8, 1, 1, 5, 1, 0}); /* a type without a view */
    run(&m);
    struct memory_curve *curves = NULL;
    size_t count = 0;
    assert_true(memory_curves_run(&curves, &count, &m.arena, m.results->memory_log));
    assert_int_equal(count, 2);
    assert_string_equal(curves[0].device, "GPU1"); /* in the order of appearance */
    assert_int_equal(curves[0].point_count, 4);
    assert_int_equal(curves[0].points[1].ts, 30000);
    assert_int_equal(curves[0].points[1].allocated_bytes, 116);
    assert_int_equal(curves[0].points[3].reserved_bytes, 600);
    assert_int_equal(curves[0].peak, 1); /* the first with the most */
    assert_string_equal(curves[1].device, "CPU");
    assert_false(curves[1].since_start);
    end(&m);
}

/* HIP is a GPU; a device whose records name no totals has sums of their sizes. */
static void curves_without_totals(void **state)
{
    const uint32_t no_totals = BUILD_HAS_ALL & ~(MEMORY_HAS_RESERVED | MEMORY_HAS_ALLOCATED);
    struct memory m;
    begin(&m);
    build_op(&m.b, "a", 1, 0, 100, 1);
    build_memory(&m.b, (struct build_record){1, 10, 1, 8, 0, 0, 6, 0, no_totals});
    build_memory(&m.b, (struct build_record){1, 20, 1, -16, 0, 0, 6, 0, no_totals});
    build_memory(&m.b, (struct build_record){1, 30, 2, 100, 0, 0, 6, 0, no_totals});
    build_memory(&m.b, (struct build_record){1, 40, 3, 8, 8, 8, BUILD_CPU, -1, 0});
    run(&m);
    struct memory_curve *curves = NULL;
    size_t count = 0;
    assert_true(memory_curves_with_sums(&curves, &count, &m.arena, m.results->memory_log));
    assert_int_equal(count, 2);
    assert_string_equal(curves[0].device, "CPU");
    assert_false(curves[0].since_start);
    assert_string_equal(curves[1].device, "GPU0");
    assert_true(curves[1].since_start);
    assert_int_equal(curves[1].point_count, 3);
    assert_int_equal(curves[1].points[1].allocated_bytes, -8);
    assert_int_equal(curves[1].peak, 2);
    assert_int_equal(curves[1].points[2].allocated_bytes, 92);
    assert_true(memory_curves_run(&curves, &count, &m.arena, m.results->memory_log));
    assert_int_equal(count, 1);
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_belong_to_the_deepest_operator),
        cmocka_unit_test(other_nodes_pass_totals_up),
        cmocka_unit_test(unvisited_operators_end_the_descent),
        cmocka_unit_test(calls_are_over_threads_and_devices),
        cmocka_unit_test(stale_records_belong_to_nobody),
        cmocka_unit_test(a_window_narrows),
        cmocka_unit_test(devices_by_type),
        cmocka_unit_test(private_devices_are_not_shown_beside_gpus),
        cmocka_unit_test(blocks_are_paired_by_address),
        cmocka_unit_test(records_without_address),
        cmocka_unit_test(the_largest_negative_number_is_a_release),
        cmocka_unit_test(names_of_blocks),
        cmocka_unit_test(the_parent_may_be_a_step),
        cmocka_unit_test(a_hundred_thousand_equal_blocks),
        cmocka_unit_test(deep_nesting),
        cmocka_unit_test(curves_by_device),
        cmocka_unit_test(curves_without_totals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

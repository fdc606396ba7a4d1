/* Flame graphs: all time is in the root, limits leave nothing out, nothing depends on the depth. */
#include "ingest/analysis/stacks/flame.h"
#include "tests/unit/ingest/analysis/stacks/stacks_fixture.h"

static const struct flame_options all = {.nodes_max = 1000, .depth_max = 100};

static void merge(struct arena *arena,
                  const struct flame_options *options,
                  struct flame_graph *graph,
                  const struct build *a,
                  const struct build *b)
{
    bool found = false;
    struct flame *flame = flame_create(options);
    assert_non_null(flame);
    assert_true(flame_add(flame, a->trace, 0));
    assert_true(b == NULL || flame_add(flame, b->trace, 1));
    assert_true(flame_finish(flame, arena, graph, &found));
    assert_true(found);
    flame_destroy(flame);
}

/* Every node has its own time and that of its children, and stands behind its parent. */
static void assert_adds_up(const struct flame_graph *graph)
{
    int64_t *left = calloc(graph->count, sizeof *left);
    assert_non_null(left);
    for (size_t i = 0; i < graph->count; i++) {
        const struct flame_node *node = &graph->nodes[i];
        left[i] = node->total_ns[0] - node->self_ns[0];
        assert_true((node->parent == FLAME_NO_PARENT) == (i == 0));
        if (i > 0) {
            assert_true(node->parent < i);
            assert_int_equal(node->depth, graph->nodes[node->parent].depth + 1);
            left[node->parent] -= node->total_ns[0];
        }
    }
    for (size_t i = 0; i < graph->count; i++) {
        assert_int_equal(left[i], 0);
    }
    free(left);
}

/* The names from below the root to the first node of a name. */
static const struct flame_node *
find(const struct flame_graph *graph, const char *name, char *path, size_t path_bytes)
{
    for (size_t i = 0; i < graph->count; i++) {
        if (strcmp(graph->nodes[i].name, name) != 0) {
            continue;
        }
        size_t at = path_bytes - 1;
        path[at] = '\0';
        for (const struct flame_node *node = &graph->nodes[i]; node->depth > 0;
             node = &graph->nodes[node->parent]) {
            size_t len = strlen(node->name);
            assert_true(len < at);
            path[--at] = ';';
            at -= len;
            memcpy(path + at, node->name, len);
        }
        memmove(path, path + at, path_bytes - at);
        return &graph->nodes[i];
    }
    fail_msg("no node %s", name);
    return NULL;
}

static void each_view_of_a_training_step(void **state)
{
    static const struct {
        enum flame_by by;
        enum flame_weight weight;
        bool folds;
        int64_t total_us;
        const char *name, *path;
    } rows[] = {
        {FLAME_BY_PYTHON, FLAME_DEVICE, false, 14, "aten::mm",
         "train.py(9): main;nn.Module: Net;net.py(4): forward;aten::mm;"},
        {FLAME_BY_PYTHON, FLAME_DEVICE, false, 14, "MmBackward0",
         "train.py(9): main;nn.Module: Net;net.py(4): forward;(backward);MmBackward0;"},
        {FLAME_BY_PYTHON, FLAME_DEVICE, false, 14, "fill",
         "train.py(9): main;<built-in method fill of Tensor object>;fill;"},
        {FLAME_BY_PYTHON, FLAME_DEVICE, true, 14, "fill", "train.py(9): main;fill;"},
        {FLAME_BY_MODULE, FLAME_DEVICE, false, 14, "aten::mm", "nn.Module: Net;aten::mm;"},
        {FLAME_BY_OPERATOR, FLAME_DEVICE, false, 14, "aten::mm", "aten::mm;"},
        {FLAME_BY_OPERATOR, FLAME_DEVICE, false, 14, "fill", "fill;"},
        {FLAME_BY_PYTHON, FLAME_HOST, false, 110, "cudaLaunchKernel",
         "train.py(9): main;nn.Module: Net;net.py(4): forward;(backward);MmBackward0;"
         "cudaLaunchKernel;"},
        {FLAME_BY_MODULE, FLAME_HOST, false, 110, "aten::mm", "nn.Module: Net;aten::mm;"},
    };
    struct build b;
    build_begin(&b);
    build_training(&b);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena arena;
        struct flame_graph graph;
        struct flame_options options = all;
        char path[500];
        options.by = rows[i].by;
        options.weight = rows[i].weight;
        options.folds_libraries = rows[i].folds;
        arena_init(&arena, 0);
        merge(&arena, &options, &graph, &b, NULL);
        assert_adds_up(&graph);
        assert_int_equal(graph.nodes[0].total_ns[0], rows[i].total_us * US);
        (void)find(&graph, rows[i].name, path, sizeof path);
        assert_string_equal(path, rows[i].path);
        arena_free(&arena);
    }
    build_end(&b);
}

static void work_without_a_launch_has_a_node(void **state)
{
    struct build b;
    struct arena arena;
    struct flame_graph graph;
    struct flame_options options = all;
    char path[500];
    options.weight = FLAME_DEVICE;
    arena_init(&arena, 0);
    build_begin(&b);
    build_kernel(&b, "gemm", 10, 15, 9);
    merge(&arena, &options, &graph, &b, NULL);
    assert_int_equal(find(&graph, "gemm", path, sizeof path)->calls[0], 1);
    assert_string_equal(path, "(launch not recorded);gemm;");
    build_end(&b);
    arena_free(&arena);
}

/* The heavier child stands first; what the limits leave out is a node of its own. */
static void limits_keep_the_heaviest(void **state)
{
    struct build b;
    struct arena arena;
    struct flame_graph graph;
    struct flame_options options = all;
    arena_init(&arena, 0);
    build_begin(&b);
    for (int64_t i = 0; i < 50; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "a.py(1): f%lld", (long long)i);
        build_frame(&b, name, 1, 1000 * i, 1000 * i + 10 + i);
        build_frame(&b, "b.py(1): g", 1, 1000 * i, 1000 * i + 5);
    }
    options.nodes_max = 4;
    merge(&arena, &options, &graph, &b, NULL);
    assert_adds_up(&graph);
    assert_int_equal(graph.node_count, 101);
    assert_string_equal(graph.nodes[1].name, "a.py(1): f49");
    assert_int_equal(graph.nodes[2].kind, FLAME_OTHER);
    assert_string_equal(graph.nodes[3].name, "a.py(1): f48");
    assert_int_equal(graph.count, 8);
    options = all;
    options.depth_max = 1;
    merge(&arena, &options, &graph, &b, NULL);
    assert_adds_up(&graph);
    assert_int_equal(graph.count, 101);
    build_end(&b);
    arena_free(&arena);
}

static void a_subtree_by_its_id(void **state)
{
    struct build b;
    struct arena arena;
    struct flame_graph graph;
    struct flame_options options = all;
    char path[500];
    arena_init(&arena, 0);
    build_begin(&b);
    build_training(&b);
    merge(&arena, &options, &graph, &b, NULL);
    options.under = find(&graph, "nn.Module: Net", path, sizeof path)->id;
    merge(&arena, &options, &graph, &b, NULL);
    assert_adds_up(&graph);
    assert_string_equal(graph.nodes[0].name, "nn.Module: Net");
    assert_int_equal(graph.nodes[0].total_ns[0], 50 * US); /* with its backward */
    bool found = true;
    options.under = 12345;
    struct flame *flame = flame_create(&options);
    assert_true(flame_add(flame, b.trace, 0) && flame_finish(flame, &arena, &graph, &found));
    assert_false(found);
    flame_destroy(flame);
    build_end(&b);
    arena_free(&arena);
}

static void a_step_alone(void **state)
{
    struct build b;
    struct arena arena;
    struct flame_graph graph;
    struct flame_options options = all;
    arena_init(&arena, 0);
    build_begin(&b);
    for (int64_t i = 0; i < 3; i++) {
        char name[48];
        (void)snprintf(name, sizeof name, "ProfilerStep#%lld", (long long)i);
        build_step(&b, name, 100 * i, 100 * i + 90);
        build_frame(&b, "a.py(1): f", 1, 100 * i, 100 * i + 10 + i);
    }
    options.step = 2;
    merge(&arena, &options, &graph, &b, NULL);
    assert_int_equal(graph.steps[0], 3);
    assert_int_equal(graph.nodes[0].total_ns[0], 90 * US);
    assert_int_equal(graph.nodes[1].total_ns[0], 11 * US);
    build_end(&b);
    arena_free(&arena);
}

/* A function that moved to another line is the same. */
static void two_traces_meet(void **state)
{
    struct build a;
    struct build b;
    struct arena arena;
    struct flame_graph graph;
    char path[500];
    arena_init(&arena, 0);
    build_begin(&a);
    build_begin(&b);
    build_frame(&a, "net.py(4): forward", 1, 0, 10);
    build_frame(&b, "net.py(6): forward", 1, 0, 30);
    build_frame(&b, "net.py(9): extra", 1, 40, 45);
    merge(&arena, &all, &graph, &a, &b);
    assert_int_equal(graph.count, 3);
    const struct flame_node *node = find(&graph, "net.py(4): forward", path, sizeof path);
    assert_int_equal(node->total_ns[0], 10 * US);
    assert_int_equal(node->total_ns[1], 30 * US);
    node = find(&graph, "net.py(9): extra", path, sizeof path);
    assert_int_equal(node->total_ns[0], 0);
    assert_int_equal(node->calls[1], 1);
    build_end(&a);
    build_end(&b);
    arena_free(&arena);
}

/* Ten thousand frames that call each other in turn, and two hundred thousand names. */
static void hostile_trees_are_bounded(void **state)
{
    enum { DEPTH = 10000, NAMES = 200000 };
    struct build b;
    struct arena arena;
    struct flame_graph graph;
    arena_init(&arena, 0);
    build_begin(&b);
    for (int64_t i = 0; i < DEPTH; i++) {
        build_frame(&b, i % 2 == 0 ? "a.py(1): even" : "a.py(2): odd", 1, i, 10 * DEPTH - i);
    }
    for (int64_t i = 0; i < NAMES; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "n.py(%lld): f", (long long)i);
        build_frame(&b, name, 2, 2 * i, 2 * i + 1);
    }
    merge(&arena, &all, &graph, &b, NULL);
    assert_adds_up(&graph);
    assert_int_equal(graph.node_count, 1 + DEPTH + 1);
    assert_int_equal(graph.nodes[0].total_ns[0], (10 * DEPTH + NAMES) * US);
    assert_in_range(graph.count, 100, 2 * all.nodes_max);
    build_end(&b);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_view_of_a_training_step),
        cmocka_unit_test(work_without_a_launch_has_a_node),
        cmocka_unit_test(limits_keep_the_heaviest),
        cmocka_unit_test(a_subtree_by_its_id),
        cmocka_unit_test(a_step_alone),
        cmocka_unit_test(two_traces_meet),
        cmocka_unit_test(hostile_trees_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

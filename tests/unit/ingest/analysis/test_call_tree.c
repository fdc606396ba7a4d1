/* The operator tree as columns: nesting, classes, mirrors, partners, threads [TB-5] [TB-3.3]. */
#include "ingest/analysis/call_tree/call_tree.h"
#include "tests/unit/ingest/analysis/model_builder.h"

#include <stdlib.h>

static const struct call_tree *tree_of(struct build *b)
{
    const struct call_tree *tree = build_run(b)->call_tree;
    assert_non_null(tree);
    return tree;
}

static const struct call_tree *plugin_tree_of(struct build *b)
{
    const struct call_tree *tree = build_run_plugin(b)->call_tree;
    assert_non_null(tree);
    return tree;
}

static const char *name_of(const struct call_tree *tree, uint32_t row)
{
    return tree->names[tree->name[row]];
}

static uint32_t find(const struct call_tree *tree, const char *name)
{
    for (uint32_t row = 0; row < tree->node_count; row++) {
        if (strcmp(name_of(tree, row), name) == 0) {
            return row;
        }
    }
    fail_msg("no node is named %s", name);
    return CALL_NONE;
}

/* "name(child child)" of a subtree, as deep as tests nest. */
static void print_subtree(const struct call_tree *tree, uint32_t row, char *out, size_t room)
{
    size_t len = strlen(out);
    (void)snprintf(out + len, room - len, "%s", name_of(tree, row));
    if (tree->end[row] > row + 1) {
        (void)snprintf(out + strlen(out), room - strlen(out), "(");
        for (uint32_t child = row + 1; child < tree->end[row]; child = tree->end[child]) {
            if (child > row + 1) {
                (void)snprintf(out + strlen(out), room - strlen(out), " ");
            }
            print_subtree(tree, child, out, room);
        }
        (void)snprintf(out + strlen(out), room - strlen(out), ")");
    }
}

static void assert_thread(const struct call_tree *tree, uint32_t thread, const char *expected)
{
    char text[1000] = "";
    assert_true(thread < tree->thread_count);
    print_subtree(tree, tree->threads[thread].first, text, sizeof text);
    assert_string_equal(text, expected);
    assert_int_equal(tree->end[tree->threads[thread].first], tree->threads[thread].end);
}

static void nesting(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "a", 1, 0, 100, 1);
    build_op(&b, "b", 1, 10, 40, 2);
    build_op(&b, "c", 1, 10, 20, 3); /* begins with b, ends before it */
    build_op(&b, "d", 1, 40, 100, 4);
    build_op(&b, "e", 1, 200, 300, 5);
    const struct call_tree *tree = tree_of(&b);
    assert_thread(tree, 0, "CallTreeRoot(a(b(c) d) e)");
    assert_int_equal(tree->class[0], CALL_ROOT);
    assert_int_equal(tree->start[0], 0);
    assert_int_equal(tree->stop[0], 300000);
    assert_int_equal(tree->host_self[find(tree, "a")], 10000);
    assert_null(tree->partner); /* nothing flows */
    assert_int_equal(tree->call_stack[find(tree, "a")], CALL_NONE);
    build_end(&b);
}

static void threads_and_their_labels(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "late", 7, 50, 60, 1);
    build_op(&b, "early", 9, 0, 10, 2);
    const struct trace_label label = {.kind_name = build_text(&b, "thread_name"),
                                      .label = build_text(&b, "autograd"),
                                      .track = build_track(&b, BUILD_HOST_PID, 9)};
    assert_true(trace_add_label(b.trace, &label));
    const struct call_tree *tree = tree_of(&b);
    assert_int_equal(tree->thread_count, 2);
    for (uint32_t t = 0; t < tree->thread_count; t++) {
        const struct call_thread *thread = &tree->threads[t];
        assert_true(thread->tid == 7 || thread->tid == 9);
        if (thread->tid == 9) {
            assert_string_equal(thread->label, "autograd");
            assert_thread(tree, t, "CallTreeRoot(early)");
        } else {
            assert_null(thread->label);
            assert_thread(tree, t, "CallTreeRoot(late)");
        }
    }
    assert_int_equal(tree->profile_thread, CALL_NONE);
    build_end(&b);
}

static void classes_and_types(void **state)
{
    static const struct {
        const char *name;
        enum event_kind kind;
        enum call_class class;
        const char *type;
        bool real;
    } rows[] = {
        {"aten::add", EVENT_OPERATOR, CALL_PLAIN, "Operator", true},
        {"function", EVENT_PYTHON, CALL_PLAIN, "Python", false},
        {"DataParallel.forward", EVENT_OPERATOR, CALL_PLAIN, "Operator", false},
        {"DistributedDataParallel.forward", EVENT_OPERATOR, CALL_PLAIN, "Operator", false},
        {"Optimizer.zero_grad#SGD", EVENT_OPERATOR, CALL_PLAIN, "Operator", false},
        {"Optimizer.step#SGD.step", EVENT_USER_ANNOTATION, CALL_OPTIMIZER, "user_annotation",
         false},
        {"enumerate(DataLoader)#Iter.__next__", EVENT_OPERATOR, CALL_LOADER, "Operator", false},
        {"enumerate(DataPipe)#Mapper", EVENT_USER_ANNOTATION, CALL_LOADER, "user_annotation",
         false},
        {"ProfilerStep#4", EVENT_USER_ANNOTATION, CALL_STEP, "ProfilerStep", false},
    };
    struct build b;
    build_begin(&b);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        build_host(&b, rows[i].kind, rows[i].name, 1, (int64_t)i * 100, (int64_t)i * 100 + 50,
                   TRACE_NO_ID);
    }
    build_host(&b, EVENT_USER_ANNOTATION, "nothing of the kind", 1, 5000, 5010, TRACE_NO_ID);
    build_module(&b, "nn.Module: Net", 6000, 6010, 1, 0);
    const struct call_tree *tree = tree_of(&b);
    assert_int_equal(tree->node_count, 1 + COUNT_OF(rows) + 1); /* other annotations are no nodes */
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t row = find(tree, rows[i].name);
        assert_int_equal(tree->class[row], rows[i].class);
        assert_string_equal(call_type_name((enum call_type)tree->type[row]), rows[i].type);
        assert_int_equal((tree->flags[row] & CALL_IS_REAL) != 0, rows[i].real);
        assert_true(tree->module_id[row] == CALL_NO_MODULE);
    }
    uint32_t module = find(tree, "nn.Module: Net");
    assert_int_equal(tree->class[module], CALL_MODULE);
    assert_string_equal(call_type_name((enum call_type)tree->type[module]), "Module");
    assert_int_equal(tree->module_id[module], 0);
    build_end(&b);
}

/* Both ends of a flow name each other. */
static void partners(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "aten::mm", 1, 10, 20, 1);
    build_op(&b, "inner", 1, 12, 18, 2);
    build_op(&b, "autograd::engine::evaluate_function: MmBackward0", 2, 110, 130, 3);
    build_op(&b, "MmBackward0", 2, 112, 128, 4);
    build_op(&b, "lonely", 1, 30, 40, 5);
    build_flow(&b, 's', 77, 10);
    build_flow(&b, 'f', 77, 112);
    build_flow(&b, 's', 78, 30); /* its other end is missing */
    const struct call_tree *tree = tree_of(&b);
    uint32_t forward = find(tree, "aten::mm");
    uint32_t backward = find(tree, "MmBackward0");
    assert_int_equal(tree->partner[forward], backward);
    assert_int_equal(tree->partner[backward], forward);
    assert_int_equal(tree->partner[find(tree, "lonely")], CALL_NONE);
    assert_int_equal(tree->partner[find(tree, "inner")], CALL_NONE);
    build_end(&b);
}

/* An operator in one of its name, one that ends after another in which it starts, and one on a
 * thread whose id is a word. */
static void every_call_is_a_node(void **state)
{
    struct build b;
    build_begin(&b);
    build_op(&b, "aten::add", 1, 0, 100, 1);
    build_op(&b, "aten::add", 1, 10, 90, 2);
    build_op(&b, "across", 1, 80, 120, 3);
    build_op(&b, "in across", 1, 105, 110, 4);
    const struct trace_track track = {
        .pid_text = build_text(&b, "1"), .tid_text = build_text(&b, "main"), .tid_is_text = true};
    build_event(&b,
                (struct trace_event){.ts_ns = 200000,
                                     .dur_ns = 5000,
                                     .external_id = TRACE_NO_ID,
                                     .kind = EVENT_OPERATOR,
                                     .track = trace_add_track(b.trace, &track),
                                     .args = TRACE_NO_ARGS},
                "by word");
    const struct call_tree *tree = tree_of(&b);
    assert_int_equal(tree->thread_count, 2);
    assert_thread(tree, 0, "CallTreeRoot(aten::add(aten::add) across(in across))");
    assert_int_equal(tree->stop[0], 120000);
    assert_int_equal(tree->host_self[1], 20000);
    assert_int_equal(tree->host_self[find(tree, "across")], 35000);
    assert_thread(tree, 1, "CallTreeRoot(by word)");
    assert_string_equal(tree->threads[1].label, "main");
    assert_int_equal(b.results->warnings.by_code[WARN_OVERLAP].count, 0);
    assert_int_equal(b.results->warnings.by_code[WARN_BAD_TID].count, 0);
    assert_int_equal(plugin_tree_of(&b)->node_count, 1 + 2);
    build_end(&b);
}

/* That of its operators, and what a call directly in it launched. */
static void device_time_of_a_node(void **state)
{
    struct build b;
    build_begin(&b);
    build_step(&b, "ProfilerStep#1", 0, 1000);
    build_module(&b, "nn.Module: Net", 10, 200, 1, 0);
    build_op(&b, "aten::mm", 1, 30, 60, 1);
    build_runtime(&b, 1, 40, 41, 1, TRACE_NO_ID);
    build_kernel(&b, "gemm", 2000, 2007, 1);
    build_runtime(&b, 1, 70, 71, 2, TRACE_NO_ID);
    build_kernel(&b, "in the module", 2010, 2013, 2);
    build_runtime(&b, 1, 300, 301, 3, TRACE_NO_ID);
    build_kernel(&b, "in the step", 2020, 2031, 3);
    const struct call_tree *tree = tree_of(&b);
    uint32_t step = find(tree, "ProfilerStep#1");
    uint32_t net = find(tree, "nn.Module: Net");
    uint32_t mm = find(tree, "aten::mm");
    assert_int_equal(tree->device_total[step], 21000);
    assert_int_equal(tree->device_self[step], 11000);
    assert_int_equal(tree->device_total[net], 10000);
    assert_int_equal(tree->device_self[net], 10000); /* with that of its direct operators */
    assert_int_equal(tree->device_total[mm], 7000);
    assert_int_equal(tree->host_self[net], 190000 - 30000 - 1000);
    assert_int_equal(tree->host_self[mm], 29000);
    build_end(&b);
}

#define DEEP 50000

static void deep_nesting(void **state)
{
    struct build b;
    build_begin(&b);
    for (int64_t i = 0; i < DEEP; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "op%lld", (long long)(i % 10));
        build_op(&b, name, 1, i, 3 * DEEP - i, i + 1);
    }
    const struct call_tree *tree = tree_of(&b);
    assert_int_equal(tree->node_count, DEEP + 1);
    for (uint32_t row = 0; row < tree->node_count; row++) {
        assert_int_equal(tree->end[row], DEEP + 1);
    }
    build_end(&b);
}

#define EQUAL 100000

static void a_hundred_thousand_equal_names(void **state)
{
    struct build b;
    build_begin(&b);
    for (int64_t i = 0; i < EQUAL; i++) {
        build_op(&b, "aten::add", 1, i * 10, i * 10 + 5, i + 1);
    }
    const struct call_tree *tree = tree_of(&b);
    assert_int_equal(tree->node_count, EQUAL + 1);
    assert_true(tree->name_count < 10); /* texts are kept once */
    build_end(&b);
}

/* ---- mirrors of backward modules, in the plugin's tree ---- */

/* Net(Linear(aten::mm)) forward; MmBackward0 on the autograd thread belongs to Linear. */
static void build_training(struct build *b)
{
    build_step(b, "ProfilerStep#1", 0, 1000);
    build_module(b, "nn.Module: Net", 10, 200, 1, 0);
    build_module(b, "nn.Module: Linear", 20, 150, 2, 1);
    build_op(b, "aten::mm", 1, 30, 60, 1);
    build_op(b, "autograd::engine::evaluate_function: MmBackward0", 2, 400, 500, 2);
    build_op(b, "MmBackward0", 2, 410, 490, 3);
    build_flow(b, 's', 1, 30);
    build_flow(b, 'f', 1, 410);
}

static void mirrors_stand_in_the_main_thread(void **state)
{
    struct build b;
    build_begin(&b);
    build_training(&b);
    const struct call_tree *tree = plugin_tree_of(&b);
    uint32_t net = find(tree, "nn.Module: Net.backward");
    uint32_t linear = find(tree, "nn.Module: Linear.backward");
    assert_int_equal(tree->class[net], CALL_BACKWARD);
    assert_int_equal(tree->class[linear], CALL_BACKWARD);
    assert_string_equal(call_type_name((enum call_type)tree->type[net]), "backward");
    assert_int_equal(linear, net + 1);
    /* times and thread are those of what belongs to it */
    assert_int_equal(tree->start[linear], 400000);
    assert_int_equal(tree->stop[net], 500000);
    assert_string_equal(tree->names[tree->tid[linear]], "2");
    uint32_t step = find(tree, "ProfilerStep#1");
    assert_true(net > step && net < tree->end[step]);
    build_end(&b);
}

/* The root keeps the bounds that the thread had before the mirrors came [TB-5.2]. */
static void mirrors_do_not_move_the_root(void **state)
{
    struct build b;
    build_begin(&b);
    build_training(&b);
    const struct call_tree *tree = plugin_tree_of(&b);
    assert_int_equal(tree->start[0], 0);
    assert_int_equal(tree->stop[0], 1000000);
    build_end(&b);
}

/* In our tree what ran on a thread stays there. */
static void backward_calls_stay_on_their_thread(void **state)
{
    struct build b;
    build_begin(&b);
    build_training(&b);
    const struct call_tree *tree = tree_of(&b);
    assert_int_equal(tree->thread_count, 2);
    assert_thread(tree, 0,
                  "CallTreeRoot(ProfilerStep#1(nn.Module: Net(nn.Module: Linear(aten::mm))))");
    assert_thread(tree, 1,
                  "CallTreeRoot(autograd::engine::evaluate_function: MmBackward0(MmBackward0))");
    uint32_t forward = find(tree, "aten::mm");
    assert_int_equal(tree->partner[tree->partner[forward]], forward);
    build_end(&b);
}

/* Backward work that ends before the main thread begins, or begins after its end, is dropped. */
static void mirrors_outside_are_dropped(void **state)
{
    struct build b;
    build_begin(&b);
    build_module(&b, "nn.Module: Net", 10, 200, 1, 0);
    build_op(&b, "aten::mm", 1, 30, 60, 1);
    build_op(&b, "autograd::engine::evaluate_function: MmBackward0", 2, 400, 500, 2);
    build_op(&b, "MmBackward0", 2, 410, 490, 3);
    build_flow(&b, 's', 1, 30);
    build_flow(&b, 'f', 1, 410);
    const struct call_tree *tree = plugin_tree_of(&b);
    for (uint32_t row = 0; row < tree->node_count; row++) {
        assert_int_not_equal(tree->class[row], CALL_BACKWARD);
    }
    build_end(&b);
}

/* ---- Lightning's profile ---- */

static void the_profile_is_a_tree_of_its_own(void **state)
{
    struct build b;
    build_begin(&b);
    b.trace->framework = "pytorch-lightning";
    build_op(&b, "[pl][profile]run_training_epoch", 1, 0, 100, TRACE_NO_ID);
    build_op(&b, "[pl][profile]optimizer_step", 1, 10, 50, TRACE_NO_ID);
    build_op(&b, "[pl][profile]later", 1, 200, 300, TRACE_NO_ID);
    build_op(&b, "aten::add", 1, 20, 30, 5);
    const struct call_tree *tree = tree_of(&b);
    assert_int_equal(tree->thread_count, 2);
    assert_int_equal(tree->profile_thread, 1);
    assert_thread(tree, 0, "CallTreeRoot(aten::add)");
    assert_thread(tree, 1, "CallTreeRoot(run_training_epoch(optimizer_step) later)");
    uint32_t row = find(tree, "optimizer_step");
    assert_int_equal(tree->class[row], CALL_PL_PROFILE);
    assert_string_equal(call_type_name((enum call_type)tree->type[row]), "pl_profile");
    build_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nesting),
        cmocka_unit_test(threads_and_their_labels),
        cmocka_unit_test(classes_and_types),
        cmocka_unit_test(partners),
        cmocka_unit_test(every_call_is_a_node),
        cmocka_unit_test(device_time_of_a_node),
        cmocka_unit_test(deep_nesting),
        cmocka_unit_test(a_hundred_thousand_equal_names),
        cmocka_unit_test(mirrors_stand_in_the_main_thread),
        cmocka_unit_test(mirrors_do_not_move_the_root),
        cmocka_unit_test(mirrors_outside_are_dropped),
        cmocka_unit_test(backward_calls_stay_on_their_thread),
        cmocka_unit_test(the_profile_is_a_tree_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

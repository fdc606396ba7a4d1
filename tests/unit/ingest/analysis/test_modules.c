/* Modules: hierarchy and figures, ours and the plugin's [TB-14], Lightning's too. */
#include "ingest/analysis/modules/modules.h"
#include "tests/unit/ingest/analysis/model_builder.h"

#define NO_PARENT_ID 0 /* the Python id of no frame */

/* A python_function event that is no module. */
static void build_frame(
    struct build *b, const char *name, int64_t start_us, int64_t end_us, int64_t id, int64_t parent)
{
    build_event(b,
                (struct trace_event){.ts_ns = start_us * 1000,
                                     .dur_ns = (end_us - start_us) * 1000,
                                     .correlation = id,
                                     .external_id = parent,
                                     .track = build_track(b, BUILD_HOST_PID, 1),
                                     .args = TRACE_NO_ARGS,
                                     .kind = EVENT_PYTHON_FUNCTION,
                                     .flags = EVENT_HAS_DUR},
                name);
}

/* "name(id) below parent" of each row. */
static void assert_row(
    const struct trace_results *r, size_t at, const char *name, int64_t module_id, int64_t parent)
{
    assert_true(at < r->module_count);
    assert_string_equal(r->modules[at].name, name);
    assert_int_equal(r->modules[at].module_id, module_id);
    assert_int_equal(r->modules[at].parent, parent);
}

static void frames_between_modules_are_passed(void **state)
{
    struct build b;
    build_begin(&b);
    build_module(&b, "nn.Module: Net", 0, 100, 1, NO_PARENT_ID);
    build_frame(&b, "net.py(7): forward", 1, 99, 2, 1);
    build_frame(&b, "module.py(3): call", 2, 98, 3, 2);
    build_module(&b, "nn.Module: Linear", 10, 50, 4, 3);
    build_frame(&b, "<built-in linear>", 20, 40, 5, 4);
    const struct trace_results *r = build_run(&b);
    assert_int_equal(r->module_count, 2);
    assert_row(r, 0, "Net", 0, MODULE_NO_PARENT);
    assert_row(r, 1, "Linear", 0, 0);
    assert_int_not_equal(r->views & 1u << VIEW_MODULE, 0);
    build_end(&b);
}

/* By Python ids [TB-14a] a module below which no frame stands is met from itself; one from which no
 * leaf leads up never. */
static void only_chains_from_leaves_count(void **state)
{
    struct build b;
    build_begin(&b);
    build_module(&b, "nn.Module: Round", 0, 40, 1, 2);
    build_module(&b, "nn.Module: About", 50, 90, 2, 1);
    const struct trace_results *r = build_run_plugin(&b);
    assert_int_equal(r->module_count, 0);
    assert_int_equal(r->views & 1u << VIEW_MODULE, 0);
    build_end(&b);
}

/* Circles of Python ids end somewhere, whether they hold modules, are reached from a leaf, or are a
 * frame that is its own parent. */
static void circles_end(void **state)
{
    struct build b;
    build_begin(&b);
    build_module(&b, "nn.Module: A", 0, 10, 1, 3);
    build_module(&b, "nn.Module: B", 20, 30, 2, 1);
    build_frame(&b, "f", 40, 50, 3, 2);
    build_frame(&b, "leaf", 60, 70, 4, 3);
    build_frame(&b, "self", 80, 90, 5, 5);
    build_frame(&b, "leaf of self", 92, 94, 6, 5);
    const struct trace_results *r = build_run_plugin(&b);
    for (size_t i = 0; i < r->module_count; i++) {
        assert_true(r->modules[i].parent < (int64_t)i);
    }
    build_end(&b);
}

/* Figures are those of all modules of the name and id, wherever they stand. */
static void figures_of_calls(void **state)
{
    struct build b;
    build_begin(&b);
    for (int64_t call = 0; call < 2; call++) {
        int64_t at = call * 1000;
        build_module(&b, "nn.Module: Net", at, at + 100, 1 + call * 10, NO_PARENT_ID);
        build_module(&b, "nn.Module: Linear", at + 10, at + 60, 2 + call * 10, 1 + call * 10);
        build_op(&b, "aten::linear", 1, at + 20, at + 50, 1 + call * 2);
        build_op(&b, "aten::addmm", 1, at + 25, at + 45, 2 + call * 2);
        build_runtime(&b, 1, at + 30, at + 31, 1 + call, 2 + call * 2);
        build_kernel(&b, "gemm", at + 40, at + 47, 1 + call);
    }
    const struct trace_results *r = build_run(&b);
    assert_int_equal(r->module_count, 2);
    assert_row(r, 0, "Net", 0, MODULE_NO_PARENT);
    const struct module_row *net = &r->modules[0];
    assert_int_equal(net->occurrences, 2);
    assert_int_equal(net->operators, 0);
    assert_int_equal(net->host_total, 200000);
    assert_int_equal(net->host_self, 100000);
    assert_int_equal(net->device_total, 14000);
    assert_int_equal(net->device_self, 0);
    const struct module_row *linear = &r->modules[1];
    assert_int_equal(linear->occurrences, 2);
    assert_int_equal(linear->operators, 2); /* addmm stands below linear */
    assert_int_equal(linear->host_self, 2 * 20000);
    assert_int_equal(linear->device_total, 14000);
    assert_int_equal(linear->device_self, 14000); /* what its direct operators started */
    build_end(&b);
}

/* Equal trees are shown once; trees that differ below are not equal. */
static void equal_trees_merge(void **state)
{
    struct build b;
    build_begin(&b);
    build_module(&b, "nn.Module: Net", 0, 100, 1, NO_PARENT_ID);
    build_module(&b, "nn.Module: Relu", 10, 20, 2, 1);
    build_module(&b, "nn.Module: Relu", 30, 40, 3, 1);
    build_module(&b, "nn.Module: Net", 200, 300, 4, NO_PARENT_ID);
    build_module(&b, "nn.Module: Relu", 210, 220, 5, 4);
    build_module(&b, "nn.Module: Net", 400, 500, 6, NO_PARENT_ID);
    build_module(&b, "nn.Module: Norm", 410, 420, 7, 6);
    build_module(&b, "nn.Module: Net", 600, 700, 8, NO_PARENT_ID);
    build_module(&b, "nn.Module: Relu", 610, 620, 9, 8);
    const struct trace_results *r = build_run(&b);
    assert_int_equal(r->module_count, 4);
    assert_string_equal(r->modules[0].name, "Net");
    assert_string_equal(r->modules[2].name, "Net");
    assert_int_equal(r->modules[0].occurrences, 4); /* of the name and id */
    assert_int_equal(r->modules[2].occurrences, 4);
    assert_int_equal(r->modules[1].parent, 0);
    assert_int_equal(r->modules[3].parent, 2);
    /* by the plugin's rule only roots do [TB-14.3] */
    r = build_run_plugin(&b);
    assert_int_equal(r->module_count, 7);
    assert_row(r, 0, "Net", 0, MODULE_NO_PARENT);
    assert_row(r, 1, "Relu", 0, 0);
    assert_row(r, 2, "Relu", 0, 0);
    assert_row(r, 3, "Net", 0, MODULE_NO_PARENT);
    assert_row(r, 4, "Relu", 0, 3);
    assert_row(r, 5, "Net", 0, MODULE_NO_PARENT);
    assert_row(r, 6, "Norm", 0, 5);
    build_end(&b);
}

static void the_top_is_sorted_children_as_met(void **state)
{
    struct build b;
    build_begin(&b);
    build_module(&b, "nn.Module: Zeta", 0, 100, 1, NO_PARENT_ID);
    build_module(&b, "nn.Module: B", 10, 20, 2, 1);
    build_module(&b, "nn.Module: A", 30, 40, 3, 1);
    build_module(&b, "nn.Module: Alpha", 200, 300, 4, NO_PARENT_ID);
    const struct trace_results *r = build_run(&b);
    assert_int_equal(r->module_count, 4);
    assert_row(r, 0, "Alpha", 0, MODULE_NO_PARENT);
    assert_row(r, 1, "Zeta", 0, MODULE_NO_PARENT);
    assert_row(r, 2, "B", 0, 1);
    assert_row(r, 3, "A", 0, 1);
    build_end(&b);
}

/* By the plugin's rule the last event with a Python id is the one that counts. */
static void repeated_python_ids(void **state)
{
    struct build b;
    build_begin(&b);
    build_module(&b, "nn.Module: Old", 0, 100, 1, NO_PARENT_ID);
    build_module(&b, "nn.Module: New", 200, 300, 1, NO_PARENT_ID);
    build_module(&b, "nn.Module: Below", 210, 220, 2, 1);
    const struct trace_results *r = build_run_plugin(&b);
    assert_int_equal(r->module_count, 2);
    assert_row(r, 0, "New", 0, MODULE_NO_PARENT);
    assert_row(r, 1, "Below", 0, 0);
    build_end(&b);
}

/* Ours is below the module in which it lies on its thread, whatever ids say; one that outlasts it
 * is not in it. */
static void modules_lie_in_one_another(void **state)
{
    struct build b;
    build_begin(&b);
    build_module(&b, "nn.Module: Net", 0, 100, 1, NO_PARENT_ID);
    build_module(&b, "nn.Module: Below", 10, 20, 2, 7);
    build_module(&b, "nn.Module: Beyond", 90, 110, 3, 1);
    build_module(&b, "nn.Module: Within", 95, 105, 3, 1);
    const struct trace_results *r = build_run(&b);
    assert_int_equal(r->module_count, 4);
    assert_row(r, 0, "Beyond", 0, MODULE_NO_PARENT);
    assert_row(r, 1, "Within", 0, 0);
    assert_row(r, 2, "Net", 0, MODULE_NO_PARENT);
    assert_row(r, 3, "Below", 0, 2);
    build_end(&b);
}

#define DEEP 20000

static void deep_hierarchies(void **state)
{
    struct build b;
    build_begin(&b);
    for (int64_t i = 0; i < DEEP; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "nn.Module: M%lld", (long long)i);
        build_module(&b, name, i, 3 * DEEP - i, i + 1, i);
    }
    const struct trace_results *r = build_run(&b);
    assert_int_equal(r->module_count, DEEP);
    for (size_t i = 1; i < r->module_count; i++) {
        assert_int_equal(r->modules[i].parent, i - 1);
    }
    build_end(&b);
}

#define EQUAL 100000

static void a_hundred_thousand_equal_modules(void **state)
{
    struct build b;
    build_begin(&b);
    build_module(&b, "nn.Module: Net", 0, EQUAL * 10, 1, NO_PARENT_ID);
    for (int64_t i = 0; i < EQUAL; i++) {
        build_module(&b, "nn.Module: Relu", i * 10 + 1, i * 10 + 5, i + 2, 1);
    }
    const struct trace_results *r = build_run(&b);
    assert_int_equal(r->module_count, 2);
    assert_int_equal(r->modules[1].occurrences, EQUAL);
    assert_int_equal(r->modules[1].host_total, (int64_t)EQUAL * 4000);
    build_end(&b);
}

/* ---- Lightning ---- */

static void lightning_modules(void **state)
{
    struct build b;
    build_begin(&b);
    b.trace->framework = "pytorch-lightning";
    build_op(&b, "[pl][module]torch.nn.Sequential: net", 1, 0, 100, TRACE_NO_ID);
    build_op(&b, "[pl][module]torch.nn.Linear: net.0", 1, 10, 40, TRACE_NO_ID);
    build_op(&b, "aten::linear", 1, 15, 35, 5);
    build_op(&b, "[pl][module]torch.nn.ReLU: net.1", 1, 50, 60, TRACE_NO_ID);
    build_op(&b, "[pl][module]torch.nn.Linear: net.7.3", 1, 70, 80, TRACE_NO_ID); /* no net.7 */
    build_op(&b, "[pl][module]torch.nn.Linear: net.0", 1, 82, 92, TRACE_NO_ID);
    const struct trace_results *r = build_run(&b);
    assert_int_not_equal(r->views & 1u << VIEW_LIGHTNING, 0);
    assert_int_equal(r->views & 1u << VIEW_MODULE, 0);
    assert_int_equal(r->module_count, 4);
    assert_row(r, 0, "net", 0, MODULE_NO_PARENT);
    assert_row(r, 1, "net.0", 0, 0);
    assert_row(r, 2, "net.1", 0, 0);
    assert_row(r, 3, "net.7.3", 0, 0);
    assert_int_equal(r->modules[1].occurrences, 2);
    assert_int_equal(r->modules[1].operators, 1);
    assert_int_equal(r->modules[1].host_total, 40000);
    r = build_run_plugin(&b); /* by dotted names [TB-14c] */
    assert_int_equal(r->module_count, 4);
    assert_row(r, 3, "net.7.3", 0, MODULE_NO_PARENT);
    build_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_between_modules_are_passed),
        cmocka_unit_test(only_chains_from_leaves_count),
        cmocka_unit_test(circles_end),
        cmocka_unit_test(figures_of_calls),
        cmocka_unit_test(equal_trees_merge),
        cmocka_unit_test(the_top_is_sorted_children_as_met),
        cmocka_unit_test(repeated_python_ids),
        cmocka_unit_test(modules_lie_in_one_another),
        cmocka_unit_test(deep_hierarchies),
        cmocka_unit_test(a_hundred_thousand_equal_modules),
        cmocka_unit_test(lightning_modules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

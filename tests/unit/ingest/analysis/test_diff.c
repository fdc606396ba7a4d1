/* Two call trees laid beside each other [TB-16]. */
#include "ingest/analysis/compare/diff.h"
#include "tests/unit/ingest/analysis/model_builder.h"

#include <stdlib.h>

struct pair {
    struct build sides[DIFF_SIDES];
    struct arena arena;
    struct diff diff;
};

static void begin(struct pair *p)
{
    build_begin(&p->sides[DIFF_LEFT]);
    build_begin(&p->sides[DIFF_RIGHT]);
    arena_init(&p->arena, 0);
}

static void run(struct pair *p)
{
    const struct call_tree *left = build_run(&p->sides[DIFF_LEFT])->call_tree;
    const struct call_tree *right = build_run(&p->sides[DIFF_RIGHT])->call_tree;
    assert_true(diff_build(&p->diff, &p->arena, left, right));
}

static void end(struct pair *p)
{
    arena_free(&p->arena);
    build_end(&p->sides[DIFF_LEFT]);
    build_end(&p->sides[DIFF_RIGHT]);
}

static struct diff_side side_of(struct pair *p, uint32_t node, int side)
{
    struct diff_side figures;
    assert_true(diff_read_side(&figures, &p->arena, &p->diff, &p->diff.nodes[node], side));
    return figures;
}

/* "left|right(child child)" of a node, as deep as tests nest. */
static void print_node(struct pair *p, uint32_t node, char *out, size_t room)
{
    const struct diff_node *here = &p->diff.nodes[node];
    (void)snprintf(out + strlen(out), room - strlen(out), "%s|%s", side_of(p, node, DIFF_LEFT).name,
                   side_of(p, node, DIFF_RIGHT).name);
    for (uint32_t i = 0; i < here->child_count; i++) {
        (void)snprintf(out + strlen(out), room - strlen(out), "%s", i == 0 ? "(" : " ");
        print_node(p, here->first_child + i, out, room);
    }
    if (here->child_count > 0) {
        (void)snprintf(out + strlen(out), room - strlen(out), ")");
    }
}

static void assert_tree(struct pair *p, const char *expected)
{
    char text[1000] = "";
    print_node(p, 0, text, sizeof text);
    assert_string_equal(text, expected);
}

/* Without steps and without points: a leaf. */
static void nothing_to_match(void **state)
{
    struct pair p;
    begin(&p);
    build_op(&p.sides[DIFF_LEFT], "a", 1, 0, 10, 1);
    build_op(&p.sides[DIFF_LEFT], "b", 1, 20, 30, 2);
    build_op(&p.sides[DIFF_RIGHT], "a", 1, 0, 10, 1);
    run(&p);
    assert_tree(&p, "CompositeNodes|a");
    end(&p);
}

/* With steps their children are compared, all of them in one row. */
static void children_of_all_steps(void **state)
{
    struct pair p;
    begin(&p);
    for (int side = 0; side < DIFF_SIDES; side++) {
        struct build *b = &p.sides[side];
        for (int64_t step = 0; step < 2; step++) {
            build_step(b, step == 0 ? "ProfilerStep#1" : "ProfilerStep#2", step * 1000,
                       step * 1000 + 900);
            build_op(b, "x", 1, step * 1000 + 10, step * 1000 + 20, step * 4 + 1);
            build_op(b, "Optimizer.step#SGD", 1, step * 1000 + 30, step * 1000 + 60, step * 4 + 2);
            build_op(b, "y", 1, step * 1000 + 40, step * 1000 + 50, step * 4 + 3);
        }
    }
    run(&p);
    assert_tree(&p, "CompositeNodes|CompositeNodes(x|x Optimizer.step#SGD|Optimizer.step#SGD x|x "
                    "Optimizer.step#SGD|Optimizer.step#SGD)");
    end(&p);
}

/* Points are found from left to right and never backwards; what lies between them is laid side by
 * side, a side that has nothing there is blank. */
static void points_match_greedily(void **state)
{
    struct pair p;
    begin(&p);
    struct build *left = &p.sides[DIFF_LEFT];
    struct build *right = &p.sides[DIFF_RIGHT];
    build_module(left, "nn.Module: A", 0, 10, 1, 0);
    build_module(left, "nn.Module: B", 20, 30, 2, 0);
    build_op(left, "only left", 1, 40, 45, 1);
    build_module(left, "nn.Module: C", 50, 60, 3, 0);
    build_module(right, "nn.Module: B", 0, 10, 1, 0);
    build_module(right, "nn.Module: A", 20, 30, 2, 0);
    build_module(right, "nn.Module: C", 40, 50, 3, 0);
    run(&p);
    assert_tree(&p, "CompositeNodes|CompositeNodes(Blank|nn.Module: B nn.Module: A|nn.Module: A "
                    "CompositeNodes|Blank nn.Module: C|nn.Module: C)");
    end(&p);
}

/* Equal names of another class are no match; the children of a match are compared in turn. */
static void matches_descend(void **state)
{
    struct pair p;
    begin(&p);
    for (int side = 0; side < DIFF_SIDES; side++) {
        struct build *b = &p.sides[side];
        build_module(b, "nn.Module: Net", 0, 100, 1, 0);
        build_module(b, "nn.Module: Linear", 10, 50, 2, 1);
        build_op(b, side == DIFF_LEFT ? "aten::mm" : "aten::addmm", 1, 20,
                 side == DIFF_LEFT ? 30 : 40, 1);
    }
    run(&p);
    assert_tree(&p, "nn.Module: Net|nn.Module: Net(nn.Module: Net|nn.Module: Net(nn.Module: "
                    "Linear|nn.Module: Linear))");
    end(&p);
}

/* Wall times, device times and the one of both that counts; operators by name. */
static void figures_of_a_side(void **state)
{
    struct pair p;
    begin(&p);
    struct build *left = &p.sides[DIFF_LEFT];
    build_op(left, "on device", 1, 0, 100, 1);
    build_op(left, "inner", 1, 10, 30, 2);
    build_runtime(left, 1, 12, 14, 5, 2);
    build_kernel(left, "k", 20, 27, 5);
    build_op(left, "on host", 1, 200, 250, 3);
    build_op(left, "inner", 1, 210, 220, 4);
    build_op(&p.sides[DIFF_RIGHT], "x", 1, 0, 1, 1);
    run(&p);
    struct diff_side side = side_of(&p, 0, DIFF_LEFT);
    assert_string_equal(side.name, "CompositeNodes");
    assert_int_equal(side.duration, 150000);
    assert_int_equal(side.device_duration, 7000);
    assert_int_equal(side.total_duration, 7000 + 50000);
    assert_int_equal(side.operator_count, 3);
    assert_string_equal(side.operators[0].name, "inner"); /* children first */
    assert_int_equal(side.operators[0].calls, 2);
    assert_int_equal(side.operators[0].host, 30000);
    assert_int_equal(side.operators[0].device_self, 7000);
    assert_string_equal(side.operators[1].name, "on device");
    assert_int_equal(side.operators[1].host_self, 80000);
    assert_int_equal(side.operators[1].device, 7000);
    assert_int_equal(side.operators[1].device_self, 0);
    end(&p);
}

static void blanks_have_zeros(void **state)
{
    struct pair p;
    begin(&p);
    build_module(&p.sides[DIFF_LEFT], "nn.Module: A", 0, 10, 1, 0);
    build_module(&p.sides[DIFF_RIGHT], "nn.Module: A", 0, 10, 1, 0);
    build_op(&p.sides[DIFF_RIGHT], "more", 1, 20, 30, 1);
    run(&p);
    assert_tree(&p, "nn.Module: A|CompositeNodes(nn.Module: A|nn.Module: A Blank|more)");
    struct diff_side blank = side_of(&p, p.diff.nodes[0].first_child + 1, DIFF_LEFT);
    assert_int_equal(blank.duration, 0);
    assert_int_equal(blank.total_duration, 0);
    assert_int_equal(blank.operator_count, 0);
    end(&p);
}

static void empty_traces(void **state)
{
    struct pair p;
    begin(&p);
    run(&p);
    assert_true(p.diff.node_count >= 1);
    assert_int_equal(side_of(&p, 0, DIFF_LEFT).duration, 0);
    end(&p);
}

#define EQUAL 100000

/* As many equal steps of an optimizer on both sides: none is looked for from the beginning again.
 */
static void a_hundred_thousand_equal_names(void **state)
{
    struct pair p;
    begin(&p);
    for (int side = 0; side < DIFF_SIDES; side++) {
        for (int64_t i = 0; i < EQUAL; i++) {
            build_op(&p.sides[side], "Optimizer.step#SGD", 1, i * 10, i * 10 + 5, i + 1);
        }
    }
    build_op(&p.sides[DIFF_RIGHT], "Optimizer.step#Adam", 1, EQUAL * 10, EQUAL * 10 + 5, 0);
    run(&p);
    assert_int_equal(p.diff.nodes[0].child_count, EQUAL + 1);
    end(&p);
}

#define DEEP 10000

static void deep_modules(void **state)
{
    struct pair p;
    begin(&p);
    for (int side = 0; side < DIFF_SIDES; side++) {
        for (int64_t i = 0; i < DEEP; i++) {
            build_module(&p.sides[side], "nn.Module: Deep", i, 3 * DEEP - i, i + 1, i);
        }
    }
    run(&p);
    uint32_t node = 0;
    uint32_t depth = 0;
    while (p.diff.nodes[node].child_count > 0) {
        node = p.diff.nodes[node].first_child;
        depth++;
    }
    assert_true(depth >= DEEP - 1);
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_to_match),      cmocka_unit_test(children_of_all_steps),
        cmocka_unit_test(points_match_greedily), cmocka_unit_test(matches_descend),
        cmocka_unit_test(figures_of_a_side),     cmocka_unit_test(blanks_have_zeros),
        cmocka_unit_test(empty_traces),          cmocka_unit_test(a_hundred_thousand_equal_names),
        cmocka_unit_test(deep_modules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

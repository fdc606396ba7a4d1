/* Call trees, memory logs and comm logs in the store: as they were, or refused. */
#include "tests/unit/ingest/analysis/row_checks.h"

#define NODES 4
#define NAMES 3
#define RECORDS 3

/* A tree by hand, whose fields a test spoils one by one. */
struct hand_tree {
    struct call_tree tree;
    const char *names[NAMES];
    struct call_thread threads[2];
    uint32_t name[NODES], tid[NODES], call_stack[NODES], end[NODES], partner[NODES];
    uint8_t class[NODES], type[NODES], flags[NODES];
    int64_t start[NODES], stop[NODES], host_self[NODES], device_total[NODES], device_self[NODES];
    int64_t module_id[NODES];
};

static void make_tree(struct hand_tree *hand)
{
    *hand = (struct hand_tree){
        .names = {"root", "aten::\xC3\xA4", ""},
        .threads = {{0, 3, -7, "main"}, {3, 4, INT64_MAX, NULL}},
        .name = {0, 1, 1, 0},
        .tid = {2, 2, 2, 2},
        .call_stack = {CALL_NONE, 2, CALL_NONE, 0},
        .end = {3, 3, 3, 4},
        .partner = {CALL_NONE, 2, 1, CALL_NONE},
        .class = {CALL_ROOT, CALL_STEP, CALL_MODULE, CALL_BACKWARD},
        .type = {0, CALL_TYPE_PYTHON, CALL_TYPE_MODULE, CALL_TYPE_BACKWARD},
        .flags = {0, CALL_IS_REAL, CALL_TID_IS_TEXT, 3},
        .start = {INT64_MIN, 0, 5, 1700000000000000000},
        .stop = {INT64_MAX, 9, 8, -1},
        .host_self = {-5, 1, 2, 3},
        .device_total = {4, 5, 6, 7},
        .device_self = {0, 0, INT64_MAX, 1},
        .module_id = {CALL_NO_MODULE, 0, 1, 2},
    };
    hand->tree = (struct call_tree){.node_count = NODES,
                                    .name_count = NAMES,
                                    .thread_count = 2,
                                    .profile_thread = 1,
                                    .names = hand->names,
                                    .threads = hand->threads,
                                    .name = hand->name,
                                    .tid = hand->tid,
                                    .call_stack = hand->call_stack,
                                    .end = hand->end,
                                    .partner = hand->partner,
                                    .class = hand->class,
                                    .type = hand->type,
                                    .flags = hand->flags,
                                    .start = hand->start,
                                    .stop = hand->stop,
                                    .host_self = hand->host_self,
                                    .device_total = hand->device_total,
                                    .device_self = hand->device_self,
                                    .module_id = hand->module_id};
}

struct hand_memory {
    struct memory_log log;
    const char *devices[2];
    int64_t ts[RECORDS], addr[RECORDS], size_bytes[RECORDS];
    int64_t allocated_bytes[RECORDS], reserved_bytes[RECORDS];
    uint32_t node[RECORDS], op[RECORDS], parent[RECORDS], device[RECORDS];
    uint8_t flags[RECORDS], visited[NODES];
};

static void make_memory(struct hand_memory *hand)
{
    *hand = (struct hand_memory){
        .devices = {"GPU0", ""},
        .ts = {-1, 0, INT64_MAX},
        .addr = {INT64_MIN, 64, -1},
        .size_bytes = {8, -8, 0},
        .allocated_bytes = {8, 0, 1},
        .reserved_bytes = {9, 9, 9},
        .node = {1, CALL_NONE, 3},
        .op = {1, 1, CALL_NONE},
        .parent = {0, CALL_NONE, 2},
        .device = {0, 1, 0},
        .flags = {3, 1, 0},
        .visited = {1, 1, 0, 1},
    };
    hand->log = (struct memory_log){.count = RECORDS,
                                    .device_count = 2,
                                    .node_count = NODES,
                                    .devices = hand->devices,
                                    .ts = hand->ts,
                                    .addr = hand->addr,
                                    .size_bytes = hand->size_bytes,
                                    .allocated_bytes = hand->allocated_bytes,
                                    .reserved_bytes = hand->reserved_bytes,
                                    .node = hand->node,
                                    .op = hand->op,
                                    .parent = hand->parent,
                                    .device = hand->device,
                                    .flags = hand->flags,
                                    .visited = hand->visited};
}

static int64_t store_blocks(struct fixture *f,
                            struct call_tree *tree,
                            struct memory_log *memory,
                            struct collective_log *comm)
{
    static int uploads;
    char name[40];
    (void)snprintf(name, sizeof name, "w%d.pt.trace.json", ++uploads);
    struct trace_results results = {.device_type = "GPU",
                                    .views = 1,
                                    .call_tree = tree,
                                    .memory_log = memory,
                                    .comm_log = comm};
    return publish(f, add_job(f, "run", name, name, false), name, "", &results);
}

#define SAME(field) assert_memory_equal(got->field, want->field, count * sizeof *got->field)

static void trees_come_back(void **state)
{
    struct fixture *f = *state;
    struct hand_tree hand;
    struct call_tree *got = NULL;
    make_tree(&hand);
    int64_t id = store_blocks(f, &hand.tree, NULL, NULL);
    assert_ok(f, READ(f->store, store_call_tree, &f->arena, id, &got, &f->err));
    const struct call_tree *want = &hand.tree;
    size_t count = NODES;
    assert_int_equal(got->node_count, NODES);
    assert_int_equal(got->profile_thread, 1);
    SAME(name);
    SAME(tid);
    SAME(call_stack);
    SAME(end);
    SAME(partner);
    SAME(class);
    SAME(type);
    SAME(flags);
    SAME(start);
    SAME(stop);
    SAME(host_self);
    SAME(device_total);
    SAME(device_self);
    SAME(module_id);
    for (size_t i = 0; i < NAMES; i++) {
        assert_string_equal(got->names[i], want->names[i]);
    }
    for (size_t t = 0; t < 2; t++) {
        assert_int_equal(got->threads[t].first, want->threads[t].first);
        assert_int_equal(got->threads[t].end, want->threads[t].end);
        assert_true(got->threads[t].tid == want->threads[t].tid);
        assert_same_text(got->threads[t].label, want->threads[t].label);
    }
}

static void memory_comes_back(void **state)
{
    struct fixture *f = *state;
    struct hand_memory hand;
    struct memory_log *got = NULL;
    make_memory(&hand);
    int64_t id = store_blocks(f, NULL, &hand.log, NULL);
    assert_ok(f, READ(f->store, store_memory_log, &f->arena, id, &got, &f->err));
    const struct memory_log *want = &hand.log;
    size_t count = RECORDS;
    SAME(ts);
    SAME(addr);
    SAME(size_bytes);
    SAME(allocated_bytes);
    SAME(reserved_bytes);
    SAME(node);
    SAME(op);
    SAME(parent);
    SAME(device);
    SAME(flags);
    count = NODES;
    SAME(visited);
    assert_string_equal(got->devices[0], "GPU0");
    assert_string_equal(got->devices[1], "");
}

static void collectives_come_back(void **state)
{
    struct fixture *f = *state;
    struct collective_op ops[] = {
        {.name = "nccl:all_reduce",
         .step = COLLECTIVE_NO_STEP,
         .size_bytes = INT64_MAX,
         .range_count = 2},
        {.name = "nccl:barrier",
         .step = 3,
         .first_range = 2,
         .range_count = 0,
         .group = "tp",
         .group_size = 8},
    };
    struct collective_range ranges[] = {{INT64_MIN, -1}, {5, 4}};
    struct collective_log log = {.ops = ops, .op_count = 2, .range_count = 2, .ranges = ranges};
    struct collective_log *got = NULL;
    int64_t id = store_blocks(f, NULL, NULL, &log);
    assert_ok(f, READ(f->store, store_comm_log, &f->arena, id, &got, &f->err));
    assert_int_equal(got->op_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(got->ops[i].name, ops[i].name);
        assert_true(got->ops[i].step == ops[i].step);
        assert_true(got->ops[i].size_bytes == ops[i].size_bytes);
        assert_int_equal(got->ops[i].first_range, ops[i].first_range);
        assert_int_equal(got->ops[i].range_count, ops[i].range_count);
        assert_same_text(got->ops[i].group, ops[i].group);
        assert_int_equal(got->ops[i].group_size, ops[i].group_size);
    }
    assert_memory_equal(got->ranges, ranges, sizeof ranges);
}

static void what_is_not_there_is_null(void **state)
{
    struct fixture *f = *state;
    struct call_tree *tree = NULL;
    struct memory_log *memory = NULL;
    int64_t id = store_blocks(f, NULL, NULL, NULL);
    assert_ok(f, READ(f->store, store_call_tree, &f->arena, id, &tree, &f->err));
    assert_ok(f, READ(f->store, store_memory_log, &f->arena, id, &memory, &f->err));
    assert_null(tree);
    assert_null(memory);
}

/* ---- what no writer writes ---- */

enum spoil {
    SPOIL_NAME_INDEX,
    SPOIL_TID_INDEX,
    SPOIL_STACK_INDEX,
    SPOIL_PARTNER,
    SPOIL_EMPTY_SUBTREE,
    SPOIL_LONG_SUBTREE,
    SPOIL_CLASS,
    SPOIL_TYPE,
    SPOIL_TEXT,
    SPOIL_EMPTY_THREAD,
    SPOIL_LONG_THREAD,
    SPOIL_PROFILE,
    SPOIL_COUNT
};

static void spoil_tree(struct hand_tree *hand, enum spoil spoil)
{
    uint32_t *const indices[] = {[SPOIL_NAME_INDEX] = &hand->name[1],
                                 [SPOIL_TID_INDEX] = &hand->tid[3],
                                 [SPOIL_STACK_INDEX] = &hand->call_stack[1]};
    switch (spoil) {
    case SPOIL_NAME_INDEX:
    case SPOIL_TID_INDEX:
    case SPOIL_STACK_INDEX:
        *indices[spoil] = NAMES;
        break;
    case SPOIL_PARTNER:
        hand->partner[1] = NODES;
        break;
    case SPOIL_EMPTY_SUBTREE:
        hand->end[2] = 2;
        break;
    case SPOIL_LONG_SUBTREE:
        hand->end[3] = NODES + 1;
        break;
    case SPOIL_CLASS:
        hand->class[0] = CALL_CLASS_COUNT;
        break;
    case SPOIL_TYPE:
        hand->type[0] = CALL_TYPE_COUNT;
        break;
    case SPOIL_TEXT:
        hand->names[1] = NULL;
        break;
    case SPOIL_EMPTY_THREAD:
        hand->threads[0].end = 0;
        break;
    case SPOIL_LONG_THREAD:
        hand->threads[1].end = NODES + 1;
        break;
    case SPOIL_PROFILE:
        hand->tree.profile_thread = 2;
        break;
    case SPOIL_COUNT:
        break;
    }
}

static void damaged_trees_are_refused(void **state)
{
    struct fixture *f = *state;
    for (int spoil = 0; spoil < SPOIL_COUNT; spoil++) {
        struct hand_tree hand;
        struct call_tree *got = NULL;
        make_tree(&hand);
        spoil_tree(&hand, (enum spoil)spoil);
        int64_t id = store_blocks(f, &hand.tree, NULL, NULL);
        bool refused = !READ(f->store, store_call_tree, &f->arena, id, &got, &f->err);
        if (!refused) {
            print_message("spoil %d\n", spoil);
        }
        assert_true(refused);
        assert_int_equal(f->err.code, ERR_STORE);
    }
}

static void damaged_memory_is_refused(void **state)
{
    struct fixture *f = *state;
    for (int spoil = 0; spoil < 3; spoil++) {
        struct hand_memory hand;
        struct memory_log *got = NULL;
        make_memory(&hand);
        if (spoil == 0) {
            hand.node[1] = NODES;
        } else if (spoil == 1) {
            hand.device[2] = 2;
        } else {
            hand.devices[0] = NULL;
        }
        int64_t id = store_blocks(f, NULL, &hand.log, NULL);
        assert_fails(f, READ(f->store, store_memory_log, &f->arena, id, &got, &f->err), ERR_STORE);
    }
}

static void damaged_collectives_are_refused(void **state)
{
    struct fixture *f = *state;
    struct collective_op ops[] = {{.name = "a", .range_count = 1},
                                  {.name = "b", .range_count = UINT32_MAX}};
    struct collective_range ranges[] = {{0, 1}};
    struct collective_log log = {.ops = ops, .op_count = 2, .range_count = 1, .ranges = ranges};
    struct collective_log *got = NULL;
    int64_t id = store_blocks(f, NULL, NULL, &log);
    assert_fails(f, READ(f->store, store_comm_log, &f->arena, id, &got, &f->err), ERR_STORE);
}

#define STORE_TEST(test) cmocka_unit_test_setup_teardown(test, set_up_store, tear_down_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(trees_come_back),
        STORE_TEST(memory_comes_back),
        STORE_TEST(collectives_come_back),
        STORE_TEST(what_is_not_there_is_null),
        STORE_TEST(damaged_trees_are_refused),
        STORE_TEST(damaged_memory_is_refused),
        STORE_TEST(damaged_collectives_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The operator tree of each host thread: operators, modules, steps, and annotations that load data,
 * step the optimizer or name a collective.
 *
 * All nodes of all threads lie in one array, each thread a stretch of it in pre-order, so that a
 * subtree is a stretch too:
 *
 *     index    0      1      2      3      4          children of i: i + 1, then from each child c
 * the tree    step    op    child  child   op         node end(c), as long as that is below end(i)
 *     end      5      4      3      4      5          parent: OP_NO_NODE directly below the root
 *
 * Behind the last node of a thread lies a slot whose `rank` is valid, so that end(i) can be asked
 * for it. The root of a thread is no node but a struct op_thread. */
#ifndef KS_ANALYSIS_RELATIONS_OP_TREE_H
#define KS_ANALYSIS_RELATIONS_OP_TREE_H

#include "ingest/analysis/classify/events.h"
#include "ingest/analysis/classify/times.h"
#include "ingest/base/attr.h"
#include "ingest/base/saturating.h"
#include "ingest/index/index.h"

#include <stdbool.h>
#include <stdint.h>

#define OP_NO_NODE UINT32_MAX
#define OP_NO_THREAD UINT32_MAX

/* Node classes [TB-4c]. */
enum op_class { OP_PLAIN, OP_LOADER, OP_OPTIMIZER, OP_STEP, OP_MODULE, OP_PL_MODULE };

#define OP_NO_CLASS UINT8_MAX /* makes no node */

enum op_flag {
    OP_REAL = 1,          /* an operator of its own: neither a module nor a wrapper [TB-5i] */
    OP_LAUNCHES = 1 << 1, /* started device work itself */
    OP_FLAG_FREE = 1 << 2 /* from here on who fills the tree may keep flags */
};

struct op_node {
    uint32_t event;
    uint32_t parent; /* OP_NO_NODE: the root */
    uint32_t end;    /* behind the last node of the subtree */
    uint32_t rank;   /* nodes that start device work before this one: see op_tree.sums */
    uint8_t class;   /* enum op_class */
    uint8_t type;    /* enum index_class */
    uint16_t flags;  /* enum op_flag */
};

struct op_thread {
    int64_t tid;
    uint32_t first; /* nodes first .. end */
    uint32_t end;
    int64_t start;     /* of the first child of the root, see times.h */
    int64_t end_time;  /* of the last one */
    int64_t start_key; /* the same for comparisons */
    int64_t end_key;
};

struct op_tree {
    struct event_classes *sel; /* names are looked up, and their flags kept, on the way */
    struct op_node *nodes;
    struct op_thread *threads; /* in order of their first node */
    uint32_t thread_count;
    uint32_t *track_thread; /* thread by track, OP_NO_THREAD */
    int64_t *sums;          /* by rank, one more than there are launching nodes: device time,
                               that the launching nodes before started; what a subtree started is the
                               difference of two entries */
    int64_t *host_self;     /* by node; negative where children take longer than their parent */
};

/* The tree by the index, which says what lies in what. Every host event that has a class is a node,
 * whatever its thread is called, and stays on its thread. A node's self time is what neither nodes
 * nor calls inside it cover. Its device time is the work of the operators in its subtree, and work
 * without an operator whose call lies there. Threads are those of the index that have nodes, in
 * order of their first event; a tid that is no number is 0. False without memory; must be freed in
 * either case. */
bool op_tree_from_index(struct op_tree *tree,
                        struct event_classes *sel,
                        const struct trace_index *index) KS_MUST_USE;
void op_tree_free(struct op_tree *tree);

/* The class of an event. Annotations have none unless they load data, step the optimizer or name a
 * collective [TB-4c]. */
uint8_t op_class_of(const struct event_classes *sel, uint32_t event);
/* Whether a node of that class gets OP_REAL. */
bool op_is_real(const struct event_classes *sel, uint32_t event, uint8_t class);

static inline uint32_t op_node_name(const struct op_tree *tree, uint32_t node)
{
    return tree->sel->name[tree->nodes[node].event];
}

/* The time of the file, unrounded. */
static inline int64_t op_node_start_ns(const struct op_tree *tree, uint32_t node)
{
    return tree->sel->trace->events.ts_ns[tree->nodes[node].event];
}

/* Times to compare, see times.h. */
static inline int64_t op_node_start_key(const struct op_tree *tree, uint32_t node)
{
    return times_start_key(tree->sel, tree->nodes[node].event);
}

static inline int64_t op_node_end_key(const struct op_tree *tree, uint32_t node)
{
    return times_end_key(tree->sel, tree->nodes[node].event);
}

static inline int64_t op_node_duration(const struct op_tree *tree, uint32_t node)
{
    return times_duration(tree->sel, tree->nodes[node].event);
}

static inline int64_t op_node_sum_before(const struct op_tree *tree, uint32_t node)
{
    return tree->sums[tree->nodes[node].rank];
}

static inline int64_t op_node_device_total(const struct op_tree *tree, uint32_t node)
{
    return saturating_sub(tree->sums[tree->nodes[tree->nodes[node].end].rank],
                          op_node_sum_before(tree, node));
}

static inline int64_t op_node_device_self(const struct op_tree *tree, uint32_t node)
{
    bool launches = (tree->nodes[node].flags & OP_LAUNCHES) != 0;
    return saturating_sub(tree->sums[tree->nodes[node].rank + launches],
                          op_node_sum_before(tree, node));
}

#endif

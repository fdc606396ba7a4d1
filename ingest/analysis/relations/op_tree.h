/* The operator tree of each host thread [TB-4] [TB-5].
 *
 * All nodes of all threads lie in one array, each thread a stretch of it in pre-order, so that a
 * subtree is a stretch too:
 *
 *     index    0      1      2      3      4          children of i: i + 1, then from each child c
 * the tree    step    op    child  child   op         node end(c), as long as that is below end(i)
 *     end      5      4      3      4      5          parent: OP_NO_NODE directly below the root
 *
 * Behind the last node of a thread lies a slot whose `rank` is valid, so that end(i) can be asked
 * for it. The root of a thread (the plugin's `CallTreeRoot`) is no node but a struct op_thread. */
#ifndef KS_ANALYSIS_RELATIONS_OP_TREE_H
#define KS_ANALYSIS_RELATIONS_OP_TREE_H

#include "ingest/analysis/classify/events.h"
#include "ingest/analysis/classify/tb_clock.h"
#include "ingest/analysis/relations/launch_correlation.h"
#include "ingest/analysis/relations/runtime_lists.h"
#include "ingest/base/attr.h"
#include "ingest/base/saturating.h"
#include "ingest/model/warning.h"

#include <stdbool.h>
#include <stdint.h>

#define OP_NO_NODE UINT32_MAX
#define OP_NO_THREAD UINT32_MAX

/* Node classes [TB-4c]. */
enum op_class { OP_PLAIN, OP_LOADER, OP_OPTIMIZER, OP_STEP, OP_MODULE, OP_PL_MODULE };

#define OP_NO_CLASS UINT8_MAX /* makes no node */

enum op_flag {
    OP_REAL = 1,             /* "real operator" [TB-5i] */
    OP_LAUNCHES = 1 << 1,    /* own runtimes started device work */
    OP_RUNS_TC = 1 << 2,     /* an own runtime started a Tensor Core kernel, plugin's list */
    OP_RUNS_TENSOR = 1 << 3, /* the same by our list */
    OP_TC = 1 << 4,          /* eligible for Tensor Cores, inheritance included; plugin's lists */
    OP_TENSOR = 1 << 5,      /* the same by our lists */
    OP_TC_CHILD = 1 << 6,    /* a child is eligible */
    OP_TENSOR_CHILD = 1 << 7,
    OP_ELIGIBLE_BELOW =
        1 << 8,          /* some descendant is a real operator and eligible (plugin's lists) */
    OP_REMOVED = 1 << 9, /* backward root taken out of the tree: it and its subtree are skipped */
    OP_DUPLICATE = 1 << 10,  /* only while the tree is built */
    OP_TC_NAME = 1 << 11,    /* eligible by its own name, plugin's list */
    OP_TENSOR_NAME = 1 << 12 /* the same by ours */
};

struct op_node {
    uint32_t event;
    uint32_t parent;   /* OP_NO_NODE: the root */
    uint32_t end;      /* behind the last node of the subtree */
    uint32_t runtimes; /* own list in op_tree.lists, or RUNTIME_LIST_NONE */
    uint32_t rank;     /* nodes that start device work before this one: see struct op_launch_sums */
    uint8_t class;     /* enum op_class */
    uint8_t type;      /* enum event_type */
    uint16_t flags;    /* enum op_flag */
};

struct op_thread {
    int64_t tid;
    uint32_t first; /* nodes first .. end */
    uint32_t end;
    bool has_step_name; /* some node's name begins `ProfilerStep#`: the root gets the stale kernels
                         */
    int64_t start;      /* of the first child of the root, in ticks (tb_clock.h) */
    int64_t end_time;   /* of the last one */
    int64_t start_key;  /* the same for comparisons */
    int64_t end_key;
};

/* Sums, in ticks, over the device work of launching nodes before the one of that rank: what a
 * subtree started is the difference of two entries. */
struct op_launch_sums {
    int64_t device;
    int64_t tc;     /* Tensor Core kernels by the plugin's list */
    int64_t tensor; /* by ours */
};

struct op_tree {
    struct event_classes *sel; /* names are looked up, and their flags kept, on the way */
    const struct launch_correlation *links;
    struct runtime_lists lists;
    struct op_node *nodes;
    struct op_thread *threads; /* in order of their first node */
    uint32_t thread_count;
    uint32_t *track_thread; /* thread by track, OP_NO_THREAD */
    /* Runtimes with external id 0 belong to the root of their thread as well: zero[zero_first[t]
     * ..). */
    uint32_t *zero_first;
    uint32_t *zero;
    uint32_t zero_owner; /* node that owns the list of external id 0, or OP_NO_NODE */
    uint32_t zero_owner_thread;
    struct op_launch_sums *sums; /* by rank, one more than there are launching nodes */
    uint32_t *host_self;         /* by node: see op_node_host_self */
    int64_t *self_ns;            /* the same of a tree from the index, else NULL */
};

/* Builds and fills in everything. `sel` and `links` must outlive the tree.
 * Counts WARN_BAD_TID and WARN_OVERLAP. False without memory; must be freed in either case. */
bool op_tree_build(struct op_tree *tree,
                   struct event_classes *sel,
                   const struct launch_correlation *links,
                   struct warnings *warnings) KS_MUST_USE;
/* The tree of our figures, where the index says what lies in what. Every host event that has a
 * class is a node, whatever its thread is called, and stays on its thread. A node's self time is
 * what neither nodes nor calls inside it cover. Its device time is the work of the operators in its
 * subtree, and work without an operator whose call lies there. Of `sums` only `device` is filled,
 * of flags OP_REAL, OP_LAUNCHES and those of names. Threads are those of the index that have nodes,
 * in order of their first event; a tid that is no number is 0. False without memory; must be freed
 * in either case. */
bool op_tree_from_index(struct op_tree *tree,
                        struct event_classes *sel,
                        const struct trace_index *index) KS_MUST_USE;
void op_tree_free(struct op_tree *tree);

/* The class of an event. Annotations have none unless they load data, step the optimizer or name a
 * collective [TB-4c]. And the flags that it has by its name. */
uint8_t op_class_of(const struct event_classes *sel, uint32_t event);
uint16_t op_flags_of(const struct event_classes *sel, uint32_t event, uint8_t class);

/* Threads and their nodes in order of time, and, once there are runtime lists, what the roots of
 * threads own (op_threads.c); parts of op_tree_build. */
bool op_threads_fill(struct op_tree *tree, struct warnings *warnings) KS_MUST_USE;
bool op_threads_give_zero(struct op_tree *tree) KS_MUST_USE;
/* Host self times, device sums and Tensor Core eligibility of every node (op_stats.c); part of
 * op_tree_build. */
bool op_tree_add_stats(struct op_tree *tree) KS_MUST_USE;

static inline uint32_t op_node_name(const struct op_tree *tree, uint32_t node)
{
    return tree->sel->name[tree->nodes[node].event];
}

/* The time of the file, unrounded. */
static inline int64_t op_node_start_ns(const struct op_tree *tree, uint32_t node)
{
    return tree->sel->trace->events.ts_ns[tree->nodes[node].event];
}

/* Times to compare, see tb_clock.h. */
static inline int64_t op_node_start_key(const struct op_tree *tree, uint32_t node)
{
    return tb_clock_start_key(tree->sel, tree->nodes[node].event);
}

static inline int64_t op_node_end_key(const struct op_tree *tree, uint32_t node)
{
    return tb_clock_end_key(tree->sel, tree->nodes[node].event);
}

/* Ticks. */
static inline int64_t op_node_duration(const struct op_tree *tree, uint32_t node)
{
    return tb_clock_duration(tree->sel, tree->nodes[node].event);
}

#define OP_HOST_SELF_WIDE                                                  \
    UINT32_MAX /* in op_tree.host_self: does not fit, is summed when asked \
                */
int64_t op_node_sum_host_self(const struct op_tree *tree, uint32_t node);

/* Own duration - durations of the children - durations of the own runtimes, in ticks; may be
 * negative. On an MLU a runtime inside the one kept before it is not subtracted again [TB-17e]. */
static inline int64_t op_node_host_self(const struct op_tree *tree, uint32_t node)
{
    if (tree->self_ns != NULL) {
        return tree->self_ns[node];
    }
    uint32_t word = tree->host_self[node];
    return KS_LIKELY(word != OP_HOST_SELF_WIDE) ? word : op_node_sum_host_self(tree, node);
}

/* What the subtree started, and what the node itself did (without the extra of modules): the sums
 * before and behind it. */
static inline const struct op_launch_sums *op_node_sums_before(const struct op_tree *tree,
                                                               uint32_t node)
{
    return &tree->sums[tree->nodes[node].rank];
}

static inline const struct op_launch_sums *op_node_sums_behind(const struct op_tree *tree,
                                                               uint32_t node)
{
    return &tree->sums[tree->nodes[tree->nodes[node].end].rank];
}

static inline const struct op_launch_sums *op_node_sums_behind_self(const struct op_tree *tree,
                                                                    uint32_t node)
{
    bool launches = (tree->nodes[node].flags & OP_LAUNCHES) != 0;
    return op_node_sums_before(tree, node) + launches;
}

static inline int64_t op_node_device_total(const struct op_tree *tree, uint32_t node)
{
    return saturating_sub(op_node_sums_behind(tree, node)->device,
                          op_node_sums_before(tree, node)->device);
}

static inline int64_t op_node_device_self(const struct op_tree *tree, uint32_t node)
{
    return saturating_sub(op_node_sums_behind_self(tree, node)->device,
                          op_node_sums_before(tree, node)->device);
}

/* Runtimes of external id 0 have two owners, the operator with that id and the root of their
 * thread; what is visited second counts doubly and gives the kernels their operator [TB-5.6]. True
 * when that is the operator, for a runtime (number) of its list. */
bool op_tree_zero_owner_is_last(const struct op_tree *tree, uint32_t runtime);

#endif

/* Two call trees laid beside each other [TB-16]: nodes of siblings, and what each side of a node
 * took. */
#ifndef KS_MODEL_RESULTS_DIFF_H
#define KS_MODEL_RESULTS_DIFF_H

#include "ingest/model/results/call_tree.h"

#include <stddef.h>
#include <stdint.h>

enum { DIFF_LEFT, DIFF_RIGHT, DIFF_SIDES };

/* A stretch of siblings on each side, possibly none. Children stand behind their parents, each
 * node's in one piece. */
struct diff_node {
    uint32_t first[DIFF_SIDES]; /* into diff.rows */
    uint32_t count[DIFF_SIDES];
    uint32_t first_child;
    uint32_t child_count;
};

struct diff {
    const struct call_tree *trees[DIFF_SIDES];
    uint32_t *rows[DIFF_SIDES];  /* of the call tree */
    uint32_t *steps[DIFF_SIDES]; /* the steps of its first thread, rows in their order */
    uint32_t step_count[DIFF_SIDES];
    struct diff_node *nodes; /* nodes[0] is the whole */
    uint32_t node_count;
    uint32_t *scratch[DIFF_SIDES]; /* for diff_read_side alone */
};

/* Operators of one name below a node. */
struct diff_operator {
    const char *name;
    int64_t calls;
    int64_t host, host_self;
    int64_t device, device_self;
};

/* One side of a node. */
struct diff_side {
    const char *name; /* of the one sibling, `CompositeNodes`, or `Blank` */
    /* The steps that hold the first and the last sibling; NULL without siblings or steps. */
    const char *first_step, *last_step;
    int64_t duration;
    int64_t device_duration;
    int64_t total_duration; /* of each sibling the device time if there is any, else the host's */
    struct diff_operator *operators; /* in the order of [TB-5j] */
    size_t operator_count;
};

#endif

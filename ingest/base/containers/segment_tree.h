/* Least or greatest value of any stretch of an array, in logarithmic time. */
#ifndef KS_BASE_CONTAINERS_SEGMENT_TREE_H
#define KS_BASE_CONTAINERS_SEGMENT_TREE_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stdint.h>

struct segment_tree {
    int64_t
        *nodes; /* a node holds the extreme of its children 2i and 2i + 1; leaves from count on */
    uint32_t count;
    bool greatest;
};

/* Copies the values. False without memory; must be freed in either case. */
bool segment_tree_init(struct segment_tree *tree,
                       const int64_t *values,
                       uint32_t count,
                       bool greatest) KS_MUST_USE;
void segment_tree_free(struct segment_tree *tree);
/* Over [from, to), which must not be empty. */
int64_t segment_tree_query(const struct segment_tree *tree, uint32_t from, uint32_t to);

#endif

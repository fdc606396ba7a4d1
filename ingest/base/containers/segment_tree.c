#include "ingest/base/containers/segment_tree.h"

#include "ingest/base/memory/scratch.h"

#include <string.h>

static int64_t extreme(const struct segment_tree *tree, int64_t a, int64_t b)
{
    return (a > b) == tree->greatest ? a : b;
}

bool segment_tree_init(struct segment_tree *tree,
                       const int64_t *values,
                       uint32_t count,
                       bool greatest)
{
    *tree = (struct segment_tree){.count = count, .greatest = greatest};
    tree->nodes = scratch_alloc((size_t)count * 2, sizeof *tree->nodes);
    if (tree->nodes == NULL) {
        return false;
    }
    memcpy(tree->nodes + count, values, count * sizeof *values);
    for (size_t i = count; i > 1; i--) {
        size_t node = i - 1;
        tree->nodes[node] = extreme(tree, tree->nodes[node * 2], tree->nodes[node * 2 + 1]);
    }
    return true;
}

void segment_tree_free(struct segment_tree *tree)
{
    scratch_free(tree->nodes);
    *tree = (struct segment_tree){0};
}

int64_t segment_tree_query(const struct segment_tree *tree, uint32_t from, uint32_t to)
{
    size_t left = (size_t)from + tree->count;
    size_t right = (size_t)to + tree->count;
    int64_t found = tree->nodes[left];
    for (; left < right; left /= 2, right /= 2) {
        if (left % 2 == 1) {
            found = extreme(tree, found, tree->nodes[left++]);
        }
        if (right % 2 == 1) {
            found = extreme(tree, found, tree->nodes[--right]);
        }
    }
    return found;
}

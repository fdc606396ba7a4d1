#include "ingest/base/containers/extreme_tree.h"

#include "ingest/base/memory/scratch.h"

static int64_t extreme(const struct extreme_tree *tree, int64_t a, int64_t b)
{
    return (a > b) == tree->greatest ? a : b;
}

bool extreme_tree_init(struct extreme_tree *tree,
                       const int64_t *values,
                       uint32_t count,
                       bool greatest)
{
    *tree = (struct extreme_tree){.count = count, .greatest = greatest};
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

void extreme_tree_free(struct extreme_tree *tree)
{
    scratch_free(tree->nodes);
    *tree = (struct extreme_tree){0};
}

int64_t extreme_tree_query(const struct extreme_tree *tree, uint32_t from, uint32_t to)
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

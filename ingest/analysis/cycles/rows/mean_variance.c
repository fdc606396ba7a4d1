#include "ingest/analysis/cycles/rows/mean_variance.h"

#include "ingest/base/memory/scratch.h"

#define BLOCK ((uint32_t)64)
/* Stretches up to this long are gone through. */
#define DIRECT_MAX ((uint32_t)256)

struct mean_variance mean_variance_direct(const double *values, uint32_t count)
{
    struct mean_variance out = {.count = count};
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        sum += values[i];
    }
    out.mean = count == 0 ? 0.0 : sum / count;
    for (uint32_t i = 0; i < count; i++) {
        double distance = values[i] - out.mean;
        out.squares += distance * distance;
    }
    return out;
}

/* Chan, Golub and LeVeque's rule for two samples. */
static struct mean_variance joined(struct mean_variance a, struct mean_variance b)
{
    struct mean_variance out = {.count = a.count + b.count};
    if (a.count <= 0.0 || b.count <= 0.0) {
        return a.count <= 0.0 ? b : a;
    }
    double distance = b.mean - a.mean;
    out.mean = a.mean + distance * b.count / out.count;
    out.squares = a.squares + b.squares + distance * distance * a.count * b.count / out.count;
    return out;
}

static bool fill(struct mean_variance_tree *tree, const double *values, uint32_t count)
{
    uint32_t blocks = count / BLOCK;
    tree->nodes = scratch_alloc((size_t)blocks * 2, sizeof *tree->nodes);
    if (tree->nodes == NULL) {
        return false;
    }
    tree->block_count = blocks;
    for (uint32_t i = 0; i < blocks; i++) {
        tree->nodes[blocks + i] = mean_variance_direct(values + (size_t)i * BLOCK, BLOCK);
    }
    for (uint32_t i = blocks; i > 1; i--) {
        uint32_t node = i - 1;
        size_t left = (size_t)node * 2;
        tree->nodes[node] = joined(tree->nodes[left], tree->nodes[left + 1]);
    }
    return true;
}

/* Over whole blocks [from, to). */
static struct mean_variance
of_blocks(const struct mean_variance_tree *tree, uint32_t from, uint32_t to)
{
    struct mean_variance out = {0.0, 0.0, 0.0};
    size_t left = (size_t)from + tree->block_count;
    size_t right = (size_t)to + tree->block_count;
    for (; left < right; left /= 2, right /= 2) {
        if (left % 2 == 1) {
            out = joined(out, tree->nodes[left++]);
        }
        if (right % 2 == 1) {
            out = joined(out, tree->nodes[--right]);
        }
    }
    return out;
}

bool mean_variance_of(struct mean_variance_tree *tree,
                      const double *values,
                      uint32_t count,
                      uint32_t from,
                      uint32_t to,
                      struct mean_variance *out)
{
    if (to - from <= DIRECT_MAX) {
        *out = mean_variance_direct(values + from, to - from);
        return true;
    }
    if (tree->nodes == NULL && !fill(tree, values, count)) {
        return false;
    }
    uint32_t first_block = (from + BLOCK - 1) / BLOCK;
    uint32_t end_block = to / BLOCK;
    *out = mean_variance_direct(values + from, first_block * BLOCK - from);
    *out = joined(*out, of_blocks(tree, first_block, end_block));
    *out = joined(*out,
                  mean_variance_direct(values + (size_t)end_block * BLOCK, to - end_block * BLOCK));
    return true;
}

void mean_variance_tree_free(struct mean_variance_tree *tree)
{
    scratch_free(tree->nodes);
    *tree = (struct mean_variance_tree){NULL, 0};
}

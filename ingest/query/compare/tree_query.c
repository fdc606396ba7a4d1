#include "ingest/query/compare/tree_query.h"

#include "ingest/analysis/compare/diff.h"

bool query_diff(struct store_snapshot *snapshot,
                struct arena *arena,
                const int64_t figures_ids[DIFF_SIDES],
                struct diff *out,
                struct err *err)
{
    struct call_tree *trees[DIFF_SIDES];
    for (int side = 0; side < DIFF_SIDES; side++) {
        if (!store_call_tree(snapshot, arena, figures_ids[side], &trees[side], err)) {
            return false;
        }
        if (trees[side] == NULL) {
            return err_set(err, ERR_NOT_FOUND,
                           "the trace has no call tree: its upload was no profiler trace");
        }
    }
    return diff_build(out, arena, trees[DIFF_LEFT], trees[DIFF_RIGHT]) ||
           err_set(err, ERR_NO_MEMORY, "no memory to compare two call trees");
}

/* The digits at *at as a number, which moves behind them; UINT32_MAX for anything else. */
static uint32_t read_index(const char **at)
{
    uint64_t index = 0;
    const char *digits = *at;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        index = index >= UINT32_MAX / 10 ? UINT32_MAX / 10 : index * 10 + (uint64_t)(**at - '0');
    }
    return *at == digits || index >= UINT32_MAX / 10 ? UINT32_MAX : (uint32_t)index;
}

bool query_diff_find(const struct diff *diff, const char *path, uint32_t *node, struct err *err)
{
    const char *at = path;
    bool ok = read_index(&at) == 0;
    *node = 0;
    while (ok && *at == '-') {
        at++;
        uint32_t index = read_index(&at);
        ok = index < diff->nodes[*node].child_count;
        *node = ok ? diff->nodes[*node].first_child + index : 0;
    }
    return (ok && *at == '\0') ||
           err_set(err, ERR_NOT_FOUND, "no node of the comparison has the path %.100s", path);
}

bool query_diff_side(struct arena *arena,
                     const struct diff *diff,
                     const struct diff_node *node,
                     int side,
                     struct diff_side *out,
                     struct err *err)
{
    return diff_read_side(out, arena, diff, node, side) ||
           err_set(err, ERR_NO_MEMORY, "no memory to compare two call trees");
}

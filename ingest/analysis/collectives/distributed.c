#include "ingest/analysis/collectives/distributed.h"

#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/strtab.h"

#include <stdlib.h>
#include <string.h>

/* ---- matching ---- */

static bool logs_agree(const struct collective_log *const *logs, size_t count)
{
    for (size_t w = 1; w < count; w++) {
        if (logs[w]->op_count != logs[0]->op_count) {
            return false;
        }
        for (uint32_t i = 0; i < logs[0]->op_count; i++) {
            if (logs[w]->ops[i].range_count != logs[0]->ops[i].range_count) {
                return false;
            }
        }
    }
    return count > 0;
}

static bool make_worker(struct distributed_worker *worker,
                        struct arena *arena,
                        const struct collective_log *log)
{
    worker->log = log;
    worker->real = arena_calloc(arena, (size_t)log->range_count + 1, sizeof *worker->real);
    worker->is_matched = arena_calloc(arena, (size_t)log->op_count + 1, sizeof *worker->is_matched);
    if (worker->real == NULL || worker->is_matched == NULL) {
        return false;
    }
    if (log->range_count > 0) {
        memcpy(worker->real, log->ranges, log->range_count * sizeof *worker->real);
    }
    return true;
}

/* The shortest of the j-th ranges gives every worker the time of the transfer [TB-15b]. */
static void match_row(struct distributed *out, const uint32_t *row)
{
    const struct distributed_worker *workers = out->workers;
    uint32_t range_count = workers[0].log->ops[row[0]].range_count;
    for (uint32_t j = 0; j < range_count; j++) {
        int64_t shortest = INT64_MAX;
        for (size_t w = 0; w < out->worker_count; w++) {
            const struct collective_log *log = workers[w].log;
            const struct collective_range *range = &log->ranges[log->ops[row[w]].first_range + j];
            shortest = i64_min(shortest, saturating_sub(range->end, range->start));
        }
        for (size_t w = 0; w < out->worker_count; w++) {
            uint32_t at = workers[w].log->ops[row[w]].first_range + j;
            workers[w].real[at].start = saturating_sub(workers[w].real[at].end, shortest);
        }
    }
    for (size_t w = 0; w < out->worker_count; w++) {
        out->workers[w].is_matched[row[w]] = 1;
        out->workers[w].matched_count++;
    }
}

static bool has_equal_ranges(const struct distributed *out, const uint32_t *row)
{
    for (size_t w = 1; w < out->worker_count; w++) {
        if (out->workers[w].log->ops[row[w]].range_count !=
            out->workers[0].log->ops[row[0]].range_count) {
            return false;
        }
    }
    return true;
}

static bool match_by_place(struct distributed *out)
{
    uint32_t *row = scratch_alloc(out->worker_count, sizeof *row);
    if (row == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < out->workers[0].log->op_count; i++) {
        for (size_t w = 0; w < out->worker_count; w++) {
            row[w] = i;
        }
        match_row(out, row);
    }
    scratch_free(row);
    return true;
}

/* For each op its number among those of its name: (name, number) is what belongs together. */
struct numbering {
    struct strtab *names;
    struct key_map rows; /* (name, number) of the first worker */
    uint32_t *seen;      /* by name: how many ops of this worker */
    size_t seen_cap;
};

static bool number_op(struct numbering *n, const char *name, struct key *key)
{
    uint32_t id = strtab_intern(n->names, name, strlen(name));
    if (id == STRTAB_NONE) {
        return false;
    }
    while (n->seen_cap <= id) {
        size_t before = n->seen_cap;
        uint32_t *seen = scratch_grow(n->seen, n->seen_cap, &n->seen_cap, sizeof *seen);
        if (seen == NULL) {
            return false;
        }
        n->seen = seen;
        memset(seen + before, 0, (n->seen_cap - before) * sizeof *seen);
    }
    *key = (struct key){{id, n->seen[id]++, 0, 0}};
    return true;
}

static void restart_numbers(struct numbering *n)
{
    if (n->seen != NULL) {
        memset(n->seen, 0, n->seen_cap * sizeof *n->seen);
    }
}

static bool align_worker(struct numbering *n,
                         uint32_t *column,
                         size_t stride,
                         uint32_t row_count,
                         const struct collective_log *log)
{
    restart_numbers(n);
    for (uint32_t i = 0; i < log->op_count; i++) {
        struct key key;
        if (!number_op(n, log->ops[i].name, &key)) {
            return false;
        }
        uint32_t row = key_map_add(&n->rows, key);
        if (row == KEY_MAP_NONE) {
            return false;
        }
        if (row < row_count) { /* the others are not the first worker's */
            column[row * stride] = i;
        }
    }
    return true;
}

static bool match_by_name(struct distributed *out)
{
    size_t workers = out->worker_count;
    uint32_t row_count = out->workers[0].log->op_count;
    struct numbering n = {.names = strtab_create()};
    key_map_init(&n.rows);
    uint32_t *op = workers > SIZE_MAX / ((size_t)row_count + 1)
                       ? NULL
                       : scratch_none(workers * ((size_t)row_count + 1));
    bool ok = n.names != NULL && op != NULL;
    for (size_t w = 0; ok && w < workers; w++) {
        ok = align_worker(&n, op + w, workers, row_count, out->workers[w].log);
    }
    for (uint32_t row = 0; ok && row < row_count; row++) {
        const uint32_t *cells = op + row * workers;
        bool is_complete = true;
        for (size_t w = 0; w < workers; w++) {
            is_complete = is_complete && cells[w] != UINT32_MAX;
        }
        if (is_complete && has_equal_ranges(out, cells)) {
            match_row(out, cells);
        }
    }
    SCRATCH_FREE(op, n.seen);
    key_map_free(&n.rows);
    strtab_destroy(n.names);
    return ok;
}

bool distributed_match(struct distributed *out,
                       struct arena *arena,
                       const struct collective_log *const *logs,
                       size_t count)
{
    *out = (struct distributed){.workers = arena_calloc(arena, count + 1, sizeof *out->workers)};
    if (out->workers == NULL) {
        return false;
    }
    out->worker_count = count;
    for (size_t w = 0; w < count; w++) {
        if (!make_worker(&out->workers[w], arena, logs[w])) {
            return false;
        }
    }
    if (count == 0) {
        return true;
    }
    out->agrees = logs_agree(logs, count);
    return out->agrees ? match_by_place(out) : match_by_name(out);
}

/* ---- sums ---- */

ORDER_BY(by_start, struct collective_range, ORDER_UP(start))

/* The length of ranges merged; they are sorted on the way [TB-15.2]. */
static int64_t merged_length(struct collective_range *ranges, size_t count)
{
    int64_t length = 0;
    int64_t covered = INT64_MIN;
    qsort(ranges, count, sizeof *ranges, by_start);
    for (size_t i = 0; i < count; i++) {
        int64_t start = i64_max(ranges[i].start, covered);
        if (ranges[i].end > start) {
            length = saturating_add(length, saturating_sub(ranges[i].end, start));
        }
        covered = i64_max(covered, ranges[i].end);
    }
    return length;
}

/* The matched ops of a worker by group: by step, or by name. */
struct grouping {
    const struct distributed_worker *worker;
    struct key_map keys; /* groups in the order in which they come */
    uint32_t *group_of;  /* by op; KEY_MAP_NONE: not matched */
    uint32_t *op_count;  /* by group */
    uint32_t *ops;       /* ops by group, in order */
    struct collective_range *room;
};

static void grouping_free(struct grouping *g)
{
    key_map_free(&g->keys);
    SCRATCH_FREE(g->group_of, g->op_count, g->ops, g->room);
}

static bool grouping_init(struct grouping *g, const struct distributed_worker *worker)
{
    const struct collective_log *log = worker->log;
    *g = (struct grouping){.worker = worker,
                           .group_of = scratch_none(log->op_count),
                           .op_count =
                               scratch_calloc((size_t)log->op_count + 1, sizeof *g->op_count),
                           .ops = scratch_alloc(log->op_count, sizeof *g->ops),
                           .room = scratch_alloc(log->range_count, sizeof *g->room)};
    key_map_init(&g->keys);
    return g->group_of != NULL && g->op_count != NULL && g->ops != NULL && g->room != NULL;
}

static bool group_op(struct grouping *g, uint32_t op, struct key key)
{
    g->group_of[op] = key_map_add(&g->keys, key);
    if (g->group_of[op] == KEY_MAP_NONE) {
        return false;
    }
    g->op_count[g->group_of[op]]++;
    return true;
}

/* Fills `ops`, group by group; false without memory. */
static bool list_groups(struct grouping *g)
{
    uint32_t *next = scratch_alloc((size_t)g->keys.count + 1, sizeof *next);
    if (next == NULL) {
        return false;
    }
    uint32_t at = 0;
    for (uint32_t group = 0; group < g->keys.count; group++) {
        next[group] = at;
        at += g->op_count[group];
    }
    for (uint32_t i = 0; i < g->worker->log->op_count; i++) {
        if (g->group_of[i] != KEY_MAP_NONE) {
            g->ops[next[g->group_of[i]]++] = i;
        }
    }
    scratch_free(next);
    return true;
}

static int64_t length_of(const struct grouping *g,
                         const struct collective_range *ranges,
                         const uint32_t *ops,
                         uint32_t op_count)
{
    size_t count = 0;
    for (uint32_t i = 0; i < op_count; i++) {
        const struct collective_op *op = &g->worker->log->ops[ops[i]];
        memcpy(g->room + count, ranges + op->first_range, op->range_count * sizeof *g->room);
        count += op->range_count;
    }
    return merged_length(g->room, count);
}

static bool group_by_step(struct grouping *g)
{
    const struct collective_log *log = g->worker->log;
    bool ok = true;
    for (uint32_t i = 0; ok && i < log->op_count; i++) {
        uint64_t step = (uint64_t)log->ops[i].step;
        ok = g->worker->is_matched[i] == 0 ||
             group_op(g, i, (struct key){{(uint32_t)step, (uint32_t)(step >> 32), 0, 0}});
    }
    return ok && list_groups(g);
}

bool distributed_waits(struct distributed_wait **out,
                       size_t *count,
                       struct arena *arena,
                       const struct distributed_worker *worker)
{
    struct grouping g;
    bool ok = grouping_init(&g, worker) && group_by_step(&g);
    *out = ok ? arena_calloc(arena, (size_t)g.keys.count + 1, sizeof **out) : NULL;
    *count = *out == NULL ? 0 : g.keys.count;
    const uint32_t *ops = g.ops;
    for (size_t group = 0; group < *count; group++) {
        (*out)[group] = (struct distributed_wait){
            .step = worker->log->ops[ops[0]].step,
            .total = length_of(&g, worker->log->ranges, ops, g.op_count[group]),
            .real = length_of(&g, worker->real, ops, g.op_count[group])};
        ops += g.op_count[group];
    }
    grouping_free(&g);
    return *out != NULL;
}

static bool group_by_name(struct grouping *g)
{
    const struct collective_log *log = g->worker->log;
    struct strtab *names = strtab_create();
    bool ok = names != NULL;
    for (uint32_t i = 0; ok && i < log->op_count; i++) {
        const char *name = log->ops[i].name;
        uint32_t id = strtab_intern(names, name, strlen(name));
        ok = id != STRTAB_NONE &&
             (g->worker->is_matched[i] == 0 || group_op(g, i, (struct key){{id, 0, 0, 0}}));
    }
    strtab_destroy(names);
    return ok && list_groups(g);
}

static struct distributed_op
read_op(const struct grouping *g, const uint32_t *ops, uint32_t op_count)
{
    const struct collective_log *log = g->worker->log;
    struct distributed_op op = {.name = log->ops[ops[0]].name, .calls = op_count};
    for (uint32_t i = 0; i < op_count; i++) {
        op.size_bytes = saturating_add(op.size_bytes, log->ops[ops[i]].size_bytes);
    }
    op.total = length_of(g, log->ranges, ops, op_count);
    op.real = length_of(g, g->worker->real, ops, op_count);
    return op;
}

bool distributed_ops(struct distributed_op **out,
                     size_t *count,
                     struct arena *arena,
                     const struct distributed_worker *worker)
{
    struct grouping g;
    bool ok = grouping_init(&g, worker) && group_by_name(&g);
    *out = ok ? arena_calloc(arena, (size_t)g.keys.count + 1, sizeof **out) : NULL;
    *count = *out == NULL ? 0 : g.keys.count;
    const uint32_t *ops = g.ops;
    for (size_t group = 0; group < *count; group++) {
        (*out)[group] = read_op(&g, ops, g.op_count[group]);
        ops += g.op_count[group];
    }
    grouping_free(&g);
    return *out != NULL;
}

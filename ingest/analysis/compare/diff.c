#include "ingest/analysis/compare/diff.h"

#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/strtab.h"

#include <string.h>

#define BLANK_NAME "Blank"
#define SEVERAL_NAME "CompositeNodes"

/* Siblings yet to be matched: those of both sides whose children will be the node's. */
struct gap {
    uint32_t first[DIFF_SIDES];
    uint32_t count[DIFF_SIDES];
};

struct building {
    struct diff *out;
    struct gap *gaps; /* by node: the siblings below a matched node, empty for leaves */
    size_t gap_cap;
    size_t node_cap;
    size_t row_cap[DIFF_SIDES];
    uint32_t row_count[DIFF_SIDES];
    size_t step_cap[DIFF_SIDES];
    uint32_t *group[DIFF_SIDES]; /* by row of the call tree: same class and name, NO_GROUP for those
                                    that match nothing */
    uint32_t group_count;
    uint32_t *next_of; /* by place in the right gap: the next one of its group */
    size_t next_cap;
    uint32_t *first_of; /* by group: its first place in the right gap that is not used up */
};

#define NO_GROUP UINT32_MAX
#define NO_PLACE UINT32_MAX

/* ---- what matches ---- */

static bool is_point(uint8_t class)
{
    return class == CALL_BACKWARD || class == CALL_LOADER || class == CALL_MODULE ||
           class == CALL_OPTIMIZER || class == CALL_STEP;
}

static bool group_side(struct building *b, struct key_map *groups, struct strtab *texts, int side)
{
    const struct call_tree *tree = b->out->trees[side];
    b->group[side] = scratch_none(tree->node_count);
    if (b->group[side] == NULL) {
        return false;
    }
    for (uint32_t row = 0; row < tree->node_count; row++) {
        if (!is_point(tree->class[row])) {
            continue;
        }
        const char *name = tree->names[tree->name[row]];
        uint32_t text = strtab_intern(texts, name, strlen(name));
        if (text == STRTAB_NONE) {
            return false;
        }
        b->group[side][row] = key_map_add(groups, (struct key){{text, tree->class[row], 0, 0}});
        if (b->group[side][row] == KEY_MAP_NONE) {
            return false;
        }
    }
    return true;
}

static bool make_groups(struct building *b)
{
    struct key_map groups;
    struct strtab *texts = strtab_create();
    key_map_init(&groups);
    bool ok = texts != NULL && group_side(b, &groups, texts, DIFF_LEFT) &&
              group_side(b, &groups, texts, DIFF_RIGHT);
    b->group_count = groups.count;
    b->first_of = ok ? scratch_none(groups.count) : NULL;
    key_map_free(&groups);
    strtab_destroy(texts);
    return b->first_of != NULL;
}

/* ---- rows and nodes ---- */

static bool add_row(struct building *b, int side, uint32_t row)
{
    uint32_t *rows =
        scratch_grow(b->out->rows[side], b->row_count[side], &b->row_cap[side], sizeof *rows);
    if (rows == NULL) {
        return false;
    }
    b->out->rows[side] = rows;
    rows[b->row_count[side]++] = row;
    return true;
}

static bool add_children(struct building *b, int side, uint32_t row)
{
    const struct call_tree *tree = b->out->trees[side];
    for (uint32_t child = row + 1; child < tree->end[row]; child = tree->end[child]) {
        if (!add_row(b, side, child)) {
            return false;
        }
    }
    return true;
}

static bool add_node(struct building *b, const struct diff_node *node)
{
    struct diff *out = b->out;
    struct diff_node *nodes =
        scratch_grow(out->nodes, out->node_count, &b->node_cap, sizeof *nodes);
    if (nodes != NULL) {
        out->nodes = nodes;
    }
    struct gap *gaps = scratch_grow(b->gaps, out->node_count, &b->gap_cap, sizeof *gaps);
    if (gaps != NULL) {
        b->gaps = gaps;
    }
    if (nodes == NULL || gaps == NULL) {
        return false;
    }
    nodes[out->node_count] = *node;
    gaps[out->node_count++] = (struct gap){{0, 0}, {0, 0}};
    return true;
}

/* Siblings between two points; nothing on either side makes no node [TB-16.1]. */
static bool
add_gap(struct building *b, const uint32_t first[DIFF_SIDES], const uint32_t end[DIFF_SIDES])
{
    struct diff_node node = {.first = {first[DIFF_LEFT], first[DIFF_RIGHT]}};
    node.count[DIFF_LEFT] = end[DIFF_LEFT] - first[DIFF_LEFT];
    node.count[DIFF_RIGHT] = end[DIFF_RIGHT] - first[DIFF_RIGHT];
    return (node.count[DIFF_LEFT] == 0 && node.count[DIFF_RIGHT] == 0) || add_node(b, &node);
}

/* A point: the children of both are compared in turn. */
static bool add_point(struct building *b, uint32_t left, uint32_t right)
{
    const struct diff_node node = {.first = {left, right}, .count = {1, 1}};
    const uint32_t place[DIFF_SIDES] = {left, right};
    struct gap gap;
    for (int side = 0; side < DIFF_SIDES; side++) {
        gap.first[side] = b->row_count[side];
        if (!add_children(b, side, b->out->rows[side][place[side]])) {
            return false;
        }
        gap.count[side] = b->row_count[side] - gap.first[side];
    }
    if (!add_node(b, &node)) {
        return false;
    }
    b->gaps[b->out->node_count - 1] = gap;
    return true;
}

/* ---- matching ---- */

static uint32_t group_at(const struct building *b, int side, uint32_t place)
{
    return b->group[side][b->out->rows[side][place]];
}

/* Chains the places of each group in the right gap. */
static bool chain_right(struct building *b, const struct gap *gap)
{
    uint32_t first = gap->first[DIFF_RIGHT];
    uint32_t count = gap->count[DIFF_RIGHT];
    if (count > b->next_cap) {
        uint32_t *next_of = scratch_resize(b->next_of, count, sizeof *next_of);
        if (next_of == NULL) {
            return false;
        }
        b->next_of = next_of;
        b->next_cap = count;
    }
    for (uint32_t i = count; i-- > 0;) {
        uint32_t group = group_at(b, DIFF_RIGHT, first + i);
        if (group != NO_GROUP) {
            b->next_of[i] = b->first_of[group];
            b->first_of[group] = first + i;
        }
    }
    return true;
}

static void unchain_right(struct building *b, const struct gap *gap)
{
    for (uint32_t i = 0; i < gap->count[DIFF_RIGHT]; i++) {
        uint32_t group = group_at(b, DIFF_RIGHT, gap->first[DIFF_RIGHT] + i);
        if (group != NO_GROUP) {
            b->first_of[group] = NO_PLACE;
        }
    }
}

/* The first place of the group at or behind `from`. */
static uint32_t find_right(struct building *b, const struct gap *gap, uint32_t group, uint32_t from)
{
    while (b->first_of[group] != NO_PLACE && b->first_of[group] < from) {
        b->first_of[group] = b->next_of[b->first_of[group] - gap->first[DIFF_RIGHT]];
    }
    return b->first_of[group];
}

/* Points are found greedily from left to right and never backwards [TB-16a]. */
static bool match_gap(struct building *b, const struct gap *gap, bool *any)
{
    uint32_t at[DIFF_SIDES] = {gap->first[DIFF_LEFT], gap->first[DIFF_RIGHT]};
    uint32_t left_end = gap->first[DIFF_LEFT] + gap->count[DIFF_LEFT];
    const uint32_t end[DIFF_SIDES] = {left_end, gap->first[DIFF_RIGHT] + gap->count[DIFF_RIGHT]};
    *any = false;
    for (uint32_t i = gap->first[DIFF_LEFT]; i < left_end; i++) {
        uint32_t group = group_at(b, DIFF_LEFT, i);
        uint32_t place = group == NO_GROUP ? NO_PLACE : find_right(b, gap, group, at[DIFF_RIGHT]);
        if (place == NO_PLACE) {
            continue;
        }
        const uint32_t point[DIFF_SIDES] = {i, place};
        if (!add_gap(b, at, point) || !add_point(b, i, place)) {
            return false;
        }
        *any = true;
        at[DIFF_LEFT] = i + 1;
        at[DIFF_RIGHT] = place + 1;
    }
    return !*any || add_gap(b, at, end);
}

static bool expand(struct building *b, uint32_t node)
{
    const struct gap gap = b->gaps[node];
    uint32_t first_child = b->out->node_count;
    bool any = false;
    bool ok = chain_right(b, &gap) && match_gap(b, &gap, &any);
    unchain_right(b, &gap);
    b->out->nodes[node].first_child = first_child;
    b->out->nodes[node].child_count = b->out->node_count - first_child;
    return ok;
}

static bool add_step(struct building *b, int side, uint32_t row)
{
    struct diff *out = b->out;
    uint32_t *steps =
        scratch_grow(out->steps[side], out->step_count[side], &b->step_cap[side], sizeof *steps);
    if (steps == NULL) {
        return false;
    }
    out->steps[side] = steps;
    steps[out->step_count[side]++] = row;
    return add_children(b, side, row);
}

/* The children of all steps of the first thread, or of its root [TB-16a]. */
static bool add_start(struct building *b, int side)
{
    const struct call_tree *tree = b->out->trees[side];
    if (tree->thread_count == 0 || tree->profile_thread == 0) {
        return true;
    }
    uint32_t root = tree->threads[0].first;
    for (uint32_t child = root + 1; child < tree->end[root]; child = tree->end[child]) {
        if (tree->class[child] == CALL_STEP && !add_step(b, side, child)) {
            return false;
        }
    }
    return b->out->step_count[side] > 0 || add_children(b, side, root);
}

static bool build(struct building *b)
{
    struct diff_node whole = {.first_child = 0};
    for (int side = 0; side < DIFF_SIDES; side++) {
        if (!add_start(b, side)) {
            return false;
        }
        whole.count[side] = b->row_count[side];
    }
    if (!make_groups(b) || !add_node(b, &whole)) {
        return false;
    }
    b->gaps[0] = (struct gap){{0, 0}, {whole.count[DIFF_LEFT], whole.count[DIFF_RIGHT]}};
    for (uint32_t node = 0; node < b->out->node_count; node++) {
        if (!expand(b, node)) {
            return false;
        }
    }
    return true;
}

/* From the heap into the arena. */
static bool keep(struct arena *arena, void **array, size_t bytes)
{
    void *copy = arena_alloc(arena, bytes == 0 ? 1 : bytes);
    if (copy != NULL && bytes > 0) {
        memcpy(copy, *array, bytes);
    }
    scratch_free(*array);
    *array = copy;
    return copy != NULL;
}

/* A place by name, and room for the rows that are open. */
static uint32_t *make_scratch(struct arena *arena, const struct call_tree *tree)
{
    size_t names = tree->name_count;
    uint32_t *scratch = arena_calloc(arena, names + tree->node_count + 1, sizeof *scratch);
    if (scratch != NULL) {
        memset(scratch, 0xFF, names * sizeof *scratch);
    }
    return scratch;
}

bool diff_build(struct diff *out,
                struct arena *arena,
                const struct call_tree *left,
                const struct call_tree *right)
{
    struct building b = {.out = out};
    *out = (struct diff){.trees = {left, right}};
    bool ok = build(&b);
    for (int side = 0; side < DIFF_SIDES; side++) {
        void *rows = out->rows[side];
        ok = keep(arena, &rows, b.row_count[side] * sizeof *out->rows[side]) && ok;
        out->rows[side] = rows;
        void *steps = out->steps[side];
        ok = keep(arena, &steps, out->step_count[side] * sizeof *out->steps[side]) && ok;
        out->steps[side] = steps;
        out->scratch[side] = make_scratch(arena, out->trees[side]);
        ok = ok && out->scratch[side] != NULL;
        scratch_free(b.group[side]);
    }
    void *nodes = out->nodes;
    ok = keep(arena, &nodes, out->node_count * sizeof *out->nodes) && ok;
    out->nodes = nodes;
    SCRATCH_FREE(b.gaps, b.next_of, b.first_of);
    return ok;
}

/* ---- sides ---- */

struct summing {
    struct diff_side *out;
    const struct call_tree *tree;
    uint32_t *place; /* by name of the call tree: index into operators, UINT32_MAX but in use */
    size_t cap;
    uint32_t *open; /* rows whose subtrees are not over */
    uint32_t depth;
};

static bool add_operator(struct summing *s, uint32_t row)
{
    const struct call_tree *tree = s->tree;
    struct diff_side *out = s->out;
    uint32_t name = tree->name[row];
    if ((tree->flags[row] & CALL_IS_REAL) == 0) {
        return true;
    }
    if (s->place[name] == UINT32_MAX) {
        struct diff_operator *operators =
            scratch_grow(out->operators, out->operator_count, &s->cap, sizeof *operators);
        if (operators == NULL) {
            return false;
        }
        out->operators = operators;
        s->place[name] = (uint32_t)out->operator_count;
        operators[out->operator_count++] = (struct diff_operator){.name = tree->names[name]};
    }
    struct diff_operator *to = &out->operators[s->place[name]];
    to->calls++;
    to->host = saturating_add(to->host, saturating_sub(tree->stop[row], tree->start[row]));
    to->host_self = saturating_add(to->host_self, tree->host_self[row]);
    to->device = saturating_add(to->device, tree->device_total[row]);
    to->device_self = saturating_add(to->device_self, tree->device_self[row]);
    return true;
}

static bool close_rows(struct summing *s, uint32_t at)
{
    while (s->depth > 0 && s->tree->end[s->open[s->depth - 1]] <= at) {
        if (!add_operator(s, s->open[--s->depth])) {
            return false;
        }
    }
    return true;
}

/* Children first. */
static bool add_subtree(struct summing *s, uint32_t root)
{
    for (uint32_t row = root; row < s->tree->end[root]; row++) {
        if (!close_rows(s, row)) {
            return false;
        }
        s->open[s->depth++] = row;
    }
    return close_rows(s, s->tree->end[root]);
}

static bool sum_rows(struct summing *s, const uint32_t *rows, uint32_t count)
{
    const struct call_tree *tree = s->tree;
    struct diff_side *out = s->out;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = rows[i];
        int64_t duration = saturating_sub(tree->stop[row], tree->start[row]);
        int64_t device = tree->device_total[row];
        out->duration = saturating_add(out->duration, duration);
        out->device_duration = saturating_add(out->device_duration, device);
        out->total_duration = saturating_add(out->total_duration, device > 0 ? device : duration);
        if (!add_subtree(s, row)) {
            return false;
        }
    }
    return true;
}

static void forget_places(struct summing *s, const uint32_t *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t row = rows[i]; row < s->tree->end[rows[i]]; row++) {
            s->place[s->tree->name[row]] = UINT32_MAX;
        }
    }
}

/* The name of the step that holds a row of the call tree: the last one before it. */
static const char *step_of(const struct diff *diff, int side, uint32_t row)
{
    const struct call_tree *tree = diff->trees[side];
    size_t from = 0;
    ORDER_SEARCH(from, diff->step_count[side], at, diff->steps[side][at] < row);
    return from == 0 ? NULL : tree->names[tree->name[diff->steps[side][from - 1]]];
}

bool diff_read_side(struct diff_side *out,
                    struct arena *arena,
                    const struct diff *diff,
                    const struct diff_node *node,
                    int side)
{
    const struct call_tree *tree = diff->trees[side];
    const uint32_t *rows = diff->rows[side] + node->first[side];
    uint32_t count = node->count[side];
    *out = (struct diff_side){.name = count == 0 ? BLANK_NAME : SEVERAL_NAME};
    if (count == 1) {
        out->name = tree->names[tree->name[rows[0]]];
    }
    if (count > 0) {
        out->first_step = step_of(diff, side, rows[0]);
        out->last_step = step_of(diff, side, rows[count - 1]);
    }
    struct summing s = {.out = out,
                        .tree = tree,
                        .place = diff->scratch[side],
                        .open = diff->scratch[side] + tree->name_count};
    bool ok = sum_rows(&s, rows, count);
    forget_places(&s, rows, count);
    void *operators = out->operators;
    ok = keep(arena, &operators, out->operator_count * sizeof *out->operators) && ok;
    out->operators = operators;
    return ok;
}

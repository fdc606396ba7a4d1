#include "ingest/analysis/modules/modules.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"

#include <stdlib.h>
#include <string.h>

#define MODULE_PREFIX "nn.Module: "

/* Kinds of tuples in forest.shapes. */
enum { SHAPE_LIST = 1, SHAPE_TREE = 2 };

bool module_forest_init(struct module_forest *forest)
{
    *forest = (struct module_forest){.first_root = MODULE_NONE, .last_root = MODULE_NONE};
    key_map_init(&forest->shapes);
    forest->texts = strtab_create();
    return forest->texts != NULL;
}

void module_forest_free(struct module_forest *forest)
{
    scratch_free(forest->members);
    key_map_free(&forest->shapes);
    strtab_destroy(forest->texts);
}

uint32_t module_forest_add(
    struct module_forest *forest, const char *name, size_t len, int64_t module_id, uint32_t parent)
{
    struct module_member *members =
        scratch_grow(forest->members, forest->count, &forest->member_cap, sizeof *members);
    uint32_t text = members == NULL ? STRTAB_NONE : strtab_intern(forest->texts, name, len);
    if (members != NULL) {
        forest->members = members;
    }
    if (text == STRTAB_NONE) {
        return MODULE_NONE;
    }
    members[forest->count] = (struct module_member){.name = text,
                                                    .module_id = module_id,
                                                    .parent = parent,
                                                    .first_kid = MODULE_NONE,
                                                    .last_kid = MODULE_NONE,
                                                    .next_kid = MODULE_NONE};
    return forest->count++;
}

/* Siblings stand in the order of the members. */
static void forest_link(struct module_forest *forest)
{
    for (uint32_t i = 0; i < forest->count; i++) {
        uint32_t parent = forest->members[i].parent;
        uint32_t *first =
            parent == MODULE_NONE ? &forest->first_root : &forest->members[parent].first_kid;
        uint32_t *last =
            parent == MODULE_NONE ? &forest->last_root : &forest->members[parent].last_kid;
        if (*last == MODULE_NONE) {
            *first = i;
        } else {
            forest->members[*last].next_kid = i;
        }
        *last = i;
    }
}

/* ---- equal trees are shown once ---- */

/* Members below the roots, parents before their children. */
static uint32_t *order_members(const struct module_forest *forest, uint32_t *count)
{
    uint32_t *order = scratch_alloc(forest->count, sizeof *order);
    *count = 0;
    if (order == NULL) {
        return NULL;
    }
    for (uint32_t i = forest->first_root; i != MODULE_NONE; i = forest->members[i].next_kid) {
        order[(*count)++] = i;
    }
    for (uint32_t at = 0; at < *count; at++) {
        const struct module_member *member = &forest->members[order[at]];
        for (uint32_t i = member->first_kid; i != MODULE_NONE; i = forest->members[i].next_kid) {
            order[(*count)++] = i;
        }
    }
    return order;
}

/* Drops siblings whose tree an earlier one has, unless they are to `stay`; returns the number of
 * the list of those that are left. `seen_by` holds for each shape who saw it last. KEY_MAP_NONE
 * without memory. */
static uint32_t list_members(
    struct module_forest *forest, uint32_t *first, uint32_t *seen_by, uint32_t who, bool stay)
{
    uint32_t list = 0;
    uint32_t *link = first;
    while (*link != MODULE_NONE) {
        struct module_member *kid = &forest->members[*link];
        if (!stay && seen_by[kid->shape] == who) {
            *link = kid->next_kid;
            continue;
        }
        seen_by[kid->shape] = who;
        list = key_map_add(&forest->shapes, (struct key){{list, kid->shape, 0, SHAPE_LIST}});
        if (list == KEY_MAP_NONE) {
            return KEY_MAP_NONE;
        }
        list++; /* 0 is the empty list */
        link = &kid->next_kid;
    }
    return list;
}

static bool merge_equal(struct module_forest *forest)
{
    uint32_t count = 0;
    uint32_t *order = order_members(forest, &count);
    /* At most a list and a tree a member. */
    uint32_t *seen_by = scratch_none((size_t)forest->count * 2 + 1);
    bool ok = order != NULL && seen_by != NULL;
    for (uint32_t at = count; ok && at-- > 0;) {
        struct module_member *member = &forest->members[order[at]];
        uint32_t list =
            list_members(forest, &member->first_kid, seen_by, order[at], forest->keeps_siblings);
        const struct key shape = {{member->name, (uint32_t)member->module_id, list, SHAPE_TREE}};
        member->shape = list == KEY_MAP_NONE ? KEY_MAP_NONE : key_map_add(&forest->shapes, shape);
        ok = member->shape != KEY_MAP_NONE;
    }
    ok = ok &&
         list_members(forest, &forest->first_root, seen_by, forest->count, false) != KEY_MAP_NONE;
    SCRATCH_FREE(order, seen_by);
    return ok;
}

/* ---- figures ---- */

static bool is_module(const struct call_rows *rows, uint32_t row)
{
    uint8_t class = call_row_class(rows, row);
    return class == CALL_MODULE || class == CALL_PL_MODULE;
}

struct figures {
    struct key_map groups; /* (name, module id) */
    struct module_row *rows;
    size_t row_cap;
};

static struct key group_of(uint32_t text, int64_t module_id)
{
    return (struct key){{text, (uint32_t)module_id, (uint32_t)((uint64_t)module_id >> 32), 0}};
}

static struct module_row *figures_of(struct figures *figures, struct key group)
{
    uint32_t before = figures->groups.count;
    uint32_t index = key_map_add(&figures->groups, group);
    if (index == KEY_MAP_NONE) {
        return NULL;
    }
    if (index == before) {
        struct module_row *rows =
            scratch_grow(figures->rows, before, &figures->row_cap, sizeof *rows);
        if (rows == NULL) {
            return NULL;
        }
        figures->rows = rows;
        rows[index] = (struct module_row){0};
    }
    return &figures->rows[index];
}

static void add_call(struct module_row *to, const struct call_rows *rows, uint32_t row)
{
    to->occurrences++;
    for (uint32_t child = row + 1; child < rows->end[row]; child = rows->end[child]) {
        to->operators += call_row_is_real(rows, child);
    }
    to->host_total = saturating_add(to->host_total, call_row_duration(rows, row));
    to->host_self = saturating_add(to->host_self, call_row_host_self(rows, row));
    to->device_total = saturating_add(to->device_total, call_row_device_total(rows, row));
    to->device_self = saturating_add(to->device_self, call_row_device_self(rows, row));
}

/* Mirrors of backward modules are not looked into [TB-5.2]. */
static bool add_thread(struct figures *figures,
                       struct strtab *texts,
                       const struct call_tree *tree,
                       const struct call_rows *rows,
                       const struct call_thread *thread)
{
    uint32_t row = thread->first + 1;
    while (row < thread->end) {
        if (call_row_class(rows, row) == CALL_BACKWARD) {
            row = rows->end[row];
            continue;
        }
        if (is_module(rows, row)) {
            const char *name = tree->names[call_row_name(rows, row)];
            uint32_t text = strtab_intern(texts, name, strlen(name));
            struct module_row *to =
                text == STRTAB_NONE
                    ? NULL
                    : figures_of(figures, group_of(text, call_row_module_id(rows, row)));
            if (to == NULL) {
                return false;
            }
            add_call(to, rows, row);
        }
        row++;
    }
    return true;
}

static bool add_figures(struct figures *figures,
                        struct strtab *texts,
                        const struct call_tree *tree,
                        const struct call_rows *rows)
{
    bool ok = true;
    for (uint32_t t = 0; ok && t < tree->thread_count; t++) {
        ok = t == tree->profile_thread || add_thread(figures, texts, tree, rows, &tree->threads[t]);
    }
    return ok;
}

/* ---- rows ---- */

struct writing {
    const struct module_forest *forest;
    struct figures *figures;
    struct arena *arena;
    struct module_row *rows;
    size_t count;
};

/* Names lose the prefix wherever it stands [TB-14b]. */
static const char *shown_name(struct arena *arena, const char *name)
{
    size_t len = strlen(name);
    size_t prefix_len = sizeof MODULE_PREFIX - 1;
    char *out = arena_strndup(arena, name, len);
    size_t at = 0;
    for (size_t i = 0; out != NULL && i < len;) {
        if (strncmp(name + i, MODULE_PREFIX, prefix_len) == 0) {
            i += prefix_len;
        } else {
            out[at++] = name[i++];
        }
    }
    if (out != NULL) {
        out[at] = '\0';
    }
    return out;
}

static bool write_row(struct writing *w, uint32_t member, int64_t parent)
{
    const struct module_member *from = &w->forest->members[member];
    const struct module_row *figures =
        figures_of(w->figures, group_of(from->name, from->module_id));
    struct module_row *to = &w->rows[w->count++];
    if (figures == NULL) {
        return false;
    }
    *to = *figures;
    to->name = shown_name(w->arena, strtab_text(w->forest->texts, from->name));
    to->module_id = from->module_id;
    to->parent = parent;
    return to->name != NULL;
}

/* Pre-order below one root: from a member to its first kid, else to the next sibling of it or of
 * who stands above. */
static bool write_tree(struct writing *w, uint32_t root)
{
    const struct module_member *members = w->forest->members;
    int64_t row = (int64_t)w->count;
    uint32_t member = root;
    if (!write_row(w, root, MODULE_NO_PARENT)) {
        return false;
    }
    for (;;) {
        uint32_t next = members[member].first_kid;
        int64_t parent = row;
        while (next == MODULE_NONE) {
            if (member == root) {
                return true;
            }
            next = members[member].next_kid;
            parent = w->rows[row].parent;
            if (next == MODULE_NONE) {
                member = members[member].parent;
                row = parent;
                if (member == root) {
                    return true;
                }
            }
        }
        row = (int64_t)w->count;
        member = next;
        if (!write_row(w, member, parent)) {
            return false;
        }
    }
}

struct top {
    const char *name;
    uint32_t member;
    uint32_t place;
};

ORDER_BY(compare_tops, struct top, ORDER_TEXT(name), ORDER_UP(place))

/* The top level stands in order of the shown names [TB-14b]. */
static bool write_rows(struct writing *w)
{
    const struct module_forest *forest = w->forest;
    struct top *tops = scratch_alloc(forest->count, sizeof *tops);
    uint32_t count = 0;
    bool ok = tops != NULL;
    for (uint32_t i = forest->first_root; ok && i != MODULE_NONE; i = forest->members[i].next_kid) {
        const char *name =
            shown_name(w->arena, strtab_text(forest->texts, forest->members[i].name));
        tops[count] = (struct top){name, i, count};
        count++;
        ok = name != NULL;
    }
    if (ok) {
        qsort(tops, count, sizeof *tops, compare_tops);
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = write_tree(w, tops[i].member);
    }
    scratch_free(tops);
    return ok;
}

bool module_forest_write(struct module_forest *forest,
                         struct trace_results *results,
                         const struct call_rows *rows)
{
    struct figures figures = {0};
    struct writing w = {.forest = forest, .figures = &figures, .arena = &results->beside_arena};
    bool ok = true;
    key_map_init(&figures.groups);
    if (forest->count > 0) {
        forest_link(forest);
        w.rows = arena_calloc(w.arena, forest->count, sizeof *w.rows);
        ok = w.rows != NULL && merge_equal(forest) &&
             add_figures(&figures, forest->texts, results->call_tree, rows) && write_rows(&w);
    }
    key_map_free(&figures.groups);
    scratch_free(figures.rows);
    results->modules = w.rows;
    results->module_count = w.count;
    return ok;
}

/* ---- ours ---- */

/* What lies in what the rows say: a module is below the last one before it that goes on. */
static bool nest_thread(struct module_forest *forest,
                        const struct call_tree *tree,
                        const struct call_rows *rows,
                        const struct call_thread *thread)
{
    uint32_t parent = MODULE_NONE;
    for (uint32_t row = thread->first + 1; row < thread->end; row++) {
        if (!is_module(rows, row)) {
            continue;
        }
        while (parent != MODULE_NONE && forest->members[parent].end <= row) {
            parent = forest->members[parent].parent;
        }
        const char *name = tree->names[call_row_name(rows, row)];
        parent =
            module_forest_add(forest, name, strlen(name), call_row_module_id(rows, row), parent);
        if (parent == MODULE_NONE) {
            return false;
        }
        forest->members[parent].end = rows->end[row];
    }
    return true;
}

bool modules_run(struct trace_results *results, const struct call_rows *rows)
{
    const struct call_tree *tree = results->call_tree;
    struct module_forest forest;
    bool ok = module_forest_init(&forest);
    for (uint32_t t = 0; ok && t < tree->thread_count; t++) {
        ok = nest_thread(&forest, tree, rows, &tree->threads[t]);
    }
    ok = ok && module_forest_write(&forest, results, rows);
    module_forest_free(&forest);
    return ok;
}

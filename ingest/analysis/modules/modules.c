#include "ingest/analysis/modules/modules.h"

#include "ingest/base/containers/id_map.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"

#include <stdlib.h>
#include <string.h>

#define MODULE_PREFIX "nn.Module: "

/* Kinds of tuples in forest.shapes. */
enum { SHAPE_LIST = 1, SHAPE_TREE = 2 };

/* One module of the hierarchy. */
struct member {
    uint32_t name; /* in forest.texts */
    int64_t module_id;
    uint32_t parent;    /* UINT32_MAX: none */
    uint32_t first_kid; /* in the order in which they were met */
    uint32_t last_kid;
    uint32_t next_kid; /* sibling */
    uint32_t shape;    /* equal for equal trees */
};

struct forest {
    struct strtab *texts;
    struct member *members;
    size_t member_cap;
    uint32_t count;
    uint32_t first_root, last_root;
    struct key_map shapes;
    enum modules_merge merge;
};

#define NO_MEMBER UINT32_MAX

static bool forest_init(struct forest *forest)
{
    *forest = (struct forest){.first_root = NO_MEMBER, .last_root = NO_MEMBER};
    key_map_init(&forest->shapes);
    forest->texts = strtab_create();
    return forest->texts != NULL;
}

static void forest_free(struct forest *forest)
{
    scratch_free(forest->members);
    key_map_free(&forest->shapes);
    strtab_destroy(forest->texts);
}

/* Without a parent yet; NO_MEMBER without memory. */
static uint32_t forest_add(struct forest *forest, const char *name, size_t len, int64_t module_id)
{
    struct member *members =
        scratch_grow(forest->members, forest->count, &forest->member_cap, sizeof *members);
    uint32_t text = members == NULL ? STRTAB_NONE : strtab_intern(forest->texts, name, len);
    if (members != NULL) {
        forest->members = members;
    }
    if (text == STRTAB_NONE) {
        return NO_MEMBER;
    }
    members[forest->count] = (struct member){.name = text,
                                             .module_id = module_id,
                                             .parent = NO_MEMBER,
                                             .first_kid = NO_MEMBER,
                                             .last_kid = NO_MEMBER,
                                             .next_kid = NO_MEMBER};
    return forest->count++;
}

/* Siblings stand in the order of the members. */
static void forest_link(struct forest *forest)
{
    for (uint32_t i = 0; i < forest->count; i++) {
        uint32_t parent = forest->members[i].parent;
        uint32_t *first =
            parent == NO_MEMBER ? &forest->first_root : &forest->members[parent].first_kid;
        uint32_t *last =
            parent == NO_MEMBER ? &forest->last_root : &forest->members[parent].last_kid;
        if (*last == NO_MEMBER) {
            *first = i;
        } else {
            forest->members[*last].next_kid = i;
        }
        *last = i;
    }
}

/* ---- the hierarchy by Python ids ---- */

struct frames {
    const struct event_classes *sel;
    struct forest *forest;
    struct id_map by_id;     /* value: the last event with the id */
    struct id_map member_of; /* Python id of a module: its member */
    bool *is_parent;         /* by number of the id */
    bool *is_seen;           /* by event: a module that was passed */
    uint32_t *found;         /* by event: see module_at_or_above */
};

/* In frames.found, beside events and ID_MAP_NONE. */
#define FOUND_NOTHING_YET (UINT32_MAX - 1)
#define FOUND_CIRCLE (UINT32_MAX - 2)

static bool is_frame(const struct event_classes *sel, uint32_t event)
{
    return sel->type[event] == TYPE_MODULE || sel->type[event] == TYPE_PYTHON_FUNCTION;
}

/* Python id and Python parent id stand in the columns of correlation and external id. */
static int64_t python_id(const struct frames *f, uint32_t event)
{
    return trace_correlation(&f->sel->trace->events, event);
}

static uint32_t frame_above(const struct frames *f, uint32_t event)
{
    int64_t parent = trace_external_id(&f->sel->trace->events, event);
    const struct id_slot *slot = id_map_find(&f->by_id, parent);
    return slot == NULL ? ID_MAP_NONE : slot->value;
}

static bool read_frames(struct frames *f)
{
    const struct event_classes *sel = f->sel;
    size_t count = (size_t)sel->type_count[TYPE_MODULE] + sel->type_count[TYPE_PYTHON_FUNCTION];
    f->is_parent = scratch_calloc(count * 2, sizeof *f->is_parent);
    f->is_seen = scratch_calloc(sel->trace->events.count, sizeof *f->is_seen);
    f->found = scratch_alloc(sel->trace->events.count, sizeof *f->found);
    bool ok = f->is_parent != NULL && f->is_seen != NULL && f->found != NULL;
    const struct events_in_time host = sel->lists[LIST_HOST];
    for (uint32_t i = 0; ok && i < host.count; i++) {
        uint32_t event = host.items[i];
        if (!is_frame(sel, event)) {
            continue;
        }
        f->found[event] = FOUND_NOTHING_YET;
        struct id_slot *own = id_map_add(&f->by_id, python_id(f, event));
        if (own != NULL) {
            own->value = event;
        }
        const struct id_slot *parent =
            id_map_add(&f->by_id, trace_external_id(&sel->trace->events, event));
        ok = own != NULL && parent != NULL;
        if (ok) {
            f->is_parent[parent->index] = true;
        }
    }
    return ok;
}

/* The member of a module event's id, added when new: name and module id are those of the last event
 * with that id. NO_MEMBER without memory. */
static uint32_t member_of(struct frames *f, uint32_t event)
{
    struct id_slot *slot = id_map_add(&f->member_of, python_id(f, event));
    if (slot == NULL) {
        return NO_MEMBER;
    }
    if (slot->value == ID_MAP_NONE) {
        const struct id_slot *last = id_map_find(&f->by_id, python_id(f, event));
        uint32_t named = last == NULL ? event : last->value;
        const struct names *names = &f->sel->names;
        uint32_t name = f->sel->name[named];
        slot->value = forest_add(f->forest, names_text(names, name), names_len(names, name),
                                 (int64_t)f->sel->trace->events.args[named]);
    }
    return slot->value;
}

/* The module at or above a frame, ID_MAP_NONE when there is none or the parents go in a circle
 * [TB-14a]. Each frame is passed once: what was found is noted at all frames on the way. */
static uint32_t module_at_or_above(struct frames *f, uint32_t start)
{
    uint32_t event = start;
    while (event != ID_MAP_NONE && f->sel->type[event] != TYPE_MODULE &&
           f->found[event] == FOUND_NOTHING_YET) {
        f->found[event] = FOUND_CIRCLE;
        event = frame_above(f, event);
    }
    uint32_t found = event;
    if (event != ID_MAP_NONE && f->sel->type[event] != TYPE_MODULE) {
        found = f->found[event] == FOUND_CIRCLE ? ID_MAP_NONE : f->found[event];
    }
    for (uint32_t at = start; at != event; at = frame_above(f, at)) {
        f->found[at] = found;
    }
    return found;
}

/* From a leaf up: each module's parent is the next module above it [TB-14a]. */
static bool walk_up(struct frames *f, uint32_t leaf)
{
    uint32_t below = NO_MEMBER;
    uint32_t event = module_at_or_above(f, leaf);
    while (event != ID_MAP_NONE) {
        uint32_t member = member_of(f, event);
        if (member == NO_MEMBER) {
            return false;
        }
        if (below != NO_MEMBER) {
            f->forest->members[below].parent = member;
        }
        if (f->is_seen[event]) {
            return true;
        }
        f->is_seen[event] = true;
        below = member;
        uint32_t above = frame_above(f, event);
        event = above == ID_MAP_NONE ? ID_MAP_NONE : module_at_or_above(f, above);
    }
    return true;
}

static bool build_frames(struct frames *f)
{
    const struct event_classes *sel = f->sel;
    bool ok = read_frames(f);
    const struct events_in_time host = sel->lists[LIST_HOST];
    for (uint32_t i = 0; ok && i < host.count; i++) {
        uint32_t event = host.items[i];
        if (!is_frame(sel, event)) {
            continue;
        }
        const struct id_slot *slot = id_map_find(&f->by_id, python_id(f, event));
        if (slot != NULL && !f->is_parent[slot->index]) {
            ok = walk_up(f, event);
        }
    }
    return ok;
}

static bool read_python_modules(struct forest *forest, const struct event_classes *sel)
{
    struct frames f = {.sel = sel, .forest = forest};
    id_map_init(&f.by_id);
    id_map_init(&f.member_of);
    bool ok = sel->type_count[TYPE_MODULE] == 0 || build_frames(&f);
    id_map_free(&f.by_id);
    id_map_free(&f.member_of);
    scratch_free(f.is_parent);
    scratch_free(f.is_seen);
    scratch_free(f.found);
    return ok;
}

/* ---- the hierarchy by Lightning's names ---- */

/* Text id of a name -> member; what stands before its last dot is its parent, if there is such a
 * module [TB-14c]. */
static bool name_parents(struct forest *forest, const struct id_map *by_name)
{
    for (uint32_t i = 0; i < forest->count; i++) {
        const char *name = strtab_text(forest->texts, forest->members[i].name);
        const char *dot = strrchr(name, '.');
        uint32_t text =
            dot == NULL ? STRTAB_NONE : strtab_intern(forest->texts, name, (size_t)(dot - name));
        if (dot == NULL) {
            continue;
        }
        if (text == STRTAB_NONE) {
            return false;
        }
        const struct id_slot *slot = id_map_find(by_name, text);
        forest->members[i].parent = slot == NULL ? NO_MEMBER : slot->value;
    }
    return true;
}

static bool read_lightning_modules(struct forest *forest, const struct event_classes *sel)
{
    struct id_map by_name;
    id_map_init(&by_name);
    bool ok = true;
    const struct events_in_time host = sel->lists[LIST_HOST];
    for (uint32_t i = 0; ok && i < host.count; i++) {
        uint32_t event = host.items[i];
        if (sel->type[event] != TYPE_PL_MODULE) {
            continue;
        }
        const char *name = names_text(&sel->names, sel->name[event]);
        size_t len = names_len(&sel->names, sel->name[event]);
        uint32_t text = strtab_intern(forest->texts, name, len);
        struct id_slot *slot = text == STRTAB_NONE ? NULL : id_map_add(&by_name, text);
        if (slot != NULL && slot->value == ID_MAP_NONE) {
            slot->value = forest_add(forest, name, len, 0);
        }
        ok = slot != NULL && slot->value != NO_MEMBER;
    }
    ok = ok && name_parents(forest, &by_name);
    id_map_free(&by_name);
    return ok;
}

/* ---- equal trees are shown once ---- */

/* Members below the roots, parents before their children. */
static uint32_t *order_members(const struct forest *forest, uint32_t *count)
{
    uint32_t *order = scratch_alloc(forest->count, sizeof *order);
    *count = 0;
    if (order == NULL) {
        return NULL;
    }
    for (uint32_t i = forest->first_root; i != NO_MEMBER; i = forest->members[i].next_kid) {
        order[(*count)++] = i;
    }
    for (uint32_t at = 0; at < *count; at++) {
        const struct member *member = &forest->members[order[at]];
        for (uint32_t i = member->first_kid; i != NO_MEMBER; i = forest->members[i].next_kid) {
            order[(*count)++] = i;
        }
    }
    return order;
}

/* Drops siblings whose tree an earlier one has, unless they are to `stay`; returns the number of
 * the list of those that are left. `seen_by` holds for each shape who saw it last. KEY_MAP_NONE
 * without memory. */
static uint32_t
list_members(struct forest *forest, uint32_t *first, uint32_t *seen_by, uint32_t who, bool stay)
{
    uint32_t list = 0;
    uint32_t *link = first;
    while (*link != NO_MEMBER) {
        struct member *kid = &forest->members[*link];
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

static bool merge_equal(struct forest *forest)
{
    uint32_t count = 0;
    uint32_t *order = order_members(forest, &count);
    /* At most a list and a tree a member. */
    uint32_t *seen_by = scratch_none((size_t)forest->count * 2 + 1);
    bool ok = order != NULL && seen_by != NULL;
    bool stay = forest->merge == MODULES_MERGE_ROOTS;
    for (uint32_t at = count; ok && at-- > 0;) {
        struct member *member = &forest->members[order[at]];
        uint32_t list = list_members(forest, &member->first_kid, seen_by, order[at], stay);
        const struct key shape = {{member->name, (uint32_t)member->module_id, list, SHAPE_TREE}};
        member->shape = list == KEY_MAP_NONE ? KEY_MAP_NONE : key_map_add(&forest->shapes, shape);
        ok = member->shape != KEY_MAP_NONE;
    }
    ok = ok &&
         list_members(forest, &forest->first_root, seen_by, forest->count, false) != KEY_MAP_NONE;
    scratch_free(order);
    scratch_free(seen_by);
    return ok;
}

/* ---- figures ---- */

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

/* The tree and where its rows come from. */
struct calls {
    const struct call_tree *tree;
    const struct call_rows *rows;
};

/* Mirrors of backward modules are not looked into [TB-5.2]. */
static bool add_thread(struct figures *figures,
                       struct strtab *texts,
                       const struct calls *calls,
                       const struct call_thread *thread,
                       uint8_t wanted)
{
    const struct call_rows *rows = calls->rows;
    uint32_t row = thread->first + 1;
    while (row < thread->end) {
        uint8_t class = call_row_class(rows, row);
        if (class == CALL_BACKWARD) {
            row = rows->end[row];
            continue;
        }
        if (class == wanted) {
            const char *name = calls->tree->names[call_row_name(rows, row)];
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
                        const struct calls *calls,
                        bool lightning)
{
    const struct call_tree *tree = calls->tree;
    uint8_t wanted = lightning ? CALL_PL_MODULE : CALL_MODULE;
    for (uint32_t t = 0; t < tree->thread_count; t++) {
        if (t != tree->profile_thread &&
            !add_thread(figures, texts, calls, &tree->threads[t], wanted)) {
            return false;
        }
    }
    return true;
}

/* ---- rows ---- */

struct writing {
    const struct forest *forest;
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
    const struct member *from = &w->forest->members[member];
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
    const struct member *members = w->forest->members;
    int64_t row = (int64_t)w->count;
    uint32_t member = root;
    if (!write_row(w, root, MODULE_NO_PARENT)) {
        return false;
    }
    for (;;) {
        uint32_t next = members[member].first_kid;
        int64_t parent = row;
        while (next == NO_MEMBER) {
            if (member == root) {
                return true;
            }
            next = members[member].next_kid;
            parent = w->rows[row].parent;
            if (next == NO_MEMBER) {
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

static int compare_tops(const void *left, const void *right)
{
    const struct top *a = left;
    const struct top *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

/* The top level stands in order of the shown names [TB-14b]. */
static bool write_rows(struct writing *w)
{
    const struct forest *forest = w->forest;
    struct top *tops = scratch_alloc(forest->count, sizeof *tops);
    uint32_t count = 0;
    bool ok = tops != NULL;
    for (uint32_t i = forest->first_root; ok && i != NO_MEMBER; i = forest->members[i].next_kid) {
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

bool modules_run(struct module_row **out,
                 size_t *count,
                 struct arena *arena,
                 const struct event_classes *sel,
                 const struct call_tree *tree,
                 const struct call_rows *rows,
                 enum modules_merge merge)
{
    const struct calls calls = {tree, rows};
    struct forest forest;
    struct figures figures = {0};
    struct writing w = {.forest = &forest, .figures = &figures, .arena = arena};
    key_map_init(&figures.groups);
    bool ok = forest_init(&forest) && (sel->lightning ? read_lightning_modules(&forest, sel)
                                                      : read_python_modules(&forest, sel));
    if (ok && forest.count > 0) {
        forest_link(&forest);
        forest.merge = merge;
        w.rows = arena_calloc(arena, forest.count, sizeof *w.rows);
        ok = w.rows != NULL && merge_equal(&forest) &&
             add_figures(&figures, forest.texts, &calls, sel->lightning) && write_rows(&w);
    }
    key_map_free(&figures.groups);
    scratch_free(figures.rows);
    forest_free(&forest);
    *out = w.rows;
    *count = w.count;
    return ok;
}

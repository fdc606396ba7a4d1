#include "ingest/tb_plugin/tables/modules.h"

#include "ingest/analysis/modules/modules.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"

#include <string.h>

/* ---- the hierarchy by Python ids ---- */

struct frames {
    const struct event_classes *sel;
    struct module_forest *forest;
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
    return sel->class[event] == INDEX_MODULE || sel->class[event] == INDEX_FUNCTION;
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
    size_t count = (size_t)sel->class_count[INDEX_MODULE] + sel->class_count[INDEX_FUNCTION];
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
 * with that id. MODULE_NONE without memory. */
static uint32_t member_of(struct frames *f, uint32_t event)
{
    struct id_slot *slot = id_map_add(&f->member_of, python_id(f, event));
    if (slot == NULL) {
        return MODULE_NONE;
    }
    if (slot->value == ID_MAP_NONE) {
        const struct id_slot *last = id_map_find(&f->by_id, python_id(f, event));
        uint32_t named = last == NULL ? event : last->value;
        const struct names *names = &f->sel->names;
        uint32_t name = f->sel->name[named];
        slot->value = module_forest_add(f->forest, names_text(names, name), names_len(names, name),
                                        (int64_t)f->sel->trace->events.args[named], MODULE_NONE);
    }
    return slot->value;
}

/* The module at or above a frame, ID_MAP_NONE when there is none or the parents go in a circle
 * [TB-14a]. Each frame is passed once: what was found is noted at all frames on the way. */
static uint32_t module_at_or_above(struct frames *f, uint32_t start)
{
    uint32_t event = start;
    while (event != ID_MAP_NONE && f->sel->class[event] != INDEX_MODULE &&
           f->found[event] == FOUND_NOTHING_YET) {
        f->found[event] = FOUND_CIRCLE;
        event = frame_above(f, event);
    }
    uint32_t found = event;
    if (event != ID_MAP_NONE && f->sel->class[event] != INDEX_MODULE) {
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
    uint32_t below = MODULE_NONE;
    uint32_t event = module_at_or_above(f, leaf);
    while (event != ID_MAP_NONE) {
        uint32_t member = member_of(f, event);
        if (member == MODULE_NONE) {
            return false;
        }
        if (below != MODULE_NONE) {
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

static bool read_python_modules(struct module_forest *forest, const struct event_classes *sel)
{
    struct frames f = {.sel = sel, .forest = forest};
    id_map_init(&f.by_id);
    id_map_init(&f.member_of);
    bool ok = sel->class_count[INDEX_MODULE] == 0 || build_frames(&f);
    id_map_free(&f.by_id);
    id_map_free(&f.member_of);
    SCRATCH_FREE(f.is_parent, f.is_seen, f.found);
    return ok;
}

/* ---- the hierarchy by Lightning's names ---- */

/* Text id of a name -> member; what stands before its last dot is its parent, if there is such a
 * module [TB-14c]. */
static bool name_parents(struct module_forest *forest, const struct id_map *by_name)
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
        forest->members[i].parent = slot == NULL ? MODULE_NONE : slot->value;
    }
    return true;
}

static bool read_lightning_modules(struct module_forest *forest, const struct event_classes *sel)
{
    struct id_map by_name;
    id_map_init(&by_name);
    bool ok = true;
    const struct events_in_time host = sel->lists[LIST_HOST];
    for (uint32_t i = 0; ok && i < host.count; i++) {
        uint32_t event = host.items[i];
        if (sel->class[event] != INDEX_MODULE) {
            continue;
        }
        const char *name = names_text(&sel->names, sel->name[event]);
        size_t len = names_len(&sel->names, sel->name[event]);
        uint32_t text = strtab_intern(forest->texts, name, len);
        struct id_slot *slot = text == STRTAB_NONE ? NULL : id_map_add(&by_name, text);
        if (slot != NULL && slot->value == ID_MAP_NONE) {
            slot->value = module_forest_add(forest, name, len, 0, MODULE_NONE);
        }
        ok = slot != NULL && slot->value != MODULE_NONE;
    }
    ok = ok && name_parents(forest, &by_name);
    id_map_free(&by_name);
    return ok;
}

bool tb_modules_run(struct trace_results *results,
                    const struct event_classes *sel,
                    const struct call_rows *rows)
{
    struct module_forest forest;
    bool ok = module_forest_init(&forest);
    forest.keeps_siblings = true;
    ok = ok &&
         (sel->lightning ? read_lightning_modules(&forest, sel)
                         : read_python_modules(&forest, sel)) &&
         module_forest_write(&forest, results, rows);
    module_forest_free(&forest);
    return ok;
}

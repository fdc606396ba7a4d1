#include "ingest/analysis/collectives/collectives.h"

#include "ingest/analysis/classify/collective_kinds.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"

/* ---- what events say ---- */

struct mark {
    uint32_t event;
    uint32_t collective; /* whose part it is */
};

struct collecting {
    struct collectives *out;
    struct event_classes *sel;
    const struct trace_index *index;
    uint32_t *args_of; /* by event: index into trace.collectives; NULL: there are none */
    struct mark *marks;
    uint32_t mark_count;
    size_t marks_cap;
    uint32_t *around;  /* by event: the collective at whose outermost mark, or inside it, it stands;
                          NULL: there are no marks */
    struct id_map ids; /* external ids of marks: the value is the mark */
};

static bool read_args(struct collecting *c)
{
    const struct trace *trace = c->sel->trace;
    if (trace->collective_count == 0) {
        return true;
    }
    c->args_of = scratch_none(trace->events.count);
    for (uint32_t i = 0; c->args_of != NULL && i < trace->collective_count; i++) {
        const char *name = strtab_text(trace->strings, trace->collectives[i].name);
        if (*name != '\0' && !collective_is_bookkeeping(name)) {
            c->args_of[trace->collectives[i].event] = i;
        }
    }
    return c->args_of != NULL;
}

static uint32_t args_of(const struct collecting *c, uint32_t event)
{
    return c->args_of == NULL ? COLLECTIVE_NOTHING : c->args_of[event];
}

static bool is_named(const struct event_classes *sel, uint32_t event)
{
    enum index_class type = (enum index_class)sel->class[event];
    bool can_be =
        type == INDEX_DEVICE_ANNOTATION || (classify_is_host(type) && type != INDEX_MODULE);
    return can_be && (sel->names.flags[sel->name[event]] & NAME_OUR_COLLECTIVE) != 0;
}

static bool is_host_mark(const struct collecting *c, uint32_t event)
{
    enum index_class type = (enum index_class)c->sel->class[event];
    bool has_args = classify_is_host(type) && args_of(c, event) != COLLECTIVE_NOTHING;
    return type != INDEX_DEVICE_ANNOTATION && (has_args || is_named(c->sel, event));
}

/* An id that is a copy of the correlation is none. */
static int64_t own_id(const struct event_classes *sel, uint32_t event)
{
    int64_t id = trace_external_id(&sel->trace->events, event);
    bool is_copy = index_is_device_work((enum index_class)sel->class[event]) &&
                   id == trace_correlation(&sel->trace->events, event);
    return is_copy ? TRACE_NO_ID : id;
}

/* ---- collectives and their device work ---- */

static bool add_collective(struct collecting *c, uint32_t anchor, uint32_t *collective)
{
    struct collectives *out = c->out;
    struct collective *items = scratch_grow(out->items, out->count, &out->items_cap, sizeof *items);
    if (items == NULL) {
        return false;
    }
    out->items = items;
    *collective = out->count++;
    items[*collective] = (struct collective){.anchor = anchor,
                                             .args = COLLECTIVE_NOTHING,
                                             .named = COLLECTIVE_NOTHING,
                                             .kernel = COLLECTIVE_NOTHING};
    return true;
}

static bool add_work(struct collecting *c, uint32_t collective, uint32_t event)
{
    struct collectives *out = c->out;
    struct collective_work *work =
        scratch_grow(out->work, out->work_count, &out->work_cap, sizeof *work);
    if (work == NULL) {
        return false;
    }
    out->work = work;
    work[out->work_count++] = (struct collective_work){collective, event};
    out->items[collective].device_count++;
    return true;
}

/* ---- marks ---- */

static bool add_mark(struct collecting *c, uint32_t event, uint32_t collective)
{
    struct mark *marks = scratch_grow(c->marks, c->mark_count, &c->marks_cap, sizeof *marks);
    if (marks == NULL) {
        return false;
    }
    c->marks = marks;
    marks[c->mark_count] = (struct mark){event, collective};
    int64_t id = own_id(c->sel, event);
    struct id_slot *slot = id == TRACE_NO_ID ? NULL : id_map_add(&c->ids, id);
    if (slot != NULL) {
        slot->value = c->mark_count;
    }
    c->mark_count++;
    return slot != NULL || id == TRACE_NO_ID;
}

static void tell_collective(struct collecting *c, uint32_t collective, uint32_t event)
{
    struct collective *item = &c->out->items[collective];
    item->args = item->args == COLLECTIVE_NOTHING ? args_of(c, event) : item->args;
    if (item->named == COLLECTIVE_NOTHING && is_named(c->sel, event)) {
        item->named = event;
    }
}

/* A collective for each mark that lies in no other. */
static bool find_marks(struct collecting *c)
{
    const struct trace_index *index = c->index;
    if (c->args_of == NULL && (c->sel->seen_names & NAME_OUR_COLLECTIVE) == 0) {
        return true;
    }
    c->around = scratch_none(index->trace->events.count);
    bool ok = c->around != NULL;
    for (uint32_t i = 0; ok && i < index->count; i++) {
        uint32_t event = index->in_order[i];
        uint32_t parent = index->parent[event];
        uint32_t *collective = &c->around[event];
        *collective = parent == INDEX_NONE ? COLLECTIVE_NOTHING : c->around[parent];
        if (is_host_mark(c, event)) {
            ok = (*collective != COLLECTIVE_NOTHING || add_collective(c, event, collective)) &&
                 add_mark(c, event, *collective);
            if (ok) {
                tell_collective(c, *collective, event);
            }
        }
    }
    return ok;
}

/* ---- device work ---- */

static const struct mark *mark_of_id(const struct collecting *c, uint32_t event)
{
    int64_t id = own_id(c->sel, event);
    const struct id_slot *slot = id == TRACE_NO_ID ? NULL : id_map_find(&c->ids, id);
    return slot == NULL ? NULL : &c->marks[slot->value];
}

static bool is_collective_work(const struct collecting *c, uint32_t event)
{
    struct event_classes *sel = c->sel;
    return sel->class[event] == INDEX_KERNEL &&
           (names_kernel_flags(&sel->names, sel->name[event]) & NAME_COLLECTIVE_KERNEL) != 0;
}

/* By the id of its mark, else by the mark around its launch. */
static bool join_work(struct collecting *c, uint32_t event)
{
    const struct mark *mark = mark_of_id(c, event);
    uint32_t launch = c->index->launch[event];
    uint32_t collective = mark == NULL ? COLLECTIVE_NOTHING : mark->collective;
    if (collective == COLLECTIVE_NOTHING && launch != INDEX_NONE && c->around != NULL) {
        collective = c->around[launch];
    }
    if (collective == COLLECTIVE_NOTHING &&
        !add_collective(c, launch == INDEX_NONE ? event : launch, &collective)) {
        return false;
    }
    struct collective *item = &c->out->items[collective];
    item->kernel = item->kernel == COLLECTIVE_NOTHING ? event : item->kernel;
    item->args = item->args == COLLECTIVE_NOTHING ? args_of(c, event) : item->args;
    return add_work(c, collective, event);
}

static bool find_work(struct collecting *c)
{
    const struct events_in_time work = c->sel->lists[LIST_DEVICE];
    bool ok = true;
    for (uint32_t i = 0; ok && i < work.count; i++) {
        uint32_t event = work.items[i];
        ok = !is_collective_work(c, event) || join_work(c, event);
    }
    return ok;
}

/* Annotations of the device have the id of the host's. */
static bool find_annotations(struct collecting *c)
{
    const struct event_classes *sel = c->sel;
    bool has_kernels = c->out->work_count > 0;
    bool ok = true;
    if ((sel->seen_names & NAME_OUR_COLLECTIVE) == 0) {
        return true;
    }
    const struct events_in_time annotations = sel->lists[LIST_HOST];
    for (uint32_t i = 0; ok && i < annotations.count; i++) {
        uint32_t event = annotations.items[i];
        if (sel->class[event] != INDEX_DEVICE_ANNOTATION || !is_named(sel, event)) {
            continue;
        }
        const struct mark *mark = mark_of_id(c, event);
        uint32_t collective = mark == NULL ? COLLECTIVE_NOTHING : mark->collective;
        bool is_new = collective == COLLECTIVE_NOTHING && !has_kernels;
        if (is_new) {
            ok = add_collective(c, event, &collective);
        }
        bool has_mark = ok && collective != COLLECTIVE_NOTHING;
        if (has_mark && c->out->items[collective].kernel == COLLECTIVE_NOTHING) {
            struct collective *item = &c->out->items[collective];
            item->named = item->named == COLLECTIVE_NOTHING ? event : item->named;
            ok = add_work(c, collective, event);
        }
    }
    return ok;
}

bool collectives_collect(struct collectives *out,
                         struct event_classes *sel,
                         const struct trace_index *index)
{
    struct collecting c = {.out = out, .sel = sel, .index = index};
    *out = (struct collectives){0};
    id_map_init(&c.ids);
    bool ok = read_args(&c) && find_marks(&c) && find_work(&c) && find_annotations(&c);
    id_map_free(&c.ids);
    SCRATCH_FREE(c.args_of, c.marks, c.around);
    return ok;
}

void collectives_free(struct collectives *out)
{
    SCRATCH_FREE(out->items, out->work);
    *out = (struct collectives){0};
}

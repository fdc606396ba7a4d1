#include "ingest/analysis/relations/op_tree.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"

uint8_t op_class_of(const struct event_classes *sel, uint32_t event)
{
    enum index_class type = (enum index_class)sel->class[event];
    uint32_t name_flags = sel->names.flags[sel->name[event]];
    switch (type) {
    case INDEX_STEP:
        return OP_STEP;
    case INDEX_MODULE:
        return sel->lightning ? OP_PL_MODULE : OP_MODULE;
    case INDEX_OPERATOR:
    case INDEX_PYTHON:
    case INDEX_ANNOTATION:
        break;
    default:
        return OP_NO_CLASS;
    }
    if (name_flags & NAME_LOADER) {
        return OP_LOADER;
    }
    if (name_flags & NAME_OPTIMIZER) {
        return OP_OPTIMIZER;
    }
    bool has_node = type != INDEX_ANNOTATION || (name_flags & NAME_COLLECTIVE) != 0;
    return has_node ? OP_PLAIN : OP_NO_CLASS;
}

bool op_is_real(const struct event_classes *sel, uint32_t event, uint8_t class)
{
    uint32_t name_flags = sel->names.flags[sel->name[event]];
    return class == OP_PLAIN && sel->class[event] == INDEX_OPERATOR &&
           (name_flags & NAME_NOT_REAL) == 0;
}

/* A tree being filled. */
struct filling {
    struct op_tree *tree;
    const struct trace_index *index;
    uint32_t node_count;
    uint32_t *around;   /* by event: the node that it is, else the innermost one around it */
    int64_t *covered;   /* by node: until when calls and nodes inside it took its time */
    uint32_t *order;    /* threads of the index in order of their first event */
    uint32_t *number;   /* by thread of the index: that of the tree, OP_NO_THREAD */
    size_t thread_room; /* of tree->threads */
};

static bool make_room(struct filling *f)
{
    const struct trace_index *index = f->index;
    size_t nodes = 0;
    for (int type = INDEX_OTHER; type < INDEX_CLASS_COUNT; type++) {
        nodes += classify_is_host((enum index_class)type) ? f->tree->sel->class_count[type] : 0;
    }
    f->tree->nodes = scratch_alloc(nodes + 1, sizeof *f->tree->nodes);
    f->tree->host_self = scratch_alloc(nodes, sizeof *f->tree->host_self);
    f->covered = scratch_alloc(nodes, sizeof *f->covered);
    f->around = scratch_none(index->trace->events.count);
    f->order = scratch_alloc(index->thread_count, sizeof *f->order);
    f->number = scratch_none(index->thread_count);
    return f->tree->nodes != NULL && f->tree->host_self != NULL && f->covered != NULL &&
           f->around != NULL && f->order != NULL && f->number != NULL;
}

static bool order_threads(struct filling *f)
{
    const struct trace_index *index = f->index;
    int64_t *start_ns = scratch_calloc(index->thread_count, sizeof *start_ns);
    for (uint32_t t = 0; start_ns != NULL && t < index->thread_count; t++) {
        struct index_range events = index->threads[t].events;
        f->order[t] = t;
        if (events.first < events.end) {
            start_ns[t] = index->trace->events.ts_ns[index->in_order[events.first]];
        }
    }
    bool ok = start_ns != NULL && sort_by_key(f->order, index->thread_count, start_ns);
    scratch_free(start_ns);
    return ok;
}

/* ---- nodes and their host time ---- */

static void add_node(struct filling *f, uint32_t event, uint32_t parent, uint8_t class)
{
    const struct op_tree *tree = f->tree;
    uint32_t node = f->node_count++;
    tree->nodes[node] =
        (struct op_node){.event = event,
                         .parent = parent,
                         .end = node + 1,
                         .class = class,
                         .type = tree->sel->class[event],
                         .flags = op_is_real(tree->sel, event, class) ? OP_REAL : 0};
    tree->host_self[node] = op_node_duration(tree, node);
    f->covered[node] = op_node_start_ns(tree, node);
    f->around[event] = node;
}

/* The part of an event that nothing before it covers is not its parent's own. */
static void take_host_time(struct filling *f, uint32_t parent, uint32_t event)
{
    const struct trace_events *events = &f->index->trace->events;
    int64_t end_ns = saturating_add(events->ts_ns[event], trace_dur_ns(events, event));
    int64_t from_ns = i64_max(f->covered[parent], events->ts_ns[event]);
    if (end_ns > from_ns) {
        f->tree->host_self[parent] =
            saturating_sub(f->tree->host_self[parent], saturating_sub(end_ns, from_ns));
        f->covered[parent] = end_ns;
    }
}

static void see_event(struct filling *f, uint32_t event)
{
    const struct trace_index *index = f->index;
    enum index_class seen = index_class(index, event);
    uint32_t parent =
        index->parent[event] == INDEX_NONE ? OP_NO_NODE : f->around[index->parent[event]];
    uint8_t class = op_class_of(f->tree->sel, event);
    bool is_node = class != OP_NO_CLASS;
    if (parent != OP_NO_NODE && (is_node || index_is_call(seen))) {
        take_host_time(f, parent, event);
    }
    f->around[event] = parent;
    if (is_node) {
        add_node(f, event, parent, class);
    }
}

static void close_nodes(const struct op_tree *tree, const struct op_thread *thread)
{
    for (uint32_t i = thread->end; i-- > thread->first;) {
        const struct op_node *node = &tree->nodes[i];
        if (node->parent != OP_NO_NODE && tree->nodes[node->parent].end < node->end) {
            tree->nodes[node->parent].end = node->end;
        }
    }
}

static void bound_thread(const struct op_tree *tree, struct op_thread *thread)
{
    thread->start = op_node_start_ns(tree, thread->first);
    thread->end_time = thread->start;
    for (uint32_t i = thread->first; i < thread->end; i = tree->nodes[i].end) {
        thread->end_time = i64_max(thread->end_time, op_node_end_key(tree, i));
    }
    thread->start_key = thread->start;
    thread->end_key = thread->end_time;
}

static bool add_thread(struct filling *f, uint32_t t)
{
    struct op_tree *tree = f->tree;
    const struct trace *trace = f->index->trace;
    struct index_range events = f->index->threads[t].events;
    uint32_t first = f->node_count;
    for (uint32_t i = events.first; i < events.end; i++) {
        see_event(f, f->index->in_order[i]);
    }
    if (f->node_count == first) {
        return true;
    }
    struct op_thread *threads =
        scratch_grow(tree->threads, tree->thread_count, &f->thread_room, sizeof *threads);
    if (threads == NULL) {
        return false;
    }
    tree->threads = threads;
    const struct trace_track *track =
        &trace->tracks[trace_event_track(&trace->events, tree->nodes[first].event)];
    struct op_thread *thread = &threads[tree->thread_count];
    *thread = (struct op_thread){
        .tid = track->tid_int_valid ? track->tid_int : 0, .first = first, .end = f->node_count};
    close_nodes(tree, thread);
    bound_thread(tree, thread);
    f->number[t] = tree->thread_count++;
    return true;
}

static bool number_tracks(struct filling *f)
{
    uint32_t count = f->index->trace->track_count;
    f->tree->track_thread = scratch_alloc(count, sizeof *f->tree->track_thread);
    for (uint32_t i = 0; f->tree->track_thread != NULL && i < count; i++) {
        f->tree->track_thread[i] = f->number[f->index->track_thread[i]];
    }
    return f->tree->track_thread != NULL;
}

/* ---- device time ---- */

/* Whose device work is: its operator's. Where there is none, that of what its call lies in. */
static uint32_t owner_of(const struct filling *f, uint32_t work)
{
    uint32_t event = f->index->op[work] != INDEX_NONE ? f->index->op[work] : f->index->launch[work];
    return event == INDEX_NONE ? OP_NO_NODE : f->around[event];
}

static uint32_t rank_nodes(const struct filling *f)
{
    struct op_node *nodes = f->tree->nodes;
    for (uint32_t i = 0; i < f->index->device_count; i++) {
        uint32_t owner = owner_of(f, f->index->device_work[i]);
        if (owner != OP_NO_NODE) {
            nodes[owner].flags |= OP_LAUNCHES;
        }
    }
    uint32_t rank = 0;
    for (uint32_t i = 0; i < f->node_count; i++) {
        nodes[i].rank = rank;
        rank += (nodes[i].flags & OP_LAUNCHES) != 0;
    }
    nodes[f->node_count].rank = rank;
    return rank;
}

static bool sum_device_work(const struct filling *f)
{
    struct op_tree *tree = f->tree;
    uint32_t launching = rank_nodes(f);
    tree->sums = scratch_calloc((size_t)launching + 1, sizeof *tree->sums);
    if (tree->sums == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < f->index->device_count; i++) {
        uint32_t work = f->index->device_work[i];
        uint32_t owner = owner_of(f, work);
        if (owner != OP_NO_NODE) {
            int64_t *device = &tree->sums[tree->nodes[owner].rank + 1];
            *device = saturating_add(*device, trace_dur_ns(&f->index->trace->events, work));
        }
    }
    for (uint32_t i = 0; i < launching; i++) {
        tree->sums[i + 1] = saturating_add(tree->sums[i + 1], tree->sums[i]);
    }
    return true;
}

bool op_tree_from_index(struct op_tree *tree,
                        struct event_classes *sel,
                        const struct trace_index *index)
{
    *tree = (struct op_tree){.sel = sel};
    struct filling f = {.tree = tree, .index = index};
    bool ok = make_room(&f) && order_threads(&f);
    for (uint32_t t = 0; ok && t < index->thread_count; t++) {
        ok = add_thread(&f, f.order[t]);
    }
    ok = ok && number_tracks(&f) && sum_device_work(&f);
    SCRATCH_FREE(f.around, f.covered, f.order, f.number);
    return ok;
}

void op_tree_free(struct op_tree *tree)
{
    SCRATCH_FREE(tree->nodes, tree->threads, tree->track_thread, tree->sums, tree->host_self);
    *tree = (struct op_tree){0};
}

#include "ingest/analysis/relations/op_tree.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"

uint8_t op_class_of(const struct event_classes *sel, uint32_t event)
{
    enum event_type type = (enum event_type)sel->type[event];
    uint32_t name_flags = sel->names.flags[sel->name[event]];
    switch (type) {
    case TYPE_PROFILER_STEP:
        return OP_STEP;
    case TYPE_MODULE:
        return OP_MODULE;
    case TYPE_PL_MODULE:
        return OP_PL_MODULE;
    case TYPE_OPERATOR:
    case TYPE_PYTHON:
    case TYPE_USER_ANNOTATION:
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
    bool has_node = type != TYPE_USER_ANNOTATION || (name_flags & NAME_COLLECTIVE) != 0;
    return has_node ? OP_PLAIN : OP_NO_CLASS;
}

/* Who may use Tensor Cores by name, whatever the type [TB-5.5]. Modules of Lightning are named by
 * the user. */
uint16_t op_flags_of(const struct event_classes *sel, uint32_t event, uint8_t class)
{
    const uint32_t eligible = NAME_TC_OPERATOR | NAME_TENSOR_OPERATOR;
    uint32_t name_flags = sel->names.flags[sel->name[event]];
    name_flags &= class == OP_PL_MODULE ? ~eligible : UINT32_MAX;
    bool is_real =
        class == OP_PLAIN && sel->type[event] == TYPE_OPERATOR && (name_flags & NAME_NOT_REAL) == 0;
    return (uint16_t)((is_real ? OP_REAL : 0) |
                      ((name_flags & NAME_TC_OPERATOR) != 0 ? OP_TC | OP_TC_NAME : 0) |
                      ((name_flags & NAME_TENSOR_OPERATOR) != 0 ? OP_TENSOR | OP_TENSOR_NAME : 0));
}

/* The thread of an event; threads are numbered by their first node. OP_NO_THREAD without memory or
 * when the thread id is no number, which *has_tid tells apart. */
static uint32_t thread_of(struct op_tree *tree, struct id_map *tids, uint32_t event, bool *has_tid)
{
    const struct trace *trace = tree->sel->trace;
    uint32_t track_id = trace_event_track(&trace->events, event);
    const struct trace_track *track = &trace->tracks[track_id];
    *has_tid = track->tid_int_valid;
    if (!*has_tid || tree->track_thread[track_id] != OP_NO_THREAD) {
        return tree->track_thread[track_id];
    }
    const struct id_slot *slot = id_map_add(tids, track->tid_int);
    tree->track_thread[track_id] = slot == NULL ? OP_NO_THREAD : slot->index;
    return tree->track_thread[track_id];
}

static bool add_to_thread(struct op_tree *tree, uint32_t thread, uint32_t event, size_t *thread_cap)
{
    const struct trace *trace = tree->sel->trace;
    if (thread == tree->thread_count) {
        struct op_thread *threads =
            scratch_grow(tree->threads, tree->thread_count, thread_cap, sizeof *threads);
        if (threads == NULL) {
            return false;
        }
        tree->threads = threads;
        threads[tree->thread_count++] = (struct op_thread){
            .tid = trace->tracks[trace_event_track(&trace->events, event)].tid_int};
    }
    tree->threads[thread].end++; /* a count until the nodes have their places */
    if ((tree->sel->names.flags[tree->sel->name[event]] & NAME_STEP) != 0) {
        tree->threads[thread].has_step_name = true;
    }
    return true;
}

/* An event that becomes a node. */
struct found_node {
    uint32_t event;
    uint8_t class;
    uint8_t type;
    uint16_t flags;
};

/* In order of time. */
struct found_nodes {
    struct found_node *items;
    uint32_t count;
};

/* Events on threads that have no number are left out. */
static bool find_nodes(struct op_tree *tree, struct found_nodes *found, struct warnings *warnings)
{
    const struct event_classes *sel = tree->sel;
    const struct events_in_time host = sel->lists[LIST_HOST];
    struct id_map tids;
    id_map_init(&tids);
    size_t thread_cap = 0;
    found->items = scratch_alloc(host.count, sizeof *found->items);
    bool ok = found->items != NULL;
    for (uint32_t i = 0; ok && i < host.count; i++) {
        uint32_t event = host.items[i];
        uint8_t class = op_class_of(sel, event);
        bool has_tid = false;
        if (class == OP_NO_CLASS) {
            continue;
        }
        uint32_t thread = thread_of(tree, &tids, event, &has_tid);
        if (!has_tid) {
            warning_add(warnings, WARN_BAD_TID, WARNING_NO_OFFSET);
            continue;
        }
        found->items[found->count++] =
            (struct found_node){event, class, sel->type[event], op_flags_of(sel, event, class)};
        ok = thread != OP_NO_THREAD && add_to_thread(tree, thread, event, &thread_cap);
    }
    id_map_free(&tids);
    return ok;
}

static bool place_nodes(struct op_tree *tree, const struct found_nodes *found)
{
    const struct trace_events *events = &tree->sel->trace->events;
    uint32_t total = 0;
    for (uint32_t t = 0; t < tree->thread_count; t++) {
        uint32_t count = tree->threads[t].end;
        tree->threads[t].first = total;
        tree->threads[t].end = total;
        total += count;
    }
    tree->nodes = scratch_alloc((size_t)total + 1, sizeof *tree->nodes);
    for (uint32_t i = 0; tree->nodes != NULL && i < found->count; i++) {
        const struct found_node *node = &found->items[i];
        uint32_t thread = tree->track_thread[trace_event_track(events, node->event)];
        tree->nodes[tree->threads[thread].end++] = (struct op_node){.event = node->event,
                                                                    .parent = OP_NO_NODE,
                                                                    .runtimes = RUNTIME_LIST_NONE,
                                                                    .class = node->class,
                                                                    .type = node->type,
                                                                    .flags = node->flags};
    }
    return tree->nodes != NULL;
}

static bool make_nodes(struct op_tree *tree, struct warnings *warnings)
{
    struct found_nodes found = {.count = 0};
    bool ok = find_nodes(tree, &found, warnings) && place_nodes(tree, &found);
    scratch_free(found.items);
    return ok;
}

/* The thread whose root owns a runtime of external id 0: only a tid that is an integer in the file
 * finds one [TB-4b]. */
static uint32_t zero_thread(const struct op_tree *tree, uint32_t runtime)
{
    const struct trace *trace = tree->sel->trace;
    uint32_t track = trace_event_track(&trace->events, tree->links->runtime_event[runtime]);
    return trace->tracks[track].tid_is_int ? tree->track_thread[track] : OP_NO_THREAD;
}

/* Runtimes on tracks without a node of their own still find the thread of their number. */
static bool complete_track_threads(struct op_tree *tree)
{
    const struct trace *trace = tree->sel->trace;
    struct id_map tids;
    id_map_init(&tids);
    bool ok = true;
    for (uint32_t t = 0; ok && t < tree->thread_count; t++) {
        ok = id_map_add(&tids, tree->threads[t].tid) != NULL;
    }
    for (uint32_t i = 0; ok && i < trace->track_count; i++) {
        const struct id_slot *slot =
            trace->tracks[i].tid_int_valid ? id_map_find(&tids, trace->tracks[i].tid_int) : NULL;
        tree->track_thread[i] = slot == NULL ? OP_NO_THREAD : slot->index;
    }
    id_map_free(&tids);
    return ok;
}

static bool give_zero_runtimes(struct op_tree *tree)
{
    const struct runtime_lists *lists = &tree->lists;
    tree->zero_first = scratch_calloc((size_t)tree->thread_count + 1, sizeof *tree->zero_first);
    uint32_t begin = lists->zero_list == RUNTIME_LIST_NONE ? 0 : lists->first[lists->zero_list];
    uint32_t end = lists->zero_list == RUNTIME_LIST_NONE ? 0 : lists->first[lists->zero_list + 1];
    tree->zero = scratch_alloc(end - begin, sizeof *tree->zero);
    uint32_t *next = scratch_alloc(tree->thread_count, sizeof *next);
    if (tree->zero_first == NULL || tree->zero == NULL || next == NULL) {
        scratch_free(next);
        return false;
    }
    for (uint32_t i = begin; i < end; i++) {
        uint32_t thread = zero_thread(tree, lists->runtimes[i]);
        if (thread != OP_NO_THREAD) {
            tree->zero_first[thread + 1]++;
        }
    }
    for (uint32_t t = 0; t < tree->thread_count; t++) {
        tree->zero_first[t + 1] += tree->zero_first[t];
        next[t] = tree->zero_first[t];
    }
    for (uint32_t i = begin; i < end; i++) {
        uint32_t thread = zero_thread(tree, lists->runtimes[i]);
        if (thread != OP_NO_THREAD) {
            tree->zero[next[thread]++] = lists->runtimes[i];
        }
    }
    scratch_free(next);
    return true;
}

bool op_tree_zero_owner_is_last(const struct op_tree *tree, uint32_t runtime)
{
    if (tree->zero_owner == OP_NO_NODE) {
        return false;
    }
    uint32_t thread = zero_thread(tree, runtime);
    return thread == OP_NO_THREAD || thread < tree->zero_owner_thread;
}

bool op_threads_fill(struct op_tree *tree, struct warnings *warnings)
{
    tree->track_thread = scratch_none(tree->sel->trace->track_count);
    return tree->track_thread != NULL && make_nodes(tree, warnings);
}

bool op_threads_give_zero(struct op_tree *tree)
{
    return complete_track_threads(tree) && give_zero_runtimes(tree);
}

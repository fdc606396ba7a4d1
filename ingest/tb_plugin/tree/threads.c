#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/tb_plugin/tree/tree.h"

/* Who may use Tensor Cores by name, whatever the type [TB-5.5]. Modules of Lightning are named by
 * the user. */
static uint16_t flags_of(const struct event_classes *sel, uint32_t event, uint8_t class)
{
    uint32_t name_flags = class == OP_PL_MODULE ? 0 : sel->names.flags[sel->name[event]];
    return (uint16_t)((op_is_real(sel, event, class) ? OP_REAL : 0) |
                      ((name_flags & NAME_TENSOR_OPERATOR) != 0 ? TB_TENSOR | TB_TENSOR_NAME : 0));
}

/* The thread of an event; threads are numbered by their first node. OP_NO_THREAD without memory or
 * when the thread id is no number, which *has_tid tells apart. */
static uint32_t thread_of(struct tb_tree *tree, struct id_map *tids, uint32_t event, bool *has_tid)
{
    const struct trace *trace = tree->ops.sel->trace;
    uint32_t track_id = trace_event_track(&trace->events, event);
    const struct trace_track *track = &trace->tracks[track_id];
    *has_tid = track->tid_int_valid;
    if (!*has_tid || tree->ops.track_thread[track_id] != OP_NO_THREAD) {
        return tree->ops.track_thread[track_id];
    }
    const struct id_slot *slot = id_map_add(tids, track->tid_int);
    tree->ops.track_thread[track_id] = slot == NULL ? OP_NO_THREAD : slot->index;
    return tree->ops.track_thread[track_id];
}

static bool add_to_thread(struct tb_tree *tree, uint32_t thread, uint32_t event, size_t *thread_cap)
{
    const struct trace *trace = tree->ops.sel->trace;
    if (thread == tree->ops.thread_count) {
        struct op_thread *threads =
            scratch_grow(tree->ops.threads, tree->ops.thread_count, thread_cap, sizeof *threads);
        if (threads == NULL) {
            return false;
        }
        tree->ops.threads = threads;
        threads[tree->ops.thread_count++] = (struct op_thread){
            .tid = trace->tracks[trace_event_track(&trace->events, event)].tid_int};
    }
    tree->ops.threads[thread].end++; /* a count until the nodes have their places */
    if ((tree->ops.sel->names.flags[tree->ops.sel->name[event]] & NAME_STEP) != 0) {
        tree->has_step_name[thread] = true;
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
static bool find_nodes(struct tb_tree *tree, struct found_nodes *found, struct warnings *warnings)
{
    const struct event_classes *sel = tree->ops.sel;
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
            (struct found_node){event, class, sel->class[event], flags_of(sel, event, class)};
        ok = thread != OP_NO_THREAD && add_to_thread(tree, thread, event, &thread_cap);
    }
    id_map_free(&tids);
    return ok;
}

static bool place_nodes(struct tb_tree *tree, const struct found_nodes *found)
{
    const struct trace_events *events = &tree->ops.sel->trace->events;
    uint32_t total = 0;
    for (uint32_t t = 0; t < tree->ops.thread_count; t++) {
        uint32_t count = tree->ops.threads[t].end;
        tree->ops.threads[t].first = total;
        tree->ops.threads[t].end = total;
        total += count;
    }
    tree->ops.nodes = scratch_alloc((size_t)total + 1, sizeof *tree->ops.nodes);
    for (uint32_t i = 0; tree->ops.nodes != NULL && i < found->count; i++) {
        const struct found_node *node = &found->items[i];
        uint32_t thread = tree->ops.track_thread[trace_event_track(events, node->event)];
        tree->ops.nodes[tree->ops.threads[thread].end++] = (struct op_node){.event = node->event,
                                                                            .parent = OP_NO_NODE,
                                                                            .class = node->class,
                                                                            .type = node->type,
                                                                            .flags = node->flags};
    }
    return tree->ops.nodes != NULL;
}

static bool make_nodes(struct tb_tree *tree, struct warnings *warnings)
{
    struct found_nodes found = {.count = 0};
    bool ok = find_nodes(tree, &found, warnings) && place_nodes(tree, &found);
    scratch_free(found.items);
    return ok;
}

/* The thread whose root owns a runtime of external id 0: only a tid that is an integer in the file
 * finds one [TB-4b]. */
static uint32_t zero_thread(const struct tb_tree *tree, uint32_t runtime)
{
    const struct trace *trace = tree->ops.sel->trace;
    uint32_t track = trace_event_track(&trace->events, tree->links->runtime_event[runtime]);
    return trace->tracks[track].tid_is_int ? tree->ops.track_thread[track] : OP_NO_THREAD;
}

/* Runtimes on tracks without a node of their own still find the thread of their number. */
static bool complete_track_threads(struct tb_tree *tree)
{
    const struct trace *trace = tree->ops.sel->trace;
    struct id_map tids;
    id_map_init(&tids);
    bool ok = true;
    for (uint32_t t = 0; ok && t < tree->ops.thread_count; t++) {
        ok = id_map_add(&tids, tree->ops.threads[t].tid) != NULL;
    }
    for (uint32_t i = 0; ok && i < trace->track_count; i++) {
        const struct id_slot *slot =
            trace->tracks[i].tid_int_valid ? id_map_find(&tids, trace->tracks[i].tid_int) : NULL;
        tree->ops.track_thread[i] = slot == NULL ? OP_NO_THREAD : slot->index;
    }
    id_map_free(&tids);
    return ok;
}

static bool give_zero_runtimes(struct tb_tree *tree)
{
    const struct runtime_lists *lists = &tree->lists;
    tree->zero_first = scratch_calloc((size_t)tree->ops.thread_count + 1, sizeof *tree->zero_first);
    uint32_t begin = lists->zero_list == RUNTIME_LIST_NONE ? 0 : lists->first[lists->zero_list];
    uint32_t end = lists->zero_list == RUNTIME_LIST_NONE ? 0 : lists->first[lists->zero_list + 1];
    tree->zero = scratch_alloc(end - begin, sizeof *tree->zero);
    uint32_t *next = scratch_alloc(tree->ops.thread_count, sizeof *next);
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
    for (uint32_t t = 0; t < tree->ops.thread_count; t++) {
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

bool tb_tree_zero_owner_is_last(const struct tb_tree *tree, uint32_t runtime)
{
    if (tree->zero_owner == OP_NO_NODE) {
        return false;
    }
    uint32_t thread = zero_thread(tree, runtime);
    return thread == OP_NO_THREAD || thread < tree->zero_owner_thread;
}

bool tb_tree_threads_fill(struct tb_tree *tree, struct warnings *warnings)
{
    uint32_t tracks = tree->ops.sel->trace->track_count;
    tree->ops.track_thread = scratch_none(tracks);
    tree->has_step_name = scratch_calloc(tracks, sizeof *tree->has_step_name);
    return tree->ops.track_thread != NULL && tree->has_step_name != NULL &&
           make_nodes(tree, warnings);
}

bool tb_tree_threads_give_zero(struct tb_tree *tree)
{
    return complete_track_threads(tree) && give_zero_runtimes(tree);
}

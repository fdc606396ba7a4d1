#include "ingest/analysis/call_tree.h"

#include "ingest/analysis/call_tree_write.h"
#include "ingest/analysis/fwdbwd.h"
#include "ingest/analysis/scratch.h"
#include "ingest/analysis/times.h"
#include "ingest/analysis/tree_walk.h"

#include <string.h>

#define MIRROR_SUFFIX ".backward"

struct tree_writing {
    struct call_writing writing;
    const struct op_tree *tree;
    const struct backward *backward;
    uint32_t *row_of; /* by node of the operator tree; CALL_NONE: it left. Of one that hangs below
                         several mirrors the last */
    uint32_t *row_of_mirror;
    uint32_t node_count;
    struct tree_walk walk;
};

/* ---- nodes ---- */

static uint8_t class_of(const struct op_node *node)
{
    static const uint8_t classes[] = {
        [OP_PLAIN] = CALL_PLAIN, [OP_LOADER] = CALL_LOADER, [OP_OPTIMIZER] = CALL_OPTIMIZER,
        [OP_STEP] = CALL_STEP,   [OP_MODULE] = CALL_MODULE, [OP_PL_MODULE] = CALL_PL_MODULE,
    };
    return classes[node->class];
}

static bool enter_node(void *context, uint32_t node)
{
    struct tree_writing *w = context;
    const struct op_node *from = &w->tree->nodes[node];
    uint32_t row = w->writing.next;
    if (!call_write_event(&w->writing, from->event, class_of(from))) {
        return false;
    }
    if (w->writing.counts_only) {
        return true;
    }
    struct call_tree *out = w->writing.out;
    w->row_of[node] = row;
    out->flags[row] |= (from->flags & OP_REAL) != 0 ? CALL_IS_REAL : 0;
    out->host_self[row] = op_node_host_self(w->tree, node);
    out->device_total[row] = op_node_total(w->tree, node).device;
    out->device_self[row] = op_node_self(w->tree, node).device;
    if (from->class == OP_MODULE) {
        out->module_id[row] = (int64_t)w->tree->sel->trace->events.args[from->event];
    } else if (from->class == OP_PL_MODULE) {
        out->module_id[row] = 0;
    }
    return true;
}

static bool leave_node(void *context, uint32_t node)
{
    struct tree_writing *w = context;
    if (!w->writing.counts_only) {
        w->writing.out->end[w->row_of[node]] = w->writing.next;
    }
    return true;
}

/* Modules count the work of their direct operators as their own (section 5). */
static void add_operators_to_modules(struct call_tree *out)
{
    for (uint32_t row = 0; row < out->node_count; row++) {
        bool is_module = out->class[row] == CALL_MODULE || out->class[row] == CALL_PL_MODULE;
        uint32_t child = row + 1;
        for (; is_module && child < out->end[row]; child = out->end[child]) {
            if ((out->flags[child] & CALL_IS_REAL) != 0) {
                out->device_self[row] = ns_add(out->device_self[row], out->device_total[child]);
            }
        }
    }
}

/* ---- mirrors ---- */

static bool write_mirror_name(struct tree_writing *w, uint32_t row, uint32_t module)
{
    const struct names *names = &w->tree->sel->names;
    uint32_t id = op_node_name(w->tree, module);
    size_t len = names_len(names, id);
    size_t suffix_len = sizeof MIRROR_SUFFIX - 1;
    char *name = scratch_alloc(len + suffix_len, 1);
    if (name == NULL) {
        return false;
    }
    memcpy(name, names_text(names, id), len);
    memcpy(name + len, MIRROR_SUFFIX, suffix_len);
    bool ok = call_write_text(&w->writing, name, len + suffix_len, &w->writing.out->name[row]);
    scratch_free(name);
    return ok;
}

static bool enter_mirror(void *context, uint32_t mirror)
{
    struct tree_writing *w = context;
    uint32_t row = w->writing.next;
    uint32_t module = w->backward->mirrors[mirror].module;
    w->row_of_mirror[mirror] = row;
    if (!call_write_event(&w->writing, w->tree->nodes[module].event, CALL_BACKWARD)) {
        return false;
    }
    if (w->writing.counts_only) {
        return true;
    }
    w->writing.out->type[row] = CALL_TYPE_BACKWARD;
    return write_mirror_name(w, row, module);
}

/* Times, thread and figures of a mirror are those of its children. */
static bool leave_mirror(void *context, uint32_t mirror)
{
    struct tree_writing *w = context;
    uint32_t row = w->row_of_mirror[mirror];
    struct call_tree *out = w->writing.out;
    struct call_tree_keys *keys = &w->writing.keys;
    uint32_t end = w->writing.next;
    if (w->writing.counts_only) {
        return true;
    }
    out->end[row] = end;
    if (end == row + 1) {
        return true;
    }
    out->start[row] = out->start[row + 1];
    if (keys->start != NULL) {
        keys->start[row] = keys->start[row + 1];
    }
    out->tid[row] = out->tid[row + 1];
    out->flags[row] = (uint8_t)(out->flags[row + 1] & CALL_TID_IS_TEXT);
    int64_t children = 0;
    for (uint32_t child = row + 1; child < end; child = out->end[child]) {
        out->stop[row] = out->stop[child];
        if (keys->stop != NULL) {
            keys->stop[row] = keys->stop[child];
        }
        out->device_total[row] = ns_add(out->device_total[row], out->device_total[child]);
        children = ns_add(children, ns_sub(out->stop[child], out->start[child]));
    }
    out->host_self[row] = ns_sub(ns_sub(out->stop[row], out->start[row]), children);
    return true;
}

/* ---- threads ---- */

/* Bounds of the root are those of the thread before the mirrors came (section 21). */
static bool write_thread(struct tree_writing *w, uint32_t t)
{
    const struct op_thread *thread = &w->tree->threads[t];
    struct call_writing *writing = &w->writing;
    uint32_t root = writing->next;
    if (!tree_walk_has_thread(&w->walk, t)) {
        return true;
    }
    if (!call_write_root(writing, thread->tid) || !tree_walk_thread(&w->walk, t)) {
        return false;
    }
    call_write_thread(writing, thread->tid, root);
    if (!writing->counts_only) {
        writing->out->start[root] = times_position(writing->sel, thread->start);
        writing->out->stop[root] = times_position(writing->sel, thread->end_time);
        call_write_keys(writing, root, thread->start_key, thread->end_key);
    }
    return true;
}

static void label_threads(struct tree_writing *w)
{
    const struct trace *trace = w->tree->sel->trace;
    struct call_tree *out = w->writing.out;
    for (uint32_t i = 0; i < trace->label_count; i++) {
        const struct trace_label *label = &trace->labels[i];
        const struct trace_track *track = &trace->tracks[label->track];
        if (strcmp(strtab_text(trace->strings, label->kind_name), "thread_name") != 0) {
            continue;
        }
        for (uint32_t t = 0; t < out->thread_count; t++) {
            if (track->tid_int_valid && track->tid_int == out->threads[t].tid) {
                out->threads[t].label =
                    arena_strndup(w->writing.arena, strtab_text(trace->strings, label->label),
                                  strtab_len(trace->strings, label->label));
            }
        }
    }
}

/* ---- forward and backward ---- */

/* Rows of real operators by the time at which they begin; of several the outermost. */
static bool map_starts(const struct tree_writing *w, struct id_map *by_start)
{
    for (uint32_t node = 0; node < w->node_count; node++) {
        uint32_t row = w->row_of[node];
        if (row == CALL_NONE || (w->tree->nodes[node].flags & OP_REAL) == 0) {
            continue;
        }
        struct id_slot *slot = id_map_add(by_start, op_node_start_ns(w->tree, node));
        if (slot == NULL) {
            return false;
        }
        slot->value = slot->value == ID_MAP_NONE ? row : slot->value;
    }
    return true;
}

static void join_rows(struct call_tree *out, const struct id_slot *from, const struct id_slot *to)
{
    if (from != NULL && to != NULL && from->value != to->value) {
        out->partner[from->value] = to->value;
        out->partner[to->value] = from->value;
    }
}

static bool join_pairs(struct tree_writing *w, const struct fwdbwd *pairs)
{
    struct id_map by_start;
    id_map_init(&by_start);
    int64_t *backward_ns = fwdbwd_backward_times(pairs);
    bool ok = backward_ns != NULL && map_starts(w, &by_start);
    for (size_t i = 0; ok && i < pairs->by_forward.capacity; i++) {
        const struct id_slot *pair = &pairs->by_forward.slots[i];
        if (pair->index != ID_MAP_NONE) {
            join_rows(w->writing.out, id_map_find(&by_start, pair->key),
                      id_map_find(&by_start, backward_ns[pair->value]));
        }
    }
    id_map_free(&by_start);
    scratch_free(backward_ns);
    return ok;
}

static bool make_partners(struct tree_writing *w)
{
    struct call_tree *out = w->writing.out;
    out->partner = arena_calloc(w->writing.figures, out->node_count, sizeof *out->partner);
    for (uint32_t row = 0; out->partner != NULL && row < out->node_count; row++) {
        out->partner[row] = CALL_NONE;
    }
    return out->partner != NULL;
}

static bool link_partners(struct tree_writing *w)
{
    struct fwdbwd pairs;
    bool ok = fwdbwd_collect(&pairs, w->tree->sel->trace) &&
              (pairs.by_forward.count == 0 || (make_partners(w) && join_pairs(w, &pairs)));
    fwdbwd_free(&pairs);
    return ok;
}

/* ---- all of it ---- */

static bool write_all(struct tree_writing *w, bool counts_only)
{
    bool ok = true;
    w->writing.counts_only = counts_only;
    w->writing.next = 0;
    w->writing.out->thread_count = 0;
    for (uint32_t t = 0; ok && t < w->tree->thread_count; t++) {
        ok = write_thread(w, t);
    }
    return ok && call_write_profile(&w->writing);
}

static bool build(struct tree_writing *w)
{
    if (!write_all(w, true) || !call_write_columns(&w->writing) || !write_all(w, false)) {
        return false;
    }
    add_operators_to_modules(w->writing.out);
    label_threads(w);
    return link_partners(w) && call_write_names(&w->writing);
}

static uint32_t count_nodes(const struct op_tree *tree)
{
    return tree->thread_count == 0 ? 0 : tree->threads[tree->thread_count - 1].end;
}

bool call_tree_build(struct call_tree **out,
                     struct arena *arena,
                     struct arena *figures,
                     const struct op_tree *tree,
                     const struct backward *backward,
                     struct call_tree_keys *keys)
{
    struct tree_writing w = {.tree = tree, .backward = backward, .node_count = count_nodes(tree)};
    w.writing.out = arena_calloc(arena, 1, sizeof *w.writing.out);
    w.writing.arena = arena;
    w.writing.figures = figures;
    w.writing.sel = tree->sel;
    id_map_init(&w.writing.by_name);
    const struct tree_visitor visitor = {.enter_node = enter_node,
                                         .leave_node = leave_node,
                                         .enter_mirror = enter_mirror,
                                         .leave_mirror = leave_mirror,
                                         .context = &w};
    tree_walk_init(&w.walk, tree, backward, &visitor);
    w.row_of = scratch_none(w.node_count);
    w.row_of_mirror = scratch_none(backward->mirror_count);
    bool ok = w.writing.out != NULL && w.row_of != NULL && w.row_of_mirror != NULL && build(&w);
    id_map_free(&w.writing.by_name);
    scratch_free((void *)w.writing.names);
    scratch_free(w.row_of);
    scratch_free(w.row_of_mirror);
    tree_walk_free(&w.walk);
    *out = ok ? w.writing.out : NULL;
    *keys = w.writing.keys;
    return ok;
}

void call_tree_keys_free(struct call_tree_keys *keys)
{
    scratch_free(keys->start);
    scratch_free(keys->stop);
    *keys = (struct call_tree_keys){0};
}

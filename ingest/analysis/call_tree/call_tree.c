#include "ingest/analysis/call_tree/call_tree.h"

#include "ingest/analysis/call_tree/write.h"
#include "ingest/analysis/relations/fwdbwd.h"
#include "ingest/analysis/relations/tree_walk.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"

#include <string.h>

#define MIRROR_SUFFIX ".backward"

struct tree_writing {
    struct call_writing writing;
    struct call_rows *rows;
    const struct op_tree *tree;
    const struct backward *backward;
    uint32_t *open; /* rows from the root down to where the walk stands */
    uint32_t depth;
    size_t open_cap;
    struct tree_walk walk;
};

/* ---- nodes ---- */

/* The row that was written last has others below it. */
static bool open_row(struct tree_writing *w)
{
    uint32_t *open = scratch_grow(w->open, w->depth, &w->open_cap, sizeof *open);
    if (open == NULL) {
        return false;
    }
    w->open = open;
    open[w->depth++] = w->rows->count - 1;
    return true;
}

static uint32_t close_row(struct tree_writing *w)
{
    uint32_t row = w->open[--w->depth];
    w->rows->end[row] = w->rows->count;
    return row;
}

static bool enter_node(void *context, uint32_t node)
{
    struct tree_writing *w = context;
    return call_write_node(&w->writing, node) && open_row(w);
}

static bool see_subtrees(void *context, uint32_t first, uint32_t end)
{
    struct tree_writing *w = context;
    return call_write_nodes(&w->writing, first, end);
}

static bool leave_node(void *context, uint32_t node)
{
    (void)node;
    (void)close_row(context);
    return true;
}

/* ---- mirrors ---- */

static bool write_mirror_name(struct tree_writing *w, struct call_other *mirror, uint32_t module)
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
    bool ok = call_write_text(&w->writing, name, len + suffix_len, &mirror->name);
    scratch_free(name);
    return ok;
}

static bool enter_mirror(void *context, uint32_t mirror)
{
    struct tree_writing *w = context;
    uint32_t module = w->backward->mirrors[mirror].module;
    if (!call_write_event(&w->writing, w->tree->nodes[module].event, CALL_BACKWARD) ||
        !open_row(w)) {
        return false;
    }
    struct call_other *other = call_write_other(&w->writing, w->rows->count - 1);
    other->type = CALL_TYPE_BACKWARD;
    return write_mirror_name(w, other, module);
}

/* Times, thread and figures of a mirror are those of its children. */
static void take_children(const struct call_rows *rows, uint32_t row, struct call_other *mirror)
{
    int64_t start = 0;
    int64_t stop = 0;
    int64_t tid = 0;
    int64_t flags = 0;
    int64_t children = 0;
    call_rows_read(rows, CALL_COLUMN_START, row + 1, 1, &mirror->start);
    call_rows_read(rows, CALL_COLUMN_TID, row + 1, 1, &tid);
    call_rows_read(rows, CALL_COLUMN_FLAGS, row + 1, 1, &flags);
    mirror->start_key = call_row_start_key(rows, row + 1);
    mirror->tid = (uint32_t)tid;
    mirror->flags = (uint8_t)(flags & CALL_TID_IS_TEXT);
    for (uint32_t child = row + 1; child < rows->end[row]; child = rows->end[child]) {
        call_rows_read(rows, CALL_COLUMN_START, child, 1, &start);
        call_rows_read(rows, CALL_COLUMN_STOP, child, 1, &stop);
        mirror->stop = stop;
        mirror->stop_key = call_row_stop_key(rows, child);
        mirror->device_total =
            saturating_add(mirror->device_total, call_row_device_total(rows, child));
        children = saturating_add(children, saturating_sub(stop, start));
    }
    mirror->host_self = saturating_sub(saturating_sub(mirror->stop, mirror->start), children);
}

static bool leave_mirror(void *context, uint32_t mirror)
{
    (void)mirror;
    struct tree_writing *w = context;
    uint32_t row = close_row(w);
    if (w->rows->end[row] > row + 1) {
        take_children(w->rows, row, call_write_other(&w->writing, row));
    }
    return true;
}

/* ---- threads ---- */

/* Bounds of the root are those of the thread before the mirrors came [TB-5.2]. */
static bool write_thread(struct tree_writing *w, uint32_t t)
{
    const struct op_thread *thread = &w->tree->threads[t];
    struct call_writing *writing = &w->writing;
    uint32_t row = w->rows->count;
    if (!tree_walk_has_thread(&w->walk, t)) {
        return true;
    }
    if (!call_write_root(writing, thread->tid)) {
        return false;
    }
    struct call_other *root = call_write_other(writing, row);
    root->start = tb_clock_position(writing->sel, thread->start);
    root->stop = tb_clock_position(writing->sel, thread->end_time);
    root->start_key = thread->start_key;
    root->stop_key = thread->end_key;
    return tree_walk_thread(&w->walk, t) && call_write_thread(writing, thread->tid, row);
}

static bool index_threads(struct id_map *by_tid, const struct call_tree *out)
{
    bool ok = true;
    for (uint32_t t = 0; ok && t < out->thread_count; t++) {
        struct id_slot *slot = id_map_add(by_tid, out->threads[t].tid);
        ok = slot != NULL;
        if (ok) {
            slot->value = t;
        }
    }
    return ok;
}

/* By number in the plugin's tree, whose threads have one each (op_threads); by track in ours, whose
 * threads all have rows, in their order. CALL_NONE: no such thread. */
static uint32_t
labelled_thread(const struct tree_writing *w, const struct id_map *by_tid, uint32_t track_id)
{
    const struct trace_track *track = &w->tree->sel->trace->tracks[track_id];
    if (w->tree->sel->ours) {
        return w->tree->track_thread[track_id];
    }
    const struct id_slot *slot = track->tid_int_valid ? id_map_find(by_tid, track->tid_int) : NULL;
    return slot == NULL ? CALL_NONE : slot->value;
}

static bool label_thread(const struct tree_writing *w, uint32_t thread, uint32_t text)
{
    const struct strtab *strings = w->tree->sel->trace->strings;
    struct call_thread *out = &w->writing.out->threads[thread];
    out->label =
        arena_strndup(w->writing.arena, strtab_text(strings, text), strtab_len(strings, text));
    return out->label != NULL;
}

/* A thread without a number is called what stands in its place, until a label says better. */
static bool label_by_tid(const struct tree_writing *w)
{
    const struct trace *trace = w->tree->sel->trace;
    bool ok = true;
    for (uint32_t i = 0; ok && i < trace->track_count; i++) {
        uint32_t thread = w->tree->track_thread[i];
        if (thread != OP_NO_THREAD && !trace->tracks[i].tid_int_valid) {
            ok = label_thread(w, thread, trace->tracks[i].tid_text);
        }
    }
    return ok;
}

/* The last label of a thread stays. */
static bool label_threads(struct tree_writing *w)
{
    const struct trace *trace = w->tree->sel->trace;
    struct id_map by_tid;
    id_map_init(&by_tid);
    bool ok = index_threads(&by_tid, w->writing.out) && (!w->tree->sel->ours || label_by_tid(w));
    for (uint32_t i = 0; ok && i < trace->label_count; i++) {
        const struct trace_label *label = &trace->labels[i];
        uint32_t thread = labelled_thread(w, &by_tid, label->track);
        if (thread != CALL_NONE &&
            strcmp(strtab_text(trace->strings, label->kind_name), "thread_name") == 0) {
            ok = label_thread(w, thread, label->label);
        }
    }
    id_map_free(&by_tid);
    return ok;
}

/* ---- forward and backward ---- */

/* Of the real operators that begin at a time the outermost: its row, the last one where it hangs
 * below several mirrors. */
struct starting {
    uint32_t node;
    uint32_t row;
};

static void take_start(struct starting *at, uint32_t node, uint32_t row)
{
    if (node <= at->node) {
        *at = (struct starting){node, row};
    }
}

/* By number in either map of the pairs. */
static void find_starts(const struct call_rows *rows,
                        const struct fwdbwd *pairs,
                        struct starting *forward,
                        struct starting *backward)
{
    for (uint32_t row = 0; row < rows->count; row++) {
        if (!call_row_is_real(rows, row)) {
            continue;
        }
        uint32_t node = rows->from[row];
        int64_t start_ns = op_node_start_ns(rows->tree, node);
        const struct id_slot *from = id_map_find(&pairs->by_forward, start_ns);
        const struct id_slot *to = id_map_find(&pairs->by_backward, start_ns);
        if (from != NULL) {
            take_start(&forward[from->index], node, row);
        }
        if (to != NULL) {
            take_start(&backward[to->index], node, row);
        }
    }
}

static void join_rows(struct call_rows *rows, uint32_t from, uint32_t to)
{
    if (from != CALL_NONE && to != CALL_NONE && from != to) {
        rows->partner[from] = to;
        rows->partner[to] = from;
    }
}

static bool join_pairs(struct call_rows *rows, const struct fwdbwd *pairs)
{
    size_t forward_count = pairs->by_forward.count;
    size_t count = forward_count + pairs->by_backward.count;
    struct starting *starts = scratch_calloc(count, sizeof *starts);
    rows->partner = scratch_none(rows->count);
    if (starts == NULL || rows->partner == NULL) {
        scratch_free(starts);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        starts[i] = (struct starting){OP_NO_NODE, CALL_NONE};
    }
    find_starts(rows, pairs, starts, starts + forward_count);
    for (size_t i = 0; i < pairs->by_forward.capacity; i++) {
        const struct id_slot *pair = &pairs->by_forward.slots[i];
        if (pair->index != ID_MAP_NONE) {
            join_rows(rows, starts[pair->index].row, starts[forward_count + pair->value].row);
        }
    }
    scratch_free(starts);
    return true;
}

static bool link_partners(struct tree_writing *w)
{
    struct fwdbwd pairs;
    bool ok = fwdbwd_collect(&pairs, w->tree->sel->trace) &&
              (pairs.by_forward.count == 0 || join_pairs(w->rows, &pairs));
    fwdbwd_free(&pairs);
    return ok;
}

/* ---- all of it ---- */

/* As many rows as there can be where no node hangs below several mirrors. */
static size_t count_rows(const struct op_tree *tree, const struct backward *backward)
{
    size_t nodes = tree->thread_count == 0 ? 0 : tree->threads[tree->thread_count - 1].end;
    return nodes + tree->thread_count + backward->mirror_count +
           tree->sel->type_count[TYPE_PL_PROFILE] + 1;
}

static bool build(struct tree_writing *w)
{
    bool ok = call_write_begin(&w->writing, count_rows(w->tree, w->backward));
    for (uint32_t t = 0; ok && t < w->tree->thread_count; t++) {
        ok = write_thread(w, t);
    }
    if (!ok || !call_write_profile(&w->writing) || !call_write_end(&w->writing)) {
        return false;
    }
    return label_threads(w) && link_partners(w);
}

bool call_tree_build(struct call_tree **out,
                     struct arena *arena,
                     struct call_rows *rows,
                     const struct op_tree *tree,
                     const struct backward *backward)
{
    *rows = (struct call_rows){.tree = tree};
    struct tree_writing w = {.rows = rows, .tree = tree, .backward = backward};
    w.writing.out = arena_calloc(arena, 1, sizeof *w.writing.out);
    w.writing.arena = arena;
    w.writing.rows = rows;
    w.writing.sel = tree->sel;
    const struct tree_visitor visitor = {.see_subtrees = see_subtrees,
                                         .enter_node = enter_node,
                                         .leave_node = leave_node,
                                         .enter_mirror = enter_mirror,
                                         .leave_mirror = leave_mirror,
                                         .context = &w};
    tree_walk_init(&w.walk, tree, backward, &visitor);
    bool ok = w.writing.out != NULL && build(&w);
    scratch_free(w.writing.names);
    scratch_free(w.writing.threads);
    scratch_free(w.open);
    tree_walk_free(&w.walk);
    *out = ok ? w.writing.out : NULL;
    if (ok) {
        (*out)->source = (struct column_source){.read = call_rows_read, .context = rows};
    }
    return ok;
}

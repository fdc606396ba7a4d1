/* The call tree with the mirrors of backward modules [TB-5.2]. */
#include "ingest/tb_plugin/tree/call_tree.h"

#include "ingest/analysis/call_tree/write.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/tb_plugin/tree/tree_walk.h"

#include <string.h>

#define MIRROR_SUFFIX ".backward"

struct tree_writing {
    struct call_writing writing;
    struct call_rows *rows; /* of `writing`, as `tree` is */
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
    return !tree_walk_has_thread(&w->walk, t) ||
           (call_write_bounded_root(writing, thread) && tree_walk_thread(&w->walk, t) &&
            call_write_thread(writing, thread->tid, row));
}

/* By track, the thread of its number, CALL_NONE. Memory records need a number that is one in the
 * file, and never belong to Lightning's profile [TB-13a]. NULL without memory. */
static uint32_t *
threads_by_tid(const struct call_tree *tree, const struct trace *trace, bool of_records)
{
    struct id_map by_tid;
    id_map_init(&by_tid);
    uint32_t *thread_of = scratch_none(trace->track_count);
    bool ok = thread_of != NULL;
    for (uint32_t t = 0; ok && t < tree->thread_count; t++) {
        if (of_records && t == tree->profile_thread) {
            continue;
        }
        struct id_slot *slot = id_map_add(&by_tid, tree->threads[t].tid);
        ok = slot != NULL;
        if (ok) {
            slot->value = t;
        }
    }
    for (uint32_t i = 0; ok && i < trace->track_count; i++) {
        const struct trace_track *track = &trace->tracks[i];
        bool has_tid = of_records ? track->tid_is_int : track->tid_int_valid;
        const struct id_slot *slot = has_tid ? id_map_find(&by_tid, track->tid_int) : NULL;
        thread_of[i] = slot == NULL ? CALL_NONE : slot->value;
    }
    id_map_free(&by_tid);
    if (!ok) {
        scratch_free(thread_of);
        thread_of = NULL;
    }
    return thread_of;
}

static bool write_labels(struct call_writing *w)
{
    uint32_t *thread_of = threads_by_tid(w->out, w->sel->trace, false);
    bool ok = thread_of != NULL && call_write_labels(w, thread_of);
    scratch_free(thread_of);
    return ok;
}

bool tb_call_tree_build(struct call_tree **out,
                        struct arena *arena,
                        struct call_rows *rows,
                        const struct op_tree *tree,
                        const struct backward *backward,
                        uint32_t **record_thread)
{
    struct tree_writing w = {.rows = rows, .tree = tree, .backward = backward};
    const struct tree_visitor visitor = {.see_subtrees = see_subtrees,
                                         .enter_node = enter_node,
                                         .leave_node = leave_node,
                                         .enter_mirror = enter_mirror,
                                         .leave_mirror = leave_mirror,
                                         .context = &w};
    tree_walk_init(&w.walk, tree, backward, &visitor);
    bool ok = call_write_open(&w.writing, arena, rows, tree, backward->mirror_count);
    for (uint32_t t = 0; ok && t < tree->thread_count; t++) {
        ok = write_thread(&w, t);
    }
    ok = ok && call_write_profile(&w.writing) && call_write_end(&w.writing) &&
         write_labels(&w.writing);
    *record_thread = ok ? threads_by_tid(w.writing.out, tree->sel->trace, true) : NULL;
    scratch_free(w.open);
    tree_walk_free(&w.walk);
    return call_write_close(&w.writing, *record_thread != NULL, out);
}

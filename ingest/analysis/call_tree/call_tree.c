#include "ingest/analysis/call_tree/call_tree.h"

#include "ingest/analysis/call_tree/write.h"
#include "ingest/analysis/relations/fwdbwd.h"
#include "ingest/base/memory/scratch.h"

#include <string.h>

/* ---- threads ---- */

bool call_write_bounded_root(struct call_writing *w, const struct op_thread *thread)
{
    uint32_t row = w->rows->count;
    if (!call_write_root(w, thread->tid)) {
        return false;
    }
    struct call_other *root = call_write_other(w, row);
    root->start = times_position(w->sel, thread->start);
    root->stop = times_position(w->sel, thread->end_time);
    root->start_key = thread->start_key;
    root->stop_key = thread->end_key;
    return true;
}

static bool write_thread(struct call_writing *w, const struct op_thread *thread)
{
    uint32_t row = w->rows->count;
    return call_write_bounded_root(w, thread) && call_write_nodes(w, thread->first, thread->end) &&
           call_write_thread(w, thread->tid, row);
}

static bool label_thread(struct call_writing *w, uint32_t thread, uint32_t text)
{
    const struct strtab *strings = w->sel->trace->strings;
    struct call_thread *out = &w->out->threads[thread];
    out->label = arena_strndup(w->arena, strtab_text(strings, text), strtab_len(strings, text));
    return out->label != NULL;
}

bool call_write_labels(struct call_writing *w, const uint32_t *thread_of)
{
    const struct trace *trace = w->sel->trace;
    bool ok = true;
    for (uint32_t i = 0; ok && i < trace->label_count; i++) {
        const struct trace_label *label = &trace->labels[i];
        uint32_t thread = thread_of[label->track];
        if (thread != CALL_NONE &&
            strcmp(strtab_text(trace->strings, label->kind_name), "thread_name") == 0) {
            ok = label_thread(w, thread, label->label);
        }
    }
    return ok;
}

/* A thread without a number is called what stands in its place, until a label says better. */
static bool label_by_tid(struct call_writing *w)
{
    const struct trace *trace = w->sel->trace;
    bool ok = true;
    for (uint32_t i = 0; ok && i < trace->track_count; i++) {
        uint32_t thread = w->rows->tree->track_thread[i];
        if (thread != OP_NO_THREAD && !trace->tracks[i].tid_int_valid) {
            ok = label_thread(w, thread, trace->tracks[i].tid_text);
        }
    }
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

static bool link_partners(struct call_writing *w)
{
    struct fwdbwd pairs;
    bool ok = fwdbwd_collect(&pairs, w->sel->trace) &&
              (pairs.by_forward.count == 0 || join_pairs(w->rows, &pairs));
    fwdbwd_free(&pairs);
    return ok;
}

/* ---- all of it ---- */

bool call_write_close(struct call_writing *w, bool ok, struct call_tree **out)
{
    ok = ok && link_partners(w);
    if (ok) {
        w->out->source = (struct column_source){.read = call_rows_read, .context = w->rows};
    }
    SCRATCH_FREE(w->names, w->threads);
    *out = ok ? w->out : NULL;
    return ok;
}

bool call_tree_build(struct call_tree **out,
                     struct arena *arena,
                     struct call_rows *rows,
                     const struct op_tree *tree)
{
    struct call_writing w;
    bool ok = call_write_open(&w, arena, rows, tree, 0);
    for (uint32_t t = 0; ok && t < tree->thread_count; t++) {
        ok = write_thread(&w, &tree->threads[t]);
    }
    ok = ok && call_write_profile(&w) && call_write_end(&w) && label_by_tid(&w) &&
         call_write_labels(&w, tree->track_thread);
    return call_write_close(&w, ok, out);
}

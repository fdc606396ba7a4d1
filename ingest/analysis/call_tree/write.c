#include "ingest/analysis/call_tree/write.h"

#include "ingest/base/memory/scratch.h"

#include <stdio.h>
#include <string.h>

#define ROOT_NAME "CallTreeRoot"
#define NUMBER_BYTES 32

/* ---- texts ---- */

/* Names that come while the analyses run have ids behind those of the trace. */
static bool reach_name(struct call_writing *w, uint32_t name)
{
    struct call_rows *rows = w->rows;
    size_t cap = (size_t)name + name / 8 + 64;
    uint32_t *index = scratch_resize(rows->name_index, cap, sizeof *index);
    if (index == NULL) {
        return false;
    }
    memset(index + rows->name_cap, 0xFF, (cap - rows->name_cap) * sizeof *index);
    rows->name_index = index;
    rows->name_cap = cap;
    return true;
}

static bool add_name(struct call_writing *w, uint32_t name)
{
    uint32_t *names = scratch_grow(w->names, w->out->name_count, &w->name_cap, sizeof *names);
    if (names == NULL) {
        return false;
    }
    w->names = names;
    names[w->out->name_count] = name;
    w->rows->name_index[name] = w->out->name_count++;
    return true;
}

/* A name of the trace gets its index when it is met first. */
static inline bool note_name(struct call_writing *w, uint32_t name)
{
    const struct call_rows *rows = w->rows;
    if (KS_LIKELY(name < rows->name_cap && rows->name_index[name] != CALL_NONE)) {
        return true;
    }
    return (name < rows->name_cap || reach_name(w, name)) && add_name(w, name);
}

bool call_write_text(struct call_writing *w, const char *text, size_t len, uint32_t *index)
{
    uint32_t name = names_intern(&w->sel->names, text, len);
    bool ok = name != STRTAB_NONE && note_name(w, name);
    *index = ok ? w->rows->name_index[name] : CALL_NONE;
    return ok;
}

static const struct trace_track *track_of(const struct call_writing *w, uint32_t event)
{
    const struct trace *trace = w->sel->trace;
    return &trace->tracks[trace_event_track(&trace->events, event)];
}

static inline bool note_texts(struct call_writing *w, uint32_t event)
{
    uint32_t stack = w->rows->has_stacks ? call_row_stack_name(w->sel->trace, event) : 0;
    return note_name(w, w->sel->name[event]) && note_name(w, track_of(w, event)->tid_text) &&
           (stack == 0 || note_name(w, stack));
}

/* ---- rows ---- */

static bool has_stacks(const struct trace *trace)
{
    bool has_any = false;
    for (uint32_t i = 0; i < trace->op_args_count; i++) {
        has_any = has_any || trace->op_args[i].call_stack != 0;
    }
    return has_any;
}

static bool reserve(struct call_writing *w, size_t rows)
{
    uint32_t names = strtab_count(w->sel->trace->strings);
    w->rows->from = scratch_alloc(rows, sizeof *w->rows->from);
    w->rows->end = scratch_alloc(rows, sizeof *w->rows->end);
    w->row_cap = w->end_cap = rows;
    w->rows->name_index = scratch_none(names);
    w->rows->name_cap = names;
    w->rows->has_stacks = has_stacks(w->sel->trace);
    return w->rows->from != NULL && w->rows->end != NULL && w->rows->name_index != NULL;
}

bool call_write_open(struct call_writing *w,
                     struct arena *arena,
                     struct call_rows *rows,
                     const struct op_tree *tree,
                     size_t more_rows)
{
    size_t nodes = tree->thread_count == 0 ? 0 : tree->threads[tree->thread_count - 1].end;
    *rows = (struct call_rows){.tree = tree};
    *w = (struct call_writing){.arena = arena,
                               .rows = rows,
                               .sel = tree->sel,
                               .out = arena_calloc(arena, 1, sizeof *w->out)};
    return w->out != NULL && reserve(w, nodes + tree->thread_count + more_rows +
                                            tree->sel->class_count[INDEX_PROFILE] + 1);
}

static bool add_row(struct call_writing *w, uint32_t from)
{
    struct call_rows *rows = w->rows;
    uint32_t row = rows->count;
    uint32_t *froms = scratch_grow(rows->from, row, &w->row_cap, sizeof *froms);
    rows->from = froms == NULL ? rows->from : froms;
    uint32_t *ends = scratch_grow(rows->end, row, &w->end_cap, sizeof *ends);
    rows->end = ends == NULL ? rows->end : ends;
    if (froms == NULL || ends == NULL || row == CALL_NONE - 1) {
        return false;
    }
    froms[row] = from;
    ends[row] = row + 1;
    rows->count++;
    return true;
}

static bool add_other(struct call_writing *w, const struct call_other *other)
{
    struct call_other *others =
        scratch_grow(w->rows->others, w->other_count, &w->other_cap, sizeof *others);
    if (others == NULL || !add_row(w, w->other_count | CALL_ROW_OTHER)) {
        w->rows->others = others == NULL ? w->rows->others : others;
        return false;
    }
    w->rows->others = others;
    others[w->other_count++] = *other;
    return true;
}

struct call_other *call_write_other(const struct call_writing *w, uint32_t row)
{
    return &w->rows->others[w->rows->from[row] & ~CALL_ROW_OTHER];
}

bool call_write_node(struct call_writing *w, uint32_t node)
{
    return note_texts(w, w->rows->tree->nodes[node].event) && add_row(w, node);
}

/* Room for `count` more. */
static bool reserve_rows(struct call_writing *w, uint32_t count)
{
    struct call_rows *rows = w->rows;
    size_t cap = (size_t)rows->count + count;
    if (cap >= CALL_NONE) {
        return false;
    }
    if (cap > w->row_cap) {
        uint32_t *from = scratch_resize(rows->from, cap + cap / 2, sizeof *from);
        rows->from = from == NULL ? rows->from : from;
        w->row_cap = from == NULL ? w->row_cap : cap + cap / 2;
    }
    if (cap > w->end_cap) {
        uint32_t *end = scratch_resize(rows->end, cap + cap / 2, sizeof *end);
        rows->end = end == NULL ? rows->end : end;
        w->end_cap = end == NULL ? w->end_cap : cap + cap / 2;
    }
    return cap <= w->row_cap && cap <= w->end_cap;
}

bool call_write_nodes(struct call_writing *w, uint32_t first, uint32_t end)
{
    struct call_rows *rows = w->rows;
    const struct op_node *nodes = rows->tree->nodes;
    uint32_t row = rows->count;
    bool ok = reserve_rows(w, end - first);
    for (uint32_t i = first; ok && i < end; i++) {
        ok = note_texts(w, nodes[i].event);
        rows->from[row + (i - first)] = i;
        rows->end[row + (i - first)] = row + (nodes[i].end - first);
    }
    rows->count += ok ? end - first : 0;
    return ok;
}

bool call_write_event(struct call_writing *w, uint32_t event, uint8_t class)
{
    const struct event_classes *sel = w->sel;
    const struct trace_track *track = track_of(w, event);
    uint32_t stack = call_row_stack_name(sel->trace, event);
    if (!note_texts(w, event)) {
        return false;
    }
    const uint32_t *index = w->rows->name_index;
    const struct call_other other = {
        .name = index[sel->name[event]],
        .tid = index[track->tid_text],
        .call_stack = stack == 0 ? CALL_NONE : index[stack],
        .class = class,
        .type = (uint8_t)call_row_type(sel, event),
        .flags = track->tid_is_text ? CALL_TID_IS_TEXT : 0,
        .start = times_position(sel, times_start(sel, event)),
        .stop = times_position(sel, times_end(sel, event)),
        .start_key = times_start_key(sel, event),
        .stop_key = times_end_key(sel, event),
    };
    return add_other(w, &other);
}

bool call_write_root(struct call_writing *w, int64_t tid)
{
    char number[NUMBER_BYTES];
    int len = snprintf(number, sizeof number, "%lld", (long long)tid);
    struct call_other root = {
        .call_stack = CALL_NONE, .class = CALL_ROOT, .type = CALL_TYPE_PYTHON};
    return call_write_text(w, ROOT_NAME, sizeof ROOT_NAME - 1, &root.name) &&
           call_write_text(w, number, (size_t)len, &root.tid) && add_other(w, &root);
}

bool call_write_thread(struct call_writing *w, int64_t tid, uint32_t root)
{
    struct call_thread *threads =
        scratch_grow(w->threads, w->out->thread_count, &w->thread_cap, sizeof *threads);
    if (threads == NULL) {
        return false;
    }
    w->threads = threads;
    w->rows->end[root] = w->rows->count;
    threads[w->out->thread_count++] =
        (struct call_thread){.first = root, .end = w->rows->count, .tid = tid};
    return true;
}

bool call_write_end(struct call_writing *w)
{
    struct call_tree *out = w->out;
    const struct names *names = &w->sel->names;
    out->node_count = w->rows->count;
    out->names = arena_calloc(w->arena, (size_t)out->name_count + 1, sizeof *out->names);
    out->threads = arena_calloc(w->arena, (size_t)out->thread_count + 1, sizeof *out->threads);
    bool ok = out->names != NULL && out->threads != NULL;
    for (uint32_t i = 0; ok && i < out->name_count; i++) {
        uint32_t name = w->names[i];
        out->names[i] = arena_strndup(w->arena, names_text(names, name), names_len(names, name));
        ok = out->names[i] != NULL;
    }
    if (ok && out->thread_count > 0) {
        memcpy(out->threads, w->threads, out->thread_count * sizeof *out->threads);
    }
    return ok;
}

#include "ingest/analysis/call_tree_write.h"

#include "ingest/analysis/scratch.h"
#include "ingest/analysis/times.h"

#include <stdio.h>
#include <string.h>

#define ROOT_NAME "CallTreeRoot"
#define NUMBER_BYTES 32

/* ---- texts ---- */

static bool add_name(struct call_writing *w, uint32_t name, uint32_t *index)
{
    const struct names *names = &w->sel->names;
    const char **grown =
        scratch_grow((void *)w->names, w->out->name_count, &w->name_cap, sizeof *w->names);
    if (grown == NULL) {
        return false;
    }
    w->names = grown;
    *index = w->out->name_count++;
    grown[*index] = arena_strndup(w->arena, names_text(names, name), names_len(names, name));
    return grown[*index] != NULL;
}

bool call_write_name(struct call_writing *w, uint32_t name, uint32_t *index)
{
    struct id_slot *slot = id_map_add(&w->by_name, name);
    if (slot == NULL || (slot->value == ID_MAP_NONE && !add_name(w, name, &slot->value))) {
        return false;
    }
    *index = slot->value;
    return true;
}

bool call_write_text(struct call_writing *w, const char *text, size_t len, uint32_t *index)
{
    uint32_t name = names_intern(&w->sel->names, text, len);
    return name != STRTAB_NONE && call_write_name(w, name, index);
}

bool call_write_names(struct call_writing *w)
{
    struct call_tree *out = w->out;
    out->names = arena_calloc(w->arena, (size_t)out->name_count + 1, sizeof *out->names);
    if (out->names != NULL && out->name_count > 0) {
        memcpy((void *)out->names, (const void *)w->names, out->name_count * sizeof *out->names);
    }
    return out->names != NULL;
}

/* ---- rows ---- */

static uint8_t type_of(enum event_type type)
{
    switch (type) {
    case TYPE_PYTHON:
        return CALL_TYPE_PYTHON;
    case TYPE_PROFILER_STEP:
        return CALL_TYPE_PROFILER_STEP;
    case TYPE_MODULE:
        return CALL_TYPE_MODULE;
    case TYPE_PL_MODULE:
        return CALL_TYPE_PL_MODULE;
    case TYPE_PL_PROFILE:
        return CALL_TYPE_PL_PROFILE;
    case TYPE_USER_ANNOTATION:
        return CALL_TYPE_USER_ANNOTATION;
    default:
        return CALL_TYPE_OPERATOR;
    }
}

/* Columns are zeroed when they are made: what is left is what has another "none". */
static void begin_row(struct call_tree *out, uint32_t row, uint8_t class)
{
    out->class[row] = class;
    out->end[row] = row + 1;
    out->call_stack[row] = CALL_NONE;
    if (out->module_id != NULL) {
        out->module_id[row] = CALL_NO_MODULE;
    }
}

static bool write_call_stack(struct call_writing *w, uint32_t row, uint32_t event)
{
    const struct trace *trace = w->sel->trace;
    enum event_kind kind = (enum event_kind)trace->events.kind[event];
    uint32_t args = trace->events.args[event];
    bool has_args = trace_has_op_args(kind) && args != TRACE_NO_ARGS && args < trace->op_args_count;
    if (!has_args || strtab_len(trace->strings, trace->op_args[args].call_stack) == 0) {
        return true;
    }
    return call_write_name(w, trace->op_args[args].call_stack, &w->out->call_stack[row]);
}

void call_write_keys(struct call_writing *w, uint32_t row, int64_t start_key, int64_t stop_key)
{
    if (w->keys.start != NULL) {
        w->keys.start[row] = start_key;
        w->keys.stop[row] = stop_key;
    }
}

bool call_write_event(struct call_writing *w, uint32_t event, uint8_t class)
{
    uint32_t row = w->next++;
    if (w->counts_only) {
        return true;
    }
    const struct selection *sel = w->sel;
    const struct trace_track *track = &sel->trace->tracks[sel->trace->events.track[event]];
    struct call_tree *out = w->out;
    begin_row(out, row, class);
    out->type[row] = type_of((enum event_type)sel->type[event]);
    out->flags[row] = track->tid_is_text ? CALL_TID_IS_TEXT : 0;
    out->start[row] = times_position(sel, times_start(sel, event));
    out->stop[row] = times_position(sel, times_end(sel, event));
    if (sel->rounded) {
        call_write_keys(w, row, times_start_key(sel, event), times_end_key(sel, event));
    }
    return call_write_name(w, sel->name[event], &out->name[row]) &&
           call_write_name(w, track->tid_text, &out->tid[row]) && write_call_stack(w, row, event);
}

bool call_write_root(struct call_writing *w, int64_t tid)
{
    uint32_t row = w->next++;
    if (w->counts_only) {
        return true;
    }
    char number[NUMBER_BYTES];
    int len = snprintf(number, sizeof number, "%lld", (long long)tid);
    begin_row(w->out, row, CALL_ROOT);
    w->out->type[row] = CALL_TYPE_PYTHON;
    return call_write_text(w, ROOT_NAME, sizeof ROOT_NAME - 1, &w->out->name[row]) &&
           call_write_text(w, number, (size_t)len, &w->out->tid[row]);
}

void call_write_thread(struct call_writing *w, int64_t tid, uint32_t root)
{
    if (!w->counts_only) {
        w->out->end[root] = w->next;
        w->out->threads[w->out->thread_count] =
            (struct call_thread){.first = root, .end = w->next, .tid = tid};
    }
    w->out->thread_count++;
}

static bool has_modules(const struct selection *sel)
{
    return sel->type_count[TYPE_MODULE] > 0 || sel->type_count[TYPE_PL_MODULE] > 0;
}

bool call_write_columns(struct call_writing *w)
{
    struct call_tree *out = w->out;
    size_t count = w->next;
    bool ok = true;
#define MAKE_COLUMN(arena, column)                                   \
    out->column = arena_calloc((arena), count, sizeof *out->column); \
    ok = ok && out->column != NULL
    MAKE_COLUMN(w->arena, name);
    MAKE_COLUMN(w->arena, end);
    MAKE_COLUMN(w->arena, class);
    MAKE_COLUMN(w->arena, flags);
    MAKE_COLUMN(w->arena, start);
    MAKE_COLUMN(w->arena, stop);
    MAKE_COLUMN(w->figures, tid);
    MAKE_COLUMN(w->figures, call_stack);
    MAKE_COLUMN(w->figures, type);
    MAKE_COLUMN(w->figures, host_self);
    MAKE_COLUMN(w->figures, device_total);
    MAKE_COLUMN(w->figures, device_self);
    if (has_modules(w->sel)) {
        MAKE_COLUMN(w->figures, module_id);
    }
#undef MAKE_COLUMN
    out->node_count = w->next;
    out->threads = arena_calloc(w->arena, (size_t)out->thread_count + 1, sizeof *out->threads);
    w->keys.origin_ns = w->sel->first_ns;
    if (w->sel->rounded) {
        w->keys.start = scratch_calloc(count, sizeof *w->keys.start);
        w->keys.stop = scratch_calloc(count, sizeof *w->keys.stop);
        ok = ok && w->keys.start != NULL && w->keys.stop != NULL;
    }
    return ok && out->threads != NULL;
}

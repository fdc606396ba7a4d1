#include "ingest/analysis/stacks/stacks.h"

#include "ingest/analysis/operators/calls.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/buf.h"

#include <string.h>

/* ---- the texts of stacks ---- */

struct stack_texts {
    const struct call_paths *paths;
    struct buf text; /* of the last path asked for */
    size_t total_bytes;
};

static bool is_full(const struct stack_texts *texts)
{
    return texts->total_bytes > STACK_TEXTS_MAX_BYTES;
}

static void write_stack(struct stack_texts *texts, uint32_t path)
{
    buf_clear(&texts->text);
    for (unsigned left = STACK_FRAMES_MAX; path != CALL_PATH_NONE && left > 0; left--) {
        if (texts->text.len > 0) {
            buf_putc(&texts->text, ';');
        }
        buf_puts(&texts->text, call_paths_frame(texts->paths, path));
        path = call_paths_parent(texts->paths, path);
    }
    texts->total_bytes += texts->text.len;
}

/* ---- kernels ---- */

enum { KEY_NAME, KEY_OPERATOR, KEY_PATH, KEY_STACK };

struct kernel_grouping {
    const struct trace_index *index;
    struct call_paths paths;
    struct key_map keys;
    struct kernel_stack *rows;
    size_t rows_cap;
    int64_t device_ns;
};

/* The id of the argument `Call stack` of an operator; 0: it has none. */
static uint32_t stack_argument(const struct trace *trace, uint32_t op)
{
    bool has_args = op != INDEX_NONE && trace_has_op_args(trace_kind(&trace->events, op)) &&
                    trace->events.args[op] != TRACE_NO_ARGS;
    return has_args ? trace->op_args[trace->events.args[op]].call_stack : 0;
}

static struct key key_of(const struct kernel_grouping *g, uint32_t event)
{
    const struct trace *trace = g->index->trace;
    uint32_t op = g->index->op[event];
    return (struct key){{
        [KEY_NAME] = trace->events.name[event],
        [KEY_OPERATOR] = op == INDEX_NONE ? STRTAB_NONE : trace->events.name[op],
        [KEY_PATH] = g->paths.of[event],
        [KEY_STACK] = stack_argument(trace, op),
    }};
}

static bool add_work(struct kernel_grouping *g, uint32_t event)
{
    int64_t dur_ns = trace_dur_ns(&g->index->trace->events, event);
    uint32_t known = g->keys.count;
    uint32_t number = key_map_add(&g->keys, key_of(g, event));
    if (number == known) {
        struct kernel_stack *rows = scratch_grow(g->rows, known, &g->rows_cap, sizeof *rows);
        if (rows == NULL) {
            return false;
        }
        g->rows = rows;
        rows[number] = (struct kernel_stack){.min_ns = dur_ns, .max_ns = dur_ns};
    }
    if (number == KEY_MAP_NONE) {
        return false;
    }
    struct kernel_stack *row = &g->rows[number];
    row->calls++;
    row->total_ns = saturating_add(row->total_ns, dur_ns);
    row->min_ns = i64_min(row->min_ns, dur_ns);
    row->max_ns = i64_max(row->max_ns, dur_ns);
    return true;
}

static bool group_work(struct kernel_grouping *g, const char *name)
{
    const struct trace *trace = g->index->trace;
    uint32_t wanted = name == NULL ? STRTAB_NONE : strtab_find(trace->strings, name, strlen(name));
    bool ok = true;
    for (uint32_t i = 0; ok && i < g->index->device_count; i++) {
        uint32_t event = g->index->device_work[i];
        g->device_ns = saturating_add(g->device_ns, trace_dur_ns(&trace->events, event));
        ok = (name != NULL && trace->events.name[event] != wanted) || add_work(g, event);
    }
    return ok;
}

/* Rows share their texts: each is copied once. */
struct copies {
    const struct kernel_grouping *grouping;
    struct stack_texts stacks;
    struct arena *arena;
    const char **by_text;  /* string id of the trace */
    const char **by_frame; /* id of a frame's name */
    const char **by_path;
    bool failed;
};

static const char *
copy(struct copies *c, const char **known, const struct strtab *strings, uint32_t id)
{
    if (known[id] == NULL) {
        known[id] = arena_strndup(c->arena, strtab_text(strings, id), strtab_len(strings, id));
        c->failed = c->failed || known[id] == NULL;
    }
    return known[id];
}

static const char *copy_text(struct copies *c, uint32_t id)
{
    return copy(c, c->by_text, c->grouping->index->trace->strings, id);
}

/* NULL for none. */
static const char *copy_frame(struct copies *c, uint32_t path)
{
    const struct call_paths *paths = &c->grouping->paths;
    return path == CALL_PATH_NONE
               ? NULL
               : copy(c, c->by_frame, paths->names.texts, call_paths_name(paths, path));
}

static const char *copy_stack(struct copies *c, uint32_t path)
{
    if (path == CALL_PATH_NONE || is_full(&c->stacks)) {
        return copy_frame(c, path);
    }
    if (c->by_path[path] == NULL) {
        write_stack(&c->stacks, path);
        const struct buf *text = &c->stacks.text;
        c->by_path[path] = text->failed ? NULL : arena_strndup(c->arena, text->ptr, text->len);
        c->failed = c->failed || c->by_path[path] == NULL;
    }
    return c->by_path[path];
}

static void name_row(struct copies *c, struct kernel_stack *row, const struct key *key)
{
    uint32_t path = key->id[KEY_PATH];
    uint32_t op = key->id[KEY_OPERATOR];
    uint32_t stack = key->id[KEY_STACK];
    row->name = copy_text(c, key->id[KEY_NAME]);
    row->operator_name = op == STRTAB_NONE ? NULL : copy_text(c, op);
    row->module = copy_frame(c, c->grouping->paths.module[path]);
    row->call_stack = stack != 0 ? copy_text(c, stack) : copy_stack(c, path);
}

static bool name_rows(struct kernel_grouping *g, struct arena *arena, struct kernel_stacks *out)
{
    struct copies c = {.grouping = g, .stacks.paths = &g->paths, .arena = arena};
    c.by_text = scratch_calloc(strtab_count(g->index->trace->strings), sizeof *c.by_text);
    c.by_frame = scratch_calloc(strtab_count(g->paths.names.texts), sizeof *c.by_frame);
    c.by_path = scratch_calloc((size_t)g->paths.keys.count + 1, sizeof *c.by_path);
    buf_init(&c.stacks.text, SIZE_MAX);
    out->rows = arena_calloc(arena, g->keys.count, sizeof *out->rows);
    bool ok = c.by_text != NULL && c.by_frame != NULL && c.by_path != NULL && out->rows != NULL;
    for (uint32_t i = 0; ok && i < g->keys.count; i++) {
        out->rows[i] = g->rows[i];
        name_row(&c, &out->rows[i], &g->keys.keys[i]);
        ok = !c.failed;
    }
    buf_free(&c.stacks.text);
    SCRATCH_FREE((void *)c.by_text, (void *)c.by_frame, (void *)c.by_path);
    out->count = g->keys.count;
    out->device_ns = g->device_ns;
    return ok;
}

bool kernel_stacks_analyse(const struct trace *trace,
                           const char *name,
                           enum call_paths_modules modules,
                           struct arena *arena,
                           struct kernel_stacks *out)
{
    struct trace_index index;
    struct kernel_grouping g = {.index = &index};
    key_map_init(&g.keys);
    bool ok = index_build(&index, trace) && call_paths_build(&g.paths, &index, modules) &&
              group_work(&g, name) && name_rows(&g, arena, out);
    call_paths_free(&g.paths);
    key_map_free(&g.keys);
    scratch_free(g.rows);
    index_free(&index);
    return ok;
}

/* ---- single events ---- */

static bool copy_stacks(const struct call_paths *paths,
                        const uint32_t *events,
                        size_t count,
                        struct arena *arena,
                        const char **stacks)
{
    const struct trace *trace = paths->index->trace;
    struct stack_texts texts = {.paths = paths};
    bool ok = true;
    buf_init(&texts.text, SIZE_MAX);
    for (size_t i = 0; ok && i < count; i++) {
        uint32_t argument = stack_argument(trace, events[i]);
        uint32_t path = events[i] == INDEX_NONE ? CALL_PATH_NONE : paths->of[events[i]];
        stacks[i] = NULL;
        if (argument != 0) {
            stacks[i] = arena_strndup(arena, strtab_text(trace->strings, argument),
                                      strtab_len(trace->strings, argument));
        } else if (path != CALL_PATH_NONE) {
            write_stack(&texts, path);
            stacks[i] =
                texts.text.failed ? NULL : arena_strndup(arena, texts.text.ptr, texts.text.len);
        }
        ok = stacks[i] != NULL || (argument == 0 && path == CALL_PATH_NONE);
    }
    buf_free(&texts.text);
    return ok;
}

bool event_stacks_find(const struct trace *trace,
                       const uint32_t *events,
                       size_t count,
                       struct arena *arena,
                       const char **stacks)
{
    struct trace_index index;
    struct call_paths paths = {.index = NULL};
    bool ok = index_build(&index, trace) && call_paths_build(&paths, &index, MODULES_BY_TYPE) &&
              copy_stacks(&paths, events, count, arena, stacks);
    call_paths_free(&paths);
    index_free(&index);
    return ok;
}

/* ---- operators ---- */

static uint32_t intern_stack(struct stack_texts *texts, struct names *names, uint32_t path)
{
    if (is_full(texts)) {
        const char *frame = call_paths_frame(texts->paths, path);
        return names_intern(names, frame, strlen(frame));
    }
    write_stack(texts, path);
    return texts->text.failed ? STRTAB_NONE : names_intern(names, texts->text.ptr, texts->text.len);
}

/* By event the text id of its stack in `names`, to be freed; NULL without memory. */
static uint32_t *
name_stacks(const struct trace_index *index, const struct call_paths *paths, struct names *names)
{
    struct stack_texts texts = {.paths = paths};
    uint32_t *by_event = scratch_calloc(index->trace->events.count, sizeof *by_event);
    uint32_t *by_path = scratch_calloc((size_t)paths->keys.count + 1, sizeof *by_path);
    buf_init(&texts.text, SIZE_MAX);
    bool ok = by_event != NULL && by_path != NULL;
    for (uint32_t i = 0; ok && i < index->count; i++) {
        uint32_t event = index->in_order[i];
        uint32_t path = paths->of[event];
        if (index_class(index, event) != INDEX_OPERATOR) {
            continue;
        }
        by_event[event] = stack_argument(index->trace, event);
        if (by_event[event] != 0 || path == CALL_PATH_NONE) {
            continue;
        }
        if (by_path[path] == 0) {
            by_path[path] = intern_stack(&texts, names, path);
        }
        by_event[event] = by_path[path];
        ok = by_path[path] != STRTAB_NONE;
    }
    buf_free(&texts.text);
    scratch_free(by_path);
    if (!ok) {
        scratch_free(by_event);
        by_event = NULL;
    }
    return by_event;
}

bool operator_stacks_analyse(const struct trace *trace,
                             const struct kernel_rules *own,
                             enum operator_group by,
                             struct trace_results *results)
{
    struct trace_index index;
    struct event_classes sel = {.trace = NULL};
    struct call_paths paths = {.index = NULL};
    uint32_t *stacks = NULL;
    bool ok = index_build(&index, trace) &&
              classify_events(&sel, &index, own, &results->warnings) &&
              call_paths_build(&paths, &index, MODULES_BY_TYPE);
    if (ok) {
        stacks = name_stacks(&index, &paths, &sel.names);
        ok = stacks != NULL && operator_calls_by_stack(results, &sel, &index, stacks, by);
    }
    scratch_free(stacks);
    call_paths_free(&paths);
    classify_free(&sel);
    index_free(&index);
    return ok;
}

/* ---- the rows as a table ---- */

#define TABLE_DEF "ingest/model/tables/kernels/kernel_stack.def"
#define TABLE_ROW struct kernel_stack
#include "ingest/model/tables/describe.h"

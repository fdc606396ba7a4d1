#include "ingest/analysis/device_time/device_operators.h"

#include "ingest/analysis/device_time/graph_launches.h"
#include "ingest/analysis/kernel_classes/class_sums.h"
#include "ingest/analysis/kernel_classes/work_classes.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/index/index.h"

#include <stdlib.h>
#include <string.h>

struct row {
    enum device_owner owner;
    uint32_t name; /* in `names` */
    int64_t calls, kernels, device_ns;
};

struct accounting {
    const struct trace_index *index;
    const struct device_captures *captures;
    struct device_operators *out;
    struct work_classes classes;
    struct strtab *names; /* of the trace and its captures */
    uint32_t *name_of;    /* by string id of the trace: in `names`, once asked for */
    struct id_map row_of; /* by owner and name */
    struct row *rows;
    size_t row_count, row_cap;
    struct class_sums classes_of; /* the rows */
    uint32_t *named;  /* by call: the innermost named operator that runs at its start; NULL: there
                         are none, see find_named */
    bool *is_counted; /* by event: an operator or a call that is in `calls` */
    struct graph_launches graphs;
    uint32_t **counted_in; /* by capture and operator: the last launch that counted it */
    int64_t budget;        /* comparisons with captures that may still be made */
    int64_t companion_start_ns;
};

static bool find_row(struct accounting *a, enum device_owner owner, uint32_t name, uint32_t *out)
{
    struct id_slot *slot = id_map_add(&a->row_of, (int64_t)owner << 32 | name);
    if (slot == NULL) {
        return false;
    }
    if (slot->value == ID_MAP_NONE) {
        struct row *grown = scratch_grow(a->rows, a->row_count, &a->row_cap, sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        a->rows = grown;
        grown[a->row_count] = (struct row){.owner = owner, .name = name};
        slot->value = (uint32_t)a->row_count++;
    }
    *out = slot->value;
    return true;
}

/* A row by a name of the trace. */
static bool
find_own_row(struct accounting *a, enum device_owner owner, uint32_t text, uint32_t *out)
{
    if (a->name_of[text] == STRTAB_NONE) {
        const struct strtab *strings = a->index->trace->strings;
        a->name_of[text] =
            strtab_intern(a->names, strtab_text(strings, text), strtab_len(strings, text));
    }
    return a->name_of[text] != STRTAB_NONE && find_row(a, owner, a->name_of[text], out);
}

/* Adds a piece of device work to a row, unless it is none after all. */
static bool add_work(struct accounting *a, uint32_t row, uint32_t event)
{
    const struct work_name *name =
        &a->classes.names[work_classes_name(&a->classes, a->index, event)];
    int64_t device_ns = trace_dur_ns(&a->index->trace->events, event);
    a->rows[row].kernels++;
    a->rows[row].device_ns = saturating_add(a->rows[row].device_ns, device_ns);
    return class_sums_add(&a->classes_of, row, name->class_number, name->class.name, device_ns);
}

static bool is_sync(const struct accounting *a, uint32_t event)
{
    return a->classes.names[work_classes_name(&a->classes, a->index, event)].is_sync;
}

/* Whether `a` lies within `b`, or has its interval and stands behind it in the file [DEV-0.5]. */
static bool starts_last(const struct trace_events *events, uint32_t a, uint32_t b)
{
    if (events->ts_ns[a] != events->ts_ns[b]) {
        return events->ts_ns[a] > events->ts_ns[b];
    }
    int64_t dur_ns = trace_dur_ns(events, a);
    int64_t other_ns = trace_dur_ns(events, b);
    return dur_ns != other_ns ? dur_ns < other_ns : a > b;
}

/* An event of an operator's category is an operator here, whatever else its name makes of it: a
 * step, a module or a profile of Lightning. */
static bool is_named(const struct trace_index *index, uint32_t event)
{
    return index_class(index, event) != INDEX_OPERATOR &&
           trace_kind(&index->trace->events, event) == EVENT_OPERATOR;
}

static bool runs_at(const struct trace_events *events, uint32_t event, int64_t at_ns)
{
    return events->ts_ns[event] == at_ns ||
           saturating_add(events->ts_ns[event], trace_dur_ns(events, event)) > at_ns;
}

/* `running` has room for those of the thread; what starts with a call runs then, however short. */
static void find_named_of_calls(struct accounting *a, struct index_range thread, uint32_t *running)
{
    const struct trace_index *index = a->index;
    const struct trace_events *events = &index->trace->events;
    size_t depth = 0;
    uint32_t next = thread.first;
    for (uint32_t place = thread.first; place < thread.end; place++) {
        uint32_t event = index->in_order[place];
        int64_t at_ns = events->ts_ns[event];
        for (; next < thread.end && events->ts_ns[index->in_order[next]] <= at_ns; next++) {
            if (is_named(index, index->in_order[next])) {
                running[depth++] = index->in_order[next];
            }
        }
        if (index_is_call(index_class(index, event))) {
            while (depth > 0 && !runs_at(events, running[depth - 1], at_ns)) {
                depth--;
            }
            a->named[event] = depth == 0 ? INDEX_NONE : running[depth - 1];
        }
    }
}

/* False without memory. */
static bool find_named(struct accounting *a)
{
    const struct trace_index *index = a->index;
    uint32_t count = 0;
    for (uint32_t i = 0; i < index->count; i++) {
        count += is_named(index, index->in_order[i]);
    }
    if (count == 0) {
        return true;
    }
    uint32_t *running = scratch_alloc(count, sizeof *running);
    a->named = scratch_none(index->trace->events.count);
    bool ok = running != NULL && a->named != NULL;
    for (uint32_t i = 0; ok && i < index->thread_count; i++) {
        find_named_of_calls(a, index->threads[i].events, running);
    }
    scratch_free(running);
    return ok;
}

/* The operator of a call, INDEX_NONE: none. */
static uint32_t operator_of(const struct accounting *a, uint32_t call)
{
    uint32_t op = a->index->op[call];
    uint32_t named = a->named == NULL ? INDEX_NONE : a->named[call];
    bool is_named_last = named != INDEX_NONE &&
                         (op == INDEX_NONE || starts_last(&a->index->trace->events, named, op));
    return is_named_last ? named : op;
}

/* Whose the work of a call is: `*caller` is the operator, or the call itself. */
static enum device_owner owner_of(const struct accounting *a, uint32_t call, uint32_t *caller)
{
    const struct trace *trace = a->index->trace;
    *caller = call;
    if (strstr(strtab_text(trace->strings, trace->events.name[call]), "GraphLaunch") != NULL) {
        return DEVICE_OWNER_GRAPH_LAUNCH;
    }
    uint32_t op = operator_of(a, call);
    if (op == INDEX_NONE) {
        return DEVICE_OWNER_CALL;
    }
    *caller = op;
    return DEVICE_OWNER_OPERATOR;
}

static bool add_own(struct accounting *a, uint32_t event)
{
    uint32_t caller = 0;
    uint32_t row = 0;
    enum device_owner owner = owner_of(a, a->index->launch[event], &caller);
    if (!find_own_row(a, owner, a->index->trace->events.name[caller], &row) ||
        !add_work(a, row, event)) {
        return false;
    }
    a->rows[row].calls += !a->is_counted[caller];
    a->is_counted[caller] = true;
    return true;
}

/* ---- work of graphs ---- */

/* The capture that knows the graph of a launch; NULL: none. */
static const struct capture *capture_of(const struct accounting *a, uint32_t call)
{
    const struct device_captures *captures = a->captures;
    if (captures->is_given) {
        return &captures->items[0];
    }
    return capture_choose(captures->items, captures->count,
                          graph_launches_tokens(&a->graphs, a->index, call));
}

static bool add_captured(struct accounting *a,
                         uint32_t call,
                         uint32_t event,
                         const struct capture *capture,
                         const struct capture_launch *launch)
{
    bool has_op = launch->op != NULL;
    const char *name = has_op ? launch->op : launch->name;
    uint32_t text = strtab_intern(a->names, name, strlen(name));
    uint32_t row = 0;
    if (text == STRTAB_NONE ||
        !find_row(a, has_op ? DEVICE_OWNER_OPERATOR : DEVICE_OWNER_CALL, text, &row) ||
        !add_work(a, row, event)) {
        return false;
    }
    if (!has_op) {
        a->rows[row].calls++;
        return true;
    }
    uint32_t *counted_in = &a->counted_in[capture - a->captures->items][launch->op_number];
    a->rows[row].calls += *counted_in != call;
    *counted_in = call;
    return true;
}

static void note_companion(struct accounting *a, uint32_t call, const struct capture *capture)
{
    int64_t start_ns = a->index->trace->events.ts_ns[call];
    if (a->out->companion == 0 || start_ns < a->companion_start_ns) {
        a->out->companion = capture->trace_id;
        a->companion_start_ns = start_ns;
    }
}

struct graph_work {
    uint32_t *events;
    struct align_work *work;
    const struct capture_launch **calls;
    size_t count;
};

static bool make_graph_work(struct graph_work *g, size_t count)
{
    *g = (struct graph_work){.events = scratch_alloc(count, sizeof *g->events),
                             .work = scratch_alloc(count, sizeof *g->work),
                             .calls = scratch_calloc(count, sizeof(struct capture_launch *))};
    return g->events != NULL && g->work != NULL && g->calls != NULL;
}

static void free_graph_work(struct graph_work *g)
{
    SCRATCH_FREE(g->events, g->work, (void *)g->calls);
}

static void
list_graph_work(const struct accounting *a, struct index_range range, struct graph_work *g)
{
    const struct trace *trace = a->index->trace;
    for (uint32_t i = range.first; i < range.end; i++) {
        uint32_t event = a->index->launched[i];
        if (!is_sync(a, event)) {
            g->work[g->count] =
                (struct align_work){strtab_text(trace->strings, trace->events.name[event]),
                                    graph_launches_stream(&a->graphs, event)};
            g->events[g->count++] = event;
        }
    }
}

static bool align_work_of(struct accounting *a, uint32_t call, struct graph_work *g)
{
    enum alignment alignment = ALIGN_FAILED;
    const struct capture *capture = capture_of(a, call);
    if (capture != NULL && g->count > 0) {
        size_t rank = graph_launches_rank(&a->graphs, call, capture->root_count);
        note_companion(a, call, capture);
        if (!align_graph(capture, g->work, g->count, rank, &a->budget, g->calls, &alignment)) {
            return false;
        }
        a->out->alignment[alignment]++;
    }
    for (size_t i = 0; i < g->count; i++) {
        bool ok = alignment == ALIGN_FAILED
                      ? add_own(a, g->events[i])
                      : add_captured(a, call, g->events[i], capture, g->calls[i]);
        if (!ok) {
            return false;
        }
    }
    return true;
}

static bool add_graph(struct accounting *a, uint32_t call, struct index_range range)
{
    struct graph_work g;
    bool ok = make_graph_work(&g, range.end - range.first);
    if (ok) {
        list_graph_work(a, range, &g);
        ok = align_work_of(a, call, &g);
    }
    free_graph_work(&g);
    return ok;
}

/* ---- all work ---- */

static bool add_call(struct accounting *a, uint32_t call, struct index_range range)
{
    uint32_t caller = 0;
    bool ok = true;
    if (a->captures->count > 0 && owner_of(a, call, &caller) == DEVICE_OWNER_GRAPH_LAUNCH) {
        return add_graph(a, call, range);
    }
    for (uint32_t i = range.first; ok && i < range.end; i++) {
        uint32_t event = a->index->launched[i];
        ok = is_sync(a, event) || add_own(a, event);
    }
    return ok;
}

static bool add_launched(struct accounting *a)
{
    const struct trace_index *index = a->index;
    for (uint32_t i = 0; i < index->launched_count;) {
        uint32_t call = index->launch[index->launched[i]];
        struct index_range range = index_launched(index, call);
        if (!add_call(a, call, range)) {
            return false;
        }
        i = range.end;
    }
    return true;
}

static bool add_not_recorded(struct accounting *a)
{
    const struct trace_index *index = a->index;
    for (uint32_t i = 0; i < index->device_count; i++) {
        uint32_t event = index->device_work[i];
        uint32_t row = 0;
        if (index->launch[event] != INDEX_NONE || is_sync(a, event)) {
            continue;
        }
        if (!find_own_row(a, DEVICE_OWNER_NOT_RECORDED, 0, &row) || !add_work(a, row, event)) {
            return false;
        }
        a->rows[row].calls = 1;
    }
    return true;
}

/* ---- rows ---- */

ORDER_BY(compare_rows,
         struct device_operator,
         ORDER_DOWN(device_ns),
         ORDER_KEY(strcmp(device_owner_text(a->owner), device_owner_text(b->owner))),
         ORDER_TEXT(name))

/* Every row has work, and with it classes: those of row i begin at items[first]. */
static bool write_rows(struct accounting *a, struct arena *arena, struct device_operators *out)
{
    size_t first = 0;
    class_sums_sort(&a->classes_of);
    out->rows = arena_calloc(arena, a->row_count + 1, sizeof *out->rows);
    bool ok = out->rows != NULL;
    for (size_t i = 0; ok && i < a->row_count; i++) {
        const struct row *row = &a->rows[i];
        const char *name = strtab_text(a->names, row->name);
        out->rows[i] = (struct device_operator){
            .owner = row->owner,
            .name = arena_strdup(arena, name),
            .class = a->classes_of.items[first].class,
            .calls = row->calls,
            .kernels = row->kernels,
            .device_ns = row->device_ns,
        };
        out->device_ns = saturating_add(out->device_ns, row->device_ns);
        first = class_sums_end(&a->classes_of, first);
        ok = out->rows[i].name != NULL;
    }
    if (ok) {
        out->count = a->row_count;
        qsort(out->rows, out->count, sizeof *out->rows, compare_rows);
    }
    return ok;
}

/* How often a launch and a kernel may be compared for each event there is. */
#define COMPARISONS_PER_EVENT 256

static bool begin(struct accounting *a)
{
    size_t capture_count = a->captures->count;
    const struct trace *trace = a->index->trace;
    a->names = strtab_create();
    a->name_of = scratch_none(strtab_count(trace->strings));
    a->is_counted = scratch_calloc(trace->events.count, sizeof *a->is_counted);
    a->counted_in = scratch_calloc(capture_count, sizeof(uint32_t *));
    a->budget = COMPARISONS_PER_EVENT * ((int64_t)trace->events.count + 1);
    bool ok =
        a->names != NULL && a->name_of != NULL && a->is_counted != NULL && a->counted_in != NULL;
    for (size_t i = 0; ok && i < capture_count; i++) {
        a->counted_in[i] = scratch_none(a->captures->items[i].op_count);
        a->budget += COMPARISONS_PER_EVENT * (int64_t)a->captures->items[i].launch_count;
        ok = a->counted_in[i] != NULL;
    }
    return ok && find_named(a) &&
           (capture_count == 0 || graph_launches_build(&a->graphs, a->index));
}

static void end(struct accounting *a)
{
    for (size_t i = 0; a->counted_in != NULL && i < a->captures->count; i++) {
        scratch_free(a->counted_in[i]);
    }
    scratch_free((void *)a->counted_in);
    graph_launches_free(&a->graphs);
    work_classes_free(&a->classes);
    id_map_free(&a->row_of);
    class_sums_free(&a->classes_of);
    strtab_destroy(a->names);
    SCRATCH_FREE(a->name_of, a->rows, a->is_counted, a->named);
}

bool device_operators_analyse(const struct trace *trace,
                              const struct kernel_rules *own,
                              const struct device_captures *captures,
                              struct arena *arena,
                              struct device_operators *out)
{
    struct trace_index index;
    struct accounting a = {.index = &index, .captures = captures, .out = out};
    *out = (struct device_operators){.count = 0};
    id_map_init(&a.row_of);
    class_sums_init(&a.classes_of);
    bool ok = index_build(&index, trace) && begin(&a) &&
              work_classes_build(&a.classes, &index, own) && add_launched(&a) &&
              add_not_recorded(&a) && write_rows(&a, arena, out);
    end(&a);
    index_free(&index);
    return ok;
}

const char *device_owner_text(enum device_owner owner)
{
    static const char *const texts[DEVICE_OWNER_COUNT] = {"call", "graph_launch",
                                                          "launch_not_recorded", "operator"};
    return texts[owner];
}

/* ---- the rows as a table ---- */

static const char *word_of_owner(int value)
{
    return device_owner_text((enum device_owner)value);
}
#define IS_OWNER .kind = TABLE_WORD, .word = word_of_owner, .last = DEVICE_OWNER_OPERATOR

#define TABLE_DEF "ingest/model/tables/operators/device_operator.def"
#define TABLE_ROW struct device_operator
#include "ingest/model/tables/describe.h"

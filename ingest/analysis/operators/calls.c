#include "ingest/analysis/operators/calls.h"

#include "ingest/analysis/launches/launches.h"
#include "ingest/analysis/operators/operators.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"

enum operator_flag {
    OPERATOR_LAUNCHES = 1,         /* device work itself */
    OPERATOR_TENSOR = 1 << 1,      /* could use matrix units */
    OPERATOR_TENSOR_BELOW = 1 << 2 /* some operator inside it could */
};

/* Sums over the device work of launching calls before the one of that rank. */
struct device_sums {
    int64_t all;
    int64_t tensor;
};

/* Operator calls, numbered as they stand in the index. */
struct operator_calls {
    const struct trace_index *index;
    struct event_classes *sel;
    struct launched_time *launched;
    uint32_t count;
    uint32_t *event;
    uint32_t *end;  /* number behind the last call inside */
    uint32_t *rank; /* launching calls before this one; one entry more */
    int64_t *host_self_ns;
    uint8_t *flags;           /* enum operator_flag */
    uint32_t *number;         /* by event */
    bool *is_framed;          /* by event: it is, or lies in, a Python frame */
    struct device_sums *sums; /* by rank, one more than there are launching calls */
};

/* ---- host ---- */

static bool number_calls(struct operator_calls *c)
{
    const struct trace_index *index = c->index;
    const struct trace_events *events = &index->trace->events;
    size_t count = index->class_count[INDEX_OPERATOR];
    c->event = scratch_alloc(count, sizeof *c->event);
    c->end = scratch_alloc(count, sizeof *c->end);
    c->rank = scratch_alloc(count + 1, sizeof *c->rank);
    c->host_self_ns = scratch_alloc(count, sizeof *c->host_self_ns);
    c->flags = scratch_calloc(count, sizeof *c->flags);
    c->number = scratch_alloc(events->count, sizeof *c->number);
    c->is_framed = scratch_calloc(events->count, sizeof *c->is_framed);
    if (c->event == NULL || c->end == NULL || c->rank == NULL || c->host_self_ns == NULL ||
        c->flags == NULL || c->number == NULL || c->is_framed == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < index->count; i++) {
        uint32_t event = index->in_order[i];
        enum index_class class = index_class(index, event);
        uint32_t parent = index->parent[event];
        c->is_framed[event] =
            index_is_frame(class) || (parent != INDEX_NONE && c->is_framed[parent]);
        if (class == INDEX_OPERATOR) {
            c->number[event] = c->count;
            c->end[c->count] = c->count + 1;
            c->host_self_ns[c->count] = trace_dur_ns(events, event);
            c->event[c->count++] = event;
        }
    }
    return true;
}

/* The part of an event that nothing before it covers; `covered`: by call, until when. */
static void take_host_time(struct operator_calls *c, int64_t *covered, uint32_t event)
{
    const struct trace_events *events = &c->index->trace->events;
    uint32_t around = c->index->op[event];
    if (around == INDEX_NONE) {
        return;
    }
    uint32_t call = c->number[around];
    int64_t end = saturating_add(events->ts_ns[event], trace_dur_ns(events, event));
    int64_t limit = saturating_add(events->ts_ns[around], trace_dur_ns(events, around));
    int64_t from = i64_max(covered[call], events->ts_ns[event]);
    int64_t to = i64_min(end, limit);
    if (to > from) {
        c->host_self_ns[call] -= to - from;
        covered[call] = to;
    }
}

static bool find_host_self(struct operator_calls *c)
{
    const struct trace_index *index = c->index;
    int64_t *covered = scratch_alloc(c->count, sizeof *covered);
    if (covered == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        covered[i] = index->trace->events.ts_ns[c->event[i]];
    }
    for (uint32_t i = 0; i < index->count; i++) {
        uint32_t event = index->in_order[i];
        enum index_class class = index_class(index, event);
        if (class == INDEX_OPERATOR || index_is_call(class)) {
            take_host_time(c, covered, event);
        }
    }
    scratch_free(covered);
    return true;
}

/* ---- device ---- */

static uint32_t kernel_flags(struct operator_calls *c, uint32_t event)
{
    bool is_kernel = c->sel->class[event] == INDEX_KERNEL;
    return is_kernel ? names_kernel_flags(&c->sel->names, c->sel->name[event]) : 0;
}

static void rank_calls(struct operator_calls *c)
{
    const struct trace_index *index = c->index;
    for (uint32_t i = 0; i < index->device_count; i++) {
        uint32_t launcher = index->op[index->device_work[i]];
        if (launcher != INDEX_NONE) {
            c->flags[c->number[launcher]] |= OPERATOR_LAUNCHES;
        }
    }
    uint32_t rank = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        c->rank[i] = rank;
        rank += (c->flags[i] & OPERATOR_LAUNCHES) != 0;
    }
    c->rank[c->count] = rank;
}

/* Answers how long all device work took. */
static int64_t sum_device_work(struct operator_calls *c)
{
    const struct trace_index *index = c->index;
    int64_t device_ns = 0;
    for (uint32_t i = 0; i < index->device_count; i++) {
        uint32_t event = index->device_work[i];
        int64_t dur_ns = trace_dur_ns(&index->trace->events, event);
        device_ns = saturating_add(device_ns, dur_ns);
        if (index->op[event] == INDEX_NONE) {
            continue;
        }
        uint32_t call = c->number[index->op[event]];
        struct device_sums *sums = &c->sums[c->rank[call] + 1];
        uint32_t name_flags = kernel_flags(c, event);
        sums->all = saturating_add(sums->all, dur_ns);
        if ((name_flags & NAME_TENSOR_KERNEL) != 0) {
            sums->tensor = saturating_add(sums->tensor, dur_ns);
            c->flags[call] |= OPERATOR_TENSOR;
        }
    }
    for (uint32_t rank = 0; rank < c->rank[c->count]; rank++) {
        struct device_sums *next = &c->sums[rank + 1];
        next->all = saturating_add(next->all, c->sums[rank].all);
        next->tensor = saturating_add(next->tensor, c->sums[rank].tensor);
    }
    return device_ns;
}

/* An operator could use Tensor Cores by its name, by a kernel of its own, or because one inside it
 * could. Children stand behind their parents. */
static void pass_up(struct operator_calls *c)
{
    const struct trace_index *index = c->index;
    for (uint32_t i = c->count; i-- > 0;) {
        uint32_t event = c->event[i];
        uint32_t name_flags = names_flags(&c->sel->names, c->sel->name[event]);
        c->flags[i] |= (name_flags & NAME_TENSOR_OPERATOR) != 0 ? OPERATOR_TENSOR : 0;
        if (index->op[event] == INDEX_NONE) {
            continue;
        }
        uint32_t around = c->number[index->op[event]];
        c->end[around] = c->end[i] > c->end[around] ? c->end[i] : c->end[around];
        c->flags[around] |= c->flags[i] & OPERATOR_TENSOR;
        c->flags[around] |= (c->flags[i] & OPERATOR_TENSOR) != 0 ? OPERATOR_TENSOR_BELOW : 0;
    }
}

static bool find_device_time(struct operator_calls *c, int64_t *device_ns)
{
    rank_calls(c);
    c->sums = scratch_calloc((size_t)c->rank[c->count] + 1, sizeof *c->sums);
    if (c->sums == NULL) {
        return false;
    }
    *device_ns = sum_device_work(c);
    pass_up(c);
    return true;
}

/* ---- what the tables ask for ---- */

static uint32_t operator_event(const void *context, size_t at)
{
    const struct operator_calls *c = context;
    return c->event[at];
}

static void operator_figures(const void *context, size_t at, struct operator_figures *out)
{
    const struct operator_calls *c = context;
    const struct device_sums *before = &c->sums[c->rank[at]];
    const struct device_sums *own = before + ((c->flags[at] & OPERATOR_LAUNCHES) != 0);
    const struct device_sums *all = &c->sums[c->rank[c->end[at]]];
    *out = (struct operator_figures){
        .duration = trace_dur_ns(&c->index->trace->events, c->event[at]),
        .host_self = c->host_self_ns[at],
        .device_total = saturating_sub(all->all, before->all),
        .device_self = saturating_sub(own->all, before->all),
        .tensor_total = saturating_sub(all->tensor, before->tensor),
        .tensor_self = saturating_sub(own->tensor, before->tensor),
        .tensor_eligible = (c->flags[at] & OPERATOR_TENSOR) != 0,
    };
}

static bool feed_kernels(struct launches *launches, void *context)
{
    struct operator_calls *c = context;
    const struct events_in_time work = c->sel->lists[LIST_DEVICE];
    bool ok = true;
    for (uint32_t i = 0; ok && i < work.count; i++) {
        uint32_t event = work.items[i];
        uint32_t launcher = c->index->op[event];
        if (c->sel->class[event] != INDEX_KERNEL) {
            continue;
        }
        if (launcher == INDEX_NONE) {
            ok = launches_add(launches, event, 0, 0);
            continue;
        }
        uint32_t name = c->sel->name[launcher];
        uint8_t flags = c->flags[c->number[launcher]];
        bool is_bottom = (flags & OPERATOR_TENSOR) != 0 && (flags & OPERATOR_TENSOR_BELOW) == 0;
        launched_time_add(c->launched, c->sel, is_bottom, event);
        ok = launches_add(launches, event, name, names_flags(&c->sel->names, name));
    }
    return ok;
}

static void free_calls(struct operator_calls *c)
{
    SCRATCH_FREE(c->event, c->end, c->rank, c->host_self_ns, c->flags, c->number, c->is_framed,
                 c->sums);
}

static struct operator_source source_of(const struct operator_calls *c)
{
    return (struct operator_source){.count = c->count,
                                    .event = operator_event,
                                    .figures = operator_figures,
                                    .context = c,
                                    .is_framed = c->is_framed,
                                    .groups = OPERATOR_ALL_GROUPS};
}

bool operator_calls_run(struct trace_results *results,
                        struct texts *texts,
                        struct event_classes *sel,
                        const struct trace_index *index,
                        struct launched_time *launched)
{
    struct operator_calls c = {.index = index, .sel = sel, .launched = launched};
    *launched = (struct launched_time){0};
    bool ok = number_calls(&c) && find_host_self(&c) && find_device_time(&c, &results->device_ns);
    const struct operator_source source = source_of(&c);
    ok = ok && operators_run(results, texts, sel, &source) &&
         launches_run(results, texts, sel, feed_kernels, &c);
    free_calls(&c);
    return ok;
}

bool operator_calls_by_stack(struct trace_results *results,
                             struct event_classes *sel,
                             const struct trace_index *index,
                             const uint32_t *stack,
                             enum operator_group by)
{
    struct operator_calls c = {.index = index, .sel = sel};
    struct texts texts = {.copies = NULL};
    bool ok = texts_init(&texts, &results->arena, &sel->names) && number_calls(&c) &&
              find_host_self(&c) && find_device_time(&c, &results->device_ns);
    struct operator_source source = source_of(&c);
    source.stack = stack;
    source.groups = 1u << by;
    ok = ok && operators_run(results, &texts, sel, &source);
    free_calls(&c);
    texts_free(&texts);
    return ok;
}

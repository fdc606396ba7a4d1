#include "ingest/analysis/collectives/collectives.h"

#include "ingest/analysis/classify/collective_kinds.h"
#include "ingest/analysis/classify/tb_clock.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"

/* ---- what events say ---- */

struct mark {
    int64_t thread;
    uint32_t event;
    uint32_t args;       /* index into trace.collectives, COLLECTIVE_NOTHING */
    uint32_t collective; /* whose part it is */
};

struct collecting {
    struct collectives *ours;
    struct event_classes *sel;
    const struct launch_correlation *links;
    uint32_t *args_of; /* by event: index into trace.collectives; NULL: there are none */
    struct mark *marks;
    uint32_t mark_count;
    size_t marks_cap;
    uint32_t *by_thread; /* marks thread by thread, by (start, -end) */
    uint32_t *outer;     /* the outermost of them, in that order */
    uint32_t outer_count;
    struct id_map ids; /* external ids of marks: the value is the mark */
};

static bool read_args(struct collecting *c)
{
    const struct trace *trace = c->sel->trace;
    if (trace->collective_count == 0) {
        return true;
    }
    c->args_of = scratch_none(trace->events.count);
    for (uint32_t i = 0; c->args_of != NULL && i < trace->collective_count; i++) {
        const char *name = strtab_text(trace->strings, trace->collectives[i].name);
        if (*name != '\0' && !collective_is_bookkeeping(name)) {
            c->args_of[trace->collectives[i].event] = i;
        }
    }
    return c->args_of != NULL;
}

static uint32_t args_of(const struct collecting *c, uint32_t event)
{
    return c->args_of == NULL ? COLLECTIVE_NOTHING : c->args_of[event];
}

static bool is_device_annotation(const struct event_classes *sel, uint32_t event)
{
    return trace_kind(&sel->trace->events, event) == EVENT_GPU_USER_ANNOTATION;
}

static bool is_named(const struct event_classes *sel, uint32_t event)
{
    enum event_type type = (enum event_type)sel->type[event];
    return classify_is_host(type) && type != TYPE_PL_MODULE && type != TYPE_MODULE &&
           (sel->names.flags[sel->name[event]] & NAME_OUR_COLLECTIVE) != 0;
}

static bool is_host_mark(const struct collecting *c, uint32_t event)
{
    enum event_type type = (enum event_type)c->sel->type[event];
    bool has_args = classify_is_host(type) && args_of(c, event) != COLLECTIVE_NOTHING;
    return (has_args || is_named(c->sel, event)) && !is_device_annotation(c->sel, event);
}

/* Threads as the operator tree has them: by number. */
static int64_t thread_of(const struct event_classes *sel, uint32_t event)
{
    uint32_t track = trace_event_track(&sel->trace->events, event);
    bool has_number = sel->trace->tracks[track].tid_int_valid;
    return has_number ? sel->trace->tracks[track].tid_int : -(int64_t)track - 1;
}

/* An id that is a copy of the correlation is none. */
static int64_t own_id(const struct event_classes *sel, uint32_t event)
{
    int64_t id = trace_external_id(&sel->trace->events, event);
    bool is_copy = !classify_is_host((enum event_type)sel->type[event]) &&
                   id == trace_correlation(&sel->trace->events, event);
    return is_copy ? TRACE_NO_ID : id;
}

/* ---- collectives and their device work ---- */

static bool
add_collective(struct collecting *c, uint32_t anchor, uint32_t args, uint32_t *collective)
{
    struct collectives *ours = c->ours;
    struct our_collective *items =
        scratch_grow(ours->items, ours->count, &ours->items_cap, sizeof *items);
    if (items == NULL) {
        return false;
    }
    ours->items = items;
    *collective = ours->count++;
    items[*collective] = (struct our_collective){
        .anchor = anchor, .args = args, .named = COLLECTIVE_NOTHING, .kernel = COLLECTIVE_NOTHING};
    return true;
}

static bool add_work(struct collecting *c, uint32_t collective, uint32_t event)
{
    struct collectives *ours = c->ours;
    struct our_device_work *work =
        scratch_grow(ours->work, ours->work_count, &ours->work_cap, sizeof *work);
    if (work == NULL) {
        return false;
    }
    ours->work = work;
    work[ours->work_count++] = (struct our_device_work){collective, event};
    ours->items[collective].device_count++;
    return true;
}

/* ---- marks ---- */

static bool add_mark(struct collecting *c, uint32_t event)
{
    struct mark *marks = scratch_grow(c->marks, c->mark_count, &c->marks_cap, sizeof *marks);
    if (marks == NULL) {
        return false;
    }
    c->marks = marks;
    marks[c->mark_count] = (struct mark){.thread = thread_of(c->sel, event),
                                         .event = event,
                                         .args = args_of(c, event),
                                         .collective = COLLECTIVE_NOTHING};
    int64_t id = own_id(c->sel, event);
    struct id_slot *slot = id == TRACE_NO_ID ? NULL : id_map_add(&c->ids, id);
    if (slot != NULL) {
        slot->value = c->mark_count;
    }
    c->mark_count++;
    return slot != NULL || id == TRACE_NO_ID;
}

static bool find_marks(struct collecting *c)
{
    const struct event_classes *sel = c->sel;
    if (c->args_of == NULL && (sel->seen_names & NAME_OUR_COLLECTIVE) == 0) {
        return true;
    }
    const struct events_in_time host = sel->lists[LIST_HOST];
    bool ok = true;
    for (uint32_t i = 0; ok && i < host.count; i++) {
        ok = !is_host_mark(c, host.items[i]) || add_mark(c, host.items[i]);
    }
    return ok;
}

static int by_thread_and_time(uint32_t a, uint32_t b, const void *ctx)
{
    const struct collecting *c = ctx;
    int64_t thread_a = c->marks[a].thread;
    int64_t thread_b = c->marks[b].thread;
    if (thread_a != thread_b) {
        return thread_a < thread_b ? -1 : 1;
    }
    return tb_clock_compare(c->sel, c->marks[a].event, c->marks[b].event);
}

static bool encloses(const struct collecting *c, const struct mark *mark, uint32_t event)
{
    return mark->thread == thread_of(c->sel, event) &&
           tb_clock_start_key(c->sel, mark->event) <= tb_clock_start_key(c->sel, event) &&
           tb_clock_end_key(c->sel, mark->event) >= tb_clock_end_key(c->sel, event);
}

static void join_mark(struct collecting *c, uint32_t mark, uint32_t collective)
{
    struct our_collective *item = &c->ours->items[collective];
    c->marks[mark].collective = collective;
    item->args = item->args == COLLECTIVE_NOTHING ? c->marks[mark].args : item->args;
    if (item->named == COLLECTIVE_NOTHING && is_named(c->sel, c->marks[mark].event)) {
        item->named = c->marks[mark].event;
    }
}

/* A collective for each mark that lies in no other. */
static bool nest_marks(struct collecting *c)
{
    c->by_thread = scratch_alloc(c->mark_count, sizeof *c->by_thread);
    c->outer = scratch_alloc(c->mark_count, sizeof *c->outer);
    if (c->by_thread == NULL || c->outer == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < c->mark_count; i++) {
        c->by_thread[i] = i;
    }
    if (!sort_stable(c->by_thread, c->mark_count, by_thread_and_time, c)) {
        return false;
    }
    uint32_t collective = COLLECTIVE_NOTHING;
    for (uint32_t i = 0; i < c->mark_count; i++) {
        uint32_t mark = c->by_thread[i];
        uint32_t event = c->marks[mark].event;
        bool is_inside =
            c->outer_count > 0 && encloses(c, &c->marks[c->outer[c->outer_count - 1]], event);
        if (!is_inside) {
            if (!add_collective(c, event, COLLECTIVE_NOTHING, &collective)) {
                return false;
            }
            c->outer[c->outer_count++] = mark;
        }
        join_mark(c, mark, collective);
    }
    return true;
}

/* ---- device work ---- */

static uint32_t collective_of_id(const struct collecting *c, uint32_t event)
{
    int64_t id = own_id(c->sel, event);
    const struct id_slot *slot = id == TRACE_NO_ID ? NULL : id_map_find(&c->ids, id);
    return slot == NULL ? COLLECTIVE_NOTHING : c->marks[slot->value].collective;
}

/* The collective inside whose outermost mark a launch lies. */
static uint32_t collective_around(const struct collecting *c, uint32_t launch)
{
    int64_t thread = thread_of(c->sel, launch);
    int64_t start_key = tb_clock_start_key(c->sel, launch);
    uint32_t low = 0;
    uint32_t high = c->outer_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct mark *mark = &c->marks[c->outer[middle]];
        bool is_before =
            mark->thread < thread ||
            (mark->thread == thread && tb_clock_start_key(c->sel, mark->event) <= start_key);
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    const struct mark *mark = low == 0 ? NULL : &c->marks[c->outer[low - 1]];
    return mark != NULL && encloses(c, mark, launch) ? mark->collective : COLLECTIVE_NOTHING;
}

static bool is_collective_work(const struct collecting *c, uint32_t event)
{
    struct event_classes *sel = c->sel;
    return sel->type[event] == TYPE_KERNEL &&
           (names_kernel_flags(&sel->names, sel->name[event]) & NAME_COLLECTIVE_KERNEL) != 0;
}

/* `launch`: the runtime call's event, COLLECTIVE_NOTHING when it was not recorded. */
static bool join_work(struct collecting *c, uint32_t event, uint32_t launch)
{
    uint32_t collective = collective_of_id(c, event);
    if (collective == COLLECTIVE_NOTHING && launch != COLLECTIVE_NOTHING) {
        collective = collective_around(c, launch);
    }
    uint32_t anchor = launch == COLLECTIVE_NOTHING ? event : launch;
    if (collective == COLLECTIVE_NOTHING &&
        !add_collective(c, anchor, COLLECTIVE_NOTHING, &collective)) {
        return false;
    }
    struct our_collective *item = &c->ours->items[collective];
    item->kernel = item->kernel == COLLECTIVE_NOTHING ? event : item->kernel;
    item->args = item->args == COLLECTIVE_NOTHING ? args_of(c, event) : item->args;
    return add_work(c, collective, event);
}

static bool note_device_event(struct collecting *c, uint32_t event)
{
    struct collectives *ours = c->ours;
    if (ours->communicates == NULL) {
        ours->communicates =
            scratch_calloc(c->sel->trace->events.count, sizeof *ours->communicates);
    }
    if (ours->communicates == NULL) {
        return false;
    }
    ours->communicates[event] = true;
    return true;
}

static bool find_work(struct collecting *c)
{
    const struct launch_correlation *links = c->links;
    for (uint32_t d = 0; d < links->device_count; d++) {
        uint32_t event = links->device_event[d];
        if (!is_collective_work(c, event)) {
            continue;
        }
        uint32_t runtime = links->device_runtime[d];
        uint32_t launch =
            runtime == LAUNCH_NONE ? COLLECTIVE_NOTHING : links->runtime_event[runtime];
        if (!join_work(c, event, launch) || !note_device_event(c, event)) {
            return false;
        }
    }
    return true;
}

/* Annotations of the device have the id of the host's. */
static bool find_annotations(struct collecting *c)
{
    const struct event_classes *sel = c->sel;
    bool has_kernels = c->ours->work_count > 0;
    bool ok = true;
    if ((sel->seen_names & NAME_OUR_COLLECTIVE) == 0) {
        return true;
    }
    const struct events_in_time annotations = sel->lists[LIST_HOST];
    for (uint32_t i = 0; ok && i < annotations.count; i++) {
        uint32_t event = annotations.items[i];
        if (!is_device_annotation(sel, event) || !is_named(sel, event)) {
            continue;
        }
        uint32_t collective = collective_of_id(c, event);
        bool is_new = collective == COLLECTIVE_NOTHING && !has_kernels;
        if (is_new) {
            ok = add_collective(c, event, COLLECTIVE_NOTHING, &collective);
        }
        bool has_mark = ok && collective != COLLECTIVE_NOTHING;
        if (has_mark && c->ours->items[collective].kernel == COLLECTIVE_NOTHING) {
            struct our_collective *item = &c->ours->items[collective];
            item->named = item->named == COLLECTIVE_NOTHING ? event : item->named;
            ok = add_work(c, collective, event);
        }
    }
    return ok;
}

bool collectives_collect(struct collectives *ours,
                         struct event_classes *sel,
                         const struct launch_correlation *links)
{
    struct collecting c = {.ours = ours, .sel = sel, .links = links};
    *ours = (struct collectives){0};
    id_map_init(&c.ids);
    bool ok =
        read_args(&c) && find_marks(&c) && nest_marks(&c) && find_work(&c) && find_annotations(&c);
    id_map_free(&c.ids);
    scratch_free(c.args_of);
    scratch_free(c.marks);
    scratch_free(c.by_thread);
    scratch_free(c.outer);
    return ok;
}

void collectives_free(struct collectives *ours)
{
    scratch_free(ours->items);
    scratch_free(ours->work);
    scratch_free(ours->communicates);
    *ours = (struct collectives){0};
}

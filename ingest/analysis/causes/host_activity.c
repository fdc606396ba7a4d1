#include "ingest/analysis/causes/host_activity.h"

#include "ingest/base/containers/segment_tree.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

/* Kinds whose stretches are stored; between them nothing is open. */
#define STORED_KINDS ((unsigned)HOST_NOTHING)

/* An unbroken stretch of one kind and one innermost event. */
struct stretch {
    int64_t start_ns, end_ns;
    uint32_t event; /* CAUSES_NONE: data is loaded, by an annotation alone */
    uint8_t kind;
};

struct stretches {
    struct stretch *items;
    size_t count, cap;
};

struct interval {
    int64_t start_ns, end_ns;
};

/* Sums are kept of every so many stretches: the rest is added when it is asked for. */
#define STRETCHES_PER_SUM 16

struct kind_lengths {
    int64_t ns[STORED_KINDS];
};

struct thread {
    bool is_built;
    uint32_t first, end; /* of `events` */
    struct stretches stretches;
    struct kind_lengths *until; /* [i]: of the stretches before number i * STRETCHES_PER_SUM */
    struct segment_tree longest[STORED_KINDS];
    bool has_longest[STORED_KINDS];
};

struct host_activity {
    const struct causes *causes;
    uint32_t *thread_of_track;
    uint32_t *events; /* that play a role on the host, by thread, in file order */
    struct thread *threads;
    uint32_t thread_count;
};

const char *host_kind_text(enum host_kind kind)
{
    static const char *const texts[HOST_KIND_COUNT] = {
        "synchronisation", "data_loading", "operator", "runtime", "python", "nothing", "unknown"};
    return texts[kind];
}

/* ---- threads ---- */

static bool is_of_host(enum causes_role role)
{
    return role == CAUSES_OPERATOR || role == CAUSES_CALL || role == CAUSES_PYTHON ||
           role == CAUSES_ANNOTATION;
}

static int compare_tracks(uint32_t a, uint32_t b, const void *tracks_void)
{
    const struct trace_track *tracks = tracks_void;
    if (tracks[a].pid_text != tracks[b].pid_text) {
        return tracks[a].pid_text < tracks[b].pid_text ? -1 : 1;
    }
    return (tracks[a].tid_text > tracks[b].tid_text) - (tracks[a].tid_text < tracks[b].tid_text);
}

/* Tracks with equal texts are one thread, whether they are numbers or texts. */
static bool number_threads(struct host_activity *activity)
{
    const struct trace *trace = activity->causes->trace;
    uint32_t *order = scratch_alloc(trace->track_count, sizeof *order);
    activity->thread_of_track = scratch_alloc(trace->track_count, sizeof(uint32_t));
    bool ok = order != NULL && activity->thread_of_track != NULL;
    for (uint32_t i = 0; ok && i < trace->track_count; i++) {
        order[i] = i;
    }
    ok = ok && sort_stable(order, trace->track_count, compare_tracks, trace->tracks);
    for (uint32_t i = 0; ok && i < trace->track_count; i++) {
        bool is_new = i == 0 || compare_tracks(order[i - 1], order[i], trace->tracks) != 0;
        activity->thread_count += is_new ? 1 : 0;
        activity->thread_of_track[order[i]] = activity->thread_count - 1;
    }
    scratch_free(order);
    return ok;
}

static uint32_t thread_of(const struct host_activity *activity, uint32_t event)
{
    return activity->thread_of_track[trace_event_track(&activity->causes->trace->events, event)];
}

static bool list_events(struct host_activity *activity)
{
    const struct causes *causes = activity->causes;
    uint32_t count = causes->trace->events.count;
    uint32_t *places = scratch_calloc((size_t)activity->thread_count + 1, sizeof *places);
    activity->threads =
        scratch_calloc((size_t)activity->thread_count + 1, sizeof *activity->threads);
    bool ok = places != NULL && activity->threads != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        places[thread_of(activity, i)] += is_of_host(causes_role(causes, i)) ? 1 : 0;
    }
    if (ok) {
        activity->events =
            scratch_alloc(sort_places(places, activity->thread_count), sizeof *activity->events);
        ok = activity->events != NULL;
    }
    for (uint32_t i = 0; ok && i < activity->thread_count; i++) {
        activity->threads[i].first = places[i];
        activity->threads[i].end = places[i];
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        if (is_of_host(causes_role(causes, i))) {
            activity->events[activity->threads[thread_of(activity, i)].end++] = i;
        }
    }
    scratch_free(places);
    return ok;
}

struct host_activity *host_activity_create(const struct causes *causes)
{
    struct host_activity *activity = scratch_calloc(1, sizeof *activity);
    if (activity == NULL) {
        return NULL;
    }
    activity->causes = causes;
    if (!number_threads(activity) || !list_events(activity)) {
        host_activity_destroy(activity);
        return NULL;
    }
    return activity;
}

static void free_thread(struct thread *thread)
{
    SCRATCH_FREE(thread->stretches.items, thread->until);
    for (unsigned kind = 0; kind < STORED_KINDS; kind++) {
        if (thread->has_longest[kind]) {
            segment_tree_free(&thread->longest[kind]);
        }
    }
}

void host_activity_destroy(struct host_activity *activity)
{
    if (activity == NULL) {
        return;
    }
    for (uint32_t i = 0; activity->threads != NULL && i < activity->thread_count; i++) {
        free_thread(&activity->threads[i]);
    }
    SCRATCH_FREE(activity->threads, activity->events, activity->thread_of_track, activity);
}

/* ---- stretches of a thread ---- */

static bool append(
    struct stretches *list, int64_t start_ns, int64_t end_ns, uint32_t event, enum host_kind kind)
{
    struct stretch *last = list->count == 0 ? NULL : &list->items[list->count - 1];
    if (start_ns >= end_ns) {
        return true;
    }
    if (last != NULL && last->end_ns == start_ns && last->event == event &&
        last->kind == (uint8_t)kind) {
        last->end_ns = end_ns;
        return true;
    }
    struct stretch *grown = scratch_grow(list->items, list->count, &list->cap, sizeof *list->items);
    if (grown == NULL) {
        return false;
    }
    list->items = grown;
    grown[list->count++] = (struct stretch){start_ns, end_ns, event, (uint8_t)kind};
    return true;
}

static int compare_nesting(uint32_t a, uint32_t b, const void *events_void)
{
    const struct trace_events *events = events_void;
    if (events->ts_ns[a] != events->ts_ns[b]) {
        return events->ts_ns[a] < events->ts_ns[b] ? -1 : 1;
    }
    int64_t a_ns = trace_dur_ns(events, a);
    int64_t b_ns = trace_dur_ns(events, b);
    return (a_ns < b_ns) - (a_ns > b_ns);
}

static enum host_kind kind_of(const struct causes *causes, uint32_t event)
{
    switch (causes_role(causes, event)) {
    case CAUSES_CALL:
        return causes_name_is(causes, event, CAUSES_SYNCHRONISES) ? HOST_SYNCHRONISATION
                                                                  : HOST_RUNTIME;
    case CAUSES_OPERATOR:
        return HOST_OPERATOR;
    case CAUSES_PYTHON:
    case CAUSES_ANNOTATION:
    case CAUSES_DEVICE:
    case CAUSES_STREAM_OPERATOR:
    case CAUSES_STREAM_CALL:
    case CAUSES_STREAM_OTHER:
    case CAUSES_LEFT_OUT:
        break;
    }
    return HOST_PYTHON;
}

/* An open event; ends are cut at the parent's. */
struct open {
    uint32_t event;
    int64_t end_ns;
};

/* Walks the events of a thread in order of start. */
struct walk {
    const struct causes *causes;
    struct open *stack;
    size_t depth;
    int64_t at_ns;            /* up to here all is told */
    struct stretches top;     /* by innermost event */
    struct interval *loading; /* when data is loaded, in order of start */
    size_t loading_count;
};

static bool tell_until(struct walk *walk, int64_t ns)
{
    const struct open *top = &walk->stack[walk->depth - 1];
    bool ok = append(&walk->top, walk->at_ns, ns, top->event, kind_of(walk->causes, top->event));
    walk->at_ns = i64_max(walk->at_ns, ns);
    return ok;
}

static bool close_until(struct walk *walk, int64_t ns)
{
    bool ok = true;
    while (ok && walk->depth > 0 && walk->stack[walk->depth - 1].end_ns <= ns) {
        ok = tell_until(walk, walk->stack[walk->depth - 1].end_ns);
        walk->depth--;
    }
    return ok;
}

static bool open_event(struct walk *walk, uint32_t event)
{
    const struct trace_events *events = &walk->causes->trace->events;
    int64_t start_ns = events->ts_ns[event];
    int64_t end_ns = start_ns + trace_dur_ns(events, event);
    bool is_annotation = walk->causes->role[event] == CAUSES_ANNOTATION;
    bool loads = causes_name_is(walk->causes, event, CAUSES_LOADS_DATA);
    if (!close_until(walk, start_ns) || (walk->depth > 0 && !tell_until(walk, start_ns))) {
        return false;
    }
    if (!is_annotation && walk->depth > 0) {
        end_ns = i64_min(end_ns, walk->stack[walk->depth - 1].end_ns);
    }
    if (loads && end_ns > start_ns) {
        walk->loading[walk->loading_count++] = (struct interval){start_ns, end_ns};
    }
    if (!is_annotation && end_ns > start_ns) {
        walk->at_ns = start_ns;
        walk->stack[walk->depth++] = (struct open){event, end_ns};
    }
    return true;
}

/* Adds what [start_ns, end_ns) of a stretch is while data is loaded in parts of it. */
static bool split(struct walk *walk,
                  size_t *at,
                  int64_t *told_ns,
                  const struct stretch *from,
                  struct stretches *out)
{
    int64_t ns = from->start_ns;
    bool ok = true;
    while (ok && ns < from->end_ns) {
        while (*at < walk->loading_count && walk->loading[*at].end_ns <= ns) {
            (*at)++;
        }
        const struct interval *next = *at < walk->loading_count ? &walk->loading[*at] : NULL;
        bool loads = next != NULL && next->start_ns <= ns;
        int64_t until_ns = next == NULL
                               ? from->end_ns
                               : i64_min(from->end_ns, loads ? next->end_ns : next->start_ns);
        ok = append(out, ns, until_ns, from->event,
                    loads ? HOST_DATA_LOADING : (enum host_kind)from->kind);
        ns = until_ns;
    }
    *told_ns = from->end_ns;
    return ok;
}

/* Data that is loaded in [from_ns, to_ns), where no event is open. */
static bool
load_between(struct walk *walk, size_t at, int64_t from_ns, int64_t to_ns, struct stretches *out)
{
    bool ok = true;
    for (; ok && at < walk->loading_count && walk->loading[at].start_ns < to_ns; at++) {
        ok = append(out, i64_max(from_ns, walk->loading[at].start_ns),
                    i64_min(to_ns, walk->loading[at].end_ns), CAUSES_NONE, HOST_DATA_LOADING);
    }
    return ok;
}

/* Intervals that do not overlap, from such as are in order of start. */
static void merge_loading(struct walk *walk)
{
    size_t count = 0;
    for (size_t i = 0; i < walk->loading_count; i++) {
        const struct interval *next = &walk->loading[i];
        if (count > 0 && next->start_ns <= walk->loading[count - 1].end_ns) {
            walk->loading[count - 1].end_ns =
                i64_max(walk->loading[count - 1].end_ns, next->end_ns);
        } else {
            walk->loading[count++] = *next;
        }
    }
    walk->loading_count = count;
}

static bool lay_loading_over(struct walk *walk, struct stretches *out)
{
    size_t at = 0;
    int64_t told_ns = INT64_MIN;
    bool ok = true;
    merge_loading(walk);
    if (walk->loading_count == 0) {
        *out = walk->top;
        walk->top = (struct stretches){.items = NULL};
        return true;
    }
    for (size_t i = 0; ok && i < walk->top.count; i++) {
        const struct stretch *from = &walk->top.items[i];
        while (at < walk->loading_count && walk->loading[at].end_ns <= told_ns) {
            at++;
        }
        ok = load_between(walk, at, told_ns, from->start_ns, out) &&
             split(walk, &at, &told_ns, from, out);
    }
    return ok && load_between(walk, at, told_ns, INT64_MAX, out);
}

static bool
walk_thread(struct walk *walk, const uint32_t *events, uint32_t count, struct stretches *out)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = open_event(walk, events[i]);
    }
    return ok && close_until(walk, INT64_MAX) && lay_loading_over(walk, out);
}

static void add_stretch(struct kind_lengths *sum, const struct stretch *stretch, int64_t end_ns)
{
    int64_t *ns = &sum->ns[stretch->kind];
    *ns = saturating_add(*ns, end_ns - stretch->start_ns);
}

static bool sum_kinds(struct thread *thread)
{
    struct kind_lengths sum = {.ns = {0}};
    size_t count = thread->stretches.count;
    thread->until = scratch_alloc(count / STRETCHES_PER_SUM + 1, sizeof *thread->until);
    for (size_t i = 0; thread->until != NULL && i <= count; i++) {
        if (i % STRETCHES_PER_SUM == 0) {
            thread->until[i / STRETCHES_PER_SUM] = sum;
        }
        if (i < count) {
            add_stretch(&sum, &thread->stretches.items[i], thread->stretches.items[i].end_ns);
        }
    }
    return thread->until != NULL;
}

static bool build_thread(struct host_activity *activity, struct thread *thread)
{
    uint32_t count = thread->end - thread->first;
    uint32_t *events = activity->events + thread->first;
    struct walk walk = {.causes = activity->causes,
                        .at_ns = INT64_MIN,
                        .stack = scratch_alloc(count, sizeof *walk.stack),
                        .loading = scratch_alloc(count, sizeof *walk.loading)};
    bool ok = walk.stack != NULL && walk.loading != NULL &&
              sort_stable(events, count, compare_nesting, &activity->causes->trace->events) &&
              walk_thread(&walk, events, count, &thread->stretches) && sum_kinds(thread);
    SCRATCH_FREE(walk.stack, walk.loading, walk.top.items);
    thread->is_built = ok;
    return ok;
}

/* ---- looking ---- */

static struct thread *find_thread(struct host_activity *activity, uint32_t call)
{
    struct thread *thread = &activity->threads[thread_of(activity, call)];
    return thread->is_built || build_thread(activity, thread) ? thread : NULL;
}

/* The first stretch that ends behind `ns`. */
static size_t first_after(const struct stretches *list, int64_t ns)
{
    return order_i64_below(list->items, list->count, sizeof *list->items,
                           offsetof(struct stretch, end_ns), ns, true);
}

/* The lengths of the kinds before `ns`. */
static struct kind_lengths lengths_before(const struct thread *thread, int64_t ns)
{
    size_t end = first_after(&thread->stretches, ns);
    struct kind_lengths sum = thread->until[end / STRETCHES_PER_SUM];
    const struct stretch *items = thread->stretches.items;
    for (size_t i = end - end % STRETCHES_PER_SUM; i < end; i++) {
        add_stretch(&sum, &items[i], items[i].end_ns);
    }
    if (end < thread->stretches.count && items[end].start_ns < ns) {
        add_stretch(&sum, &items[end], ns);
    }
    return sum;
}

bool host_activity_add(struct host_activity *activity,
                       uint32_t call,
                       int64_t start_ns,
                       int64_t end_ns,
                       int64_t by_kind[HOST_KIND_COUNT])
{
    int64_t rest_ns = end_ns - start_ns;
    if (call == CAUSES_NONE || rest_ns <= 0) {
        by_kind[HOST_UNKNOWN] = saturating_add(by_kind[HOST_UNKNOWN], i64_max(rest_ns, 0));
        return true;
    }
    const struct thread *thread = find_thread(activity, call);
    if (thread == NULL) {
        return false;
    }
    const struct kind_lengths until_start = lengths_before(thread, start_ns);
    const struct kind_lengths until_end = lengths_before(thread, end_ns);
    for (unsigned kind = 0; kind < STORED_KINDS; kind++) {
        int64_t ns = until_end.ns[kind] - until_start.ns[kind];
        by_kind[kind] = saturating_add(by_kind[kind], ns);
        rest_ns -= ns;
    }
    by_kind[HOST_NOTHING] = saturating_add(by_kind[HOST_NOTHING], rest_ns);
    return true;
}

/* The first of the longest: a stretch's length above its place from behind. */
static bool build_longest(struct thread *thread, unsigned kind)
{
    size_t count = thread->stretches.count;
    int64_t *lengths = scratch_alloc(count, sizeof *lengths);
    if (lengths == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct stretch *stretch = &thread->stretches.items[i];
        lengths[i] = stretch->kind == kind ? stretch->end_ns - stretch->start_ns : 0;
    }
    thread->has_longest[kind] = true;
    bool ok = segment_tree_init(&thread->longest[kind], lengths, (uint32_t)count, true);
    scratch_free(lengths);
    return ok;
}

/* The first stretch in [low, high) that is as long as the longest of them. */
static size_t first_of_length(const struct segment_tree *tree, size_t low, size_t high)
{
    int64_t length_ns = segment_tree_query(tree, (uint32_t)low, (uint32_t)high);
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (segment_tree_query(tree, (uint32_t)low, (uint32_t)middle) == length_ns) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return low;
}

struct best {
    int64_t length_ns;
    uint32_t event;
};

static void look_at(const struct thread *thread,
                    size_t at,
                    unsigned kind,
                    int64_t start_ns,
                    int64_t end_ns,
                    struct best *best)
{
    const struct stretch *stretch = &thread->stretches.items[at];
    int64_t length_ns = i64_min(stretch->end_ns, end_ns) - i64_max(stretch->start_ns, start_ns);
    if (stretch->kind == kind && length_ns > best->length_ns) {
        *best = (struct best){length_ns, stretch->event};
    }
}

bool host_activity_longest(struct host_activity *activity,
                           uint32_t call,
                           enum host_kind kind,
                           int64_t start_ns,
                           int64_t end_ns,
                           uint32_t *event)
{
    struct best best = {0, CAUSES_NONE};
    *event = CAUSES_NONE;
    if (call == CAUSES_NONE || (unsigned)kind >= STORED_KINDS) {
        return true;
    }
    struct thread *thread = find_thread(activity, call);
    if (thread == NULL || (!thread->has_longest[kind] && !build_longest(thread, kind))) {
        return false;
    }
    /* Only the first and the last can be cut. */
    size_t first = first_after(&thread->stretches, start_ns);
    size_t end = first_after(&thread->stretches, end_ns - 1);
    end += end < thread->stretches.count ? 1 : 0;
    if (first < end) {
        look_at(thread, first, kind, start_ns, end_ns, &best);
    }
    if (first + 2 < end) {
        look_at(thread, first_of_length(&thread->longest[kind], first + 1, end - 1), kind, start_ns,
                end_ns, &best);
    }
    if (first + 1 < end) {
        look_at(thread, end - 1, kind, start_ns, end_ns, &best);
    }
    *event = best.event;
    return true;
}

#include "ingest/analysis/call_tree/write.h"
#include "ingest/analysis/classify/times.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"

struct profile {
    uint32_t *events; /* by (start, -end) */
    uint32_t count;
    int64_t tid;
    uint32_t *open_row; /* events that are still running, as deep as they nest */
    uint32_t *open_event;
};

static int by_start_then_longest(uint32_t a, uint32_t b, const void *ctx)
{
    return times_compare(ctx, a, b);
}

static bool collect(struct profile *profile, const struct event_classes *sel)
{
    uint32_t room = sel->class_count[INDEX_PROFILE];
    profile->events = scratch_alloc(room, sizeof *profile->events);
    profile->open_row = scratch_alloc(room, sizeof *profile->open_row);
    profile->open_event = scratch_alloc(room, sizeof *profile->open_event);
    if (profile->events == NULL || profile->open_row == NULL || profile->open_event == NULL) {
        return false;
    }
    const struct events_in_time host = sel->lists[LIST_HOST];
    for (uint32_t i = 0; i < host.count; i++) {
        uint32_t event = host.items[i];
        const struct trace_track *track =
            &sel->trace->tracks[trace_event_track(&sel->trace->events, event)];
        if (sel->class[event] != INDEX_PROFILE || !track->tid_int_valid) {
            continue;
        }
        profile->tid = profile->count == 0 ? track->tid_int : profile->tid;
        if (track->tid_int == profile->tid) {
            profile->events[profile->count++] = event;
        }
    }
    return sort_stable(profile->events, profile->count, by_start_then_longest, sel);
}

static uint32_t
close_ended(struct call_writing *w, const struct profile *profile, uint32_t depth, int64_t key)
{
    while (depth > 0 && key >= times_end_key(w->sel, profile->open_event[depth - 1])) {
        depth--;
        w->rows->end[profile->open_row[depth]] = w->rows->count;
    }
    return depth;
}

/* Nested as the threads of operators are: what overlaps without nesting is left out. */
static bool write_nodes(struct call_writing *w, struct profile *profile)
{
    const struct event_classes *sel = w->sel;
    uint32_t depth = 0;
    for (uint32_t i = 0; i < profile->count; i++) {
        uint32_t event = profile->events[i];
        depth = close_ended(w, profile, depth, times_start_key(sel, event));
        if (depth > 0 &&
            times_end_key(sel, event) > times_end_key(sel, profile->open_event[depth - 1])) {
            continue;
        }
        profile->open_row[depth] = w->rows->count;
        profile->open_event[depth++] = event;
        if (!call_write_event(w, event, CALL_PL_PROFILE)) {
            return false;
        }
    }
    (void)close_ended(w, profile, depth, INT64_MAX);
    return true;
}

/* From the first child's start to the last one's end. */
static void bound_root(const struct call_writing *w, uint32_t root)
{
    struct call_other *out = call_write_other(w, root);
    const uint32_t *end = w->rows->end;
    for (uint32_t child = root + 1; child < end[root]; child = end[child]) {
        const struct call_other *from = call_write_other(w, child);
        out->start = child == root + 1 ? from->start : out->start;
        out->stop = from->stop;
    }
}

static bool write_thread(struct call_writing *w, struct profile *profile)
{
    uint32_t root = w->rows->count;
    w->out->profile_thread = w->out->thread_count;
    if (!call_write_root(w, profile->tid) || !write_nodes(w, profile) ||
        !call_write_thread(w, profile->tid, root)) {
        return false;
    }
    bound_root(w, root);
    return true;
}

bool call_write_profile(struct call_writing *w)
{
    struct profile profile = {0};
    w->out->profile_thread = CALL_NONE;
    if (w->sel->class_count[INDEX_PROFILE] == 0) {
        return true;
    }
    bool ok = collect(&profile, w->sel) && (profile.count == 0 || write_thread(w, &profile));
    SCRATCH_FREE(profile.events, profile.open_row, profile.open_event);
    return ok;
}

#include "ingest/jobs/pipeline/details.h"

#include "ingest/base/memory/scratch.h"

#include <stdlib.h>
#include <string.h>

static bool find_all(const struct trace *trace,
                     int64_t zero_ns,
                     const struct kernel_rules *own,
                     struct pipeline_details *out)
{
    static const struct engine_attention as_recorded = {.heads = 0};
    static const struct path_request whole = {.options = {.annotation = "", .own_ends = true},
                                              .top = PATH_TOP_MAX,
                                              .edges = PATH_EDGES_NONE};
    return device_time_analyse(trace, zero_ns, own, NULL, &out->arena, &out->device_time) &&
           engine_steps_analyse(trace, zero_ns, own, NULL, 0, &as_recorded, &out->arena,
                                &out->engine_steps) &&
           slices_analyse(trace, SLICES_BY_NAME, &out->arena, &out->names) &&
           slices_analyse(trace, SLICES_BY_TRACK, &out->arena, &out->tracks) &&
           critical_path_analyse(trace, zero_ns, &whole, &out->arena, &out->path) &&
           kernel_stacks_analyse(trace, NULL, MODULES_BY_TYPE, &out->arena, &out->stacks);
}

/* Gaps whose host events are looked at. */
#define GAPS_MAX 1000

/* What the host did in the longest gap of a kind, else the call that ended it; INDEX_NONE. */
static uint32_t event_of_kind(const struct idle *idle, const char *kind)
{
    for (size_t i = 0; i < idle->longest_count; i++) {
        const struct idle_gap *gap = &idle->longest[i];
        int64_t event = gap->host_event != CAUSES_UNKNOWN ? gap->host_event : gap->launch_event;
        if (strcmp(gap->host, kind) == 0) {
            return event == CAUSES_UNKNOWN ? INDEX_NONE : (uint32_t)event;
        }
    }
    return INDEX_NONE;
}

/* The events whose lines are wanted: of the kinds of idle time, then of the names of the path. */
static void choose_events(const struct pipeline_details *out, uint32_t *events)
{
    for (int kind = 0; kind < HOST_KIND_COUNT; kind++) {
        events[kind] = event_of_kind(&out->idle, host_kind_text((enum host_kind)kind));
    }
    for (size_t i = 0; i < out->path.gain_count; i++) {
        const struct path_event_row *most = NULL;
        for (size_t at = 0; at < out->path.event_count; at++) {
            const struct path_event_row *row = &out->path.events[at];
            bool is_more = most == NULL || row->path_ns > most->path_ns;
            most = is_more && strcmp(row->name, out->path.gains[i].name) == 0 ? row : most;
        }
        events[HOST_KIND_COUNT + i] = most == NULL ? INDEX_NONE : (uint32_t)most->event;
    }
}

/* The longest event of each name that efficiency has a row of. */
static bool
choose_calls(const struct trace *trace, const struct efficiency *efficiency, uint32_t *events)
{
    uint32_t name_count = strtab_count(trace->strings);
    uint32_t *row_of = scratch_none(name_count);
    for (size_t i = 0; row_of != NULL && i < efficiency->count; i++) {
        const char *name = efficiency->rows[i].name;
        uint32_t id = strtab_find(trace->strings, name, strlen(name));
        events[i] = INDEX_NONE;
        if (id != STRTAB_NONE) {
            row_of[id] = (uint32_t)i;
        }
    }
    for (uint32_t i = 0; row_of != NULL && i < trace->events.count; i++) {
        uint32_t row = row_of[trace->events.name[i]];
        bool is_longer = row != INDEX_NONE && (events[row] == INDEX_NONE ||
                                               trace_dur_ns(&trace->events, i) >
                                                   trace_dur_ns(&trace->events, events[row]));
        if (is_longer) {
            events[row] = i;
        }
    }
    scratch_free(row_of);
    return row_of != NULL;
}

static bool find_lines(const struct trace *trace, struct pipeline_details *out)
{
    size_t gains = out->path.gain_count;
    size_t count = HOST_KIND_COUNT + gains + out->efficiency.count;
    uint32_t *events = scratch_alloc(count, sizeof *events);
    const char **stacks = arena_calloc(&out->arena, count, sizeof *stacks);
    bool ok = events != NULL && stacks != NULL;
    if (ok) {
        choose_events(out, events);
    }
    ok = ok && choose_calls(trace, &out->efficiency, events + HOST_KIND_COUNT + gains) &&
         event_stacks_find(trace, events, count, &out->arena, stacks);
    scratch_free(events);
    out->idle_stacks = stacks;
    out->path_stacks = stacks + HOST_KIND_COUNT;
    out->operator_stacks = out->path_stacks + gains;
    return ok;
}

struct pipeline_details *pipeline_details_find(const struct trace *trace,
                                               int64_t zero_ns,
                                               const struct kernel_rules *own,
                                               enum pipeline_detail which)
{
    struct pipeline_details *out = calloc(1, sizeof *out);
    if (out == NULL) {
        return NULL;
    }
    arena_init(&out->arena, 0);
    enum efficiency_group by =
        which == PIPELINE_CAUSES ? EFFICIENCY_BY_SHAPE : EFFICIENCY_BY_OPERATOR;
    bool ok =
        (which == PIPELINE_CAUSES || find_all(trace, zero_ns, own, out)) &&
        idle_analyse(trace, zero_ns, CAUSES_KEEP_LAST_STEP, GAPS_MAX, &out->arena, &out->idle) &&
        efficiency_analyse(trace, by, NULL, &out->arena, &out->efficiency) &&
        (which == PIPELINE_CAUSES || find_lines(trace, out));
    if (!ok) {
        pipeline_details_free(out);
        return NULL;
    }
    return out;
}

void pipeline_details_free(struct pipeline_details *details)
{
    if (details != NULL) {
        arena_free(&details->arena);
        free(details);
    }
}

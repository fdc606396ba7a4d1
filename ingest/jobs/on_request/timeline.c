#include "ingest/jobs/on_request/timeline.h"

#include "ingest/analysis/analysis.h"
#include "ingest/jobs/on_request/stored_trace.h"
#include "ingest/jobs/queue/internal.h"
#include "ingest/store/store_timeline.h"

struct building {
    const struct kernel_rules *kernel_rules;
    struct store_ingest *ingest;
    struct timeline_frame frame;
};

static bool
take_block(void *context, uint32_t level, const struct timeline_block *block, struct err *err)
{
    return store_ingest_timeline_block(context, level, block, err);
}

static bool
take_points(void *context, uint32_t level, const struct timeline_points *points, struct err *err)
{
    return store_ingest_timeline_points(context, level, points, err);
}

static bool take_flows(
    void *context, bool by_target, const struct timeline_flow *flows, size_t count, struct err *err)
{
    return store_ingest_flows(context, by_target, flows, count, err);
}

static bool build(void *context, struct trace *trace, int64_t zero_ns, struct err *err)
{
    struct building *building = context;
    const struct timeline_sink sink = {.context = building->ingest,
                                       .take_block = take_block,
                                       .take_points = take_points,
                                       .take_flows = take_flows};
    struct timeline *timeline = NULL;
    (void)zero_ns;
    if (trace == NULL) {
        return err_set(err, ERR_INTERNAL, "the events of a stored trace are no trace");
    }
    bool ok = analysis_find_frame(trace, building->kernel_rules, &building->frame, err) &&
              timeline_build(trace, &building->frame, &sink, &timeline, err) &&
              store_ingest_timeline(building->ingest, timeline, err);
    timeline_destroy(timeline);
    timeline_frame_free(&building->frame);
    return ok;
}

/* Then its log takes no rows. Returns false; *err says so if it was. */
static bool was_removed(struct store *store, int64_t trace_id, struct err *err)
{
    struct arena arena;
    struct store_trace *trace = NULL;
    struct err removed = ERR_INIT;
    struct store_snapshot snapshot;
    arena_init(&arena, 0);
    store_snapshot_init(&snapshot, store);
    if (!store_trace_get(&snapshot, &arena, trace_id, &trace, &removed)) {
        *err = removed;
    }
    store_snapshot_close(&snapshot);
    arena_free(&arena);
    return false;
}

static bool
build_stored(struct jobs *jobs, int64_t trace_id, size_t memory_budget_bytes, struct err *err)
{
    struct building building = {.kernel_rules = jobs->kernel_rules};
    const struct stored_trace_visit visit = {
        .trace_id = trace_id,
        .start_ns = INT64_MIN,
        .end_ns = INT64_MAX,
        .memory_budget_bytes = memory_budget_bytes,
        .too_large = "ask for its figures",
        .visit = build,
        .context = &building,
    };
    if (!store_timeline_begin(jobs->store, trace_id, &building.ingest, err)) {
        return false;
    }
    bool ok = building.ingest == NULL || stored_trace_read(jobs->store, &visit, err);
    store_timeline_end(building.ingest);
    return ok || was_removed(jobs->store, trace_id, err);
}

bool timeline_on_request(struct jobs *jobs, int64_t trace_id, struct err *err)
{
    size_t budget_bytes = 0;
    if (!jobs_derive_begin(jobs, &budget_bytes, err)) {
        return false;
    }
    bool ok = build_stored(jobs, trace_id, budget_bytes, err);
    jobs_derive_end(jobs);
    return ok;
}

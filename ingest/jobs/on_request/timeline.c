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
    if (building.ingest == NULL) {
        return true;
    }
    bool ok = stored_trace_read(jobs->store, &visit, err);
    return store_timeline_end(building.ingest, trace_id, ok, err);
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

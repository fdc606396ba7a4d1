/* Idle causes and efficiency of two traces [CAU-6]. */
#include "api/diff/change.h"
#include "api/diff/common.h"
#include "api/handlers.h"
#include "ingest/jobs/on_request/analyses.h"

/* False only where an answer is out of question: a trace without its events has nothing to say. */
static bool read_side(struct api_call *call,
                      int64_t trace_id,
                      struct idle *idle,
                      struct efficiency *efficiency,
                      struct cause_side *out,
                      struct err *err)
{
    struct arena *arena = call_arena(call);
    if (idle_read(call->api->jobs, trace_id, CAUSES_KEEP_LAST_STEP, 1, arena, idle, err) &&
        efficiency_read(call->api->jobs, trace_id, EFFICIENCY_BY_SHAPE, arena, efficiency, err)) {
        *out = (struct cause_side){idle, efficiency};
        return true;
    }
    if (err->code != ERR_GONE) {
        return false;
    }
    *err = (struct err)ERR_INIT;
    return true;
}

bool diff_causes_get(struct api_call *call, struct err *err)
{
    struct diff_traces traces;
    struct query_step_change change;
    struct idle idle[SIDE_COUNT];
    struct efficiency efficiency[SIDE_COUNT];
    struct cause_side sides[SIDE_COUNT] = {{NULL, NULL}, {NULL, NULL}};
    struct cause_change causes;
    if (!diff_traces_read(&traces, call, err) ||
        !query_step_change(call->snapshot, call_arena(call), traces.ids, &change, err)) {
        return false;
    }
    for (int side = 0; side < SIDE_COUNT; side++) {
        if (!read_side(call, traces.ids[side], &idle[side], &efficiency[side], &sides[side], err)) {
            return false;
        }
    }
    query_cause_change(&change.step, sides, &causes);
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    bool ok = diff_traces_members(&w, call, &traces, err);
    jw_key_string(&w, "per", change.step.per_step ? "step" : "total");
    trace_change_cause_members(&w, &causes);
    jw_object_end(&w);
    return ok;
}

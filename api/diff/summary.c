/* What changed between two traces, in one sentence and by category. */
#include "api/diff/change.h"
#include "api/diff/common.h"
#include "api/handlers.h"

bool diff_summary_get(struct api_call *call, struct err *err)
{
    struct diff_traces traces;
    struct query_change change;
    if (!diff_traces_read(&traces, call, err) ||
        !query_change(call->snapshot, call_arena(call), traces.ids, &change, err)) {
        return false;
    }
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    bool ok = diff_traces_members(&w, call, &traces, err);
    trace_change_members(&w, &change);
    jw_object_end(&w);
    return ok;
}

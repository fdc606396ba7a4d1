#include "api/diff/common.h"

#include "api/catalogue/catalogue_json.h"

static const char *const side_names[SIDE_COUNT] = {
    [SIDE_BASE] = "base", [SIDE_CANDIDATE] = "candidate"};

static bool read_side(struct diff_traces *traces,
                      struct api_call *call,
                      enum comparison_side side,
                      struct err *err)
{
    const char *name = side_names[side];
    if (query_string_word(&call->query, name) == NULL) {
        return err_set(err, ERR_BAD_REQUEST, "The parameter %s= is missing: the id of a trace",
                       name);
    }
    if (!query_string_int(&call->query, name, 0, INT64_MAX, &traces->ids[side], err) ||
        !store_trace_get(call->snapshot, call_arena(call), traces->ids[side], &traces->traces[side],
                         err)) {
        return false;
    }
    return (traces->traces[side]->views >> VIEW_OPERATOR & 1U) != 0 ||
           err_set(err, ERR_NOT_FOUND,
                   "%s=%lld is no trace of the profiler: it has no operators to compare", name,
                   (long long)traces->ids[side]);
}

bool diff_traces_read(struct diff_traces *traces, struct api_call *call, struct err *err)
{
    *traces = (struct diff_traces){.ids = {0, 0}};
    return read_side(traces, call, SIDE_BASE, err) && read_side(traces, call, SIDE_CANDIDATE, err);
}

bool diff_traces_members(struct json_write *w,
                         struct api_call *call,
                         const struct diff_traces *traces,
                         struct err *err)
{
    for (int side = 0; side < SIDE_COUNT; side++) {
        jw_key(w, side_names[side]);
        if (!catalogue_json_trace(w, call, traces->traces[side], err)) {
            return false;
        }
    }
    return true;
}

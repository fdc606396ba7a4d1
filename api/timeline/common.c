#include "api/timeline/common.h"

#include "ingest/jobs/on_request/timeline.h"
#include "ingest/store/store_timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_DEFAULT 1000

bool timeline_trace(struct store_trace **trace, struct api_call *call, struct err *err)
{
    int64_t id = 0;
    if (!call_id(call, "trace", &id, err) ||
        !store_trace_get(call->snapshot, call_arena(call), id, trace, err)) {
        return false;
    }
    return (*trace)->has_events ||
           err_set(err, ERR_NOT_FOUND,
                   "The upload (%s) holds no events, and so no timeline: upload a trace of the "
                   "profiler",
                   (*trace)->format);
}

bool timeline_gone(struct err *err)
{
    return err->code != ERR_GONE
               ? false
               : err_set(err, ERR_GONE,
                         "The trace was stored by an older Kinetoscope, which kept no events: "
                         "upload the file again (?replace=1)");
}

bool timeline_answer_rows(struct api_call *call,
                          struct table_view *view,
                          const char *default_sort,
                          rows_analysis *analyse,
                          struct err *err)
{
    struct store_trace *trace = NULL;
    void *rows = NULL;
    size_t count = 0;
    return table_view_read(view, call, default_sort, ROWS_DEFAULT, err) &&
           timeline_trace(&trace, call, err) &&
           (rows_analysis_read(call->api->jobs, trace->id, analyse, call_arena(call), &rows, &count,
                               err) ||
            timeline_gone(err)) &&
           table_view_run(view, call, rows, count, err) && table_view_answer(view, call);
}

bool timeline_load(struct store_trace **trace,
                   struct timeline **timeline,
                   struct api_call *call,
                   struct err *err)
{
    struct store_snapshot *snapshot = call->snapshot;
    struct arena *arena = call_arena(call);
    if (!timeline_trace(trace, call, err)) {
        return false;
    }
    bool ok = store_timeline(snapshot, arena, (*trace)->id, timeline, err);
    if (ok && *timeline == NULL) {
        store_snapshot_close(snapshot); /* to see what is written now */
        ok = timeline_on_request(call->api->jobs, (*trace)->id, err) &&
             store_timeline(snapshot, arena, (*trace)->id, timeline, err);
    }
    if (!ok) {
        return timeline_gone(err);
    }
    if (*timeline == NULL) {
        (void)err_set(err, ERR_GONE, "no timeline");
        return timeline_gone(err);
    }
    return true;
}

bool timeline_range(int64_t *start_ns,
                    int64_t *end_ns,
                    bool may_be_empty,
                    const struct api_call *call,
                    struct err *err)
{
    if (!query_string_int(&call->query, "start_ns", -TIMELINE_TIME_MAX_NS, TIMELINE_TIME_MAX_NS,
                          start_ns, err) ||
        !query_string_int(&call->query, "end_ns", -TIMELINE_TIME_MAX_NS, TIMELINE_TIME_MAX_NS,
                          end_ns, err)) {
        return false;
    }
    bool is_good = *start_ns < *end_ns || (may_be_empty && *start_ns == *end_ns);
    return is_good || err_set(err, ERR_BAD_REQUEST,
                              "start_ns=%" PRId64 " is not before end_ns=%" PRId64
                              ": a window begins before it ends",
                              *start_ns, *end_ns);
}

bool timeline_event_number(const struct api_call *call, uint32_t *number, struct err *err)
{
    const char *text = call->params[1];
    bool is_number = *text != '\0' && strspn(text, "0123456789") == strlen(text);
    unsigned long long value =
        is_number && strlen(text) < 11 ? strtoull(text, NULL, 10) : UINT64_MAX;
    *number = (uint32_t)value;
    return value < TIMELINE_NO_EVENT ||
           err_set(err, ERR_NOT_FOUND,
                   "There is no event \"%.20s\": events are numbered from 0 in the order of the "
                   "file",
                   text);
}

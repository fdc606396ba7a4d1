#include "api/call.h"
#include "api/handlers.h"
#include "api/table/table_answer.h"
#include "api/table/table_params.h"
#include "api/views/cycles_text.h"

bool cycles_route_get(struct api_call *call, struct err *err)
{
    static const char *const formats[] = {"json", "csv", NULL};
    size_t format = 0;
    int64_t id = 0;
    struct trace_results *results = NULL;
    struct store_trace *trace = NULL;
    if (!table_params_choice(call, "format", formats, &format, err) ||
        !call_trace_id(call, &id, err) ||
        !store_trace_get(call->snapshot, call_arena(call), id, &trace, err) ||
        !store_cycles(call->snapshot, call_arena(call), id, &results, err)) {
        return false;
    }
    if (format == 1) {
        table_answer_begin_csv(call, "cycles");
        cycles_csv(&call->response->body, results);
    } else {
        call->response->status = 200;
        call->response->content_type = "application/json";
        call_sends_parts(call);
        cycles_json(&call->response->body, trace->start_ns, results);
    }
    return true;
}

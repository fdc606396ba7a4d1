#include "api/views/memory/memory_common.h"

#include "api/table/rows.h"
#include "ingest/model/tables.h"

#include <inttypes.h>

bool memory_request_read(struct memory_request *request, struct api_call *call, struct err *err)
{
    struct store_trace *trace = NULL;
    *request = (struct memory_request){
        .device = query_string_word(&call->query, "device"),
        .window = {INT64_MIN, INT64_MAX},
    };
    if (!call_id(call, "trace", &request->trace_id, err) ||
        !store_trace_get(call->snapshot, call_arena(call), request->trace_id, &trace, err) ||
        !query_string_int(&call->query, "start_ns", INT64_MIN, INT64_MAX, &request->window.start,
                          err) ||
        !query_string_int(&call->query, "end_ns", INT64_MIN, INT64_MAX, &request->window.end,
                          err)) {
        return false;
    }
    if (request->window.start > request->window.end) {
        return err_set(err, ERR_BAD_REQUEST,
                       "start_ns=%" PRId64 " is behind end_ns=%" PRId64
                       ": a window begins before it ends",
                       request->window.start, request->window.end);
    }
    return (trace->views >> VIEW_MEMORY & 1U) != 0 ||
           err_set(err, ERR_NOT_FOUND,
                   "The trace has no memory records: profile with profile_memory=True");
}

void memory_window_members(struct json_write *w, const struct memory_window *window)
{
    jw_key_known_int(w, "start_ns", window->start);
    jw_key_known_int(w, "end_ns", window->end == INT64_MAX ? INT64_MIN : window->end);
}

int64_t memory_block_duration(const struct memory_block *block)
{
    bool is_known = block->allocated_at != MEMORY_NO_TIME && block->released_at != MEMORY_NO_TIME;
    return is_known ? rows_sub(block->released_at, block->allocated_at) : INT64_MIN;
}

void memory_block_row(struct field_out *out, const struct memory_block *block)
{
    struct memory_block shown = *block;
    shown.duration_ns = memory_block_duration(block);
    field_row(out, &table_memory_block, &shown, 0);
}

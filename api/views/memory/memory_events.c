/* Blocks of memory: taken, given back, or one of both. */
#include "api/handlers.h"
#include "api/table/table_view.h"
#include "api/views/memory/memory_common.h"
#include "ingest/query/views/memory.h"

#define LIMIT_DEFAULT 1000

struct table {
    struct table_view view;
    struct memory_request request;
    struct query_memory_blocks blocks;
};

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    table_view_members(w, &table->view, NULL);
    memory_window_members(w, &table->request.window);
    jw_key_string(w, "device", table->blocks.device);
}

bool memory_events(struct api_call *call, struct err *err)
{
    struct table table = {.view = {.table = &table_memory_block,
                                   .stem = "memory-events",
                                   .write_members = write_members}};
    struct query_memory_blocks *blocks = &table.blocks;
    if (!memory_request_read(&table.request, call, err) ||
        !table_view_read(&table.view, call, "size_bytes", LIMIT_DEFAULT, err) ||
        !query_memory_device_blocks(call->snapshot, call_arena(call), table.request.trace_id,
                                    table.request.device, table.request.window, &table.blocks,
                                    err)) {
        return false;
    }
    for (size_t i = 0; i < blocks->row_count; i++) {
        blocks->rows[i].duration_ns = memory_block_duration(&blocks->rows[i]);
    }
    table.view.context = &table;
    return table_view_run(&table.view, call, blocks->rows, blocks->row_count, err) &&
           table_view_answer(&table.view, call);
}

/* Memory of a device: what operators took and kept, and the blocks that stand out. */
#include "ingest/query/views/memory.h"

#include "api/handlers.h"
#include "api/table/rows.h"
#include "api/table/table_view.h"
#include "api/views/memory/memory_common.h"
#include "ingest/jobs/on_request/analyses.h"

#include <string.h>

#define LIMIT_DEFAULT 1000

struct table {
    struct table_view view;
    struct memory_request request;
    struct query_memory memory;
};

/* Over all operators of the device and the window: the own figures, which are counted once. */
static void write_sums(struct json_write *w, const struct query_memory *memory)
{
    struct memory_stat_row sums = {.name = NULL};
    for (size_t i = 0; i < memory->row_count; i++) {
        const struct memory_stat_row *row = &memory->rows[i];
        sums.calls = rows_add(sums.calls, row->calls);
        sums.self_size_bytes = rows_add(sums.self_size_bytes, row->self_size_bytes);
        sums.self_allocations = rows_add(sums.self_allocations, row->self_allocations);
        sums.self_allocated_bytes = rows_add(sums.self_allocated_bytes, row->self_allocated_bytes);
    }
    jw_key_object_begin(w, "sums");
    jw_key_int(w, "calls", sums.calls);
    jw_key_int(w, "self_size_bytes", sums.self_size_bytes);
    jw_key_int(w, "self_allocations", sums.self_allocations);
    jw_key_int(w, "self_allocated_bytes", sums.self_allocated_bytes);
    jw_object_end(w);
}

static void write_device(struct json_write *w, const struct query_memory_device *device)
{
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    bool known = device->has_totals;
    field_row_begin(&out);
    field_text(&out, "device", device->device);
    field_known_int(&out, "peak_bytes", known ? device->peak.allocated_bytes : INT64_MIN);
    field_known_int(&out, "peak_ns", known ? device->peak.ts : INT64_MIN);
    field_known_int(&out, "allocated_end_bytes", known ? device->allocated_end_bytes : INT64_MIN);
    field_known_int(&out, "reserved_peak_bytes", known ? device->reserved_peak_bytes : INT64_MIN);
    field_int(&out, "records", device->records);
    field_row_end(&out);
}

static void write_blocks(struct json_write *w, const char *key, const struct query_blocks *blocks)
{
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    jw_key_object_begin(w, key);
    jw_key_int(w, "count", blocks->count);
    jw_key_int(w, "size_bytes", blocks->size_bytes);
    jw_key_array_begin(w, "rows");
    for (size_t i = 0; i < blocks->row_count; i++) {
        memory_block_row(&out, &blocks->rows[i]);
    }
    jw_array_end(w);
    jw_object_end(w);
}

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    const struct query_memory *memory = &table->memory;
    struct field_out out = {.notation = FIELD_JSON, .json = w};
    table_view_members(w, &table->view, NULL);
    write_sums(w, memory);
    memory_window_members(w, &table->request.window);
    jw_key_string(w, "device", memory->device == NULL ? NULL : memory->device->device);
    jw_key_array_begin(w, "devices");
    for (size_t i = 0; i < memory->device_count; i++) {
        write_device(w, &memory->devices[i]);
    }
    jw_array_end(w);
    write_blocks(w, "unreleased", &memory->unreleased);
    jw_key_array_begin(w, "at_peak");
    for (size_t i = 0; i < memory->at_peak.row_count; i++) {
        memory_block_row(&out, &memory->at_peak.rows[i]);
    }
    jw_array_end(w);
}

/* Memory as another recorder tells it: by the name that it gives each block. */
static bool
use_recorded(struct query_memory *memory, const struct recorded *recorded, struct arena *arena)
{
    memory->rows = arena_calloc(arena, recorded->memory_count + 1, sizeof *memory->rows);
    memory->devices = arena_calloc(arena, recorded->device_count + 1, sizeof *memory->devices);
    if (memory->rows == NULL || memory->devices == NULL) {
        return false;
    }
    for (size_t i = 0; i < recorded->memory_count; i++) {
        const struct recorded_memory *from = &recorded->memory[i];
        memory->rows[memory->row_count++] =
            (struct memory_stat_row){.name = from->name,
                                     .calls = from->allocations,
                                     .size_bytes = from->kept_bytes,
                                     .self_size_bytes = from->kept_bytes,
                                     .allocations = from->allocations,
                                     .self_allocations = from->allocations,
                                     .allocated_bytes = from->bytes,
                                     .self_allocated_bytes = from->bytes};
    }
    for (size_t i = 0; i < recorded->device_count; i++) {
        const struct recorded_device_memory *from = &recorded->devices[i];
        if (from->component != NULL && strcmp(from->component, RECORDED_ALLOCATOR) != 0) {
            continue;
        }
        memory->devices[memory->device_count++] = (struct query_memory_device){
            .device = from->device,
            .has_totals = true,
            .peak = {.ts = INT64_MIN, .allocated_bytes = from->peak_bytes},
            .allocated_end_bytes = INT64_MIN,
            .reserved_peak_bytes = from->reserved_peak_bytes,
            .records = from->records};
    }
    memory->device = memory->device_count == 0 ? NULL : &memory->devices[0];
    return true;
}

/* Of a trace of PyTorch's profiler the records tell, with the operators around them. */
static bool load(struct table *table, struct api_call *call, struct err *err)
{
    struct contents contents = {.device_count = 0};
    struct store_trace *trace = NULL;
    int64_t id = table->request.trace_id;
    if (!store_trace_get(call->snapshot, call_arena(call), id, &trace, err)) {
        return false;
    }
    if (strncmp(trace->format, "ascend", strlen("ascend")) == 0) {
        return contents_read(call->api->jobs, id, call_arena(call), &contents, err) &&
               (use_recorded(&table->memory, &contents.recorded, call_arena(call)) ||
                err_set(err, ERR_NO_MEMORY, "no memory for the memory of a trace"));
    }
    return query_memory(call->snapshot, call_arena(call), id, table->request.device,
                        table->request.window, &table->memory, err);
}

bool memory_get(struct api_call *call, struct err *err)
{
    struct table table = {.view = {.table = &table_memory_operator,
                                   .stem = "memory",
                                   .write_members = write_members}};
    if (!memory_request_read(&table.request, call, err) ||
        !table_view_read(&table.view, call, "self_size_bytes", LIMIT_DEFAULT, err) ||
        !load(&table, call, err)) {
        return false;
    }
    table.view.context = &table;
    return table_view_run(&table.view, call, table.memory.rows, table.memory.row_count, err) &&
           table_view_answer(&table.view, call);
}

/* Memory of a device: what operators took and kept, and the blocks that stand out. */
#include "ingest/query/views/memory.h"

#include "api/handlers.h"
#include "api/table/row_query.h"
#include "api/table/rows.h"
#include "api/table/table_answer.h"
#include "api/table/table_params.h"
#include "api/views/memory_common.h"

#define LIMIT_DEFAULT 1000

enum column {
    COLUMN_NAME,
    COLUMN_CALLS,
    COLUMN_SIZE,
    COLUMN_SELF_SIZE,
    COLUMN_ALLOCATIONS,
    COLUMN_SELF_ALLOCATIONS,
    COLUMN_ALLOCATED,
    COLUMN_SELF_ALLOCATED,
    COLUMN_COUNT
};

static const char *const columns[COLUMN_COUNT + 1] = {
    "name",
    "calls",
    "size_bytes",
    "self_size_bytes",
    "allocations",
    "self_allocations",
    "allocated_bytes",
    "self_allocated_bytes",
    NULL,
};

static const char *const text_columns[] = {"name", NULL};

struct table {
    struct memory_request request;
    struct table_params params;
    struct query_memory memory;
    struct row_query_page shown;
};

static const char *name_of(const void *rows, size_t at)
{
    return ((const struct memory_stat_row *)rows)[at].name;
}

static struct row_query_value value_of(const void *rows, size_t at, size_t column)
{
    const struct memory_stat_row *row = (const struct memory_stat_row *)rows + at;
    const int64_t numbers[COLUMN_COUNT] = {
        [COLUMN_CALLS] = row->calls,
        [COLUMN_SIZE] = row->size_bytes,
        [COLUMN_SELF_SIZE] = row->self_size_bytes,
        [COLUMN_ALLOCATIONS] = row->allocations,
        [COLUMN_SELF_ALLOCATIONS] = row->self_allocations,
        [COLUMN_ALLOCATED] = row->allocated_bytes,
        [COLUMN_SELF_ALLOCATED] = row->self_allocated_bytes,
    };
    return column == COLUMN_NAME ? row_query_text(row->name) : row_query_number(numbers[column]);
}

static void write_row(struct field_out *out, const void *table_void, size_t at)
{
    const struct table *table = table_void;
    const struct memory_stat_row blank = {.name = ""};
    const struct memory_stat_row *row =
        at == TABLE_BLANK_ROW ? &blank : &table->memory.rows[table->shown.rows[at]];
    field_row_begin(out);
    field_text(out, "name", row->name);
    field_int(out, "calls", row->calls);
    field_int(out, "size_bytes", row->size_bytes);
    field_int(out, "self_size_bytes", row->self_size_bytes);
    field_int(out, "allocations", row->allocations);
    field_int(out, "self_allocations", row->self_allocations);
    field_int(out, "allocated_bytes", row->allocated_bytes);
    field_int(out, "self_allocated_bytes", row->self_allocated_bytes);
    field_row_end(out);
}

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
    jw_key(w, "sums");
    jw_object_begin(w);
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
    jw_key(w, key);
    jw_object_begin(w);
    jw_key_int(w, "count", blocks->count);
    jw_key_int(w, "size_bytes", blocks->size_bytes);
    jw_key(w, "rows");
    jw_array_begin(w);
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
    table_params_members(w, &table->params.page, table->shown.total, NULL);
    write_sums(w, memory);
    memory_window_members(w, &table->request.window);
    jw_key_string(w, "device", memory->device == NULL ? NULL : memory->device->device);
    jw_key(w, "devices");
    jw_array_begin(w);
    for (size_t i = 0; i < memory->device_count; i++) {
        write_device(w, &memory->devices[i]);
    }
    jw_array_end(w);
    write_blocks(w, "unreleased", &memory->unreleased);
    jw_key(w, "at_peak");
    jw_array_begin(w);
    for (size_t i = 0; i < memory->at_peak.row_count; i++) {
        memory_block_row(&out, &memory->at_peak.rows[i]);
    }
    jw_array_end(w);
}

bool memory_get(struct api_call *call, struct err *err)
{
    struct table table = {.shown.count = 0};
    if (!memory_request_read(&table.request, call, err) ||
        !table_params_read(&table.params, call, text_columns, "self_size_bytes", LIMIT_DEFAULT,
                           err) ||
        !query_memory(call->api->store, call_arena(call), table.request.trace_id,
                      table.request.device, table.request.window, &table.memory, err)) {
        return false;
    }
    const struct row_query_source source = {table.memory.rows, table.memory.row_count, columns,
                                            name_of, value_of};
    if (!row_query_run(&table.shown, call, &table.params.page, &source, err)) {
        return false;
    }
    const struct table_answer answer = {"memory", &table, table.shown.count, write_row,
                                        write_members};
    table_answer(call, table.params.csv, &answer);
    return true;
}

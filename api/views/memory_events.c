/* Blocks of memory: taken, given back, or one of both. */
#include "api/handlers.h"
#include "api/table/row_query.h"
#include "api/table/table_answer.h"
#include "api/table/table_params.h"
#include "api/views/memory_common.h"
#include "ingest/query/views/memory.h"

#define LIMIT_DEFAULT 1000

enum column {
    COLUMN_NAME,
    COLUMN_SIZE,
    COLUMN_ADDRESS,
    COLUMN_ALLOCATED,
    COLUMN_RELEASED,
    COLUMN_DURATION,
    COLUMN_COUNT
};

static const char *const columns[COLUMN_COUNT + 1] = {
    "name", "size_bytes", "address", "allocated_ns", "released_ns", "duration_ns", NULL,
};

/* Time runs forward: it ascends as a text does. */
static const char *const ascending_columns[] = {
    "name", "address", "allocated_ns", "released_ns", NULL,
};

struct table {
    struct memory_request request;
    struct table_params params;
    struct query_memory_blocks blocks;
    struct row_query_page shown;
};

static const char *name_of(const void *rows, size_t at)
{
    return ((const struct memory_block *)rows)[at].name;
}

static struct row_query_value value_of(const void *rows, size_t at, size_t column)
{
    const struct memory_block *block = (const struct memory_block *)rows + at;
    switch ((enum column)column) {
    case COLUMN_NAME:
        return row_query_text(block->name);
    case COLUMN_SIZE:
        return row_query_number(block->size_bytes);
    case COLUMN_ADDRESS:
        return row_query_number(block->addr);
    case COLUMN_ALLOCATED:
        return row_query_known_number(block->allocated_at);
    case COLUMN_RELEASED:
        return row_query_known_number(block->released_at);
    case COLUMN_DURATION:
    case COLUMN_COUNT:
        break;
    }
    return row_query_known_number(memory_block_duration(block));
}

static void write_row(struct field_out *out, const void *table_void, size_t at)
{
    const struct table *table = table_void;
    const struct memory_block blank = {.name = ""};
    memory_block_row(out,
                     at == TABLE_BLANK_ROW ? &blank : &table->blocks.rows[table->shown.rows[at]]);
}

static void write_members(struct json_write *w, const void *table_void)
{
    const struct table *table = table_void;
    table_params_members(w, &table->params.page, table->shown.total, NULL);
    memory_window_members(w, &table->request.window);
    jw_key_string(w, "device", table->blocks.device);
}

bool memory_events(struct api_call *call, struct err *err)
{
    struct table table = {.shown.count = 0};
    if (!memory_request_read(&table.request, call, err) ||
        !table_params_read(&table.params, call, ascending_columns, "size_bytes", LIMIT_DEFAULT,
                           err) ||
        !query_memory_device_blocks(call->api->store, call_arena(call), table.request.trace_id,
                                    table.request.device, table.request.window, &table.blocks,
                                    err)) {
        return false;
    }
    const struct row_query_source source = {table.blocks.rows, table.blocks.row_count, columns,
                                            name_of, value_of};
    if (!row_query_run(&table.shown, call, &table.params.page, &source, err)) {
        return false;
    }
    const struct table_answer answer = {"memory-events", &table, table.shown.count, write_row,
                                        write_members};
    table_answer(call, table.params.csv, &answer);
    return true;
}

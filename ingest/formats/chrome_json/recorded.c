/* The member "kinetoscope", which the relay writes beside the events of other recorders: what their
 * file says of itself [FMT-0.2]. */
#include "ingest/formats/chrome_json/reader.h"
#include "ingest/formats/json/text.h"
#include "ingest/formats/json/walk.h"

struct lists {
    struct arena *arena;
    struct warnings *warnings;
    struct recorded *out;
    bool failed; /* no memory */
};

static const char *text_of(struct lists *lists, const struct json_value *value)
{
    if (value->kind != JSON_KIND_STRING) {
        return NULL;
    }
    struct buf text;
    buf_init(&text, (size_t)value->len * 3 + 1);
    json_text_string(value, &text, NULL);
    const char *kept =
        text.failed ? NULL : arena_strndup(lists->arena, text.len == 0 ? "" : text.ptr, text.len);
    buf_free(&text);
    lists->failed = lists->failed || kept == NULL;
    return kept;
}

static size_t count_items(const struct json_value *list)
{
    struct json_walk walk = json_walk_of(list);
    size_t count = 0;
    if (json_walk_enter(&walk, '[')) {
        while (json_walk_item(&walk) && json_walk_skip(&walk)) {
            count++;
        }
    }
    return count;
}

/* A member of a row: a text, an integer or a number, by its key. */
struct row_member {
    const char *key;
    const char **text;
    int64_t *number;
    double *real;
};

static void read_row(struct lists *lists,
                     const struct json_value *row,
                     const struct row_member *fields,
                     size_t field_count)
{
    struct json_walk walk = json_walk_of(row);
    struct json_value key;
    struct json_value value;
    double real;
    if (!json_walk_enter(&walk, '{')) {
        return;
    }
    while (json_walk_key(&walk, &key) && json_walk_value(&walk, &value)) {
        for (size_t i = 0; i < field_count; i++) {
            if (!json_walk_text_is(&key, fields[i].key)) {
                continue;
            }
            if (fields[i].text != NULL) {
                *fields[i].text = text_of(lists, &value);
            } else if (fields[i].real != NULL) {
                *fields[i].real = json_text_double(&value, &real) ? real : 0.0;
            } else {
                *fields[i].number = json_walk_int(&value, 0);
            }
        }
    }
}

static void read_skipped(struct lists *lists, const struct json_value *item, size_t at)
{
    struct skipped_records *row = &lists->out->skipped[at];
    const struct row_member fields[] = {{.key = "what", .text = &row->what},
                                        {.key = "reason", .text = &row->reason},
                                        {.key = "count", .number = &row->count}};
    read_row(lists, item, fields, sizeof fields / sizeof *fields);
}

static void read_collective(struct lists *lists, const struct json_value *item, size_t at)
{
    struct collective_times *row = &lists->out->collectives[at];
    const struct row_member fields[] = {
        {.key = "name", .text = &row->name},
        {.key = "start_ns", .number = &row->start_ns},
        {.key = "elapse_ns", .number = &row->elapse_ns},
        {.key = "transit_ns", .number = &row->transit_ns},
        {.key = "wait_ns", .number = &row->wait_ns},
        {.key = "synchronization_ns", .number = &row->synchronization_ns},
        {.key = "idle_ns", .number = &row->idle_ns},
    };
    read_row(lists, item, fields, sizeof fields / sizeof *fields);
}

static void read_op_type(struct lists *lists, const struct json_value *item, size_t at)
{
    struct op_type_times *row = &lists->out->op_types[at];
    const struct row_member fields[] = {
        {.key = "name", .text = &row->name},       {.key = "core", .text = &row->core},
        {.key = "calls", .number = &row->calls},   {.key = "total_ns", .number = &row->total_ns},
        {.key = "min_ns", .number = &row->min_ns}, {.key = "max_ns", .number = &row->max_ns},
    };
    read_row(lists, item, fields, sizeof fields / sizeof *fields);
}

static void read_metric(struct lists *lists, const struct json_value *item, size_t at)
{
    struct kernel_metric *row = &lists->out->metrics[at];
    const struct row_member fields[] = {{.key = "kernel", .text = &row->kernel},
                                        {.key = "metric", .text = &row->metric},
                                        {.key = "calls", .number = &row->calls},
                                        {.key = "mean", .real = &row->mean},
                                        {.key = "mean_by_time", .real = &row->mean_by_time},
                                        {.key = "min", .real = &row->min},
                                        {.key = "max", .real = &row->max}};
    row->kernel = "";
    row->metric = "";
    read_row(lists, item, fields, sizeof fields / sizeof *fields);
}

static void read_memory(struct lists *lists, const struct json_value *item, size_t at)
{
    struct recorded_memory *row = &lists->out->memory[at];
    const struct row_member fields[] = {{.key = "name", .text = &row->name},
                                        {.key = "allocations", .number = &row->allocations},
                                        {.key = "bytes", .number = &row->bytes},
                                        {.key = "kept_bytes", .number = &row->kept_bytes}};
    read_row(lists, item, fields, sizeof fields / sizeof *fields);
}

static void read_device(struct lists *lists, const struct json_value *item, size_t at)
{
    struct recorded_device_memory *row = &lists->out->devices[at];
    const struct row_member fields[] = {
        {.key = "device", .text = &row->device},
        {.key = "component", .text = &row->component},
        {.key = "peak_bytes", .number = &row->peak_bytes},
        {.key = "reserved_peak_bytes", .number = &row->reserved_peak_bytes},
        {.key = "records", .number = &row->records}};
    read_row(lists, item, fields, sizeof fields / sizeof *fields);
    row->device = row->device == NULL ? "" : row->device;
}

static void read_point(struct lists *lists, const struct json_value *item, size_t at)
{
    struct recorded_memory_point *row = &lists->out->points[at];
    const struct row_member fields[] = {{.key = "device", .number = &row->device},
                                        {.key = "time_ns", .number = &row->time_ns},
                                        {.key = "allocated_bytes", .number = &row->allocated_bytes},
                                        {.key = "reserved_bytes", .number = &row->reserved_bytes}};
    row->allocated_bytes = RECORDED_UNKNOWN;
    read_row(lists, item, fields, sizeof fields / sizeof *fields);
}

/* Room for all items of a list. NULL without memory. */
static void *room_for(struct lists *lists, const struct json_value *list, size_t row_bytes)
{
    void *rows = arena_calloc(lists->arena, count_items(list) + 1, row_bytes);
    lists->failed = lists->failed || rows == NULL;
    return rows;
}

/* As many items as there was room for. */
static size_t read_list(struct lists *lists,
                        const struct json_value *list,
                        void (*read)(struct lists *lists, const struct json_value *item, size_t at))
{
    struct json_walk walk = json_walk_of(list);
    struct json_value item;
    size_t count = 0;
    size_t items = lists->failed ? 0 : count_items(list);
    if (items > 0 && json_walk_enter(&walk, '[')) {
        while (count < items && json_walk_item(&walk) && json_walk_value(&walk, &item)) {
            read(lists, &item, count++);
        }
    }
    return count;
}

static void
read_member(struct lists *lists, const struct json_value *key, const struct json_value *value)
{
    struct recorded *out = lists->out;
    if (json_walk_text_is(key, "recorder")) {
        out->recorder = text_of(lists, value);
    } else if (json_walk_text_is(key, "format_version")) {
        out->format_version = text_of(lists, value);
    } else if (json_walk_text_is(key, "linked")) {
        out->linked = json_walk_int(value, RECORDED_UNKNOWN);
    } else if (json_walk_text_is(key, "tables_left_out")) {
        int64_t count = json_walk_int(value, 0);
        if (count > 0) {
            warning_add_times(lists->warnings, WARN_TABLE, WARNING_NO_OFFSET, (uint64_t)count);
        }
    } else if (json_walk_text_is(key, "skipped")) {
        out->skipped = room_for(lists, value, sizeof *out->skipped);
        out->skipped_count = read_list(lists, value, read_skipped);
    } else if (json_walk_text_is(key, "collectives")) {
        out->collectives = room_for(lists, value, sizeof *out->collectives);
        out->collective_count = read_list(lists, value, read_collective);
    } else if (json_walk_text_is(key, "op_types")) {
        out->op_types = room_for(lists, value, sizeof *out->op_types);
        out->op_type_count = read_list(lists, value, read_op_type);
    } else if (json_walk_text_is(key, "kernel_metrics")) {
        out->metrics = room_for(lists, value, sizeof *out->metrics);
        out->metric_count = read_list(lists, value, read_metric);
    } else if (json_walk_text_is(key, "memory_names")) {
        out->memory = room_for(lists, value, sizeof *out->memory);
        out->memory_count = read_list(lists, value, read_memory);
    } else if (json_walk_text_is(key, "memory_devices")) {
        out->devices = room_for(lists, value, sizeof *out->devices);
        out->device_count = read_list(lists, value, read_device);
    } else if (json_walk_text_is(key, "memory_points")) {
        out->points = room_for(lists, value, sizeof *out->points);
        out->point_count = read_list(lists, value, read_point);
    }
}

bool kineto_take_recorded(struct kineto_reader *reader, const struct json_value *value)
{
    struct trace *trace = reader->trace;
    struct json_walk walk = json_walk_of(value);
    struct json_value key;
    struct json_value member;
    struct recorded *out = arena_calloc(&trace->arena, 1, sizeof *out);
    struct lists lists = {
        .arena = &trace->arena, .warnings = &trace->warnings, .out = out, .failed = out == NULL};
    if (out != NULL && json_walk_enter(&walk, '{')) {
        out->linked = RECORDED_UNKNOWN;
        while (!lists.failed && json_walk_key(&walk, &key) && json_walk_value(&walk, &member)) {
            read_member(&lists, &key, &member);
        }
        trace->recorded = out;
    }
    return !lists.failed ||
           err_set(reader->err, ERR_NO_MEMORY, "no memory for what a recorder says of itself");
}

#include "ingest/formats/relay/op_types.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/affix.h"
#include "ingest/formats/relay/relay.h"

#include <string.h>

/* ---- sums by texts ---- */

static bool sums_init(struct relay_sums *sums)
{
    *sums = (struct relay_sums){.texts = strtab_create()};
    key_map_init(&sums->groups);
    return sums->texts != NULL;
}

static void sums_free(struct relay_sums *sums)
{
    key_map_free(&sums->groups);
    strtab_destroy(sums->texts);
    scratch_free(sums->rows);
}

/* NULL without memory. */
static struct relay_sum *sum_of(struct relay_sums *sums, const char *name, const char *second)
{
    const struct key key = {{strtab_intern(sums->texts, name, strlen(name)),
                             strtab_intern(sums->texts, second, strlen(second)), 0, 0}};
    uint32_t group = key_map_add(&sums->groups, key);
    bool failed = key.id[0] == STRTAB_NONE || key.id[1] == STRTAB_NONE || group == KEY_MAP_NONE;
    while (!failed && sums->count <= group) {
        struct relay_sum *grown = scratch_grow(sums->rows, sums->count, &sums->cap, sizeof *grown);
        failed = grown == NULL;
        if (!failed) {
            sums->rows = grown;
            grown[sums->count++] = (struct relay_sum){.count = 0};
        }
    }
    sums->failed = sums->failed || failed;
    return failed ? NULL : &sums->rows[group];
}

static const char *text_of(const struct relay_sums *sums, size_t group, size_t which)
{
    return strtab_text(sums->texts, sums->groups.keys[group].id[which]);
}

static void add_value(struct relay_sum *sum, int64_t value)
{
    sum->least = sum->count == 0 ? value : i64_min(sum->least, value);
    sum->most = sum->count == 0 ? value : i64_max(sum->most, value);
    sum->count++;
    sum->total = saturating_add(sum->total, value);
}

/* ---- types of kernels ---- */

static const char *said(const char *text)
{
    return strcmp(text, "N/A") == 0 ? "" : text;
}

bool relay_op_types_init(struct relay_op_types *types)
{
    return sums_init(&types->sums);
}

void relay_op_types_free(struct relay_op_types *types)
{
    sums_free(&types->sums);
}

void relay_op_types_add(struct relay_op_types *types,
                        const char *name,
                        const char *core,
                        int64_t dur_ns)
{
    struct relay_sum *sum = sum_of(&types->sums, said(name), said(core));
    if (sum != NULL) {
        add_value(sum, dur_ns);
    }
}

static void key_said(struct json_write *w, const char *key, const char *text)
{
    jw_key_string(w, key, *text == '\0' ? NULL : text);
}

void relay_op_types_write(const struct relay_op_types *types, struct json_write *w)
{
    const struct relay_sums *sums = &types->sums;
    jw_key_array_begin(w, "op_types");
    for (size_t i = 0; i < sums->count; i++) {
        jw_object_begin(w);
        key_said(w, "name", text_of(sums, i, 0));
        key_said(w, "core", text_of(sums, i, 1));
        jw_key_int(w, "calls", sums->rows[i].count);
        jw_key_int(w, "total_ns", sums->rows[i].total);
        jw_key_int(w, "min_ns", sums->rows[i].least);
        jw_key_int(w, "max_ns", sums->rows[i].most);
        jw_object_end(w);
    }
    jw_array_end(w);
}

/* ---- memory ---- */

bool relay_memory_init(struct relay_memory *memory)
{
    bool ok = sums_init(&memory->names);
    return sums_init(&memory->devices) && ok;
}

void relay_memory_free(struct relay_memory *memory)
{
    sums_free(&memory->names);
    sums_free(&memory->devices);
    scratch_free(memory->points);
}

static void relay_change(struct relay *relay,
                         const struct relay_block *block,
                         bool is_end,
                         const int64_t had_bytes[2])
{
    static const char *const keys[] = {"Total Allocated", "Total Reserved"};
    struct relay_event event = relay_blank(RELAY_MARK);
    event.category = is_end ? "recorder_memory" : "memory";
    relay_set_name(&event, "[memory]");
    /* CANN's graph engine has an allocator of its own, whose totals these are. */
    event.process = text_begins(block->name, "cann::") ? "memory of CANN" : "memory";
    event.start_ns = is_end ? block->end_ns : block->start_ns;
    relay_begin(relay, &event);
    jw_key_int(&relay->args, "Bytes", is_end ? saturating_sub(0, block->bytes) : block->bytes);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (had_bytes[i] != RELAY_NONE) {
            jw_key_int(&relay->args, keys[i], had_bytes[i]);
        }
    }
    jw_key_string(&relay->args, "operator", block->name);
    relay_end(relay);
}

void relay_memory_add(struct relay_memory *memory,
                      struct relay *relay,
                      const struct relay_block *block)
{
    struct relay_sum *sum = sum_of(&memory->names, block->name, "");
    if (sum != NULL) {
        add_value(sum, block->bytes);
        sum->given_back =
            saturating_add(sum->given_back, block->end_ns == RELAY_NONE ? 0 : block->bytes);
    }
    relay_change(relay, block, false, block->start_bytes);
    if (block->end_ns != RELAY_NONE) {
        relay_change(relay, block, true, block->end_bytes);
    }
}

void relay_memory_record(struct relay_memory *memory,
                         const char *device,
                         const char *component,
                         int64_t time_ns,
                         int64_t allocated_bytes,
                         int64_t reserved_bytes)
{
    struct relay_sum *sum = sum_of(&memory->devices, device, component);
    if (sum == NULL) {
        return;
    }
    sum->other_most = sum->count == 0 ? reserved_bytes : i64_max(sum->other_most, reserved_bytes);
    add_value(sum, allocated_bytes == RELAY_NONE ? 0 : allocated_bytes);
    struct recorded_memory_point *points =
        scratch_grow(memory->points, memory->point_count, &memory->point_cap, sizeof *points);
    memory->devices.failed = memory->devices.failed || points == NULL;
    if (points != NULL) {
        memory->points = points;
        points[memory->point_count++] = (struct recorded_memory_point){
            sum - memory->devices.rows, time_ns, allocated_bytes, reserved_bytes};
    }
}

static void write_points(const struct relay_memory *memory, struct json_write *w)
{
    jw_key_array_begin(w, "memory_points");
    for (size_t i = 0; i < memory->point_count; i++) {
        const struct recorded_memory_point *point = &memory->points[i];
        jw_object_begin(w);
        jw_key_int(w, "device", point->device);
        jw_key_int(w, "time_ns", point->time_ns);
        if (point->allocated_bytes != RELAY_NONE) {
            jw_key_int(w, "allocated_bytes", point->allocated_bytes);
        }
        jw_key_int(w, "reserved_bytes", point->reserved_bytes);
        jw_object_end(w);
    }
    jw_array_end(w);
}

void relay_memory_write(const struct relay_memory *memory, struct json_write *w)
{
    jw_key_array_begin(w, "memory_names");
    for (size_t i = 0; i < memory->names.count; i++) {
        jw_object_begin(w);
        jw_key_string(w, "name", text_of(&memory->names, i, 0));
        jw_key_int(w, "allocations", memory->names.rows[i].count);
        jw_key_int(w, "bytes", memory->names.rows[i].total);
        jw_key_int(w, "kept_bytes",
                   saturating_sub(memory->names.rows[i].total, memory->names.rows[i].given_back));
        jw_object_end(w);
    }
    jw_array_end(w);
    jw_key_array_begin(w, "memory_devices");
    for (size_t i = 0; i < memory->devices.count; i++) {
        jw_object_begin(w);
        jw_key_string(w, "device", text_of(&memory->devices, i, 0));
        key_said(w, "component", text_of(&memory->devices, i, 1));
        jw_key_int(w, "peak_bytes", memory->devices.rows[i].most);
        jw_key_int(w, "reserved_peak_bytes", memory->devices.rows[i].other_most);
        jw_key_int(w, "records", memory->devices.rows[i].count);
        jw_object_end(w);
    }
    jw_array_end(w);
    write_points(memory, w);
}

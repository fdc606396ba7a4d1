#include "ingest/analysis/contents/contents.h"

#include "ingest/analysis/util/ranges.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/affix.h"
#include "ingest/index/sort.h"

#include <stdlib.h>
#include <string.h>

#define STEP_PREFIX "ProfilerStep#"

const char *record_role_name(enum record_role role)
{
    static const char *const names[ROLE_COUNT] = {
        "kernel",  "communication", "memcpy", "memset",       "operator", "step",    "annotation",
        "runtime", "host",          "sync",   "device_other", "mark",     "counter", "memory",
    };
    return names[role];
}

/* ---- roles ---- */

static bool is_communication(const char *name, const char *category)
{
    return strcmp(category, "communication") == 0 || text_begins(name, "nccl") ||
           text_begins(name, "rccl") || text_begins(name, "mscclKernel");
}

static enum record_role role_of_other(const char *category)
{
    if (strcmp(category, "cuda_sync") == 0) {
        return ROLE_SYNC;
    }
    if (strcmp(category, "recorder_result") == 0) { /* not measured, and so no record */
        return ROLE_NONE;
    }
    return strcmp(category, "device_other") == 0 ? ROLE_DEVICE_OTHER : ROLE_HOST;
}

static const char *category_of(const struct trace *trace, uint32_t event)
{
    return strtab_text(trace->strings, trace->categories[trace_category(&trace->events, event)]);
}

/* A counter of bytes by category [FMT-7]. */
static bool is_of_memory(const struct trace *trace, uint32_t event)
{
    return strcmp(category_of(trace, event), "memory") == 0;
}

/* Ranges that serve as operators [FMT-0.5]. */
static enum record_role role_of_operator(const char *category)
{
    if (strcmp(category, "recorder_op") == 0) { /* made from what device work says of itself */
        return ROLE_NONE;
    }
    return strcmp(category, "recorder_range") == 0 ? ROLE_ANNOTATION : ROLE_OPERATOR;
}

static enum record_role role_of_annotation(const char *name, const char *category)
{
    if (strcmp(category, "recorder_step") == 0) {
        return ROLE_NONE;
    }
    return text_begins(name, STEP_PREFIX) ? ROLE_STEP : ROLE_ANNOTATION;
}

static enum record_role role_of_slice(const struct trace *trace, uint32_t event)
{
    const struct trace_events *events = &trace->events;
    const char *name = strtab_text(trace->strings, events->name[event]);
    const char *category = category_of(trace, event);
    switch (trace_kind(events, event)) {
    case EVENT_KERNEL:
        return is_communication(name, category) ? ROLE_COMMUNICATION : ROLE_KERNEL;
    case EVENT_MEMCPY:
        return ROLE_MEMCPY;
    case EVENT_MEMSET:
        return ROLE_MEMSET;
    case EVENT_OPERATOR:
        return role_of_operator(category);
    case EVENT_USER_ANNOTATION:
        return role_of_annotation(name, category);
    case EVENT_GPU_USER_ANNOTATION:
        return ROLE_ANNOTATION;
    case EVENT_RUNTIME:
    case EVENT_DRIVER:
        return ROLE_RUNTIME;
    case EVENT_MEMORY:
        return ROLE_MEMORY;
    case EVENT_DEVICE_ROW:
        return ROLE_DEVICE_OTHER;
    default:
        return role_of_other(category);
    }
}

/* Where a block is given back is told by the record of where it was taken [FMT-1.3]. */
static enum record_role role_of_instant(const struct trace *trace, uint32_t event)
{
    if (trace_kind(&trace->events, event) != EVENT_MEMORY) {
        return ROLE_MARK;
    }
    return strcmp(category_of(trace, event), "recorder_memory") == 0 ? ROLE_NONE : ROLE_MEMORY;
}

/* ROLE_NONE: metadata, flows, and begins and ends, whose pairs are slices [DEV-5]. */
static enum record_role role_of(const struct trace *trace, uint32_t event)
{
    switch (trace_phase(&trace->events, event)) {
    case 'X':
        return role_of_slice(trace, event);
    case 'C':
        return is_of_memory(trace, event) ? ROLE_MEMORY : ROLE_COUNTER;
    case 'i':
    case 'I':
    case 'R':
        return role_of_instant(trace, event);
    default:
        return ROLE_NONE;
    }
}

static void count_roles(const struct trace *trace, struct contents *out)
{
    for (uint32_t i = 0; i < trace->events.count; i++) {
        enum record_role role = role_of(trace, i);
        if (role != ROLE_NONE) {
            struct role_sums *sums = &out->roles[role];
            sums->count++;
            bool has_dur = trace_phase(&trace->events, i) == 'X';
            sums->total_ns =
                saturating_add(sums->total_ns, has_dur ? trace_dur_ns(&trace->events, i) : 0);
        }
    }
}

int64_t contents_start(const struct trace *trace, int64_t first_ns)
{
    const struct trace_events *events = &trace->events;
    int64_t start_ns = INT64_MAX;
    for (uint32_t i = 0; trace->recorded != NULL && i < events->count; i++) {
        bool is_before = events->ts_ns[i] < start_ns && (trace_flags(events, i) & EVENT_NO_TS) == 0;
        start_ns = is_before && role_of(trace, i) != ROLE_NONE ? events->ts_ns[i] : start_ns;
    }
    return start_ns == INT64_MAX ? first_ns : start_ns;
}

/* ---- links ---- */

/* A file of PyTorch's profiler tells by correlation ids; other recorders' have been counted. */
static bool count_links(const struct trace *trace, struct contents *out)
{
    struct id_map calls;
    bool ok = true;
    id_map_init(&calls);
    for (uint32_t i = 0; ok && i < trace->events.count; i++) {
        int64_t id = trace_correlation_number(trace, i);
        if (role_of(trace, i) == ROLE_RUNTIME && id != TRACE_NO_ID && id != 0) {
            ok = id_map_add(&calls, id) != NULL;
        }
    }
    for (uint32_t i = 0; ok && i < trace->events.count; i++) {
        if (role_of(trace, i) < ROLE_DEVICE_COUNT) {
            out->device_activities++;
            out->linked += id_map_find(&calls, trace_correlation_number(trace, i)) != NULL;
        }
    }
    id_map_free(&calls);
    return ok;
}

/* ---- devices ---- */

/* Device records, by device and then by start. */
struct records {
    const struct trace *trace;
    uint32_t *items;
    size_t count;
    int64_t *device; /* by event */
};

static int64_t device_of(const struct trace *trace, uint32_t event)
{
    uint32_t args = trace->events.args[event];
    int64_t device = args == TRACE_NO_ARGS ? TRACE_NO_ID : trace->kernel_args[args].device;
    return device == TRACE_NO_ID ? 0 : device;
}

static bool list_records(const struct trace *trace, struct records *out)
{
    size_t count = trace->events.count;
    out->trace = trace;
    out->items = scratch_alloc(count, sizeof *out->items);
    out->device = scratch_alloc(count, sizeof *out->device);
    if (out->items == NULL || out->device == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        bool has_time = (trace_flags(&trace->events, i) & EVENT_NO_TS) == 0;
        if (has_time && role_of(trace, i) < ROLE_DEVICE_COUNT) {
            out->device[i] = device_of(trace, i);
            out->items[out->count++] = i;
        }
    }
    return sort_by_key(out->items, out->count, trace->events.ts_ns) &&
           sort_by_key(out->items, out->count, out->device);
}

static int64_t length(const struct ranges *ranges)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < ranges->count; i++) {
        sum_ns = saturating_add(sum_ns, ranges->items[i].end - ranges->items[i].start);
    }
    return sum_ns;
}

static int64_t window(const struct ranges *ranges)
{
    return ranges->count == 0
               ? 0
               : saturating_sub(ranges->items[ranges->count - 1].end, ranges->items[0].start);
}

enum { BUSY, COMPUTATION, COMMUNICATION, BOTH, OVERLAP, UNIONS };

static bool
unite(const struct records *records, size_t from, size_t to, struct ranges unions[UNIONS])
{
    const struct trace_events *events = &records->trace->events;
    bool ok = true;
    for (size_t i = from; ok && i < to; i++) {
        uint32_t event = records->items[i];
        enum record_role role = role_of(records->trace, event);
        int64_t start = events->ts_ns[event];
        int64_t end = start + trace_dur_ns(events, event);
        ok = ranges_merge(&unions[BUSY], start, end) &&
             (role != ROLE_KERNEL || ranges_merge(&unions[COMPUTATION], start, end)) &&
             (role != ROLE_COMMUNICATION || ranges_merge(&unions[COMMUNICATION], start, end)) &&
             ((role != ROLE_KERNEL && role != ROLE_COMMUNICATION) ||
              ranges_merge(&unions[BOTH], start, end));
    }
    return ok && ranges_intersect(&unions[OVERLAP], &unions[COMPUTATION], &unions[COMMUNICATION]);
}

static bool
measure_device(const struct records *records, size_t from, size_t to, struct device_contents *out)
{
    struct ranges unions[UNIONS] = {{.count = 0}};
    bool ok = unite(records, from, to, unions);
    out->device = records->device[records->items[from]];
    out->activities = (int64_t)(to - from);
    out->window_ns = window(&unions[BUSY]);
    out->busy_ns = length(&unions[BUSY]);
    out->idle_ns = saturating_sub(out->window_ns, out->busy_ns);
    out->computation_ns = length(&unions[COMPUTATION]);
    out->communication_ns = length(&unions[COMMUNICATION]);
    out->overlap_ns = length(&unions[OVERLAP]);
    out->exposed_communication_ns = saturating_sub(out->communication_ns, out->overlap_ns);
    out->free_ns = saturating_sub(window(&unions[BOTH]), length(&unions[BOTH]));
    for (size_t i = 0; i < UNIONS; i++) {
        ranges_free(&unions[i]);
    }
    return ok;
}

static size_t end_of_device(const struct records *records, size_t from)
{
    int64_t device = records->device[records->items[from]];
    size_t to = from;
    while (to < records->count && records->device[records->items[to]] == device) {
        to++;
    }
    return to;
}

static bool measure_devices(const struct trace *trace, struct arena *arena, struct contents *out)
{
    struct records records = {.count = 0};
    bool ok = list_records(trace, &records);
    size_t devices = 0;
    for (size_t i = 0; ok && i < records.count; i = end_of_device(&records, i)) {
        devices++;
    }
    out->devices = arena_calloc(arena, devices + 1, sizeof *out->devices);
    ok = ok && out->devices != NULL;
    for (size_t i = 0, end; ok && i < records.count; i = end) {
        end = end_of_device(&records, i);
        ok = measure_device(&records, i, end, &out->devices[out->device_count++]);
    }
    SCRATCH_FREE(records.items, records.device);
    return ok;
}

/* ---- what the file says ---- */

static const char *copy(struct arena *arena, const char *text, bool *ok)
{
    const char *kept = text == NULL ? NULL : arena_strdup(arena, text);
    *ok = *ok && (text == NULL || kept != NULL);
    return kept;
}

static void *copy_rows(struct arena *arena, const void *rows, size_t count, size_t size, bool *ok)
{
    void *kept = arena_calloc(arena, count + 1, size);
    *ok = *ok && kept != NULL;
    if (kept != NULL && count > 0) {
        memcpy(kept, rows, count * size);
    }
    return kept;
}

/* What the reader of events counted, as readers of other files count it [FMT-0.1b]. */
static bool add_negative(const struct trace *trace, struct arena *arena, struct recorded *out)
{
    uint64_t count = trace->warnings.by_code[WARN_NEGATIVE_DURATION].count;
    if (count == 0) {
        return true;
    }
    struct skipped_records *rows = arena_calloc(arena, out->skipped_count + 1, sizeof *rows);
    if (rows == NULL) {
        return false;
    }
    if (out->skipped_count > 0) {
        memcpy(rows, out->skipped, out->skipped_count * sizeof *rows);
    }
    rows[out->skipped_count++] = (struct skipped_records){
        "negative duration", "the end is before the start: read as 0", (int64_t)count};
    out->skipped = rows;
    return true;
}

static bool
copy_recorded(const struct trace *trace, int64_t zero_ns, struct arena *arena, struct recorded *out)
{
    const struct recorded none = {.linked = RECORDED_UNKNOWN};
    bool ok = true;
    *out = trace->recorded == NULL ? none : *trace->recorded;
    out->recorder = copy(arena, out->recorder, &ok);
    out->format_version = copy(arena, out->format_version, &ok);
    out->skipped = copy_rows(arena, out->skipped, out->skipped_count, sizeof *out->skipped, &ok);
    out->collectives =
        copy_rows(arena, out->collectives, out->collective_count, sizeof *out->collectives, &ok);
    out->op_types = copy_rows(arena, out->op_types, out->op_type_count, sizeof *out->op_types, &ok);
    out->metrics = copy_rows(arena, out->metrics, out->metric_count, sizeof *out->metrics, &ok);
    out->memory = copy_rows(arena, out->memory, out->memory_count, sizeof *out->memory, &ok);
    out->devices = copy_rows(arena, out->devices, out->device_count, sizeof *out->devices, &ok);
    out->points = copy_rows(arena, out->points, out->point_count, sizeof *out->points, &ok);
    for (size_t i = 0; ok && i < out->point_count; i++) {
        out->points[i].time_ns = saturating_sub(out->points[i].time_ns, zero_ns);
    }
    for (size_t i = 0; ok && i < out->metric_count; i++) {
        out->metrics[i].kernel = copy(arena, out->metrics[i].kernel, &ok);
        out->metrics[i].metric = copy(arena, out->metrics[i].metric, &ok);
    }
    for (size_t i = 0; ok && i < out->memory_count; i++) {
        out->memory[i].name = copy(arena, out->memory[i].name, &ok);
    }
    for (size_t i = 0; ok && i < out->device_count; i++) {
        out->devices[i].device = copy(arena, out->devices[i].device, &ok);
        out->devices[i].component = copy(arena, out->devices[i].component, &ok);
    }
    for (size_t i = 0; ok && i < out->skipped_count; i++) {
        out->skipped[i].what = copy(arena, out->skipped[i].what, &ok);
        out->skipped[i].reason = copy(arena, out->skipped[i].reason, &ok);
    }
    for (size_t i = 0; ok && i < out->collective_count; i++) {
        out->collectives[i].name = copy(arena, out->collectives[i].name, &ok);
        out->collectives[i].start_ns = saturating_sub(out->collectives[i].start_ns, zero_ns);
    }
    for (size_t i = 0; ok && i < out->op_type_count; i++) {
        out->op_types[i].name = copy(arena, out->op_types[i].name, &ok);
        out->op_types[i].core = copy(arena, out->op_types[i].core, &ok);
    }
    return ok;
}

bool contents_analyse(const struct trace *trace,
                      int64_t zero_ns,
                      struct arena *arena,
                      struct contents *out)
{
    *out = (struct contents){.devices = NULL};
    count_roles(trace, out);
    bool ok = count_links(trace, out) && measure_devices(trace, arena, out) &&
              copy_recorded(trace, zero_ns, arena, &out->recorded) &&
              add_negative(trace, arena, &out->recorded);
    if (ok && out->recorded.linked != RECORDED_UNKNOWN) {
        out->linked = out->recorded.linked;
    }
    return ok;
}

/* ---- names ---- */

ORDER_BY(by_total, struct named_row, ORDER_DOWN(total_ns), ORDER_TEXT(name))

static void add_named(struct named_row *row, int64_t dur_ns)
{
    row->min_ns = row->calls == 0 || dur_ns < row->min_ns ? dur_ns : row->min_ns;
    row->max_ns = dur_ns > row->max_ns ? dur_ns : row->max_ns;
    row->calls++;
    row->total_ns = saturating_add(row->total_ns, dur_ns);
}

bool contents_names(const struct trace *trace, struct arena *arena, struct named_rows *out)
{
    const struct trace_events *events = &trace->events;
    uint32_t texts = strtab_count(trace->strings);
    uint32_t *number = scratch_none(texts);
    *out = (struct named_rows){.rows = arena_calloc(arena, (size_t)texts + 1, sizeof *out->rows)};
    bool ok = number != NULL && out->rows != NULL;
    for (uint32_t i = 0; ok && i < events->count; i++) {
        if (role_of(trace, i) != ROLE_HOST) {
            continue;
        }
        uint32_t name = events->name[i];
        if (number[name] == UINT32_MAX) {
            number[name] = (uint32_t)out->count++;
            out->rows[number[name]].name = copy(arena, strtab_text(trace->strings, name), &ok);
        }
        add_named(&out->rows[number[name]], trace_dur_ns(events, i));
    }
    if (ok) {
        qsort(out->rows, out->count, sizeof *out->rows, by_total);
    }
    scratch_free(number);
    return ok;
}

/* ---- the rows as tables ---- */

#define TABLE_DEF "ingest/model/tables/trace/named.def"
#define TABLE_ROW struct named_row
#define TABLE_IN_MEMORY
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/trace/op_type.def"
#define TABLE_ROW struct op_type_times
#define TABLE_IN_MEMORY
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/kernels/kernel_metric.def"
#define TABLE_ROW struct kernel_metric
#define TABLE_IN_MEMORY
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/trace/device_contents.def"
#define TABLE_ROW struct device_contents
#include "ingest/model/tables/describe.h"

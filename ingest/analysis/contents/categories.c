/* Memory by category over time [FMT-7]. */
#include "ingest/analysis/contents/contents.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"

#include <string.h>

const char *memory_category_name(size_t category)
{
    static const char *const names[MEMORY_CATEGORIES] = {
        "parameter",  "optimizer_state", "input",           "temporary",
        "activation", "gradient",        "autograd_detail", "unknown",
    };
    return names[category];
}

/* Category by string id of the series. */
static bool find_series(const struct trace *trace, uint32_t *category_of)
{
    bool has_any = false;
    for (size_t i = 0; i < MEMORY_CATEGORIES; i++) {
        const char *name = memory_category_name(i);
        uint32_t id = strtab_find(trace->strings, name, strlen(name));
        if (id != STRTAB_NONE) {
            category_of[id] = (uint32_t)i;
            has_any = true;
        }
    }
    return has_any;
}

static bool is_of_memory(const struct trace *trace, uint32_t event)
{
    uint32_t category = trace->categories[trace_category(&trace->events, event)];
    return trace_phase(&trace->events, event) == 'C' &&
           strcmp(strtab_text(trace->strings, category), "memory") == 0;
}

static int64_t bytes_of(double value)
{
    const double most = 9e18;
    return value > -most && value < most ? (int64_t)value : 0;
}

static void read_series(const struct trace *trace,
                        uint32_t event,
                        const uint32_t *category_of,
                        uint32_t *next,
                        struct memory_point_by_category *point)
{
    for (; *next < trace->counter_count && trace->counters[*next].event <= event; ++*next) {
        const struct trace_counter *counter = &trace->counters[*next];
        uint32_t category = category_of[counter->series];
        if (counter->event == event && category < MEMORY_CATEGORIES) {
            point->bytes[category] = bytes_of(counter->value);
            point->total_bytes = saturating_add(point->total_bytes, point->bytes[category]);
        }
    }
}

/* A row of equal time and name replaces the one before it. */
static void list_points(const struct trace *trace,
                        int64_t zero_ns,
                        const uint32_t *category_of,
                        struct memory_categories *out)
{
    uint32_t next = 0;
    uint32_t name = UINT32_MAX;
    for (uint32_t i = 0; i < trace->events.count; i++) {
        if (!is_of_memory(trace, i)) {
            continue;
        }
        struct memory_point_by_category point = {
            .t_ns = saturating_sub(trace->events.ts_ns[i], zero_ns)};
        read_series(trace, i, category_of, &next, &point);
        bool is_same = out->count > 0 && trace->events.name[i] == name &&
                       out->points[out->count - 1].t_ns == point.t_ns;
        out->count -= is_same;
        out->points[out->count++] = point;
        name = trace->events.name[i];
    }
    for (size_t i = 0; i < out->count; i++) {
        bool is_more = out->points[i].total_bytes > out->points[out->peak].total_bytes;
        out->peak = is_more ? i : out->peak;
    }
}

bool contents_memory(const struct trace *trace,
                     int64_t zero_ns,
                     struct arena *arena,
                     struct memory_categories *out)
{
    size_t count = 0;
    uint32_t *category_of = scratch_none(strtab_count(trace->strings));
    *out = (struct memory_categories){.count = 0};
    for (uint32_t i = 0; i < trace->events.count; i++) {
        count += is_of_memory(trace, i);
    }
    out->points = arena_calloc(arena, count + 1, sizeof *out->points);
    bool ok = category_of != NULL && out->points != NULL;
    if (ok && find_series(trace, category_of)) {
        list_points(trace, zero_ns, category_of, out);
    }
    scratch_free(category_of);
    return ok;
}

/* Beta over time, read back from the compared traces. */
#include "ingest/analysis/compare/devices.h"
#include "ingest/base/order.h"
#include "ingest/query/compare/compare_query.h"

#include <stdlib.h>
#include <string.h>

/* One cycle of the chart. */
struct point {
    int64_t start_ns;
    double dur_us;
    double beta_pct;
    bool is_of_role;
};

/* What the chart is of. */
struct wanted {
    const char *function;
    const char *metric;
    const char *device;
    int64_t pid;
    enum cycle_kind kind;
};

static bool is_text(const char *text, const char *wanted)
{
    return strcmp(text == NULL ? "N/A" : text, wanted) == 0;
}

static bool is_of_role(const struct wanted *wanted,
                       const struct trace_results *trace,
                       const struct cycle_use_row *use)
{
    bool in_range = use->cycle >= 0 && (uint64_t)use->cycle < trace->cycle_count;
    return in_range && trace->cycles[use->cycle].kind == wanted->kind &&
           (wanted->pid == COMPARISON_NO_PID || use->pid == wanted->pid);
}

/* A point a cycle of the trace; those of the role are the cycles in which it has a row. */
static void
fill_points(struct point *points, const struct trace_results *trace, const struct wanted *wanted)
{
    for (size_t i = 0; i < trace->cycle_count; i++) {
        points[i] = (struct point){.start_ns = trace->cycles[i].start_ns,
                                   .dur_us = trace->cycles[i].dur_us};
    }
    for (size_t i = 0; i < trace->cycle_use_count; i++) {
        const struct cycle_use_row *use = &trace->cycle_uses[i];
        if (!is_of_role(wanted, trace, use)) {
            continue;
        }
        struct point *point = &points[use->cycle];
        point->is_of_role = true;
        if (is_text(use->function, wanted->function) && is_text(use->metric, wanted->metric) &&
            is_text(use->device, wanted->device)) {
            point->beta_pct += use->beta_pct;
        }
    }
}

/* Times are equal only across traces, whose order the compared ids give. */
ORDER_BY(compare_starts, struct point, ORDER_UP(start_ns))

/* The traces of a side that are still there. */
struct side_traces {
    struct trace_results **results;
    size_t count;
    size_t cycle_count;
};

static bool load_side(struct side_traces *out,
                      struct store_snapshot *snapshot,
                      struct arena *arena,
                      const int64_t *ids,
                      size_t count,
                      struct err *err)
{
    *out =
        (struct side_traces){.results = arena_calloc(arena, count, sizeof(struct trace_results *))};
    if (out->results == NULL) {
        return err_set(err, ERR_NO_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        struct err missing = ERR_INIT;
        if (!store_trace_check(snapshot, ids[i], &missing)) {
            if (missing.code != ERR_NOT_FOUND) {
                *err = missing;
                return false;
            }
            continue;
        }
        struct trace_results **into = &out->results[out->count++];
        if (!store_cycles(snapshot, arena, ids[i], into, err)) {
            return false;
        }
        out->cycle_count += (*into)->cycle_count;
    }
    return true;
}

/* Steps may have been compared with decode cycles: then the side has no cycle of the comparison's
 * kind. */
static enum cycle_kind kind_of_side(const struct side_traces *side, enum cycle_kind kind)
{
    for (size_t t = 0; t < side->count; t++) {
        for (size_t i = 0; i < side->results[t]->cycle_count; i++) {
            if (side->results[t]->cycles[i].kind == kind) {
                return kind;
            }
        }
    }
    return CYCLE_STEP;
}

static bool fill_side(struct query_beta_series *out,
                      enum comparison_side which,
                      struct arena *arena,
                      const struct side_traces *side,
                      const struct wanted *wanted,
                      struct err *err)
{
    struct point *points = arena_calloc(arena, side->cycle_count, sizeof *points);
    out->beta_pct[which] = arena_calloc(arena, side->cycle_count, sizeof(double));
    out->cycle_us[which] = arena_calloc(arena, side->cycle_count, sizeof(double));
    if (points == NULL || out->beta_pct[which] == NULL || out->cycle_us[which] == NULL) {
        return err_set(err, ERR_NO_MEMORY, "out of memory");
    }
    size_t filled = 0;
    for (size_t t = 0; t < side->count; t++) {
        fill_points(points + filled, side->results[t], wanted);
        filled += side->results[t]->cycle_count;
    }
    qsort(points, filled, sizeof *points, compare_starts);
    size_t kept = 0;
    for (size_t i = 0; i < filled; i++) {
        if (points[i].is_of_role) {
            out->beta_pct[which][kept] = points[i].beta_pct;
            out->cycle_us[which][kept] = points[i].dur_us;
            kept++;
        }
    }
    out->count[which] = kept;
    return true;
}

bool query_compare_series(struct store_snapshot *snapshot,
                          struct arena *arena,
                          int64_t comparison_id,
                          const char *function,
                          const char *metric,
                          const char *device,
                          struct query_beta_series *out,
                          struct err *err)
{
    struct store_comparison *stored;
    *out = (struct query_beta_series){.count = {0}};
    if (!store_comparison_get(snapshot, arena, comparison_id, &stored, err)) {
        return false;
    }
    for (int side = 0; side < SIDE_COUNT; side++) {
        struct side_traces traces;
        if (!load_side(&traces, snapshot, arena, stored->trace_ids[side], stored->trace_count[side],
                       err)) {
            return false;
        }
        char part[DEVICE_TEXT_BYTES];
        const struct wanted wanted = {
            .function = function,
            .metric = metric,
            .device = device_name_of_side(device, side, part),
            .pid = stored->comparison->roles[side].pid,
            .kind = kind_of_side(&traces, stored->comparison->kind),
        };
        if (!fill_side(out, (enum comparison_side)side, arena, &traces, &wanted, err)) {
            return false;
        }
    }
    return true;
}

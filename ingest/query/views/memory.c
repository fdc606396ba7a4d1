#include "ingest/query/views/memory.h"

#include "ingest/analysis/memory/view.h"
#include "ingest/analysis/util/lttb.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_BYTES 200

/* Both NULL for a trace without records. */
struct stored_memory {
    struct call_tree *tree;
    struct memory_log *log;
};

static bool load(struct stored_memory *memory,
                 struct store_snapshot *snapshot,
                 struct arena *arena,
                 int64_t figures_id,
                 struct err *err)
{
    *memory = (struct stored_memory){NULL, NULL};
    if (!store_memory_log(snapshot, arena, figures_id, &memory->log, err)) {
        return false;
    }
    if (memory->log == NULL) {
        return true;
    }
    if (!store_call_tree(snapshot, arena, figures_id, &memory->tree, err)) {
        return false;
    }
    /* Records name rows and names of the tree. */
    bool fits = memory->tree != NULL && memory->log->node_count == memory->tree->node_count;
    for (uint32_t i = 0; fits && i < memory->log->count; i++) {
        fits = (memory->log->op[i] == CALL_NONE || memory->log->op[i] < memory->tree->name_count) &&
               (memory->log->parent[i] == CALL_NONE ||
                memory->log->parent[i] < memory->tree->name_count);
    }
    return fits || err_set(err, ERR_STORE, "the stored memory records are damaged");
}

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the memory view");
}

static bool named_blocks(const struct stored_memory *memory,
                         struct arena *arena,
                         struct memory_window window,
                         struct memory_block **blocks,
                         size_t *count,
                         struct err *err)
{
    if (!memory_blocks_run(blocks, count, arena, memory->tree, memory->log, window)) {
        return no_memory(err);
    }
    for (size_t i = 0; i < *count; i++) {
        (*blocks)[i].name = memory_block_name(arena, &(*blocks)[i]);
        if ((*blocks)[i].name == NULL) {
            return no_memory(err);
        }
    }
    return true;
}

bool query_memory_stats(struct store_snapshot *snapshot,
                        struct arena *arena,
                        int64_t figures_id,
                        struct memory_window window,
                        struct memory_stats *out,
                        struct err *err)
{
    struct stored_memory memory;
    *out = (struct memory_stats){0};
    if (!load(&memory, snapshot, arena, figures_id, err)) {
        return false;
    }
    return memory.log == NULL || memory_stats_run(out, arena, memory.tree, memory.log, window) ||
           no_memory(err);
}

bool query_memory_blocks(struct store_snapshot *snapshot,
                         struct arena *arena,
                         int64_t figures_id,
                         struct memory_window window,
                         struct memory_block **blocks,
                         size_t *count,
                         struct err *err)
{
    struct stored_memory memory;
    *blocks = NULL;
    *count = 0;
    if (!load(&memory, snapshot, arena, figures_id, err)) {
        return false;
    }
    if (memory.log == NULL) {
        return true;
    }
    return named_blocks(&memory, arena, window, blocks, count, err);
}

bool query_memory_curves(struct store_snapshot *snapshot,
                         struct arena *arena,
                         int64_t figures_id,
                         bool with_sums,
                         struct memory_curve **curves,
                         size_t *count,
                         struct err *err)
{
    struct memory_log *log = NULL;
    *curves = NULL;
    *count = 0;
    if (!store_memory_log(snapshot, arena, figures_id, &log, err)) {
        return false;
    }
    return log == NULL ||
           (with_sums ? memory_curves_with_sums(curves, count, arena, log)
                      : memory_curves_run(curves, count, arena, log)) ||
           no_memory(err);
}

size_t
query_sample_curve(const double *x, const double *y, size_t count, size_t wanted, size_t *chosen)
{
    return lttb_choose(x, y, count, wanted, chosen);
}

bool query_sample_memory(struct arena *arena,
                         const struct memory_curve *curve,
                         size_t wanted,
                         size_t **chosen,
                         size_t *count,
                         struct err *err)
{
    size_t points = curve->point_count;
    double *x = malloc((points + 1) * sizeof *x);
    double *y = malloc((points + 1) * sizeof *y);
    *chosen = arena_calloc(arena, (wanted < points ? wanted : points) + 1, sizeof **chosen);
    bool ok = x != NULL && y != NULL && *chosen != NULL;
    for (size_t i = 0; ok && i < points; i++) {
        x[i] = (double)curve->points[i].ts;
        y[i] = (double)memory_point_bytes(&curve->points[i]);
    }
    if (ok && points <= wanted) {
        *count = lttb_choose(x, y, points, wanted, *chosen);
    } else if (ok) {
        *count = lttb_choose(x, y, points, wanted - 1, *chosen);
        size_t at = *count;
        while (at > 0 && (*chosen)[at - 1] > curve->peak) {
            at--;
        }
        if (at == 0 || (*chosen)[at - 1] != curve->peak) {
            memmove(*chosen + at + 1, *chosen + at, (*count - at) * sizeof **chosen);
            (*chosen)[at] = curve->peak;
            (*count)++;
        }
    }
    free(x);
    free(y);
    return ok || no_memory(err);
}

/* ---- one device ---- */

ORDER_BY(compare_devices, struct query_memory_device, ORDER_TEXT(device))

static void add_totals(struct query_memory_device *device, const struct memory_curve *curve)
{
    device->has_totals = curve->point_count > 0;
    device->peak = curve->points[curve->peak];
    device->allocated_end_bytes = curve->points[curve->point_count - 1].allocated_bytes;
    for (size_t i = 0; i < curve->point_count; i++) {
        device->reserved_peak_bytes =
            i64_max(device->reserved_peak_bytes, curve->points[i].reserved_bytes);
    }
}

/* Devices that views show, by name. */
static bool read_devices(const struct memory_log *log,
                         struct arena *arena,
                         struct query_memory_device **devices,
                         size_t *count,
                         struct err *err)
{
    struct memory_curve *curves = NULL;
    size_t curve_count = 0;
    *count = 0;
    *devices = arena_calloc(arena, (size_t)log->device_count + 1, sizeof **devices);
    int64_t *records = arena_calloc(arena, (size_t)log->device_count + 1, sizeof *records);
    if (*devices == NULL || records == NULL ||
        !memory_curves_run(&curves, &curve_count, arena, log)) {
        return no_memory(err);
    }
    for (uint32_t at = 0; at < log->count; at++) {
        records[log->device[at]]++;
    }
    for (uint32_t d = 0; d < log->device_count; d++) {
        if (log->devices[d][0] == '\0') {
            continue;
        }
        struct query_memory_device *device = &(*devices)[(*count)++];
        *device = (struct query_memory_device){.device = log->devices[d], .records = records[d]};
        for (size_t c = 0; c < curve_count; c++) {
            if (strcmp(curves[c].device, device->device) == 0) {
                add_totals(device, &curves[c]);
            }
        }
    }
    qsort(*devices, *count, sizeof **devices, compare_devices);
    return true;
}

static bool unknown_device(const struct query_memory_device *devices,
                           size_t count,
                           const char *name,
                           struct err *err)
{
    char known[NAMES_BYTES] = "none";
    size_t len = 0;
    for (size_t i = 0; i < count && len < sizeof known; i++) {
        int more = snprintf(known + len, sizeof known - len, "%s%s", i == 0 ? "" : ", ",
                            devices[i].device);
        len += more < 0 ? sizeof known : (size_t)more;
    }
    return err_set(err, ERR_BAD_REQUEST,
                   "device=%.40s has no memory records in this trace; devices that have: %s", name,
                   known);
}

/* NULL for no device at all. */
static bool choose_device(const struct query_memory_device *devices,
                          size_t count,
                          const char *name,
                          const struct query_memory_device **chosen,
                          struct err *err)
{
    *chosen = count == 0 ? NULL : &devices[0];
    for (size_t i = 0; i < count; i++) {
        bool is_wanted = name == NULL ? strcmp(devices[i].device, "CPU") != 0
                                      : strcmp(devices[i].device, name) == 0;
        if (is_wanted) {
            *chosen = &devices[i];
            return true;
        }
    }
    return name == NULL || unknown_device(devices, count, name, err);
}

static void add_block(struct query_blocks *to, const struct memory_block *block)
{
    to->count++;
    to->size_bytes = saturating_add(to->size_bytes, block->size_bytes);
    size_t at = to->row_count;
    while (at > 0 && to->rows[at - 1].size_bytes < block->size_bytes) {
        at--;
    }
    if (at == QUERY_BLOCKS_MAX) {
        return;
    }
    to->row_count += to->row_count < QUERY_BLOCKS_MAX;
    memmove(&to->rows[at + 1], &to->rows[at], (to->row_count - at - 1) * sizeof *to->rows);
    to->rows[at] = *block;
}

/* A block of which one end is not known was there before the records began, or is never released.
 */
static bool is_alive(const struct memory_block *block, int64_t at)
{
    bool has_begun = block->allocated_at == MEMORY_NO_TIME || block->allocated_at <= at;
    return has_begun && (block->released_at == MEMORY_NO_TIME || block->released_at > at);
}

static bool read_blocks(const struct stored_memory *memory,
                        struct arena *arena,
                        struct query_memory *out,
                        struct err *err)
{
    const struct memory_window whole = {INT64_MIN, INT64_MAX};
    struct memory_block *blocks = NULL;
    size_t count = 0;
    if (!named_blocks(memory, arena, whole, &blocks, &count, err)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(blocks[i].device, out->device->device) != 0) {
            continue;
        }
        if (blocks[i].released_at == MEMORY_NO_TIME) {
            add_block(&out->unreleased, &blocks[i]);
        }
        if (out->device->has_totals && is_alive(&blocks[i], out->device->peak.ts)) {
            add_block(&out->at_peak, &blocks[i]);
        }
    }
    return true;
}

bool query_memory(struct store_snapshot *snapshot,
                  struct arena *arena,
                  int64_t trace_id,
                  const char *device,
                  struct memory_window window,
                  struct query_memory *out,
                  struct err *err)
{
    struct stored_memory memory;
    struct memory_stats stats;
    *out = (struct query_memory){.device = NULL};
    if (!load(&memory, snapshot, arena, trace_id, err)) {
        return false;
    }
    if (memory.log == NULL) {
        return device == NULL || unknown_device(NULL, 0, device, err);
    }
    if (!read_devices(memory.log, arena, &out->devices, &out->device_count, err) ||
        !choose_device(out->devices, out->device_count, device, &out->device, err)) {
        return false;
    }
    if (out->device == NULL) {
        return true;
    }
    if (!memory_stats_run(&stats, arena, memory.tree, memory.log, window)) {
        return no_memory(err);
    }
    for (size_t i = 0; i < stats.device_count; i++) {
        if (strcmp(stats.devices[i].device, out->device->device) == 0) {
            out->rows = stats.devices[i].rows;
            out->row_count = stats.devices[i].row_count;
        }
    }
    return read_blocks(&memory, arena, out, err);
}

bool query_memory_device_blocks(struct store_snapshot *snapshot,
                                struct arena *arena,
                                int64_t trace_id,
                                const char *device,
                                struct memory_window window,
                                struct query_memory_blocks *out,
                                struct err *err)
{
    struct stored_memory memory;
    struct query_memory_device *devices = NULL;
    const struct query_memory_device *chosen = NULL;
    size_t device_count = 0;
    *out = (struct query_memory_blocks){.device = NULL};
    if (!load(&memory, snapshot, arena, trace_id, err)) {
        return false;
    }
    if (memory.log == NULL) {
        return device == NULL || unknown_device(NULL, 0, device, err);
    }
    size_t count = 0;
    if (!read_devices(memory.log, arena, &devices, &device_count, err) ||
        !choose_device(devices, device_count, device, &chosen, err) ||
        !named_blocks(&memory, arena, window, &out->rows, &count, err)) {
        return false;
    }
    out->device = chosen == NULL ? NULL : chosen->device;
    for (size_t i = 0; chosen != NULL && i < count; i++) {
        if (strcmp(out->rows[i].device, chosen->device) == 0) {
            out->rows[out->row_count++] = out->rows[i];
        }
    }
    return true;
}

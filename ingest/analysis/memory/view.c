#include "ingest/analysis/memory/view.h"

#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"

#include <stdio.h>
#include <string.h>

#define EMPTY_PREFIX "aten::empty"
#define UNKNOWN_NAME "<unknown>"

static bool is_shown(const struct memory_log *log, uint32_t at)
{
    return log->devices[log->device[at]][0] != '\0';
}

/* ---- blocks ---- */

/* Blocks that are open, or releases whose block is not: by the place that their address got when it
 * came. */
struct rest {
    struct id_map by_addr; /* value: place */
    uint32_t *places;      /* records; CALL_NONE: paired since */
    uint32_t count;
};

struct pairing {
    struct memory_block *blocks;
    size_t count;
    const struct call_tree *tree;
    const struct memory_log *log;
    struct rest open;
    struct rest surplus;
};

static const char *name_of(const struct call_tree *tree, uint32_t name)
{
    return name == CALL_NONE ? NULL : tree->names[name];
}

/* `named` gives names and device: the allocation, if there was one. */
static void emit(struct pairing *p,
                 uint32_t named,
                 int64_t size_bytes,
                 int64_t allocated_at,
                 int64_t released_at)
{
    const struct memory_log *log = p->log;
    if (is_shown(log, named)) {
        p->blocks[p->count++] =
            (struct memory_block){.device = log->devices[log->device[named]],
                                  .op = name_of(p->tree, log->op[named]),
                                  .parent = name_of(p->tree, log->parent[named]),
                                  .size_bytes = size_bytes,
                                  .addr = log->addr[named],
                                  .allocated_at = allocated_at,
                                  .released_at = released_at};
    }
}

static int64_t negated(int64_t size_bytes)
{
    return size_bytes == INT64_MIN ? INT64_MAX : -size_bytes;
}

/* A later record of an address that has a place takes the place over [TB-13e] [TB-13.5b]. */
static bool rest_put(struct rest *rest, int64_t addr, uint32_t at)
{
    struct id_slot *slot = id_map_add(&rest->by_addr, addr);
    if (slot == NULL) {
        return false;
    }
    if (slot->value == ID_MAP_NONE) {
        slot->value = rest->count++;
    }
    rest->places[slot->value] = at;
    return true;
}

/* The record of an address, which gives up its place; CALL_NONE when there is none. */
static uint32_t rest_take(struct rest *rest, int64_t addr)
{
    struct id_slot *slot = id_map_find(&rest->by_addr, addr);
    if (slot == NULL || slot->value == ID_MAP_NONE) {
        return CALL_NONE;
    }
    uint32_t at = rest->places[slot->value];
    rest->places[slot->value] = CALL_NONE;
    slot->value = ID_MAP_NONE;
    return at;
}

static bool pair_record(struct pairing *p, uint32_t at)
{
    const struct memory_log *log = p->log;
    if (log->size_bytes[at] > 0) {
        return rest_put(&p->open, log->addr[at], at);
    }
    uint32_t allocation = rest_take(&p->open, log->addr[at]);
    if (allocation == CALL_NONE) {
        return rest_put(&p->surplus, log->addr[at], at);
    }
    emit(p, allocation, negated(log->size_bytes[at]), log->ts[allocation], log->ts[at]);
    return true;
}

static void emit_rest(struct pairing *p)
{
    const struct memory_log *log = p->log;
    for (uint32_t i = 0; i < p->open.count; i++) {
        uint32_t at = p->open.places[i];
        if (at != CALL_NONE) {
            emit(p, at, log->size_bytes[at], log->ts[at], MEMORY_NO_TIME);
        }
    }
    for (uint32_t i = 0; i < p->surplus.count; i++) {
        uint32_t at = p->surplus.places[i];
        emit(p, at, negated(log->size_bytes[at]), MEMORY_NO_TIME, log->ts[at]);
    }
}

static bool is_block_record(const struct memory_log *log, uint32_t at, struct memory_window window)
{
    return (log->flags[at] & MEMORY_RECORD_HAS_ADDR) != 0 && log->ts[at] >= window.start &&
           log->ts[at] <= window.end;
}

bool memory_blocks_run(struct memory_block **out,
                       size_t *count,
                       struct arena *arena,
                       const struct call_tree *tree,
                       const struct memory_log *log,
                       struct memory_window window)
{
    struct pairing p = {.blocks = arena_calloc(arena, (size_t)log->count + 1, sizeof *p.blocks),
                        .tree = tree,
                        .log = log,
                        .open.places = scratch_alloc(log->count, sizeof *p.open.places),
                        .surplus.places = scratch_alloc(log->count, sizeof *p.surplus.places)};
    id_map_init(&p.open.by_addr);
    id_map_init(&p.surplus.by_addr);
    bool ok = p.blocks != NULL && p.open.places != NULL && p.surplus.places != NULL;
    for (uint32_t at = 0; ok && at < log->count; at++) {
        ok = !is_block_record(log, at, window) || pair_record(&p, at);
    }
    if (ok) {
        emit_rest(&p);
    }
    id_map_free(&p.open.by_addr);
    id_map_free(&p.surplus.by_addr);
    SCRATCH_FREE(p.open.places, p.surplus.places);
    *out = p.blocks;
    *count = p.count;
    return ok;
}

const char *memory_block_name(struct arena *arena, const struct memory_block *block)
{
    if (block->op == NULL) {
        return UNKNOWN_NAME;
    }
    bool is_empty = strncmp(block->op, EMPTY_PREFIX, sizeof EMPTY_PREFIX - 1) == 0;
    if (!is_empty || block->parent == NULL || block->parent[0] == '\0') {
        return block->op;
    }
    size_t room = strlen(block->op) + strlen(block->parent) + sizeof " ()";
    char *name = arena_alloc(arena, room);
    if (name != NULL) {
        (void)snprintf(name, room, "%s (%s)", block->parent, block->op);
    }
    return name;
}

/* ---- curves ---- */

static bool is_point(const struct memory_log *log, uint32_t at)
{
    const uint8_t needed = MEMORY_RECORD_HAS_ADDR | MEMORY_RECORD_HAS_TOTALS;
    return (log->flags[at] & needed) == needed && is_shown(log, at);
}

static void add_point(struct memory_curve *curve, const struct memory_log *log, uint32_t at)
{
    size_t index = curve->point_count++;
    curve->points[index] =
        (struct memory_point){log->ts[at], log->allocated_bytes[at], log->reserved_bytes[at]};
    if (curve->points[index].allocated_bytes > curve->points[curve->peak].allocated_bytes) {
        curve->peak = index;
    }
}

bool memory_curves_run(struct memory_curve **out,
                       size_t *count,
                       struct arena *arena,
                       const struct memory_log *log)
{
    size_t *points = scratch_calloc(log->device_count, sizeof *points);
    uint32_t *place = scratch_none(log->device_count);
    struct memory_curve *curves =
        arena_calloc(arena, (size_t)log->device_count + 1, sizeof *curves);
    bool ok = points != NULL && place != NULL && curves != NULL;
    *out = curves;
    *count = 0;
    for (uint32_t at = 0; ok && at < log->count; at++) {
        points[log->device[at]] += is_point(log, at);
    }
    for (uint32_t at = 0; ok && at < log->count; at++) {
        uint32_t device = log->device[at];
        if (!is_point(log, at)) {
            continue;
        }
        if (place[device] == UINT32_MAX) {
            place[device] = (uint32_t)(*count)++;
            struct memory_curve *curve = &curves[place[device]];
            curve->device = log->devices[device];
            curve->points = arena_alloc(arena, points[device] * sizeof *curve->points);
            ok = curve->points != NULL;
        }
        if (ok) {
            add_point(&curves[place[device]], log, at);
        }
    }
    SCRATCH_FREE(points, place);
    return ok;
}

/* By number of the device. False without memory. */
static bool begin_sums(struct memory_curve *curve,
                       struct arena *arena,
                       const struct memory_log *log,
                       uint32_t device)
{
    size_t records = 0;
    for (uint32_t at = 0; at < log->count; at++) {
        records += log->device[at] == device;
    }
    *curve = (struct memory_curve){.device = log->devices[device], .since_start = true};
    curve->points = arena_alloc(arena, (records + 1) * sizeof *curve->points);
    return curve->points != NULL;
}

static void sum_sizes(struct memory_curve *curve, const struct memory_log *log, uint32_t device)
{
    int64_t sum = 0;
    for (uint32_t at = 0; at < log->count; at++) {
        if (log->device[at] != device) {
            continue;
        }
        sum = saturating_add(sum, log->size_bytes[at]);
        size_t index = curve->point_count++;
        curve->points[index] = (struct memory_point){log->ts[at], sum, 0};
        if (sum > curve->points[curve->peak].allocated_bytes) {
            curve->peak = index;
        }
    }
}

static bool has_curve(const struct memory_curve *curves, size_t count, const char *device)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(curves[i].device, device) == 0) {
            return true;
        }
    }
    return false;
}

bool memory_curves_with_sums(struct memory_curve **out,
                             size_t *count,
                             struct arena *arena,
                             const struct memory_log *log)
{
    if (!memory_curves_run(out, count, arena, log)) {
        return false;
    }
    /* There is room for a curve of each device. */
    for (uint32_t device = 0; device < log->device_count; device++) {
        const char *name = log->devices[device];
        if (*name == '\0' || has_curve(*out, *count, name)) {
            continue;
        }
        struct memory_curve *curve = &(*out)[(*count)++];
        if (!begin_sums(curve, arena, log, device)) {
            return false;
        }
        sum_sizes(curve, log, device);
    }
    return true;
}

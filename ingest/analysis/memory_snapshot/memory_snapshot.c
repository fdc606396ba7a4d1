#include "ingest/analysis/memory_snapshot/memory_snapshot.h"

#include "ingest/analysis/memory_snapshot/replay.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <stdlib.h>

#define CLASS_BYTES_MIN 512

/* ---- the state at the end ---- */

static bool is_live(const struct snapshot_block *block)
{
    return block->state == SNAPSHOT_ALLOCATED || block->state == SNAPSHOT_PENDING_FREE ||
           block->state == SNAPSHOT_AWAITING_FREE;
}

static void count_class(struct snapshot_class classes[SNAPSHOT_CLASSES_MAX], int64_t size)
{
    size_t at = 0;
    while (at + 1 < SNAPSHOT_CLASSES_MAX &&
           ((uint64_t)CLASS_BYTES_MIN << at) < (uint64_t)INT64_MAX &&
           size > (int64_t)((uint64_t)CLASS_BYTES_MIN << at)) {
        at++;
    }
    classes[at].blocks++;
    classes[at].bytes = saturating_add(classes[at].bytes, size);
}

static void take_class(struct snapshot_figures *out, size_t at, struct snapshot_class class)
{
    if (class.blocks > 0) {
        class.upper_bytes = (int64_t)(((uint64_t)CLASS_BYTES_MIN << at) & INT64_MAX);
        out->classes[out->class_count++] = class;
    }
}

static void add_live(struct snapshot_figures *out, const struct snapshot_block *block)
{
    int64_t allocated = block->state == SNAPSHOT_ALLOCATED ? block->size : 0;
    out->live_blocks++;
    out->active_bytes = saturating_add(out->active_bytes, block->size);
    out->allocated_bytes = saturating_add(out->allocated_bytes, allocated);
    out->requested_bytes = saturating_add(out->requested_bytes, block->requested_size);
}

static void measure_segment(const struct snapshot_device *device,
                            const struct snapshot_segment *segment,
                            struct snapshot_class *classes,
                            struct snapshot_figures *out)
{
    const struct snapshot_block *blocks = device->blocks + segment->first_block;
    int64_t inactive = 0;
    bool has_live = false;
    for (uint32_t i = 0; i < segment->block_count; i++) {
        if (is_live(&blocks[i])) {
            has_live = true;
            add_live(out, &blocks[i]);
            count_class(classes, blocks[i].size);
        } else if (blocks[i].state == SNAPSHOT_INACTIVE) {
            inactive = saturating_add(inactive, blocks[i].size);
        }
    }
    out->reserved_bytes = saturating_add(out->reserved_bytes, segment->total_size);
    if (has_live) {
        out->inactive_split_bytes = saturating_add(out->inactive_split_bytes, inactive);
    } else {
        out->free_segments_bytes = saturating_add(out->free_segments_bytes, segment->total_size);
    }
}

static void measure_end(const struct snapshot_device *device, struct snapshot_figures *out)
{
    struct snapshot_class classes[SNAPSHOT_CLASSES_MAX] = {{.blocks = 0}};
    for (uint32_t i = 0; i < device->segment_count; i++) {
        measure_segment(device, &device->segments[i], classes, out);
    }
    for (size_t i = 0; i < SNAPSHOT_CLASSES_MAX; i++) {
        take_class(out, i, classes[i]);
    }
}

/* ---- the history ---- */

static bool list_oom(const struct memory_snapshot *snapshot,
                     const struct snapshot_device *device,
                     struct arena *arena,
                     struct snapshot_figures *out)
{
    size_t count = 0;
    for (uint32_t i = 0; i < device->event_count; i++) {
        count += device->events[i].action == SNAPSHOT_OOM;
    }
    out->oom = arena_calloc(arena, count + 1, sizeof *out->oom);
    for (uint32_t i = 0; out->oom != NULL && i < device->event_count; i++) {
        const struct snapshot_event *event = &device->events[i];
        if (event->action == SNAPSHOT_OOM) {
            const char *frame = snapshot_frame_text(snapshot, event->frame);
            out->oom[out->oom_count++] =
                (struct snapshot_oom){.event = i,
                                      .t_ns = snapshot_time_ns(snapshot, device, (int64_t)i + 1),
                                      .size_bytes = event->size,
                                      .device_free_bytes = event->device_free,
                                      .frame = arena_strdup(arena, frame)};
            if (out->oom[out->oom_count - 1].frame == NULL) {
                return false;
            }
        }
    }
    return out->oom != NULL;
}

bool snapshot_figures_of(const struct memory_snapshot *snapshot,
                         const struct snapshot_device *device,
                         struct arena *arena,
                         struct snapshot_figures *out)
{
    struct snapshot_replay replay;
    *out = (struct snapshot_figures){.device = device->id,
                                     .segments = device->segment_count,
                                     .blocks = device->block_count,
                                     .events = device->event_count};
    measure_end(device, out);
    bool ok = snapshot_replay(device, &replay) && list_oom(snapshot, device, arena, out);
    if (ok) {
        out->history_start_allocated_bytes = replay.allocated[0];
        out->history_start_reserved_bytes = replay.reserved[0];
        out->peak_allocated_bytes = replay.allocated[replay.peak];
        out->peak_event = replay.peak == 0 ? SNAPSHOT_NONE : replay.peak - 1;
        out->peak_ns = snapshot_time_ns(snapshot, device, replay.peak);
        out->peak_reserved_bytes = INT64_MIN;
        for (uint32_t i = 0; i <= device->event_count; i++) {
            out->peak_reserved_bytes = i64_max(out->peak_reserved_bytes, replay.reserved[i]);
        }
    }
    snapshot_replay_free(&replay);
    return ok;
}

/* ---- the curve ---- */

static void choose(const struct snapshot_replay *replay, size_t at, size_t chosen[4])
{
    chosen[0] = replay->allocated[at] < replay->allocated[chosen[0]] ? at : chosen[0];
    chosen[1] = replay->allocated[at] > replay->allocated[chosen[1]] ? at : chosen[1];
    chosen[2] = replay->reserved[at] < replay->reserved[chosen[2]] ? at : chosen[2];
    chosen[3] = replay->reserved[at] > replay->reserved[chosen[3]] ? at : chosen[3];
}

static void add_point(const struct memory_snapshot *snapshot,
                      const struct snapshot_device *device,
                      const struct snapshot_replay *replay,
                      size_t at,
                      struct snapshot_curve *out)
{
    out->points[out->count++] = (struct snapshot_point){
        .event = (int64_t)at,
        .t_ns = snapshot_time_ns(snapshot, device, (int64_t)at),
        .allocated_bytes = replay->allocated[at],
        .reserved_bytes = replay->reserved[at],
    };
}

/* A pixel's points: least and most of both curves, each once. */
static void add_pixel(const struct memory_snapshot *snapshot,
                      const struct snapshot_device *device,
                      const struct snapshot_replay *replay,
                      size_t from,
                      size_t to,
                      struct snapshot_curve *out)
{
    size_t chosen[4] = {from, from, from, from};
    for (size_t at = from; at < to; at++) {
        choose(replay, at, chosen);
    }
    qsort(chosen, 4, sizeof *chosen, order_size_at);
    for (size_t i = 0; i < 4; i++) {
        if (i == 0 || chosen[i] != chosen[i - 1]) {
            add_point(snapshot, device, replay, chosen[i], out);
        }
    }
}

bool snapshot_curve_of(const struct memory_snapshot *snapshot,
                       const struct snapshot_device *device,
                       size_t width_px,
                       struct arena *arena,
                       struct snapshot_curve *out)
{
    struct snapshot_replay replay;
    size_t total = (size_t)device->event_count + 1;
    bool is_thin = width_px == 0 || total <= width_px * 4;
    *out = (struct snapshot_curve){.total_points = (int64_t)total};
    bool ok = snapshot_replay(device, &replay);
    out->points = arena_calloc(arena, is_thin ? total : width_px * 4, sizeof *out->points);
    ok = ok && out->points != NULL;
    for (size_t i = 0; ok && is_thin && i < total; i++) {
        add_point(snapshot, device, &replay, i, out);
    }
    for (size_t px = 0; ok && !is_thin && px < width_px; px++) {
        add_pixel(snapshot, device, &replay, total * px / width_px, total * (px + 1) / width_px,
                  out);
    }
    out->peak = replay.peak;
    snapshot_replay_free(&replay);
    return ok;
}

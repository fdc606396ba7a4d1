#include "ingest/analysis/memory_snapshot/replay.h"

#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"

#define NS_PER_US 1000

static bool replay_bytes(const struct snapshot_device *device, struct snapshot_replay *out)
{
    uint32_t n = device->event_count;
    out->allocated = scratch_calloc((size_t)n + 1, sizeof *out->allocated);
    out->reserved = scratch_calloc((size_t)n + 1, sizeof *out->reserved);
    if (out->allocated == NULL || out->reserved == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < device->block_count; i++) {
        const struct snapshot_block *block = &device->blocks[i];
        int64_t bytes = block->state == SNAPSHOT_ALLOCATED ? block->requested_size : 0;
        out->allocated[n] = saturating_add(out->allocated[n], bytes);
    }
    for (uint32_t i = 0; i < device->segment_count; i++) {
        out->reserved[n] = saturating_add(out->reserved[n], device->segments[i].total_size);
    }
    for (uint32_t i = n; i-- > 0;) {
        out->allocated[i] = snapshot_allocated_before(&device->events[i], out->allocated[i + 1]);
        out->reserved[i] = snapshot_reserved_before(&device->events[i], out->reserved[i + 1]);
    }
    for (uint32_t i = 0; i <= n; i++) {
        out->peak = out->allocated[i] > out->allocated[out->peak] ? i : out->peak;
    }
    return true;
}

/* ---- lives ---- */

static struct snapshot_life *add_life(struct snapshot_replay *out, struct snapshot_life life)
{
    out->lives[out->life_count] = life;
    return &out->lives[out->life_count++];
}

static bool open_life(struct snapshot_replay *out,
                      struct id_map *open,
                      const struct snapshot_device *device,
                      uint32_t at)
{
    const struct snapshot_event *event = &device->events[at];
    struct id_slot *slot = id_map_add(open, event->addr);
    if (slot == NULL) {
        return false;
    }
    slot->value = (uint32_t)out->life_count;
    (void)add_life(out, (struct snapshot_life){.first = at,
                                               .end = (int64_t)device->event_count + 1,
                                               .address = event->addr,
                                               .bytes = event->size,
                                               .stream = event->stream,
                                               .frame = event->frame,
                                               .block = SNAPSHOT_NO_BLOCK});
    return true;
}

static void close_life(struct snapshot_replay *out,
                       const struct id_map *open,
                       const struct snapshot_event *event,
                       uint32_t at)
{
    struct id_slot *slot = id_map_find(open, event->addr);
    if (slot != NULL && slot->value != ID_MAP_NONE) {
        struct snapshot_life *life = &out->lives[slot->value];
        life->end = at;
        life->bytes = event->size;
        slot->value = ID_MAP_NONE;
        return;
    }
    (void)add_life(out, (struct snapshot_life){.first = -1,
                                               .end = at,
                                               .address = event->addr,
                                               .bytes = event->size,
                                               .stream = event->stream,
                                               .frame = SNAPSHOT_BEFORE,
                                               .block = SNAPSHOT_NO_BLOCK});
}

static void match_block(struct snapshot_replay *out,
                        const struct id_map *open,
                        const struct snapshot_device *device,
                        uint32_t at)
{
    const struct snapshot_block *block = &device->blocks[at];
    const struct id_slot *slot = id_map_find(open, block->address);
    if (block->state != SNAPSHOT_ALLOCATED) {
        return;
    }
    if (slot != NULL && slot->value != ID_MAP_NONE) {
        out->lives[slot->value].bytes = block->requested_size;
        out->lives[slot->value].block = at;
        return;
    }
    uint32_t frame = block->frame == SNAPSHOT_NO_FRAMES ? SNAPSHOT_BEFORE : block->frame;
    (void)add_life(out, (struct snapshot_life){.first = -1,
                                               .end = (int64_t)device->event_count + 1,
                                               .address = block->address,
                                               .bytes = block->requested_size,
                                               .stream = device->segments[block->segment].stream,
                                               .frame = frame,
                                               .block = at});
}

static bool find_lives(const struct snapshot_device *device, struct snapshot_replay *out)
{
    struct id_map open;
    bool ok = true;
    id_map_init(&open);
    out->lives =
        scratch_alloc((size_t)device->event_count + device->block_count, sizeof *out->lives);
    ok = out->lives != NULL;
    for (uint32_t i = 0; ok && i < device->event_count; i++) {
        if (device->events[i].action == SNAPSHOT_ALLOC) {
            ok = open_life(out, &open, device, i);
        } else if (device->events[i].action == SNAPSHOT_FREE_REQUESTED) {
            close_life(out, &open, &device->events[i], i);
        }
    }
    for (uint32_t i = 0; ok && i < device->block_count; i++) {
        match_block(out, &open, device, i);
    }
    id_map_free(&open);
    return ok;
}

bool snapshot_replay(const struct snapshot_device *device, struct snapshot_replay *out)
{
    *out = (struct snapshot_replay){.peak = 0};
    return replay_bytes(device, out) && find_lives(device, out);
}

void snapshot_replay_free(struct snapshot_replay *replay)
{
    SCRATCH_FREE(replay->allocated, replay->reserved, replay->lives);
}

bool snapshot_lives_then(const struct snapshot_device *device,
                         const struct snapshot_replay *replay,
                         const struct snapshot_life *life,
                         enum snapshot_when when)
{
    int64_t at = when == SNAPSHOT_AT_PEAK ? replay->peak - 1 : (int64_t)device->event_count - 1;
    bool is_there = when == SNAPSHOT_AT_PEAK || life->block != SNAPSHOT_NO_BLOCK;
    return is_there && life->first <= at && at < life->end;
}

/* ---- texts ---- */

int64_t snapshot_time_ns(const struct memory_snapshot *snapshot,
                         const struct snapshot_device *device,
                         int64_t count)
{
    if (count <= 0 || device->events[count - 1].time_us == SNAPSHOT_NONE) {
        return SNAPSHOT_NONE;
    }
    int64_t us = saturating_sub(device->events[count - 1].time_us, snapshot->start_us);
    return saturating_mul(us, NS_PER_US);
}

const char *snapshot_frame_text(const struct memory_snapshot *snapshot, uint32_t frame)
{
    if (frame == SNAPSHOT_NO_FRAMES) {
        return "(no frames)";
    }
    return frame == SNAPSHOT_BEFORE ? "(before the recording)"
                                    : strtab_text(snapshot->texts, frame);
}

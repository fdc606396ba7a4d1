/* Who holds memory: blocks, alone and by the source line that took them [FMT-4.4] [FMT-4.5]. */
#include "ingest/analysis/memory_snapshot/memory_snapshot.h"
#include "ingest/analysis/memory_snapshot/replay.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS_BYTES 20

static bool is_asked(const struct snapshot_question *question, const struct snapshot_device *device)
{
    return question->device == SNAPSHOT_NONE || question->device == device->id;
}

/* ---- frames ---- */

/* Rows by the text of their frame, of both snapshots: texts of two tables get ids of one. */
struct frames {
    struct strtab *texts;
    struct snapshot_frame_row *rows; /* by id */
    size_t cap, count;
};

static struct snapshot_frame_row *row_of(struct frames *frames, const char *text)
{
    uint32_t id = strtab_intern(frames->texts, text, strlen(text));
    if (id == STRTAB_NONE) {
        return NULL;
    }
    while (frames->count <= id) {
        struct snapshot_frame_row *grown =
            scratch_grow(frames->rows, frames->count, &frames->cap, sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        frames->rows = grown;
        grown[frames->count++] = (struct snapshot_frame_row){.frame = NULL};
    }
    return &frames->rows[id];
}

static bool add_life(struct frames *frames, const char *text, int64_t bytes, bool is_baseline)
{
    struct snapshot_frame_row *row = row_of(frames, text);
    if (row == NULL) {
        return false;
    }
    row->frame = text;
    if (is_baseline) {
        row->baseline_blocks++;
        row->baseline_bytes = saturating_add(row->baseline_bytes, bytes);
    } else {
        row->blocks++;
        row->bytes = saturating_add(row->bytes, bytes);
    }
    return true;
}

static bool add_device(struct frames *frames,
                       const struct snapshot_question *question,
                       const struct memory_snapshot *snapshot,
                       const struct snapshot_device *device)
{
    struct snapshot_replay replay;
    bool ok = snapshot_replay(device, &replay);
    for (size_t i = 0; ok && i < replay.life_count; i++) {
        const struct snapshot_life *life = &replay.lives[i];
        if (snapshot_lives_then(device, &replay, life, question->when)) {
            ok = add_life(frames, snapshot_frame_text(snapshot, life->frame), life->bytes,
                          snapshot == question->baseline);
        }
    }
    snapshot_replay_free(&replay);
    return ok;
}

static bool add_snapshot(struct frames *frames,
                         const struct snapshot_question *question,
                         const struct memory_snapshot *snapshot)
{
    bool ok = true;
    for (size_t i = 0; snapshot != NULL && ok && i < snapshot->device_count; i++) {
        if (is_asked(question, &snapshot->devices[i])) {
            ok = add_device(frames, question, snapshot, &snapshot->devices[i]);
        }
    }
    return ok;
}

ORDER_BY(by_bytes, struct snapshot_frame_row, ORDER_DOWN(bytes), ORDER_TEXT(frame))

static bool hand_frames_on(const struct frames *frames,
                           struct arena *arena,
                           struct snapshot_frame_row **rows,
                           size_t *count)
{
    int64_t sum = 0;
    *rows = arena_calloc(arena, frames->count + 1, sizeof **rows);
    *count = 0;
    for (size_t i = 0; i < frames->count; i++) {
        sum = saturating_add(sum, frames->rows[i].bytes);
    }
    for (size_t i = 0; *rows != NULL && i < frames->count; i++) {
        if (frames->rows[i].frame == NULL) {
            continue;
        }
        struct snapshot_frame_row *row = &(*rows)[(*count)++];
        *row = frames->rows[i];
        row->frame = arena_strdup(arena, row->frame);
        row->share = sum == 0 ? (double)NAN : (double)row->bytes / (double)sum;
        row->delta_bytes = saturating_sub(row->bytes, row->baseline_bytes);
        if (row->frame == NULL) {
            return false;
        }
    }
    if (*rows != NULL) {
        qsort(*rows, *count, sizeof **rows, by_bytes);
    }
    return *rows != NULL;
}

bool snapshot_frames(const struct snapshot_question *question,
                     struct arena *arena,
                     struct snapshot_frame_row **rows,
                     size_t *count)
{
    struct frames frames = {.texts = strtab_create()};
    bool ok = frames.texts != NULL && add_snapshot(&frames, question, question->snapshot) &&
              add_snapshot(&frames, question, question->baseline) &&
              hand_frames_on(&frames, arena, rows, count);
    strtab_destroy(frames.texts);
    scratch_free(frames.rows);
    return ok;
}

/* ---- blocks ---- */

const char *snapshot_address(struct arena *arena, int64_t address)
{
    char text[ADDRESS_BYTES];
    (void)snprintf(text, sizeof text, "0x%" PRIx64, (uint64_t)address);
    return arena_strdup(arena, text);
}

static bool fill_block(const struct memory_snapshot *snapshot,
                       const struct snapshot_device *device,
                       const struct snapshot_life *life,
                       struct arena *arena,
                       struct snapshot_block_row *row)
{
    const struct snapshot_block *block =
        life->block == SNAPSHOT_NO_BLOCK ? NULL : &device->blocks[life->block];
    row->address = snapshot_address(arena, life->address);
    row->size_bytes = block == NULL ? life->bytes : block->size;
    row->requested_bytes = life->bytes;
    row->state = block == NULL ? NULL : snapshot_state_name((enum snapshot_state)block->state);
    row->stream = life->stream;
    row->segment =
        block == NULL ? NULL : snapshot_address(arena, device->segments[block->segment].address);
    row->frame = arena_strdup(arena, snapshot_frame_text(snapshot, life->frame));
    return row->address != NULL && row->frame != NULL && (block == NULL || row->segment != NULL);
}

/* Lives by the block that they are at the end. */
static uint32_t *lives_by_block(const struct snapshot_device *device,
                                const struct snapshot_replay *replay)
{
    uint32_t *life_of = scratch_none(device->block_count);
    for (size_t i = 0; life_of != NULL && i < replay->life_count; i++) {
        if (replay->lives[i].block != SNAPSHOT_NO_BLOCK) {
            life_of[replay->lives[i].block] = (uint32_t)i;
        }
    }
    return life_of;
}

/* Live blocks in the order of the file, those that wait to be freed too. */
static bool list_end(const struct memory_snapshot *snapshot,
                     const struct snapshot_device *device,
                     const struct snapshot_replay *replay,
                     struct arena *arena,
                     struct snapshot_block_row *rows,
                     size_t *count)
{
    uint32_t *life_of = lives_by_block(device, replay);
    bool ok = life_of != NULL;
    for (uint32_t i = 0; ok && i < device->block_count; i++) {
        const struct snapshot_block *block = &device->blocks[i];
        if (block->state == SNAPSHOT_INACTIVE || block->state == SNAPSHOT_STATE_OTHER) {
            continue;
        }
        struct snapshot_life life = {.address = block->address,
                                     .bytes = block->requested_size,
                                     .stream = device->segments[block->segment].stream,
                                     .frame = block->frame == SNAPSHOT_NO_FRAMES ? SNAPSHOT_BEFORE
                                                                                 : block->frame,
                                     .block = i};
        if (life_of[i] != UINT32_MAX) {
            life.frame = replay->lives[life_of[i]].frame;
        }
        ok = fill_block(snapshot, device, &life, arena, &rows[(*count)++]);
    }
    scratch_free(life_of);
    return ok;
}

static bool list_peak(const struct memory_snapshot *snapshot,
                      const struct snapshot_device *device,
                      const struct snapshot_replay *replay,
                      struct arena *arena,
                      struct snapshot_block_row *rows,
                      size_t *count)
{
    bool ok = true;
    for (size_t i = 0; ok && i < replay->life_count; i++) {
        if (snapshot_lives_then(device, replay, &replay->lives[i], SNAPSHOT_AT_PEAK)) {
            ok = fill_block(snapshot, device, &replay->lives[i], arena, &rows[(*count)++]);
        }
    }
    return ok;
}

bool snapshot_blocks(const struct snapshot_question *question,
                     struct arena *arena,
                     struct snapshot_block_row **rows,
                     size_t *count)
{
    const struct memory_snapshot *snapshot = question->snapshot;
    size_t most = 1;
    *count = 0;
    for (size_t i = 0; i < snapshot->device_count; i++) {
        most += (size_t)snapshot->devices[i].event_count + snapshot->devices[i].block_count;
    }
    *rows = arena_calloc(arena, most, sizeof **rows);
    bool ok = *rows != NULL;
    for (size_t i = 0; ok && i < snapshot->device_count; i++) {
        const struct snapshot_device *device = &snapshot->devices[i];
        struct snapshot_replay replay;
        if (!is_asked(question, device)) {
            continue;
        }
        ok = snapshot_replay(device, &replay) &&
             (question->when == SNAPSHOT_AT_END
                  ? list_end(snapshot, device, &replay, arena, *rows, count)
                  : list_peak(snapshot, device, &replay, arena, *rows, count));
        snapshot_replay_free(&replay);
    }
    return ok;
}

/* ---- the rows as tables ---- */

#define TABLE_DEF "ingest/model/tables/operators/snapshot_frame.def"
#define TABLE_ROW struct snapshot_frame_row
#define TABLE_IN_MEMORY
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/operators/snapshot_block.def"
#define TABLE_ROW struct snapshot_block_row
#define TABLE_IN_MEMORY
#include "ingest/model/tables/describe.h"

#include "ingest/store/timeline/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond it not every integer is a double. */
#define WHOLE_MAX 9007199254740992.0 /* 2^53 */
/* Farther apart, events stand in two parts of the file. */
#define NEAR_EVENTS 4096

static bool not_so(struct err *err, const char *what)
{
    return err_set(err, ERR_INTERNAL, "a block of the timeline %s", what);
}

/* ---- columns ---- */

static void put_u32(struct column_encoder *enc, const uint32_t *column, uint32_t count)
{
    int64_t values[TIMELINE_BLOCK_ITEMS];
    for (uint32_t i = 0; i < count; i++) {
        values[i] = column[i];
    }
    column_encode_column(enc, values, count);
}

static void put_events(struct column_encoder *enc, const uint32_t *events, uint32_t count)
{
    int64_t values[TIMELINE_BLOCK_ITEMS];
    int64_t bases[TIMELINE_EVENT_BASES] = {0};
    unsigned base = 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t distance = llabs(events[i] - bases[base]);
        base ^= distance >= NEAR_EVENTS || llabs(events[i] - bases[base ^ 1]) < distance;
        values[i] = (events[i] - bases[base]) * TIMELINE_EVENT_BASES + base;
        bases[base] = events[i];
    }
    column_encode_column(enc, values, count);
}

/* Tracks and starts, which slices and points have. */
static bool put_places(struct column_encoder *enc,
                       const uint32_t *track,
                       const int64_t *start_ns,
                       uint32_t count,
                       struct timeline_extent *extent,
                       struct err *err)
{
    *extent = (struct timeline_extent){.first_start_ns = count == 0 ? 0 : INT64_MAX,
                                       .max_end_ns = count == 0 ? 0 : INT64_MIN};
    bool sorted = true;
    for (uint32_t i = 0; i < count; i++) {
        sorted &= i == 0 || track[i] > track[i - 1] ||
                  (track[i] == track[i - 1] && start_ns[i] >= start_ns[i - 1]);
        extent->first_start_ns =
            start_ns[i] < extent->first_start_ns ? start_ns[i] : extent->first_start_ns;
    }
    if (!sorted) {
        return not_so(err, "is not sorted");
    }
    if (count > 0) {
        extent->first_track = track[0];
        extent->last_track = track[count - 1];
    }
    put_u32(enc, track, count);
    column_encode_i64(enc, start_ns, count);
    return true;
}

static bool begin(struct column_encoder *enc, size_t count, struct err *err)
{
    column_encode_clear(enc);
    column_encode_number(enc, count);
    return count <= TIMELINE_BLOCK_ITEMS || not_so(err, "has too many items");
}

/* ---- slices ---- */

bool timeline_encode_block(struct column_encoder *enc,
                           const struct timeline_block *block,
                           struct timeline_extent *extent,
                           struct err *err)
{
    int64_t gaps_ns[TIMELINE_BLOCK_ITEMS];
    uint32_t count = block->item_count;
    if (!begin(enc, count, err) ||
        !put_places(enc, block->track, block->start_ns, count, extent, err)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t start_ns = block->start_ns[i];
        int64_t length_ns = block->dur_ns[i] < 0 ? 0 : block->dur_ns[i];
        if (block->dur_ns[i] < TIMELINE_INSTANT ||
            (start_ns > 0 && length_ns > INT64_MAX - start_ns)) {
            return not_so(err, "has an end beyond all times");
        }
        if (block->busy_ns[i] < 0 || block->busy_ns[i] > length_ns) {
            return not_so(err, "has an item that is busier than it is long");
        }
        gaps_ns[i] = length_ns - block->busy_ns[i];
        extent->max_end_ns =
            start_ns + length_ns > extent->max_end_ns ? start_ns + length_ns : extent->max_end_ns;
    }
    column_encode_column(enc, block->dur_ns, count);
    put_u32(enc, block->lane, count);
    put_u32(enc, block->label, count);
    put_events(enc, block->event, count);
    put_u32(enc, block->count, count);
    column_encode_column(enc, gaps_ns, count);
    return true;
}

/* ---- points ---- */

static bool are_whole(const double *values, uint32_t count)
{
    bool whole = true;
    for (uint32_t i = 0; i < count && whole; i++) {
        whole = values[i] > -WHOLE_MAX && values[i] < WHOLE_MAX &&
                values[i] == (double)(int64_t)values[i] &&
                !(values[i] == 0.0 && signbit(values[i]));
    }
    return whole;
}

static uint64_t number_of(double value, bool whole)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return whole ? (uint64_t)(int64_t)value : bits;
}

static void put_values(struct column_encoder *enc,
                       const double *values,
                       const double *base,
                       uint32_t count,
                       bool whole)
{
    int64_t numbers[TIMELINE_BLOCK_ITEMS];
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] =
            (int64_t)(number_of(values[i], whole) - (base == NULL ? 0 : number_of(base[i], whole)));
    }
    column_encode_column(enc, numbers, count);
}

bool timeline_encode_points(struct column_encoder *enc,
                            const struct timeline_points *points,
                            struct timeline_extent *extent,
                            struct err *err)
{
    uint32_t count = points->item_count;
    if (!begin(enc, count, err)) {
        return false;
    }
    bool whole = are_whole(points->last, count) && are_whole(points->min, count) &&
                 are_whole(points->max, count);
    column_encode_number(enc, whole);
    if (!put_places(enc, points->track, points->start_ns, count, extent, err)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t start_ns = points->start_ns[i];
        extent->max_end_ns = start_ns > extent->max_end_ns ? start_ns : extent->max_end_ns;
    }
    put_u32(enc, points->lane, count);
    put_events(enc, points->event, count);
    put_values(enc, points->last, NULL, count, whole);
    put_values(enc, points->min, points->last, count, whole);
    put_values(enc, points->max, points->last, count, whole);
    return true;
}

/* ---- flows ---- */

bool timeline_encode_flows(struct column_encoder *enc,
                           bool by_target,
                           const struct timeline_flow *flows,
                           size_t count,
                           struct timeline_extent *extent,
                           struct err *err)
{
    uint32_t keys[TIMELINE_BLOCK_ITEMS];
    uint32_t others[TIMELINE_BLOCK_ITEMS];
    uint8_t kinds[TIMELINE_BLOCK_ITEMS];
    *extent = (struct timeline_extent){.first_track = 0};
    if (!begin(enc, count, err)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        keys[i] = by_target ? flows[i].to : flows[i].from;
        others[i] = by_target ? flows[i].from : flows[i].to;
        kinds[i] = flows[i].kind;
        if (keys[i] < extent->last_track) {
            return not_so(err, "has flows that are not sorted");
        }
        extent->first_track = i == 0 ? keys[i] : extent->first_track;
        extent->last_track = keys[i];
    }
    column_encode_u32(enc, keys, count);
    column_encode_u32(enc, others, count);
    column_encode_bytes(enc, kinds, count);
    return true;
}

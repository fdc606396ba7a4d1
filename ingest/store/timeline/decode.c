#include "ingest/store/timeline/blocks.h"

#include <stdlib.h>
#include <string.h>

/* Columns of the widest block, with all their lengths. */
#define RAW_MAX_BYTES ((size_t)1 << 20)
#define HEAD_NUMBERS 3
#define MICRO_NS 1000u

struct timeline_room {
    uint64_t numbers[TIMELINE_BLOCK_ITEMS];
    uint64_t run_tracks[TIMELINE_BLOCK_ITEMS];
    uint64_t run_lengths[TIMELINE_BLOCK_ITEMS];
    uint64_t run_starts[TIMELINE_BLOCK_ITEMS];
    int64_t start_ns[TIMELINE_BLOCK_ITEMS];
    int64_t dur_ns[TIMELINE_BLOCK_ITEMS];
    int64_t busy_ns[TIMELINE_BLOCK_ITEMS];
    double last[TIMELINE_BLOCK_ITEMS];
    double min[TIMELINE_BLOCK_ITEMS];
    double max[TIMELINE_BLOCK_ITEMS];
    uint32_t track[TIMELINE_BLOCK_ITEMS];
    uint32_t lane[TIMELINE_BLOCK_ITEMS];
    uint32_t label[TIMELINE_BLOCK_ITEMS];
    uint32_t event[TIMELINE_BLOCK_ITEMS];
    uint32_t count[TIMELINE_BLOCK_ITEMS];
    struct timeline_flow flows[TIMELINE_BLOCK_ITEMS];
};

bool timeline_buffers_init(struct timeline_buffers *buffers, struct err *err)
{
    *buffers = (struct timeline_buffers){.flow_count = 0};
    column_reader_init(&buffers->reader, RAW_MAX_BYTES);
    struct timeline_room *room = malloc(sizeof *room);
    if (room == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the columns of the timeline");
    }
    buffers->room = room;
    buffers->block = (struct timeline_block){.track = room->track,
                                             .start_ns = room->start_ns,
                                             .dur_ns = room->dur_ns,
                                             .lane = room->lane,
                                             .label = room->label,
                                             .event = room->event,
                                             .count = room->count,
                                             .busy_ns = room->busy_ns};
    buffers->points = (struct timeline_points){.track = room->track,
                                               .start_ns = room->start_ns,
                                               .lane = room->lane,
                                               .event = room->event,
                                               .last = room->last,
                                               .min = room->min,
                                               .max = room->max};
    buffers->flows = room->flows;
    return true;
}

void timeline_buffers_free(struct timeline_buffers *buffers)
{
    column_reader_free(&buffers->reader);
    free(buffers->room);
    buffers->room = NULL;
}

/* ---- where items stand ---- */

static int64_t as_signed(uint64_t value)
{
    int64_t out;
    memcpy(&out, &value, sizeof out);
    return out;
}

/* Times in ns as they stand in `numbers`, which may be microseconds; false when they leave 64 bits.
 */
static bool to_ns(uint64_t *numbers, uint32_t count, uint64_t flags)
{
    uint64_t over = 0;
    if ((flags & TIMELINE_FLAG_MICROS) == 0) {
        return true;
    }
    for (uint32_t i = 0; i < count; i++) {
        over |= numbers[i] > UINT64_MAX / MICRO_NS;
        numbers[i] *= MICRO_NS;
    }
    return over == 0;
}

static bool get_times(struct timeline_buffers *buffers, uint32_t count, uint64_t flags)
{
    uint64_t *numbers = buffers->room->numbers;
    bool tiles = (flags & TIMELINE_FLAG_TILES) != 0;
    return tiles ? column_get_tiles(&buffers->reader, numbers, count)
                 : column_get(&buffers->reader, numbers, count);
}

/* Starts of one run from the differences; false when they leave int64. */
static bool
add_up_run(struct timeline_room *room, uint32_t begin, uint32_t end, uint32_t track, uint64_t first)
{
    uint64_t start = first;
    bool bad = false;
    for (uint32_t i = begin; i < end; i++) {
        uint64_t next = start + room->numbers[i];
        bad |= as_signed(next) < as_signed(start);
        room->track[i] = track;
        room->start_ns[i] = as_signed(next);
        start = next;
    }
    return !bad;
}

static bool
get_runs(struct timeline_buffers *buffers, uint32_t count, uint32_t run_count, uint64_t flags)
{
    struct timeline_room *room = buffers->room;
    struct column_reader *reader = &buffers->reader;
    if (!column_get(reader, room->run_tracks, run_count) ||
        !column_get(reader, room->run_lengths, run_count) ||
        !column_get(reader, room->run_starts, run_count) || !get_times(buffers, count, flags) ||
        !to_ns(room->numbers, count, flags)) {
        return false;
    }
    uint32_t begin = 0;
    uint64_t track = 0;
    uint64_t start = 0;
    for (uint32_t run = 0; run < run_count; run++) {
        bool ascends = run == 0 || room->run_tracks[run] > 0;
        if (!ascends || room->run_tracks[run] > UINT32_MAX - track || room->run_lengths[run] == 0 ||
            room->run_lengths[run] > count - begin) {
            return false;
        }
        track += room->run_tracks[run];
        start += column_unfold(room->run_starts[run]);
        uint32_t end = begin + (uint32_t)room->run_lengths[run];
        if (!add_up_run(room, begin, end, (uint32_t)track, start)) {
            return false;
        }
        begin = end;
    }
    return begin == count;
}

static bool get_places(struct timeline_buffers *buffers, uint32_t *count, uint64_t *flags)
{
    uint64_t head[HEAD_NUMBERS];
    if (!column_get(&buffers->reader, head, HEAD_NUMBERS) || head[1] > TIMELINE_BLOCK_ITEMS ||
        head[2] > head[1]) {
        return false;
    }
    *flags = head[0];
    *count = (uint32_t)head[1];
    return get_runs(buffers, *count, (uint32_t)head[2], *flags);
}

/* Differences come back as 32 bits; what was larger is damage. */
static bool get_differences(struct timeline_buffers *buffers, uint32_t *column, uint32_t count)
{
    const uint64_t *numbers = buffers->room->numbers;
    if (!column_get(&buffers->reader, buffers->room->numbers, count)) {
        return false;
    }
    uint64_t value = 0;
    uint64_t over = 0;
    for (uint32_t i = 0; i < count; i++) {
        value += column_unfold(numbers[i]);
        over |= value;
        column[i] = (uint32_t)value;
    }
    return over <= UINT32_MAX;
}

static bool
get_values(struct timeline_buffers *buffers, uint32_t *column, uint32_t count, uint32_t plus)
{
    const uint64_t *numbers = buffers->room->numbers;
    if (!column_get(&buffers->reader, buffers->room->numbers, count)) {
        return false;
    }
    uint64_t over = 0;
    for (uint32_t i = 0; i < count; i++) {
        over |= numbers[i];
        column[i] = (uint32_t)numbers[i] + plus;
    }
    return over <= UINT32_MAX;
}

static bool get_lanes(struct timeline_buffers *buffers, uint32_t count, uint64_t flags)
{
    uint32_t *lanes = buffers->room->lane;
    if ((flags & TIMELINE_FLAG_TILES) == 0) {
        return get_differences(buffers, lanes, count);
    }
    if (!column_get_even(&buffers->reader, lanes, count)) {
        return false;
    }
    uint32_t lane = 0;
    for (uint32_t i = 0; i < count; i++) {
        lane += lanes[i] >> 1 ^ (0 - (lanes[i] & 1));
        lanes[i] = lane;
    }
    return true;
}

static bool get_labels(struct timeline_buffers *buffers, uint32_t count, uint64_t flags)
{
    uint32_t *labels = buffers->room->label;
    return (flags & TIMELINE_FLAG_TILES) != 0 ? column_get_even(&buffers->reader, labels, count)
                                              : get_values(buffers, labels, count, 0);
}

static bool get_counts(struct timeline_buffers *buffers, uint32_t count, uint64_t flags)
{
    uint32_t *counts = buffers->room->count;
    if ((flags & TIMELINE_FLAG_TILES) == 0) {
        return get_values(buffers, counts, count, 1);
    }
    bool ok = column_get_even(&buffers->reader, counts, count);
    for (uint32_t i = 0; i < count; i++) {
        counts[i]++;
    }
    return ok;
}

static bool get_events(struct timeline_buffers *buffers, uint32_t count, uint64_t flags)
{
    uint32_t *events = buffers->room->event;
    const uint64_t *numbers = buffers->room->numbers;
    if ((flags & TIMELINE_FLAG_TILES) == 0) {
        return get_differences(buffers, events, count);
    }
    if (!column_get(&buffers->reader, buffers->room->numbers, count)) {
        return false;
    }
    uint64_t bases[TIMELINE_EVENT_BASES] = {0};
    uint64_t over = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *base = &bases[numbers[i] % TIMELINE_EVENT_BASES];
        *base += column_unfold(numbers[i] / TIMELINE_EVENT_BASES);
        over |= *base;
        events[i] = (uint32_t)*base;
    }
    return over <= UINT32_MAX;
}

static bool finish(struct timeline_buffers *buffers, bool ok, struct err *err)
{
    buffers->reader.failed = buffers->reader.failed || !ok;
    return column_reader_finish(&buffers->reader, err);
}

/* ---- slices ---- */

static bool get_durations(struct timeline_buffers *buffers, uint32_t count, uint64_t flags)
{
    struct timeline_room *room = buffers->room;
    uint64_t unit_ns = (flags & TIMELINE_FLAG_MICROS) != 0 ? MICRO_NS : 1;
    uint64_t most = (uint64_t)INT64_MAX / unit_ns;
    if (!get_times(buffers, count, flags)) {
        return false;
    }
    bool bad = false;
    for (uint32_t i = 0; i < count; i++) {
        bool instant = room->numbers[i] == 0;
        uint64_t length = instant ? 0 : (room->numbers[i] - 1) * unit_ns;
        uint64_t end = (uint64_t)room->start_ns[i] + length;
        bad |= (room->numbers[i] > most) | (as_signed(end) < room->start_ns[i]);
        room->dur_ns[i] = instant ? TIMELINE_INSTANT : as_signed(length);
    }
    return !bad;
}

static bool get_merged(struct timeline_buffers *buffers, uint32_t count, uint64_t flags)
{
    struct timeline_room *room = buffers->room;
    if (!get_counts(buffers, count, flags) || !column_get(&buffers->reader, room->numbers, count) ||
        !to_ns(room->numbers, count, flags)) {
        return false;
    }
    bool bad = false;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t length = room->dur_ns[i] < 0 ? 0 : (uint64_t)room->dur_ns[i];
        bad |= room->numbers[i] > length;
        room->busy_ns[i] = as_signed(length - room->numbers[i]);
    }
    return !bad;
}

static void set_single(struct timeline_room *room, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        room->count[i] = 1;
        room->busy_ns[i] = room->dur_ns[i] < 0 ? 0 : room->dur_ns[i];
    }
}

bool timeline_get_block(struct timeline_buffers *buffers,
                        const void *bytes,
                        size_t len,
                        struct err *err)
{
    struct timeline_room *room = buffers->room;
    uint32_t count = 0;
    uint64_t flags = 0;
    if (!column_reader_open(&buffers->reader, bytes, len, err)) {
        return false;
    }
    bool ok = get_places(buffers, &count, &flags) && get_durations(buffers, count, flags) &&
              get_lanes(buffers, count, flags) && get_labels(buffers, count, flags) &&
              get_events(buffers, count, flags);
    if (ok && (flags & TIMELINE_FLAG_MERGED) != 0) {
        ok = get_merged(buffers, count, flags);
    } else if (ok) {
        set_single(room, count);
    }
    buffers->block.item_count = ok ? count : 0;
    return finish(buffers, ok, err);
}

/* ---- points ---- */

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t to_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool get_last(struct timeline_buffers *buffers, uint32_t count, bool whole)
{
    struct timeline_room *room = buffers->room;
    uint64_t before[TIMELINE_VALUE_LANES] = {0};
    if (!column_get(&buffers->reader, room->numbers, count)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *of_lane = &before[room->lane[i] % TIMELINE_VALUE_LANES];
        *of_lane = whole ? *of_lane + column_unfold(room->numbers[i]) : *of_lane ^ room->numbers[i];
        room->last[i] = whole ? (double)as_signed(*of_lane) : from_bits(*of_lane);
        room->run_starts[i] = *of_lane;
    }
    return true;
}

/* The whole numbers of `last` are still in run_starts. */
static bool get_beside(struct timeline_buffers *buffers, double *column, uint32_t count, bool whole)
{
    struct timeline_room *room = buffers->room;
    if (!column_get(&buffers->reader, room->numbers, count)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        column[i] = whole ? (double)as_signed(room->run_starts[i] - column_unfold(room->numbers[i]))
                          : from_bits(to_bits(room->last[i]) ^ room->numbers[i]);
    }
    return true;
}

bool timeline_get_points(struct timeline_buffers *buffers,
                         const void *bytes,
                         size_t len,
                         struct err *err)
{
    struct timeline_room *room = buffers->room;
    uint32_t count = 0;
    uint64_t flags = 0;
    if (!column_reader_open(&buffers->reader, bytes, len, err)) {
        return false;
    }
    bool ok = get_places(buffers, &count, &flags) && get_lanes(buffers, count, flags) &&
              get_events(buffers, count, flags);
    bool whole = (flags & TIMELINE_FLAG_WHOLE) != 0;
    ok = ok && get_last(buffers, count, whole);
    if (ok && (flags & TIMELINE_FLAG_BINS) != 0) {
        ok = get_beside(buffers, room->min, count, whole) &&
             get_beside(buffers, room->max, count, whole);
    } else if (ok) {
        memcpy(room->min, room->last, count * sizeof *room->min);
        memcpy(room->max, room->last, count * sizeof *room->max);
    }
    buffers->points.item_count = ok ? count : 0;
    return finish(buffers, ok, err);
}

/* ---- flows ---- */

bool timeline_get_flows(struct timeline_buffers *buffers,
                        bool by_target,
                        const void *bytes,
                        size_t len,
                        struct err *err)
{
    struct timeline_room *room = buffers->room;
    uint64_t head = 0;
    if (!column_reader_open(&buffers->reader, bytes, len, err)) {
        return false;
    }
    bool ok = column_get(&buffers->reader, &head, 1) && head <= TIMELINE_BLOCK_ITEMS;
    uint32_t count = ok ? (uint32_t)head : 0;
    ok = ok && column_get(&buffers->reader, room->run_tracks, count) &&
         get_differences(buffers, room->event, count) && get_values(buffers, room->lane, count, 0);
    uint64_t key = 0;
    for (uint32_t i = 0; ok && i < count; i++) {
        key += room->run_tracks[i];
        ok = room->run_tracks[i] <= UINT32_MAX && key <= UINT32_MAX &&
             room->lane[i] <= TIMELINE_FLOW_OTHER;
        room->flows[i] = (struct timeline_flow){.from = by_target ? room->event[i] : (uint32_t)key,
                                                .to = by_target ? (uint32_t)key : room->event[i],
                                                .kind = (uint8_t)room->lane[i]};
    }
    buffers->flow_count = ok ? count : 0;
    return finish(buffers, ok, err);
}

#include "ingest/store/timeline_blocks.h"

#include <math.h>
#include <string.h>

/* Beyond it not every integer is a double. */
#define WHOLE_MAX 9007199254740992.0 /* 2^53 */

struct numbers {
    uint64_t at[TIMELINE_BLOCK_ITEMS];
};

static bool not_so(struct err *err, const char *what)
{
    return err_set(err, ERR_INTERNAL, "a block of the timeline %s", what);
}

/* ---- where items stand ---- */

/* Columns that slices and points share. */
struct places {
    uint32_t count;
    const uint32_t *track;
    const int64_t *start_ns;
};

static bool are_sorted(const struct places *items)
{
    bool sorted = true;
    for (uint32_t i = 1; i < items->count; i++) {
        sorted &= (items->track[i] > items->track[i - 1]) |
                  ((items->track[i] == items->track[i - 1]) &
                   (items->start_ns[i] >= items->start_ns[i - 1]));
    }
    return sorted;
}

static uint32_t count_runs(const struct places *items)
{
    uint32_t runs = items->count > 0;
    for (uint32_t i = 1; i < items->count; i++) {
        runs += items->track[i] != items->track[i - 1];
    }
    return runs;
}

static void put_runs(struct column_writer *writer, const struct places *items, uint32_t run_count)
{
    struct numbers tracks;
    struct numbers lengths;
    struct numbers starts;
    uint32_t run = 0;
    uint32_t begin = 0;
    uint64_t last_track = 0;
    uint64_t last_start = 0;
    for (uint32_t i = 1; i <= items->count; i++) {
        if (i < items->count && items->track[i] == items->track[begin]) {
            continue;
        }
        uint64_t start = (uint64_t)items->start_ns[begin];
        tracks.at[run] = items->track[begin] - last_track;
        lengths.at[run] = i - begin;
        starts.at[run] = column_fold(start - last_start);
        last_track = items->track[begin];
        last_start = start;
        begin = i;
        run++;
    }
    column_put(writer, tracks.at, run_count);
    column_put(writer, lengths.at, run_count);
    column_put(writer, starts.at, run_count);
}

static void put_starts(struct column_writer *writer, const struct places *items)
{
    struct numbers out;
    for (uint32_t i = 0; i < items->count; i++) {
        bool begins = i == 0 || items->track[i] != items->track[i - 1];
        uint64_t last = (uint64_t)(begins ? items->start_ns[i] : items->start_ns[i - 1]);
        out.at[i] = (uint64_t)items->start_ns[i] - last;
    }
    column_put(writer, out.at, items->count);
}

static bool put_places(struct column_writer *writer,
                       const struct places *items,
                       uint64_t flags,
                       struct err *err)
{
    if (!are_sorted(items)) {
        return not_so(err, "is not sorted");
    }
    uint32_t run_count = count_runs(items);
    const uint64_t head[] = {flags, items->count, run_count};
    column_writer_clear(writer);
    column_put(writer, head, sizeof head / sizeof *head);
    put_runs(writer, items, run_count);
    put_starts(writer, items);
    return true;
}

static void put_differences(struct column_writer *writer, const uint32_t *column, uint32_t count)
{
    struct numbers out;
    uint64_t last = 0;
    for (uint32_t i = 0; i < count; i++) {
        out.at[i] = column_fold(column[i] - last);
        last = column[i];
    }
    column_put(writer, out.at, count);
}

static void put_values(struct column_writer *writer, const uint32_t *column, uint32_t count)
{
    struct numbers out;
    for (uint32_t i = 0; i < count; i++) {
        out.at[i] = column[i];
    }
    column_put(writer, out.at, count);
}

static void extend(struct timeline_extent *extent, const struct places *items)
{
    uint32_t count = items->count;
    *extent = (struct timeline_extent){.first_start_ns = count == 0 ? 0 : INT64_MAX,
                                       .max_end_ns = count == 0 ? 0 : INT64_MIN};
    if (count > 0) {
        extent->first_track = items->track[0];
        extent->last_track = items->track[count - 1];
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t start = items->start_ns[i];
        extent->first_start_ns = start < extent->first_start_ns ? start : extent->first_start_ns;
    }
}

/* ---- slices ---- */

static int64_t length_of(int64_t dur_ns)
{
    return dur_ns < 0 ? 0 : dur_ns;
}

/* Durations, and with them the largest end; false when one is not allowed. */
static bool put_durations(struct column_writer *writer,
                          const struct timeline_block *block,
                          struct timeline_extent *extent)
{
    struct numbers out;
    bool ok = true;
    for (uint32_t i = 0; i < block->item_count && ok; i++) {
        int64_t dur = block->dur_ns[i];
        int64_t start = block->start_ns[i];
        ok = dur >= TIMELINE_INSTANT && dur < INT64_MAX &&
             (start <= 0 || length_of(dur) <= INT64_MAX - start);
        if (ok) {
            int64_t end = start + length_of(dur);
            extent->max_end_ns = end > extent->max_end_ns ? end : extent->max_end_ns;
            out.at[i] = (uint64_t)(dur + 1);
        }
    }
    if (ok) {
        column_put(writer, out.at, block->item_count);
    }
    return ok;
}

static bool is_busy_sound(const struct timeline_block *block)
{
    bool ok = true;
    for (uint32_t i = 0; i < block->item_count; i++) {
        ok &= (block->busy_ns[i] >= 0) & (block->busy_ns[i] <= length_of(block->dur_ns[i]));
    }
    return ok;
}

static bool has_merged(const struct timeline_block *block)
{
    bool merged = false;
    for (uint32_t i = 0; i < block->item_count; i++) {
        merged |= (block->count[i] != 1) | (block->busy_ns[i] != length_of(block->dur_ns[i]));
    }
    return merged;
}

static void put_merged(struct column_writer *writer, const struct timeline_block *block)
{
    struct numbers counts;
    struct numbers gaps;
    for (uint32_t i = 0; i < block->item_count; i++) {
        counts.at[i] = block->count[i] - 1u;
        gaps.at[i] = (uint64_t)(length_of(block->dur_ns[i]) - block->busy_ns[i]);
    }
    column_put(writer, counts.at, block->item_count);
    column_put(writer, gaps.at, block->item_count);
}

bool timeline_put_block(struct column_writer *writer,
                        const struct timeline_block *block,
                        struct timeline_extent *extent,
                        struct err *err)
{
    struct places items = {block->item_count, block->track, block->start_ns};
    if (items.count > TIMELINE_BLOCK_ITEMS) {
        return not_so(err, "has too many items");
    }
    bool merged = has_merged(block);
    extend(extent, &items);
    if (!is_busy_sound(block)) {
        return not_so(err, "has an item that is busier than it is long");
    }
    if (!put_places(writer, &items, merged ? TIMELINE_FLAG_MERGED : 0, err)) {
        return false;
    }
    if (!put_durations(writer, block, extent)) {
        return not_so(err, "has an end beyond all times");
    }
    put_differences(writer, block->lane, block->item_count);
    put_values(writer, block->label, block->item_count);
    put_differences(writer, block->event, block->item_count);
    if (merged) {
        put_merged(writer, block);
    }
    return true;
}

/* ---- points ---- */

static bool is_whole(double value)
{
    return value > -WHOLE_MAX && value < WHOLE_MAX && value == (double)(int64_t)value &&
           !(value == 0.0 && signbit(value));
}

static bool are_whole(const double *values, uint32_t count)
{
    bool whole = true;
    for (uint32_t i = 0; i < count && whole; i++) {
        whole = is_whole(values[i]);
    }
    return whole;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void put_last(struct column_writer *writer, const struct timeline_points *points, bool whole)
{
    struct numbers out;
    uint64_t before[TIMELINE_VALUE_LANES] = {0};
    for (uint32_t i = 0; i < points->item_count; i++) {
        uint64_t *of_lane = &before[points->lane[i] % TIMELINE_VALUE_LANES];
        uint64_t value = whole ? (uint64_t)(int64_t)points->last[i] : bits_of(points->last[i]);
        out.at[i] = whole ? column_fold(value - *of_lane) : value ^ *of_lane;
        *of_lane = value;
    }
    column_put(writer, out.at, points->item_count);
}

/* What `values` are beside `last`. */
static void put_beside(struct column_writer *writer,
                       const struct timeline_points *points,
                       const double *values,
                       bool whole)
{
    struct numbers out;
    for (uint32_t i = 0; i < points->item_count; i++) {
        out.at[i] =
            whole ? column_fold((uint64_t)(int64_t)points->last[i] - (uint64_t)(int64_t)values[i])
                  : bits_of(points->last[i]) ^ bits_of(values[i]);
    }
    column_put(writer, out.at, points->item_count);
}

static bool has_cells(const struct timeline_points *points)
{
    size_t bytes = points->item_count * sizeof *points->last;
    return points->item_count > 0 && (memcmp(points->last, points->min, bytes) != 0 ||
                                      memcmp(points->last, points->max, bytes) != 0);
}

bool timeline_put_points(struct column_writer *writer,
                         const struct timeline_points *points,
                         struct timeline_extent *extent,
                         struct err *err)
{
    struct places items = {points->item_count, points->track, points->start_ns};
    uint32_t count = points->item_count;
    if (count > TIMELINE_BLOCK_ITEMS) {
        return not_so(err, "has too many points");
    }
    bool cells = has_cells(points);
    bool whole = are_whole(points->last, count) && are_whole(points->min, count) &&
                 are_whole(points->max, count);
    uint64_t flags = (cells ? TIMELINE_FLAG_CELLS : 0) | (whole ? TIMELINE_FLAG_WHOLE : 0);
    if (!put_places(writer, &items, flags, err)) {
        return false;
    }
    extend(extent, &items);
    for (uint32_t i = 0; i < count; i++) {
        int64_t start = points->start_ns[i];
        extent->max_end_ns = start > extent->max_end_ns ? start : extent->max_end_ns;
    }
    put_differences(writer, points->lane, count);
    put_differences(writer, points->event, count);
    put_last(writer, points, whole);
    if (cells) {
        put_beside(writer, points, points->min, whole);
        put_beside(writer, points, points->max, whole);
    }
    return true;
}

/* ---- flows ---- */

bool timeline_put_flows(struct column_writer *writer,
                        bool by_target,
                        const struct timeline_flow *flows,
                        size_t count,
                        struct timeline_extent *extent,
                        struct err *err)
{
    struct numbers keys;
    struct numbers others;
    struct numbers kinds;
    uint64_t last_key = 0;
    uint64_t last_other = 0;
    if (count > TIMELINE_BLOCK_ITEMS) {
        return not_so(err, "has too many flows");
    }
    *extent = (struct timeline_extent){.first_track = 0};
    for (size_t i = 0; i < count; i++) {
        uint32_t key = by_target ? flows[i].to : flows[i].from;
        uint32_t other = by_target ? flows[i].from : flows[i].to;
        if (key < last_key) {
            return not_so(err, "has flows that are not sorted");
        }
        extent->first_track = i == 0 ? key : extent->first_track;
        extent->last_track = key;
        keys.at[i] = key - last_key;
        others.at[i] = column_fold(other - last_other);
        kinds.at[i] = flows[i].kind;
        last_key = key;
        last_other = other;
    }
    const uint64_t head[] = {count};
    column_writer_clear(writer);
    column_put(writer, head, 1);
    column_put(writer, keys.at, count);
    column_put(writer, others.at, count);
    column_put(writer, kinds.at, count);
    return true;
}

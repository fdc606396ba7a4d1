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

/* ---- columns ---- */

/* Number `i` of a column. */
typedef uint64_t (*number_at)(const void *column, uint32_t i);

static inline void
put_numbers(struct column_writer *writer, uint32_t count, number_at number, const void *column)
{
    struct column_pen pen = column_begin(writer, count);
    uint32_t paired = count - count % 2;
    if (pen.control == NULL) {
        return;
    }
    for (uint32_t i = 0; i < paired; i += 2) {
        column_two(&pen, number(column, i), number(column, i + 1));
    }
    if (paired < count) {
        column_two(&pen, number(column, paired), 0);
    }
    column_end(writer, pen);
}

static inline uint64_t difference_at(const void *column, uint32_t i)
{
    const uint32_t *values = column;
    return column_fold((uint64_t)values[i] - (i == 0 ? 0 : values[i - 1]));
}

static inline uint64_t value_at(const void *column, uint32_t i)
{
    const uint32_t *values = column;
    return values[i];
}

static void put_differences(struct column_writer *writer, const uint32_t *column, uint32_t count)
{
    put_numbers(writer, count, difference_at, column);
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

/* Of items with one track: track and first start as differences. */
struct runs {
    uint32_t count;
    struct numbers tracks;
    struct numbers lengths;
    struct numbers starts;
};

static void find_runs(struct runs *runs, const struct places *items)
{
    uint32_t begin = 0;
    uint64_t last_track = 0;
    uint64_t last_start = 0;
    runs->count = 0;
    for (uint32_t i = 1; i <= items->count; i++) {
        if (i < items->count && items->track[i] == items->track[begin]) {
            continue;
        }
        uint32_t run = runs->count++;
        uint64_t start = (uint64_t)items->start_ns[begin];
        runs->tracks.at[run] = items->track[begin] - last_track;
        runs->lengths.at[run] = i - begin;
        runs->starts.at[run] = column_fold(start - last_start);
        last_track = items->track[begin];
        last_start = start;
        begin = i;
    }
}

static inline uint64_t start_at(const void *column, uint32_t i)
{
    const struct places *items = column;
    bool begins = i == 0 || items->track[i] != items->track[i - 1];
    return (uint64_t)items->start_ns[i] - (uint64_t)items->start_ns[begins ? i : i - 1];
}

static bool put_places(struct column_writer *writer,
                       const struct places *items,
                       uint64_t flags,
                       struct err *err)
{
    if (!are_sorted(items)) {
        return not_so(err, "is not sorted");
    }
    struct runs runs;
    find_runs(&runs, items);
    const uint64_t head[] = {flags, items->count, runs.count};
    column_writer_clear(writer);
    column_put(writer, head, sizeof head / sizeof *head);
    column_put(writer, runs.tracks.at, runs.count);
    column_put(writer, runs.lengths.at, runs.count);
    column_put(writer, runs.starts.at, runs.count);
    put_numbers(writer, items->count, start_at, items);
    return true;
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

static inline uint64_t duration_at(const void *column, uint32_t i)
{
    const int64_t *dur_ns = column;
    return (uint64_t)dur_ns[i] + 1;
}

static inline uint64_t more_at(const void *column, uint32_t i)
{
    const uint32_t *count = column;
    return count[i] - 1u;
}

static inline uint64_t gap_at(const void *column, uint32_t i)
{
    const struct timeline_block *block = column;
    return (uint64_t)(length_of(block->dur_ns[i]) - block->busy_ns[i]);
}

/* What a look at all items of a block tells. */
struct verdict {
    bool merged;
    bool has_bad_busy;
    bool has_bad_end;
    int64_t max_end_ns; /* when no end is bad */
};

static struct verdict judge_items(const struct timeline_block *block)
{
    struct verdict verdict = {.max_end_ns = block->item_count == 0 ? 0 : INT64_MIN};
    for (uint32_t i = 0; i < block->item_count; i++) {
        int64_t start = block->start_ns[i];
        int64_t dur = block->dur_ns[i];
        int64_t busy = block->busy_ns[i];
        int64_t length = length_of(dur);
        int64_t end = (int64_t)((uint64_t)start + (uint64_t)length);
        verdict.merged |= (block->count[i] != 1) | (busy != length);
        verdict.has_bad_busy |= (busy < 0) | (busy > length);
        verdict.has_bad_end |= (dur < TIMELINE_INSTANT) | (dur == INT64_MAX) | (end < start);
        verdict.max_end_ns = end > verdict.max_end_ns ? end : verdict.max_end_ns;
    }
    return verdict;
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
    const struct verdict verdict = judge_items(block);
    if (verdict.has_bad_busy) {
        return not_so(err, "has an item that is busier than it is long");
    }
    if (verdict.has_bad_end) {
        return not_so(err, "has an end beyond all times");
    }
    if (!put_places(writer, &items, verdict.merged ? TIMELINE_FLAG_MERGED : 0, err)) {
        return false;
    }
    extend(extent, &items);
    extent->max_end_ns = verdict.max_end_ns;
    put_numbers(writer, items.count, duration_at, block->dur_ns);
    put_differences(writer, block->lane, items.count);
    put_numbers(writer, items.count, value_at, block->label);
    put_differences(writer, block->event, items.count);
    if (verdict.merged) {
        put_numbers(writer, items.count, more_at, block->count);
        put_numbers(writer, items.count, gap_at, block);
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
    bool whole = are_whole(points->last, count) &&
                 (!cells || (are_whole(points->min, count) && are_whole(points->max, count)));
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

#include "ingest/store/timeline/blocks.h"

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

static bool not_sorted(struct err *err)
{
    return not_so(err, "is not sorted");
}

/* ---- columns ---- */

static void put_lanes(struct column_writer *writer, const uint32_t *lanes, uint32_t count)
{
    uint32_t out[TIMELINE_BLOCK_ITEMS];
    uint32_t last = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t difference = lanes[i] - last;
        out[i] = difference << 1 ^ (0 - (difference >> 31));
        last = lanes[i];
    }
    column_put_even(writer, out, count);
}

/* The bases between which a difference is large are those of two parts of the file. */
#define NEAR_EVENTS 4096u

static uint64_t distance(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

static void put_events(struct column_writer *writer, const uint32_t *events, uint32_t count)
{
    struct numbers out;
    uint32_t bases[TIMELINE_EVENT_BASES] = {0};
    uint32_t latest = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t event = events[i];
        uint32_t other = latest ^ 1;
        uint64_t to_latest = distance(event, bases[latest]);
        bool is_other = to_latest >= NEAR_EVENTS || distance(event, bases[other]) < to_latest;
        latest = is_other ? other : latest;
        out.at[i] = column_fold((uint64_t)event - bases[latest]) << 1 | latest;
        bases[latest] = event;
    }
    column_put(writer, out.at, count);
}

/* ---- times ---- */

#define MICRO_NS 1000u
/* 1000 is 8 times 125; what is multiplied by this is divided by 125 if it can be. */
#define MICRO_SHIFT 3u
#define MICRO_INVERSE UINT64_C(0x1CAC083126E978D5)
#define WORD_BITS 64u

/* Times in this unit, which divides all of them: a quotient takes no division. */
struct unit {
    uint64_t inverse;
    unsigned shift;
};
static const struct unit NANOS = {1, 0};
static const struct unit MICROS = {MICRO_INVERSE, MICRO_SHIFT};

static inline uint64_t in_unit(uint64_t time_ns, struct unit unit)
{
    return (time_ns >> unit.shift) * unit.inverse;
}

static inline bool is_micros(uint64_t time_ns)
{
    uint64_t product = time_ns * MICRO_INVERSE;
    return (product >> MICRO_SHIFT | product << (WORD_BITS - MICRO_SHIFT)) <= UINT64_MAX / MICRO_NS;
}

/* ---- where items stand ---- */

/* Columns that slices and points share. */
struct places {
    uint32_t count;
    const uint32_t *track;
    const int64_t *start_ns;
};

/* Of items with one track: track and first start as differences. And all starts, as differences
 * within a run. */
struct runs {
    uint32_t count;
    bool are_micros; /* the differences of starts */
    uint64_t last_start;
    struct numbers tracks;
    struct numbers lengths;
    struct numbers starts;
    struct numbers steps;
};

static void add_run(struct runs *runs, const struct places *items, uint32_t begin, uint32_t end)
{
    uint32_t run = runs->count++;
    uint64_t start = (uint64_t)items->start_ns[begin];
    runs->tracks.at[run] = items->track[begin] - (begin == 0 ? 0 : items->track[begin - 1]);
    runs->lengths.at[run] = end - begin;
    runs->starts.at[run] = column_fold(start - runs->last_start);
    runs->last_start = start;
}

/* False for items that are not sorted. */
static bool find_runs(struct runs *runs, const struct places *items)
{
    uint32_t begin = 0;
    bool sorted = true;
    runs->count = 0;
    runs->last_start = 0;
    runs->are_micros = true;
    runs->steps.at[0] = 0;
    for (uint32_t i = 1; i < items->count; i++) {
        uint64_t step = (uint64_t)items->start_ns[i] - (uint64_t)items->start_ns[i - 1];
        if (KS_LIKELY(items->track[i] == items->track[i - 1])) {
            sorted &= items->start_ns[i] >= items->start_ns[i - 1];
        } else {
            sorted &= items->track[i] > items->track[i - 1];
            add_run(runs, items, begin, i);
            begin = i;
            step = 0;
        }
        runs->are_micros &= is_micros(step);
        runs->steps.at[i] = step;
    }
    if (items->count > 0) {
        add_run(runs, items, begin, items->count);
    }
    return sorted;
}

static void put_places(struct column_writer *writer,
                       struct runs *runs,
                       const struct places *items,
                       uint64_t flags)
{
    const struct unit unit = (flags & TIMELINE_FLAG_MICROS) != 0 ? MICROS : NANOS;
    const uint64_t head[] = {flags | TIMELINE_FLAG_TILES, items->count, runs->count};
    column_writer_clear(writer);
    column_put(writer, head, sizeof head / sizeof *head);
    column_put(writer, runs->tracks.at, runs->count);
    column_put(writer, runs->lengths.at, runs->count);
    column_put(writer, runs->starts.at, runs->count);
    for (uint32_t i = 0; i < items->count; i++) {
        runs->steps.at[i] = in_unit(runs->steps.at[i], unit);
    }
    column_put_tiles(writer, runs->steps.at, items->count);
}

static void extend(struct timeline_extent *extent, const struct places *items)
{
    uint32_t count = items->count;
    *extent = (struct timeline_extent){.first_start_ns = count == 0 ? 0 : items->start_ns[0],
                                       .max_end_ns = count == 0 ? 0 : INT64_MIN};
    if (count > 0) {
        extent->first_track = items->track[0];
        extent->last_track = items->track[count - 1];
    }
    if (extent->first_track == extent->last_track) {
        return;
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

static void put_counts(struct column_writer *writer, const uint32_t *counts, uint32_t count)
{
    uint32_t out[TIMELINE_BLOCK_ITEMS];
    for (uint32_t i = 0; i < count; i++) {
        out[i] = counts[i] - 1;
    }
    column_put_even(writer, out, count);
}

static void
put_durations(struct column_writer *writer, const struct timeline_block *block, struct unit unit)
{
    struct numbers out;
    for (uint32_t i = 0; i < block->item_count; i++) {
        int64_t dur = block->dur_ns[i];
        out.at[i] = dur < 0 ? 0 : in_unit((uint64_t)dur, unit) + 1;
    }
    column_put_tiles(writer, out.at, block->item_count);
}

static uint64_t gap_of(const struct timeline_block *block, uint32_t i)
{
    return (uint64_t)(length_of(block->dur_ns[i]) - block->busy_ns[i]);
}

static void
put_gaps(struct column_writer *writer, const struct timeline_block *block, struct unit unit)
{
    struct numbers out;
    for (uint32_t i = 0; i < block->item_count; i++) {
        out.at[i] = in_unit(gap_of(block, i), unit);
    }
    column_put(writer, out.at, block->item_count);
}

/* What a look at all items of a block tells. */
struct verdict {
    bool merged;
    bool has_bad_busy;
    bool has_bad_end;
    bool are_micros;    /* durations and what is busy */
    int64_t max_end_ns; /* when no end is bad */
};

static struct verdict judge_items(const struct timeline_block *block)
{
    struct verdict verdict = {.max_end_ns = block->item_count == 0 ? 0 : INT64_MIN,
                              .are_micros = true};
    for (uint32_t i = 0; i < block->item_count; i++) {
        int64_t start = block->start_ns[i];
        int64_t dur = block->dur_ns[i];
        int64_t busy = block->busy_ns[i];
        int64_t length = length_of(dur);
        int64_t end = (int64_t)((uint64_t)start + (uint64_t)length);
        verdict.merged |= (block->count[i] != 1) | (busy != length);
        verdict.has_bad_busy |= (busy < 0) | (busy > length);
        verdict.has_bad_end |= (dur < TIMELINE_INSTANT) | (dur == INT64_MAX) | (end < start);
        verdict.are_micros &= is_micros((uint64_t)length);
        verdict.are_micros &= is_micros((uint64_t)busy);
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
    struct runs runs;
    if (!find_runs(&runs, &items)) {
        return not_sorted(err);
    }
    bool micros = runs.are_micros && verdict.are_micros;
    const struct unit unit = micros ? MICROS : NANOS;
    put_places(writer, &runs, &items,
               (verdict.merged ? TIMELINE_FLAG_MERGED : 0) | (micros ? TIMELINE_FLAG_MICROS : 0));
    extend(extent, &items);
    extent->max_end_ns = verdict.max_end_ns;
    put_durations(writer, block, unit);
    put_lanes(writer, block->lane, items.count);
    column_put_even(writer, block->label, items.count);
    put_events(writer, block->event, items.count);
    if (verdict.merged) {
        put_counts(writer, block->count, items.count);
        put_gaps(writer, block, unit);
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
    struct runs runs;
    if (!find_runs(&runs, &items)) {
        return not_sorted(err);
    }
    put_places(writer, &runs, &items,
               (cells ? TIMELINE_FLAG_BINS : 0) | (whole ? TIMELINE_FLAG_WHOLE : 0) |
                   (runs.are_micros ? TIMELINE_FLAG_MICROS : 0));
    extend(extent, &items);
    for (uint32_t i = 0; i < count; i++) {
        int64_t start = points->start_ns[i];
        extent->max_end_ns = start > extent->max_end_ns ? start : extent->max_end_ns;
    }
    put_lanes(writer, points->lane, count);
    put_events(writer, points->event, count);
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

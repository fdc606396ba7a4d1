#include "ingest/analysis/timeline/levels/levels.h"

#include "ingest/analysis/timeline/columns.h"
#include "ingest/analysis/timeline/levels/bins.h"

#include <string.h>

/* A level this small is drawn as fast as any. */
#define SMALL_LEVEL 2000u
#define WORD_BITS 64u

static unsigned shift_of(uint32_t width)
{
    return TIMELINE_FIRST_SHIFT + width * TIMELINE_SHIFT_STEP;
}

/* ---- counting ---- */

void timeline_counts_track(struct timeline_counts *counts)
{
    counts->lane_count = 0;
}

static struct timeline_latest *latest_of(struct timeline_counts *counts, uint32_t lane)
{
    while (counts->lane_count <= lane) {
        struct timeline_latest *latest = &counts->latest[counts->lane_count++];
        latest->width = TIMELINE_WIDTHS;
        memset(latest->bin, 0xFF, sizeof latest->bin);
    }
    return &counts->latest[lane];
}

static uint32_t bits_of(uint64_t value)
{
#if defined(__GNUC__)
    return value == 0 ? 0 : WORD_BITS - (uint32_t)__builtin_clzll(value);
#else
    uint32_t bits = 0;
    while (bits < WORD_BITS && value >> bits != 0) {
        bits++;
    }
    return bits;
#endif
}

/* The first width, none perhaps, whose cells have so many bits below them. */
static uint32_t width_of(uint32_t bits)
{
    uint32_t above = bits > TIMELINE_FIRST_SHIFT ? bits - TIMELINE_FIRST_SHIFT : 0;
    uint32_t width = (above + TIMELINE_SHIFT_STEP - 1) / TIMELINE_SHIFT_STEP;
    return width < TIMELINE_WIDTHS ? width : TIMELINE_WIDTHS;
}

/* The first width that is more than the duration. */
static uint32_t first_wider(int64_t dur_ns)
{
    return dur_ns < 0 ? 0 : width_of(bits_of((uint64_t)dur_ns));
}

/* The first width from `width` on at which what starts here meets what came before in its cell:
 * there, and at all wider ones, it is merged. */
static uint32_t first_merging(struct timeline_latest *latest, uint32_t width, int64_t start_ns)
{
    uint32_t until = latest->width;
    for (uint32_t w = until; w < width; w++) {
        latest->bin[w] = timeline_cell(latest->start_ns, shift_of(w));
    }
    uint32_t at = width;
    while (at < until && latest->bin[at] != timeline_cell(start_ns, shift_of(at))) {
        at++;
    }
    if (at >= until && until < TIMELINE_WIDTHS) {
        uint32_t together = width_of(bits_of((uint64_t)start_ns ^ (uint64_t)latest->start_ns));
        at = together > at ? together : at;
    }
    latest->width = width;
    latest->start_ns = start_ns;
    return at;
}

void timeline_counts_item(struct timeline_counts *counts,
                          uint32_t lane,
                          int64_t start_ns,
                          int64_t dur_ns)
{
    counts->merged_at[first_merging(latest_of(counts, lane), first_wider(dur_ns), start_ns)]++;
}

void timeline_counts_point(struct timeline_counts *counts, const struct timeline_point *point)
{
    counts->merged_at[first_merging(latest_of(counts, point->lane), 0, point->start_ns)]++;
}

void timeline_levels_choose(struct timeline *timeline, const struct timeline_counts *counts)
{
    uint64_t count = 0;
    for (uint32_t width = 0; width <= TIMELINE_WIDTHS; width++) {
        count += counts->merged_at[width];
    }
    uint64_t kept = count;
    timeline->levels[0] = (struct timeline_level){0, kept};
    timeline->level_count = 1;
    for (uint32_t width = 0; width < TIMELINE_WIDTHS && kept >= SMALL_LEVEL; width++) {
        count -= counts->merged_at[width];
        if (count <= kept / 2) {
            timeline->levels[timeline->level_count++] =
                (struct timeline_level){INT64_C(1) << shift_of(width), count};
            kept = count;
        }
    }
}

/* ---- building ---- */

struct building {
    const struct timeline_source *source;
    const struct timeline_sink *sink;
    struct timeline_writer level_0;
    struct timeline_bins *others;
    struct timeline_lanes *lanes;
};

/* Level 0 goes to the sink and, while it is in the cache, on to the other levels. */
static bool
take_block(void *context, uint32_t level, const struct timeline_block *block, struct err *err)
{
    struct building *b = context;
    return b->sink->take_block(b->sink->context, level, block, err) &&
           timeline_bins_block(b->others, block, err);
}

static bool
take_points(void *context, uint32_t level, const struct timeline_points *points, struct err *err)
{
    struct building *b = context;
    return b->sink->take_points(b->sink->context, level, points, err) &&
           timeline_bins_points(b->others, points, err);
}

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the timeline's levels");
}

static bool see_point(void *context, const struct timeline_point *point, struct err *err)
{
    struct building *b = context;
    return timeline_writer_point(&b->level_0, point, err);
}

static bool build_track(struct building *b, uint32_t track, struct err *err)
{
    const struct timeline_source *source = b->source;
    const struct layout_track *part = &source->layout->tracks[track];
    struct timeline_busy busy = TIMELINE_NOT_BUSY;
    uint32_t end = part->first + part->count;
    bool ok = true;
    timeline_lanes_clear(b->lanes);
    for (uint32_t i = part->first; ok && i < end; i++) {
        timeline_span_fetch(source->items, source->order, i + TIMELINE_AHEAD, end);
        uint32_t event = source->order[i];
        struct timeline_span span = timeline_span(source->items, event);
        uint32_t lane = timeline_lanes_put(b->lanes, event, span.start_ns, span.end_ns,
                                           span.class == ITEM_SLICE);
        const struct timeline_item item =
            timeline_source_item(source, track, event, lane, &span, &busy);
        ok = timeline_writer_item(&b->level_0, &item, err);
    }
    return ok;
}

bool timeline_levels_build(const struct timeline *timeline,
                           const struct timeline_source *source,
                           struct timeline_lanes *lanes,
                           const struct timeline_sink *sink,
                           struct err *err)
{
    struct building b = {.source = source,
                         .sink = sink,
                         .lanes = lanes,
                         .others = timeline_bins_create(timeline, sink)};
    const struct timeline_sink level_0 = {
        .context = &b, .take_block = take_block, .take_points = take_points};
    bool ok = timeline_writer_init(&b.level_0, &level_0) && b.others != NULL;
    if (!ok) {
        (void)no_memory(err);
    }
    memset(source->sum_bytes, 0, source->places->count * sizeof *source->sum_bytes);
    for (uint32_t t = 0; ok && t < source->layout->track_count; t++) {
        ok = source->layout->tracks[t].kind == TIMELINE_COUNTER
                 ? timeline_source_points(source, t, see_point, &b, err)
                 : build_track(&b, t, err);
    }
    ok = ok && timeline_writer_flush_block(&b.level_0, err) &&
         timeline_writer_flush_points(&b.level_0, err) && timeline_bins_end(b.others, err);
    timeline_writer_free(&b.level_0);
    timeline_bins_destroy(b.others);
    return ok;
}

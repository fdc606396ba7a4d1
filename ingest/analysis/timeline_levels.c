#include "ingest/analysis/timeline_levels.h"

#include "ingest/analysis/timeline_cells.h"

#include <string.h>

/* A level this small is drawn as fast as any. */
#define SMALL_LEVEL 2000u

static unsigned shift_of(uint32_t width)
{
    return TIMELINE_FIRST_SHIFT + width * TIMELINE_SHIFT_STEP;
}

/* ---- counting ---- */

void timeline_counts_track(struct timeline_counts *counts)
{
    counts->lane_count = 0;
}

static uint64_t *cells_of(struct timeline_counts *counts, uint32_t lane)
{
    while (counts->lane_count <= lane) {
        memset(counts->cell[counts->lane_count++], 0xFF, sizeof counts->cell[0]);
    }
    return counts->cell[lane];
}

/* The first width from `width` on at which what starts here meets what came before in its cell:
 * there, and at all wider ones, it is merged. Those before it get a cell of their own. */
static uint32_t first_merging(uint64_t cells[TIMELINE_WIDTHS], uint32_t width, int64_t start_ns)
{
    for (; width < TIMELINE_WIDTHS; width++) {
        uint64_t cell = timeline_cell(start_ns, shift_of(width));
        if (cells[width] == cell) {
            break;
        }
        cells[width] = cell;
    }
    return width;
}

void timeline_counts_item(struct timeline_counts *counts, const struct timeline_item *item)
{
    uint64_t *cells = cells_of(counts, item->lane);
    uint32_t first = 0;
    while (first < TIMELINE_WIDTHS && item->dur_ns >= INT64_C(1) << shift_of(first)) {
        first++;
    }
    counts->total.items++;
    counts->long_items[first]++;
    uint32_t end = first_merging(cells, first, item->start_ns);
    for (uint32_t width = first; width < end; width++) {
        counts->merged[width].items++;
    }
}

void timeline_counts_point(struct timeline_counts *counts, const struct timeline_point *point)
{
    uint64_t *cells = cells_of(counts, point->lane);
    counts->total.points++;
    uint32_t end = first_merging(cells, 0, point->start_ns);
    for (uint32_t width = 0; width < end; width++) {
        counts->merged[width].points++;
    }
}

static struct timeline_size size_of(const struct timeline_counts *counts, uint32_t width)
{
    struct timeline_size size = counts->merged[width];
    for (uint32_t longer = width + 1; longer <= TIMELINE_WIDTHS; longer++) {
        size.items += counts->long_items[longer];
    }
    return size;
}

static uint64_t sum_of(struct timeline_size size)
{
    return size.items + size.points;
}

/* ---- building ---- */

struct building {
    struct timeline *timeline;
    const struct timeline_source *source;
    const uint16_t *lane_of;
    const struct timeline_counts *counts;
    const struct timeline_sink *sink;
    struct timeline_block block;
    struct timeline_points points;
    struct timeline_cells *merge;
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the timeline's levels");
}

static bool see_point(void *context, const struct timeline_point *point, struct err *err)
{
    (void)err;
    timeline_cells_point(context, point);
    return true;
}

static void merge_track(const struct building *b, uint32_t track)
{
    const struct layout_track *part = &b->source->layout->tracks[track];
    struct timeline_busy busy = TIMELINE_NOT_BUSY;
    for (uint32_t i = part->first; i < part->first + part->count; i++) {
        if (b->lane_of[i] != TIMELINE_NO_LANE) {
            const struct timeline_item item =
                timeline_source_item(b->source, track, b->source->order[i], b->lane_of[i], &busy);
            timeline_cells_item(b->merge, &item);
        }
    }
}

/* The first level, from level 0. */
static bool
merge_source(struct building *b, struct timeline_size size, unsigned shift, struct err *err)
{
    const struct timeline_source *source = b->source;
    bool ok = timeline_block_alloc(&b->block, size.items);
    ok = timeline_points_alloc(&b->points, size.points) && ok;
    b->merge = ok ? timeline_cells_create(&b->block, &b->points) : NULL;
    if (b->merge == NULL) {
        return no_memory(err);
    }
    memset(source->sum_bytes, 0, source->places->count * sizeof *source->sum_bytes);
    timeline_cells_level(b->merge, shift);
    for (uint32_t t = 0; ok && t < source->layout->track_count; t++) {
        if (source->layout->tracks[t].kind == TIMELINE_COUNTER) {
            ok = timeline_source_points(source, t, see_point, b->merge, err);
        } else {
            merge_track(b, t);
        }
    }
    return ok;
}

/* A further one, in place. */
static void merge_again(struct building *b, unsigned shift)
{
    uint32_t item_count = b->block.item_count;
    uint32_t point_count = b->points.item_count;
    timeline_cells_level(b->merge, shift);
    for (uint32_t i = 0; i < item_count; i++) {
        const struct timeline_item item = timeline_block_row(&b->block, i);
        timeline_cells_item(b->merge, &item);
    }
    for (uint32_t i = 0; i < point_count; i++) {
        const struct timeline_point point = timeline_points_row(&b->points, i);
        timeline_cells_point(b->merge, &point);
    }
}

static bool
add_level(struct building *b, struct timeline_size size, uint32_t width, struct err *err)
{
    struct timeline *timeline = b->timeline;
    uint32_t level = timeline->level_count;
    if (level == 1) {
        if (!merge_source(b, size, shift_of(width), err)) {
            return false;
        }
    } else {
        merge_again(b, shift_of(width));
    }
    timeline->levels[level] = (struct timeline_level){INT64_C(1) << shift_of(width), sum_of(size)};
    timeline->level_count++;
    return timeline_hand_over(b->sink, level, &b->block, &b->points, err);
}

bool timeline_levels_build(struct timeline *timeline,
                           const struct timeline_source *source,
                           const uint16_t *lane_of,
                           const struct timeline_counts *counts,
                           const struct timeline_sink *sink,
                           struct err *err)
{
    struct building b = {
        .timeline = timeline, .source = source, .lane_of = lane_of, .counts = counts, .sink = sink};
    uint64_t kept = sum_of(counts->total);
    bool ok = true;
    timeline->levels[0] = (struct timeline_level){0, kept};
    timeline->level_count = 1;
    for (uint32_t width = 0; ok && width < TIMELINE_WIDTHS && kept >= SMALL_LEVEL; width++) {
        struct timeline_size size = size_of(counts, width);
        if (sum_of(size) <= kept / 2) {
            ok = add_level(&b, size, width, err);
            kept = sum_of(size);
        }
    }
    timeline_block_free(&b.block);
    timeline_points_free(&b.points);
    timeline_cells_destroy(b.merge);
    return ok;
}

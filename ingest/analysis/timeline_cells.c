#include "ingest/analysis/timeline_cells.h"

#include "ingest/analysis/ns.h"
#include "ingest/analysis/scratch.h"
#include "ingest/analysis/timeline_levels.h"

#define TALLY_LABELS 16u
#define NO_CELL UINT64_MAX
#define NO_TRACK UINT32_MAX

/* Time by label of what was merged into one item. */
struct tally {
    uint32_t count;
    uint32_t label[TALLY_LABELS];
    int64_t busy_ns[TALLY_LABELS];
};

struct lane {
    uint64_t cell; /* in which the row lies; NO_CELL */
    uint32_t row;
    struct tally tally;
};

struct timeline_cells {
    struct timeline_block *block;
    struct timeline_points *points;
    unsigned shift;
    uint32_t track;
    uint32_t lane_count; /* lanes that this track has used */
    struct lane lanes[TIMELINE_LANES_MAX];
};

struct timeline_cells *timeline_cells_create(struct timeline_block *block,
                                             struct timeline_points *points)
{
    struct timeline_cells *merge = scratch_alloc(1, sizeof *merge);
    if (merge != NULL) {
        merge->block = block;
        merge->points = points;
        timeline_cells_level(merge, 0);
    }
    return merge;
}

void timeline_cells_destroy(struct timeline_cells *merge)
{
    scratch_free(merge);
}

void timeline_cells_level(struct timeline_cells *merge, unsigned shift)
{
    merge->shift = shift;
    merge->track = NO_TRACK;
    merge->lane_count = 0;
    merge->block->item_count = 0;
    merge->points->item_count = 0;
}

static struct lane *lane_of(struct timeline_cells *merge, uint32_t track, uint32_t lane)
{
    if (track != merge->track) {
        merge->track = track;
        merge->lane_count = 0;
    }
    while (merge->lane_count <= lane) {
        merge->lanes[merge->lane_count++].cell = NO_CELL;
    }
    return &merge->lanes[lane];
}

static void weigh(struct tally *tally, uint32_t label, int64_t busy_ns)
{
    uint32_t i = 0;
    while (i < tally->count && tally->label[i] != label) {
        i++;
    }
    if (i == TALLY_LABELS) {
        return;
    }
    if (i == tally->count) {
        tally->label[tally->count] = label;
        tally->busy_ns[tally->count++] = 0;
    }
    tally->busy_ns[i] = ns_add(tally->busy_ns[i], busy_ns);
}

static uint32_t heaviest(const struct tally *tally)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < tally->count; i++) {
        best = tally->busy_ns[i] > tally->busy_ns[best] ? i : best;
    }
    return tally->label[best];
}

static void join(struct timeline_block *block, struct lane *lane, const struct timeline_item *item)
{
    uint32_t row = lane->row;
    int64_t end_ns = ns_add(block->start_ns[row], ns_max(block->dur_ns[row], 0));
    end_ns = ns_max(end_ns, ns_add(item->start_ns, ns_max(item->dur_ns, 0)));
    block->dur_ns[row] = ns_sub(end_ns, block->start_ns[row]);
    block->busy_ns[row] = ns_add(block->busy_ns[row], item->busy_ns);
    block->count[row] += item->count;
    weigh(&lane->tally, item->label, item->busy_ns);
    block->label[row] = heaviest(&lane->tally);
}

void timeline_cells_item(struct timeline_cells *merge, const struct timeline_item *item)
{
    struct timeline_block *block = merge->block;
    struct lane *lane = lane_of(merge, item->track, item->lane);
    bool is_short = item->dur_ns < INT64_C(1) << merge->shift;
    uint64_t cell = timeline_cell(item->start_ns, merge->shift);
    if (is_short && lane->cell == cell) {
        join(block, lane, item);
        return;
    }
    if (is_short) {
        lane->cell = cell;
        lane->row = block->item_count;
        lane->tally.count = 0;
        weigh(&lane->tally, item->label, item->busy_ns);
    }
    timeline_block_set(block, block->item_count++, item);
}

void timeline_cells_point(struct timeline_cells *merge, const struct timeline_point *point)
{
    struct timeline_points *points = merge->points;
    struct lane *lane = lane_of(merge, point->track, point->lane);
    uint64_t cell = timeline_cell(point->start_ns, merge->shift);
    if (lane->cell == cell) {
        uint32_t row = lane->row;
        points->last[row] = point->last;
        points->min[row] = point->min < points->min[row] ? point->min : points->min[row];
        points->max[row] = point->max > points->max[row] ? point->max : points->max[row];
        return;
    }
    lane->cell = cell;
    lane->row = points->item_count;
    timeline_points_set(points, points->item_count++, point);
}

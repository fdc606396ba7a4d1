#include "ingest/analysis/timeline/levels/bins.h"

#include "ingest/analysis/timeline/levels/levels.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"

#include <string.h>

#define TALLY_LABELS 16u
#define ROWS_FIRST 32u
#define NO_CELL UINT64_MAX
#define NO_TRACK UINT32_MAX

/* Time by label of what was merged into one item. */
struct tally {
    uint32_t count;
    uint32_t heaviest;
    uint32_t label[TALLY_LABELS];
    int64_t busy_ns[TALLY_LABELS];
};

/* Where the rows of a level stand. */
struct grid {
    uint32_t level;
    int64_t width_ns;
    unsigned shift;
    uint32_t track;      /* of the last row */
    uint64_t bin;        /* in which that one starts */
    uint32_t lane_count; /* lanes that this track has used */
};

/* The latest short row of a lane. */
struct lane {
    uint64_t bin; /* in which it lies; NO_CELL */
    uint32_t row;
};

/* A level's items, of which those of the current bin can still change. */
struct item_stage {
    struct grid grid;
    struct timeline_item *rows; /* not yet handed over */
    size_t cap;
    uint32_t count;
    struct lane lanes[TIMELINE_LANES_MAX];
    struct tally tallies[TIMELINE_LANES_MAX];
};

struct point_stage {
    struct grid grid;
    struct timeline_point *rows;
    size_t cap;
    uint32_t count;
    struct lane lanes[TIMELINE_LANES_MAX];
};

struct timeline_bins {
    const struct timeline_sink *sink;
    struct timeline_block block; /* rows as columns, to be handed over */
    struct timeline_points points;
    /* By level - 1; NULL behind the last one. */
    struct item_stage *item_stages[TIMELINE_LEVELS_MAX];
    struct point_stage *point_stages[TIMELINE_LEVELS_MAX];
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the timeline's levels");
}

/* ---- making ---- */

static struct grid make_grid(const struct timeline *timeline, uint32_t level)
{
    struct grid grid = {.level = level,
                        .width_ns = timeline->levels[level].width_ns,
                        .track = NO_TRACK,
                        .bin = NO_CELL};
    while (INT64_C(1) << grid.shift < grid.width_ns) {
        grid.shift++;
    }
    return grid;
}

/* Lanes are set when they are used first, which most never are. */
static bool make_stages(struct timeline_bins *bins, const struct timeline *timeline)
{
    bool ok = true;
    for (uint32_t level = 1; ok && level < timeline->level_count; level++) {
        struct item_stage *items = scratch_alloc(1, sizeof *items);
        struct point_stage *points = scratch_alloc(1, sizeof *points);
        bins->item_stages[level - 1] = items;
        bins->point_stages[level - 1] = points;
        ok = items != NULL && points != NULL;
        if (items != NULL) {
            memset(items, 0, offsetof(struct item_stage, lanes));
            items->grid = make_grid(timeline, level);
        }
        if (points != NULL) {
            memset(points, 0, offsetof(struct point_stage, lanes));
            points->grid = make_grid(timeline, level);
        }
    }
    return ok;
}

struct timeline_bins *timeline_bins_create(const struct timeline *timeline,
                                           const struct timeline_sink *sink)
{
    struct timeline_bins *bins = scratch_calloc(1, sizeof *bins);
    if (bins == NULL) {
        return NULL;
    }
    bins->sink = sink;
    bool ok = timeline_block_alloc(&bins->block, TIMELINE_BLOCK_ITEMS);
    ok = timeline_points_alloc(&bins->points, TIMELINE_BLOCK_ITEMS) && ok;
    if (!ok || !make_stages(bins, timeline)) {
        timeline_bins_destroy(bins);
        return NULL;
    }
    return bins;
}

void timeline_bins_destroy(struct timeline_bins *bins)
{
    if (bins == NULL) {
        return;
    }
    for (uint32_t i = 0; i < TIMELINE_LEVELS_MAX; i++) {
        if (bins->item_stages[i] != NULL) {
            scratch_free(bins->item_stages[i]->rows);
        }
        if (bins->point_stages[i] != NULL) {
            scratch_free(bins->point_stages[i]->rows);
        }
        SCRATCH_FREE(bins->item_stages[i], bins->point_stages[i]);
    }
    timeline_block_free(&bins->block);
    timeline_points_free(&bins->points);
    scratch_free(bins);
}

/* ---- cells ---- */

static inline bool is_same_cell(const struct grid *grid, uint32_t track, uint64_t bin)
{
    return bin == grid->bin && track == grid->track;
}

static inline void begin_cell(struct grid *grid, uint32_t track, uint64_t bin)
{
    grid->lane_count = track == grid->track ? grid->lane_count : 0;
    grid->track = track;
    grid->bin = bin;
}

static inline struct lane *lane_of(struct grid *grid, struct lane *lanes, uint32_t lane)
{
    while (grid->lane_count <= lane) {
        lanes[grid->lane_count++].bin = NO_CELL;
    }
    return &lanes[lane];
}

/* Room for one more row: what a block needs and little more. The rows, moved perhaps, or NULL
 * without memory. */
static void *grow(void *rows, uint32_t count, size_t *cap, size_t size)
{
    if (KS_LIKELY(count < *cap)) {
        return rows;
    }
    size_t more = *cap < TIMELINE_BLOCK_ITEMS ? *cap * 2 + ROWS_FIRST : *cap + *cap / 8;
    void *grown = scratch_resize(rows, more, size);
    *cap = grown == NULL ? *cap : more;
    return grown;
}

/* ---- items ---- */

/* Of equally heavy labels the first one is the heaviest. */
static uint32_t weigh(struct tally *tally, uint32_t label, int64_t busy_ns)
{
    uint32_t i = 0;
    while (i < tally->count && tally->label[i] != label) {
        i++;
    }
    if (KS_LIKELY(i < TALLY_LABELS)) {
        bool is_new = i == tally->count;
        tally->count += is_new;
        tally->label[i] = label;
        tally->busy_ns[i] = saturating_add(is_new ? 0 : tally->busy_ns[i], busy_ns);
        int64_t most_ns = tally->busy_ns[tally->heaviest];
        bool is_heavier =
            tally->busy_ns[i] > most_ns || (tally->busy_ns[i] == most_ns && i < tally->heaviest);
        tally->heaviest = is_heavier ? i : tally->heaviest;
    }
    return tally->label[tally->heaviest];
}

static void join(struct timeline_item *row, struct tally *tally, const struct timeline_item *item)
{
    int64_t end_ns = saturating_add(row->start_ns, i64_max(row->dur_ns, 0));
    end_ns = i64_max(end_ns, saturating_add(item->start_ns, i64_max(item->dur_ns, 0)));
    row->dur_ns = saturating_sub(end_ns, row->start_ns);
    row->busy_ns = saturating_add(row->busy_ns, item->busy_ns);
    row->count += item->count;
    row->label = weigh(tally, item->label, item->busy_ns);
}

static bool
pass_on_items(struct timeline_bins *bins, struct item_stage **at, uint32_t most, struct err *err);

static inline bool put_item(struct timeline_bins *bins,
                            struct item_stage **at,
                            const struct timeline_item *item,
                            struct err *err)
{
    struct item_stage *stage = *at;
    uint64_t bin = timeline_cell(item->start_ns, stage->grid.shift);
    if (!is_same_cell(&stage->grid, item->track, bin)) {
        if (KS_UNLIKELY(stage->count >= TIMELINE_BLOCK_ITEMS) &&
            !pass_on_items(bins, at, TIMELINE_BLOCK_ITEMS, err)) {
            return false;
        }
        begin_cell(&stage->grid, item->track, bin);
    }
    struct lane *lane = lane_of(&stage->grid, stage->lanes, item->lane);
    struct tally *tally = &stage->tallies[item->lane];
    bool is_short = item->dur_ns < stage->grid.width_ns;
    if (is_short && lane->bin == bin) {
        join(&stage->rows[lane->row], tally, item);
        return true;
    }
    struct timeline_item *rows = grow(stage->rows, stage->count, &stage->cap, sizeof *rows);
    if (rows == NULL) {
        return no_memory(err);
    }
    stage->rows = rows;
    if (is_short) {
        *lane = (struct lane){bin, stage->count};
        tally->count = 1;
        tally->heaviest = 0;
        tally->label[0] = item->label;
        tally->busy_ns[0] = item->busy_ns;
    }
    rows[stage->count++] = *item;
    return true;
}

static bool hand_over_items(struct timeline_bins *bins,
                            struct item_stage *stage,
                            uint32_t count,
                            struct err *err)
{
    struct timeline_block *block = &bins->block;
    for (uint32_t i = 0; i < count; i++) {
        timeline_block_set(block, i, &stage->rows[i]);
    }
    block->item_count = count;
    stage->count -= count;
    memmove(stage->rows, stage->rows + count, stage->count * sizeof *stage->rows);
    return bins->sink->take_block(bins->sink->context, stage->grid.level, block, err);
}

/* Rows that will not change any more, `most` at a time while there are so many: to the next level,
 * and out. */
static bool
pass_on_items(struct timeline_bins *bins, struct item_stage **at, uint32_t most, struct err *err)
{
    struct item_stage *stage = *at;
    bool ok = true;
    while (ok && stage->count >= most) {
        for (uint32_t i = 0; ok && at[1] != NULL && i < most; i++) {
            ok = put_item(bins, at + 1, &stage->rows[i], err);
        }
        ok = ok && hand_over_items(bins, stage, most, err);
    }
    return ok;
}

bool timeline_bins_block(struct timeline_bins *bins,
                         const struct timeline_block *block,
                         struct err *err)
{
    bool ok = true;
    for (uint32_t i = 0; ok && bins->item_stages[0] != NULL && i < block->item_count; i++) {
        const struct timeline_item item = timeline_block_get(block, i);
        ok = put_item(bins, bins->item_stages, &item, err);
    }
    return ok;
}

/* ---- points ---- */

static bool
pass_on_points(struct timeline_bins *bins, struct point_stage **at, uint32_t most, struct err *err);

static inline bool put_point(struct timeline_bins *bins,
                             struct point_stage **at,
                             const struct timeline_point *point,
                             struct err *err)
{
    struct point_stage *stage = *at;
    uint64_t bin = timeline_cell(point->start_ns, stage->grid.shift);
    if (!is_same_cell(&stage->grid, point->track, bin)) {
        if (KS_UNLIKELY(stage->count >= TIMELINE_BLOCK_ITEMS) &&
            !pass_on_points(bins, at, TIMELINE_BLOCK_ITEMS, err)) {
            return false;
        }
        begin_cell(&stage->grid, point->track, bin);
    }
    struct lane *lane = lane_of(&stage->grid, stage->lanes, point->lane);
    if (lane->bin == bin) {
        struct timeline_point *row = &stage->rows[lane->row];
        row->last = point->last;
        row->min = point->min < row->min ? point->min : row->min;
        row->max = point->max > row->max ? point->max : row->max;
        return true;
    }
    struct timeline_point *rows = grow(stage->rows, stage->count, &stage->cap, sizeof *rows);
    if (rows == NULL) {
        return no_memory(err);
    }
    stage->rows = rows;
    *lane = (struct lane){bin, stage->count};
    rows[stage->count++] = *point;
    return true;
}

static bool hand_over_points(struct timeline_bins *bins,
                             struct point_stage *stage,
                             uint32_t count,
                             struct err *err)
{
    struct timeline_points *points = &bins->points;
    for (uint32_t i = 0; i < count; i++) {
        timeline_points_set(points, i, &stage->rows[i]);
    }
    points->item_count = count;
    stage->count -= count;
    memmove(stage->rows, stage->rows + count, stage->count * sizeof *stage->rows);
    return bins->sink->take_points(bins->sink->context, stage->grid.level, points, err);
}

static bool
pass_on_points(struct timeline_bins *bins, struct point_stage **at, uint32_t most, struct err *err)
{
    struct point_stage *stage = *at;
    bool ok = true;
    while (ok && stage->count >= most) {
        for (uint32_t i = 0; ok && at[1] != NULL && i < most; i++) {
            ok = put_point(bins, at + 1, &stage->rows[i], err);
        }
        ok = ok && hand_over_points(bins, stage, most, err);
    }
    return ok;
}

bool timeline_bins_points(struct timeline_bins *bins,
                          const struct timeline_points *points,
                          struct err *err)
{
    bool ok = true;
    for (uint32_t i = 0; ok && bins->point_stages[0] != NULL && i < points->item_count; i++) {
        const struct timeline_point point = timeline_points_get(points, i);
        ok = put_point(bins, bins->point_stages, &point, err);
    }
    return ok;
}

bool timeline_bins_end(struct timeline_bins *bins, struct err *err)
{
    bool ok = true;
    for (uint32_t i = 0; ok && bins->item_stages[i] != NULL; i++) {
        uint32_t *item_count = &bins->item_stages[i]->count;
        uint32_t *point_count = &bins->point_stages[i]->count;
        ok = pass_on_items(bins, &bins->item_stages[i], TIMELINE_BLOCK_ITEMS, err) &&
             (*item_count == 0 || pass_on_items(bins, &bins->item_stages[i], *item_count, err)) &&
             pass_on_points(bins, &bins->point_stages[i], TIMELINE_BLOCK_ITEMS, err) &&
             (*point_count == 0 || pass_on_points(bins, &bins->point_stages[i], *point_count, err));
    }
    return ok;
}

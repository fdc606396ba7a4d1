#include "ingest/analysis/timeline_cells.h"

#include "ingest/analysis/ns.h"
#include "ingest/analysis/scratch.h"
#include "ingest/analysis/timeline_levels.h"

#define TALLY_LABELS 16u
#define ROWS_FIRST 32u
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

/* A level: rows that were not yet handed over. */
struct stage {
    uint32_t level;
    int64_t width_ns;
    unsigned shift;
    uint32_t track; /* of its last row */
    uint64_t cell;  /* in which that one starts */
    struct timeline_item *items;
    struct timeline_point *points;
    size_t items_cap;
    size_t points_cap;
    uint32_t item_count;
    uint32_t point_count;
    uint32_t items_done; /* rows before the current cell, which the next level knows */
    uint32_t points_done;
    uint32_t lane_count; /* lanes that this track has used */
    struct lane lanes[TIMELINE_LANES_MAX];
};

struct timeline_cells {
    const struct timeline_sink *sink;
    struct timeline_block block; /* rows as columns, to be handed over */
    struct timeline_points points;
    struct stage *stages[TIMELINE_LEVELS_MAX]; /* by level - 1; NULL behind the last one */
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the timeline's levels");
}

/* ---- making ---- */

static struct stage *make_stage(const struct timeline *timeline, uint32_t level)
{
    struct stage *stage = scratch_alloc(1, sizeof *stage);
    if (stage != NULL) {
        /* Without the lanes, most of which are never used. */
        memset(stage, 0, offsetof(struct stage, lanes));
        stage->level = level;
        stage->width_ns = timeline->levels[level].width_ns;
        stage->track = NO_TRACK;
        stage->cell = NO_CELL;
        while (INT64_C(1) << stage->shift < stage->width_ns) {
            stage->shift++;
        }
    }
    return stage;
}

struct timeline_cells *timeline_cells_create(const struct timeline *timeline,
                                             const struct timeline_sink *sink)
{
    struct timeline_cells *cells = scratch_calloc(1, sizeof *cells);
    if (cells == NULL) {
        return NULL;
    }
    cells->sink = sink;
    bool ok = timeline_block_alloc(&cells->block, TIMELINE_BLOCK_ITEMS);
    ok = timeline_points_alloc(&cells->points, TIMELINE_BLOCK_ITEMS) && ok;
    for (uint32_t level = 1; ok && level < timeline->level_count; level++) {
        cells->stages[level - 1] = make_stage(timeline, level);
        ok = cells->stages[level - 1] != NULL;
    }
    if (!ok) {
        timeline_cells_destroy(cells);
        return NULL;
    }
    return cells;
}

void timeline_cells_destroy(struct timeline_cells *cells)
{
    if (cells == NULL) {
        return;
    }
    for (struct stage **stage = cells->stages; *stage != NULL; stage++) {
        scratch_free((*stage)->items);
        scratch_free((*stage)->points);
        scratch_free(*stage);
    }
    timeline_block_free(&cells->block);
    timeline_points_free(&cells->points);
    scratch_free(cells);
}

/* ---- labels of what is merged ---- */

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

/* ---- handing over ---- */

static bool
hand_over_items(struct timeline_cells *cells, struct stage *stage, uint32_t count, struct err *err)
{
    struct timeline_block *block = &cells->block;
    for (uint32_t i = 0; i < count; i++) {
        timeline_block_set(block, i, &stage->items[i]);
    }
    block->item_count = count;
    stage->item_count -= count;
    stage->items_done -= count;
    memmove(stage->items, stage->items + count, stage->item_count * sizeof *stage->items);
    return cells->sink->take_block(cells->sink->context, stage->level, block, err);
}

static bool
hand_over_points(struct timeline_cells *cells, struct stage *stage, uint32_t count, struct err *err)
{
    struct timeline_points *points = &cells->points;
    for (uint32_t i = 0; i < count; i++) {
        timeline_points_set(points, i, &stage->points[i]);
    }
    points->item_count = count;
    stage->point_count -= count;
    stage->points_done -= count;
    memmove(stage->points, stage->points + count, stage->point_count * sizeof *stage->points);
    return cells->sink->take_points(cells->sink->context, stage->level, points, err);
}

/* ---- merging ---- */

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

static bool put_item(struct timeline_cells *cells,
                     struct stage **at,
                     const struct timeline_item *item,
                     struct err *err);
static bool put_point(struct timeline_cells *cells,
                      struct stage **at,
                      const struct timeline_point *point,
                      struct err *err);

/* The rows of the current cell are as they will be. */
static bool finish_cell(struct timeline_cells *cells, struct stage **at, struct err *err)
{
    struct stage *stage = *at;
    bool has_next = at[1] != NULL;
    bool ok = true;
    for (; ok && stage->items_done < stage->item_count; stage->items_done++) {
        struct timeline_item *item = &stage->items[stage->items_done];
        const struct lane *lane = &stage->lanes[item->lane];
        if (item->count > 1 && lane->cell == stage->cell && lane->row == stage->items_done) {
            item->label = heaviest(&lane->tally);
        }
        ok = !has_next || put_item(cells, at + 1, item, err);
    }
    for (; ok && stage->points_done < stage->point_count; stage->points_done++) {
        ok = !has_next || put_point(cells, at + 1, &stage->points[stage->points_done], err);
    }
    while (ok && stage->item_count >= TIMELINE_BLOCK_ITEMS) {
        ok = hand_over_items(cells, stage, TIMELINE_BLOCK_ITEMS, err);
    }
    while (ok && stage->point_count >= TIMELINE_BLOCK_ITEMS) {
        ok = hand_over_points(cells, stage, TIMELINE_BLOCK_ITEMS, err);
    }
    return ok;
}

static bool begin_cell(
    struct timeline_cells *cells, struct stage **at, uint32_t track, uint64_t cell, struct err *err)
{
    struct stage *stage = *at;
    if (!finish_cell(cells, at, err)) {
        return false;
    }
    stage->lane_count = track == stage->track ? stage->lane_count : 0;
    stage->track = track;
    stage->cell = cell;
    return true;
}

static struct lane *lane_of(struct stage *stage, uint32_t lane)
{
    while (stage->lane_count <= lane) {
        stage->lanes[stage->lane_count++].cell = NO_CELL;
    }
    return &stage->lanes[lane];
}

static void join(struct timeline_item *row, struct lane *lane, const struct timeline_item *item)
{
    int64_t end_ns = ns_add(row->start_ns, ns_max(row->dur_ns, 0));
    end_ns = ns_max(end_ns, ns_add(item->start_ns, ns_max(item->dur_ns, 0)));
    row->dur_ns = ns_sub(end_ns, row->start_ns);
    row->busy_ns = ns_add(row->busy_ns, item->busy_ns);
    row->count += item->count;
    weigh(&lane->tally, item->label, item->busy_ns);
}

static bool put_item(struct timeline_cells *cells,
                     struct stage **at,
                     const struct timeline_item *item,
                     struct err *err)
{
    struct stage *stage = *at;
    uint64_t cell = timeline_cell(item->start_ns, stage->shift);
    if ((cell != stage->cell || item->track != stage->track) &&
        !begin_cell(cells, at, item->track, cell, err)) {
        return false;
    }
    struct lane *lane = lane_of(stage, item->lane);
    bool is_short = item->dur_ns < stage->width_ns;
    if (is_short && lane->cell == cell) {
        join(&stage->items[lane->row], lane, item);
        return true;
    }
    struct timeline_item *items =
        grow(stage->items, stage->item_count, &stage->items_cap, sizeof *items);
    if (items == NULL) {
        return no_memory(err);
    }
    stage->items = items;
    if (is_short) {
        lane->cell = cell;
        lane->row = stage->item_count;
        lane->tally.count = 0;
        weigh(&lane->tally, item->label, item->busy_ns);
    }
    items[stage->item_count++] = *item;
    return true;
}

static bool put_point(struct timeline_cells *cells,
                      struct stage **at,
                      const struct timeline_point *point,
                      struct err *err)
{
    struct stage *stage = *at;
    uint64_t cell = timeline_cell(point->start_ns, stage->shift);
    if ((cell != stage->cell || point->track != stage->track) &&
        !begin_cell(cells, at, point->track, cell, err)) {
        return false;
    }
    struct lane *lane = lane_of(stage, point->lane);
    if (lane->cell == cell) {
        struct timeline_point *row = &stage->points[lane->row];
        row->last = point->last;
        row->min = point->min < row->min ? point->min : row->min;
        row->max = point->max > row->max ? point->max : row->max;
        return true;
    }
    struct timeline_point *points =
        grow(stage->points, stage->point_count, &stage->points_cap, sizeof *points);
    if (points == NULL) {
        return no_memory(err);
    }
    stage->points = points;
    lane->cell = cell;
    lane->row = stage->point_count;
    points[stage->point_count++] = *point;
    return true;
}

bool timeline_cells_item(struct timeline_cells *cells,
                         const struct timeline_item *item,
                         struct err *err)
{
    return cells->stages[0] == NULL || put_item(cells, cells->stages, item, err);
}

bool timeline_cells_point(struct timeline_cells *cells,
                          const struct timeline_point *point,
                          struct err *err)
{
    return cells->stages[0] == NULL || put_point(cells, cells->stages, point, err);
}

bool timeline_cells_end(struct timeline_cells *cells, struct err *err)
{
    bool ok = true;
    for (struct stage **at = cells->stages; ok && *at != NULL; at++) {
        struct stage *stage = *at;
        ok = finish_cell(cells, at, err) &&
             (stage->item_count == 0 || hand_over_items(cells, stage, stage->item_count, err)) &&
             (stage->point_count == 0 || hand_over_points(cells, stage, stage->point_count, err));
    }
    return ok;
}

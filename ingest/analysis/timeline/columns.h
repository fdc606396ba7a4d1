/* Items one by one, and columns of them: blocks that are handed over. */
#ifndef KS_ANALYSIS_TIMELINE_COLUMNS_H
#define KS_ANALYSIS_TIMELINE_COLUMNS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/model/timeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row of struct timeline_block. */
struct timeline_item {
    int64_t start_ns;
    int64_t dur_ns;
    int64_t busy_ns;
    uint32_t track;
    uint32_t lane;
    uint32_t label;
    uint32_t event;
    uint32_t count;
};

/* A row of struct timeline_points. */
struct timeline_point {
    int64_t start_ns;
    double last;
    double min;
    double max;
    uint32_t track;
    uint32_t lane;
    uint32_t event;
};

/* Rows for `capacity` items, item_count is 0. False without memory; to be freed in either case. */
bool timeline_block_alloc(struct timeline_block *block, size_t capacity) KS_MUST_USE;
void timeline_block_free(struct timeline_block *block);
bool timeline_points_alloc(struct timeline_points *points, size_t capacity) KS_MUST_USE;
void timeline_points_free(struct timeline_points *points);

static inline void
timeline_block_set(struct timeline_block *block, uint32_t row, const struct timeline_item *item)
{
    block->track[row] = item->track;
    block->start_ns[row] = item->start_ns;
    block->dur_ns[row] = item->dur_ns;
    block->lane[row] = item->lane;
    block->label[row] = item->label;
    block->event[row] = item->event;
    block->count[row] = item->count;
    block->busy_ns[row] = item->busy_ns;
}

static inline struct timeline_item timeline_block_get(const struct timeline_block *block,
                                                      uint32_t row)
{
    return (struct timeline_item){.start_ns = block->start_ns[row],
                                  .dur_ns = block->dur_ns[row],
                                  .busy_ns = block->busy_ns[row],
                                  .track = block->track[row],
                                  .lane = block->lane[row],
                                  .label = block->label[row],
                                  .event = block->event[row],
                                  .count = block->count[row]};
}

static inline void timeline_points_set(struct timeline_points *points,
                                       uint32_t row,
                                       const struct timeline_point *point)
{
    points->track[row] = point->track;
    points->start_ns[row] = point->start_ns;
    points->lane[row] = point->lane;
    points->event[row] = point->event;
    points->last[row] = point->last;
    points->min[row] = point->min;
    points->max[row] = point->max;
}

static inline struct timeline_point timeline_points_get(const struct timeline_points *points,
                                                        uint32_t row)
{
    return (struct timeline_point){.start_ns = points->start_ns[row],
                                   .last = points->last[row],
                                   .min = points->min[row],
                                   .max = points->max[row],
                                   .track = points->track[row],
                                   .lane = points->lane[row],
                                   .event = points->event[row]};
}

/* Hands level 0 to the sink in blocks of TIMELINE_BLOCK_ITEMS, row by row. */
struct timeline_writer {
    const struct timeline_sink *sink;
    struct timeline_block block;
    struct timeline_points points;
};

bool timeline_writer_init(struct timeline_writer *writer,
                          const struct timeline_sink *sink) KS_MUST_USE;
void timeline_writer_free(struct timeline_writer *writer);
/* Hand over what has come since the last time. */
bool timeline_writer_flush_block(struct timeline_writer *writer, struct err *err) KS_MUST_USE;
bool timeline_writer_flush_points(struct timeline_writer *writer, struct err *err) KS_MUST_USE;

static inline bool timeline_writer_item(struct timeline_writer *writer,
                                        const struct timeline_item *item,
                                        struct err *err)
{
    timeline_block_set(&writer->block, writer->block.item_count++, item);
    return KS_LIKELY(writer->block.item_count < TIMELINE_BLOCK_ITEMS) ||
           timeline_writer_flush_block(writer, err);
}

static inline bool timeline_writer_point(struct timeline_writer *writer,
                                         const struct timeline_point *point,
                                         struct err *err)
{
    timeline_points_set(&writer->points, writer->points.item_count++, point);
    return KS_LIKELY(writer->points.item_count < TIMELINE_BLOCK_ITEMS) ||
           timeline_writer_flush_points(writer, err);
}

#endif

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
bool timeline_block_alloc(struct timeline_block *columns, size_t capacity) KS_MUST_USE;
void timeline_block_free(struct timeline_block *columns);
bool timeline_points_alloc(struct timeline_points *columns, size_t capacity) KS_MUST_USE;
void timeline_points_free(struct timeline_points *columns);

#define TIMELINE_SET(type, name) columns->name[row] = item->name;
#define TIMELINE_GET(type, name) .name = columns->name[row],

static inline void
timeline_block_set(struct timeline_block *columns, uint32_t row, const struct timeline_item *item)
{
    TIMELINE_BLOCK_COLUMNS(TIMELINE_SET)
}

static inline struct timeline_item timeline_block_get(const struct timeline_block *columns,
                                                      uint32_t row)
{
    return (struct timeline_item){TIMELINE_BLOCK_COLUMNS(TIMELINE_GET)};
}

static inline void timeline_points_set(struct timeline_points *columns,
                                       uint32_t row,
                                       const struct timeline_point *item)
{
    TIMELINE_POINT_COLUMNS(TIMELINE_SET)
}

static inline struct timeline_point timeline_points_get(const struct timeline_points *columns,
                                                        uint32_t row)
{
    return (struct timeline_point){TIMELINE_POINT_COLUMNS(TIMELINE_GET)};
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

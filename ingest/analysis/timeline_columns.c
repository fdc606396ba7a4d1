#include "ingest/analysis/timeline_columns.h"

#include "ingest/analysis/scratch.h"

bool timeline_block_alloc(struct timeline_block *block, size_t capacity)
{
    *block = (struct timeline_block){
        .track = scratch_alloc(capacity, sizeof *block->track),
        .start_ns = scratch_alloc(capacity, sizeof *block->start_ns),
        .dur_ns = scratch_alloc(capacity, sizeof *block->dur_ns),
        .lane = scratch_alloc(capacity, sizeof *block->lane),
        .label = scratch_alloc(capacity, sizeof *block->label),
        .event = scratch_alloc(capacity, sizeof *block->event),
        .count = scratch_alloc(capacity, sizeof *block->count),
        .busy_ns = scratch_alloc(capacity, sizeof *block->busy_ns),
    };
    return block->track != NULL && block->start_ns != NULL && block->dur_ns != NULL &&
           block->lane != NULL && block->label != NULL && block->event != NULL &&
           block->count != NULL && block->busy_ns != NULL;
}

void timeline_block_free(struct timeline_block *block)
{
    scratch_free(block->track);
    scratch_free(block->start_ns);
    scratch_free(block->dur_ns);
    scratch_free(block->lane);
    scratch_free(block->label);
    scratch_free(block->event);
    scratch_free(block->count);
    scratch_free(block->busy_ns);
    *block = (struct timeline_block){0};
}

bool timeline_points_alloc(struct timeline_points *points, size_t capacity)
{
    *points = (struct timeline_points){
        .track = scratch_alloc(capacity, sizeof *points->track),
        .start_ns = scratch_alloc(capacity, sizeof *points->start_ns),
        .lane = scratch_alloc(capacity, sizeof *points->lane),
        .event = scratch_alloc(capacity, sizeof *points->event),
        .last = scratch_alloc(capacity, sizeof *points->last),
        .min = scratch_alloc(capacity, sizeof *points->min),
        .max = scratch_alloc(capacity, sizeof *points->max),
    };
    return points->track != NULL && points->start_ns != NULL && points->lane != NULL &&
           points->event != NULL && points->last != NULL && points->min != NULL &&
           points->max != NULL;
}

void timeline_points_free(struct timeline_points *points)
{
    scratch_free(points->track);
    scratch_free(points->start_ns);
    scratch_free(points->lane);
    scratch_free(points->event);
    scratch_free(points->last);
    scratch_free(points->min);
    scratch_free(points->max);
    *points = (struct timeline_points){0};
}

bool timeline_writer_init(struct timeline_writer *writer, const struct timeline_sink *sink)
{
    *writer = (struct timeline_writer){.sink = sink};
    bool ok = timeline_block_alloc(&writer->block, TIMELINE_BLOCK_ITEMS);
    return timeline_points_alloc(&writer->points, TIMELINE_BLOCK_ITEMS) && ok;
}

void timeline_writer_free(struct timeline_writer *writer)
{
    timeline_block_free(&writer->block);
    timeline_points_free(&writer->points);
}

static bool flush_block(struct timeline_writer *writer, struct err *err)
{
    const struct timeline_sink *sink = writer->sink;
    bool ok =
        writer->block.item_count == 0 || sink->take_block(sink->context, 0, &writer->block, err);
    writer->block.item_count = 0;
    return ok;
}

static bool flush_points(struct timeline_writer *writer, struct err *err)
{
    const struct timeline_sink *sink = writer->sink;
    bool ok =
        writer->points.item_count == 0 || sink->take_points(sink->context, 0, &writer->points, err);
    writer->points.item_count = 0;
    return ok;
}

bool timeline_writer_item(struct timeline_writer *writer,
                          const struct timeline_item *item,
                          struct err *err)
{
    timeline_block_set(&writer->block, writer->block.item_count++, item);
    return writer->block.item_count < TIMELINE_BLOCK_ITEMS || flush_block(writer, err);
}

bool timeline_writer_point(struct timeline_writer *writer,
                           const struct timeline_point *point,
                           struct err *err)
{
    timeline_points_set(&writer->points, writer->points.item_count++, point);
    return writer->points.item_count < TIMELINE_BLOCK_ITEMS || flush_points(writer, err);
}

bool timeline_writer_end(struct timeline_writer *writer, struct err *err)
{
    return flush_block(writer, err) && flush_points(writer, err);
}

static uint32_t part_of(uint32_t count, uint32_t first)
{
    uint32_t left = count - first;
    return left < TIMELINE_BLOCK_ITEMS ? left : TIMELINE_BLOCK_ITEMS;
}

bool timeline_hand_over(const struct timeline_sink *sink,
                        uint32_t level,
                        const struct timeline_block *block,
                        const struct timeline_points *points,
                        struct err *err)
{
    bool ok = true;
    uint32_t count = 0;
    for (uint32_t at = 0; ok && at < block->item_count; at += count) {
        count = part_of(block->item_count, at);
        const struct timeline_block part = {count,
                                            block->track + at,
                                            block->start_ns + at,
                                            block->dur_ns + at,
                                            block->lane + at,
                                            block->label + at,
                                            block->event + at,
                                            block->count + at,
                                            block->busy_ns + at};
        ok = sink->take_block(sink->context, level, &part, err);
    }
    for (uint32_t at = 0; ok && at < points->item_count; at += count) {
        count = part_of(points->item_count, at);
        const struct timeline_points part = {count,
                                             points->track + at,
                                             points->start_ns + at,
                                             points->lane + at,
                                             points->event + at,
                                             points->last + at,
                                             points->min + at,
                                             points->max + at};
        ok = sink->take_points(sink->context, level, &part, err);
    }
    return ok;
}

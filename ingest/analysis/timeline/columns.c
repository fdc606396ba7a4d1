#include "ingest/analysis/timeline/columns.h"

#include "ingest/base/memory/scratch.h"

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

bool timeline_writer_flush_block(struct timeline_writer *writer, struct err *err)
{
    const struct timeline_sink *sink = writer->sink;
    bool ok =
        writer->block.item_count == 0 || sink->take_block(sink->context, 0, &writer->block, err);
    writer->block.item_count = 0;
    return ok;
}

bool timeline_writer_flush_points(struct timeline_writer *writer, struct err *err)
{
    const struct timeline_sink *sink = writer->sink;
    bool ok =
        writer->points.item_count == 0 || sink->take_points(sink->context, 0, &writer->points, err);
    writer->points.item_count = 0;
    return ok;
}

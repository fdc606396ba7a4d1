#include "ingest/analysis/timeline/columns.h"

#include "ingest/base/memory/scratch.h"

#define ALLOC(type, name)                                  \
    columns->name = scratch_alloc(capacity, sizeof(type)); \
    ok = ok && columns->name != NULL;
#define FREE(type, name) scratch_free(columns->name);

bool timeline_block_alloc(struct timeline_block *columns, size_t capacity)
{
    bool ok = true;
    columns->item_count = 0;
    TIMELINE_BLOCK_COLUMNS(ALLOC)
    return ok;
}

void timeline_block_free(struct timeline_block *columns)
{
    TIMELINE_BLOCK_COLUMNS(FREE)
    *columns = (struct timeline_block){0};
}

bool timeline_points_alloc(struct timeline_points *columns, size_t capacity)
{
    bool ok = true;
    columns->item_count = 0;
    TIMELINE_POINT_COLUMNS(ALLOC)
    return ok;
}

void timeline_points_free(struct timeline_points *columns)
{
    TIMELINE_POINT_COLUMNS(FREE)
    *columns = (struct timeline_points){0};
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

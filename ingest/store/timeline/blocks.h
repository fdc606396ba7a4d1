/* Blocks of the timeline (model/timeline.h) as columns (timeline_coder.h).
 *
 *     head      flags, items, runs
 *     tracks    a run of items a track: track and first start as differences, length
 *     start     within a run, difference to the item before; tiles
 *     slices:   duration + 1, 0 for instants; tiles
 *               lane (difference) and label, both even; event;
 *               merged ones: count - 1, even; duration - busy
 *     points:   lane (difference), even; event, last;
 *               those of cells: last - min, max - last
 *     flows:    sorted event, other event (differences), kind
 *
 * Where all starts (as differences), durations and what is busy are whole microseconds, these are
 * what is stored. A track's events stand in two parts of the file, calls of the runtime apart from
 * operators: an event is its difference to one of two bases, which it then replaces, and in the
 * lowest bit which one.
 *
 * Blocks without TIMELINE_FLAG_TILES are older: there all columns are plain numbers in the frame,
 * and events are differences to the one before.
 *
 * Values of counters are differences of integers to the point before in the same lane where all
 * are integers, and their bits, each xor the one before, where not. */
#ifndef KS_STORE_TIMELINE_BLOCKS_H
#define KS_STORE_TIMELINE_BLOCKS_H

#include "ingest/model/timeline.h"
#include "ingest/store/timeline/columns.h"

#define TIMELINE_FLAG_MERGED 1u
#define TIMELINE_FLAG_BINS 1u
#define TIMELINE_FLAG_WHOLE 2u
#define TIMELINE_FLAG_TILES 4u
#define TIMELINE_FLAG_MICROS 8u
#define TIMELINE_EVENT_BASES 2u
/* Lanes of counters that remember their value before; lanes a multiple apart share it. */
#define TIMELINE_VALUE_LANES 64u

/* What the index knows of a block: the timeline_block table. */
struct timeline_extent {
    uint32_t first_track;
    uint32_t last_track;
    int64_t first_start_ns;
    int64_t max_end_ns;
};

/* Columns of one block at a time, and room for numbers on their way. */
struct timeline_buffers {
    struct column_reader reader;
    struct timeline_block block;
    struct timeline_points points;
    struct timeline_flow *flows;
    uint32_t flow_count;
    struct timeline_room *room;
};

/* Writing: the writer is cleared first and holds the columns after. ERR_INTERNAL for a block that
 * is not as model/timeline.h says: too many items, not sorted, ends beyond int64. */
bool timeline_put_block(struct column_writer *writer,
                        const struct timeline_block *block,
                        struct timeline_extent *extent,
                        struct err *err) KS_MUST_USE;
bool timeline_put_points(struct column_writer *writer,
                         const struct timeline_points *points,
                         struct timeline_extent *extent,
                         struct err *err) KS_MUST_USE;
/* At most TIMELINE_BLOCK_ITEMS; tracks of the extent are the first and the last sorted event. */
bool timeline_put_flows(struct column_writer *writer,
                        bool by_target,
                        const struct timeline_flow *flows,
                        size_t count,
                        struct timeline_extent *extent,
                        struct err *err) KS_MUST_USE;

/* Reading. What comes out is sorted, no end is beyond int64, and busy_ns lies between 0 and the
 * duration; tracks, lanes and labels may be any. Valid until the next get. ERR_STORE,
 * ERR_NO_MEMORY. */
bool timeline_buffers_init(struct timeline_buffers *buffers, struct err *err) KS_MUST_USE;
void timeline_buffers_free(struct timeline_buffers *buffers);
bool timeline_get_block(struct timeline_buffers *buffers,
                        const void *bytes,
                        size_t len,
                        struct err *err) KS_MUST_USE;
bool timeline_get_points(struct timeline_buffers *buffers,
                         const void *bytes,
                         size_t len,
                         struct err *err) KS_MUST_USE;
bool timeline_get_flows(struct timeline_buffers *buffers,
                        bool by_target,
                        const void *bytes,
                        size_t len,
                        struct err *err) KS_MUST_USE;

#endif

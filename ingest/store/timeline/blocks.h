/* Blocks of the timeline (model/timeline.h) as columns (codec/column_codec.h).
 *
 *     slices: number of items; track, start, duration, lane, label, event, count, and the duration
 *             less what is busy
 *     points: number of items, whether all values are integers; track, start, lane, event; last,
 *             and what min and max are more: as integers, or else as the bits of doubles
 *     flows:  number of items; sorted event, other event, kind
 *
 * A track's events stand in two parts of the file, calls of the runtime apart from operators: an
 * event is twice its difference to one of two bases, which it then replaces, and in the lowest bit
 * which one. */
#ifndef KS_STORE_TIMELINE_BLOCKS_H
#define KS_STORE_TIMELINE_BLOCKS_H

#include "ingest/model/timeline.h"
#include "ingest/store/codec/column_codec.h"

#define TIMELINE_EVENT_BASES 2

/* What the index knows of a block: the timeline_block table. */
struct timeline_extent {
    uint32_t first_track;
    uint32_t last_track;
    int64_t first_start_ns;
    int64_t max_end_ns;
};

/* Writing: the encoder is cleared first and holds the columns after. ERR_INTERNAL for a block that
 * is not as model/timeline.h says: too many items, not sorted, ends beyond int64. */
bool timeline_encode_block(struct column_encoder *enc,
                           const struct timeline_block *block,
                           struct timeline_extent *extent,
                           struct err *err) KS_MUST_USE;
bool timeline_encode_points(struct column_encoder *enc,
                            const struct timeline_points *points,
                            struct timeline_extent *extent,
                            struct err *err) KS_MUST_USE;
/* At most TIMELINE_BLOCK_ITEMS; tracks of the extent are the first and the last sorted event. */
bool timeline_encode_flows(struct column_encoder *enc,
                           bool by_target,
                           const struct timeline_flow *flows,
                           size_t count,
                           struct timeline_extent *extent,
                           struct err *err) KS_MUST_USE;

/* Reading into the arena. What comes out is sorted, no end is beyond int64, and busy_ns lies
 * between 0 and the duration; tracks, lanes and labels may be any. ERR_STORE, ERR_NO_MEMORY. */
bool timeline_decode_block(struct arena *arena,
                           const void *bytes,
                           size_t len,
                           struct timeline_block *block,
                           struct err *err) KS_MUST_USE;
bool timeline_decode_points(struct arena *arena,
                            const void *bytes,
                            size_t len,
                            struct timeline_points *points,
                            struct err *err) KS_MUST_USE;
bool timeline_decode_flows(struct arena *arena,
                           bool by_target,
                           const void *bytes,
                           size_t len,
                           struct timeline_flow **flows,
                           size_t *count,
                           struct err *err) KS_MUST_USE;

#endif

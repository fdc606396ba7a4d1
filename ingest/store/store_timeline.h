/* Timelines in the store (model/timeline.h). Threads, arenas, errors: as in store.h. */
#ifndef KS_STORE_STORE_TIMELINE_H
#define KS_STORE_STORE_TIMELINE_H

#include "ingest/model/timeline.h"
#include "ingest/store/store.h"

/* ---- writing: what a timeline_sink of the store does, before store_ingest_trace ---- */

/* Many blocks are packed and written behind the call, so that an error may be that of an earlier
 * one. */

bool store_ingest_timeline_block(struct store_ingest *ingest,
                                 uint32_t level,
                                 const struct timeline_block *block,
                                 struct err *err) KS_MUST_USE;
bool store_ingest_timeline_points(struct store_ingest *ingest,
                                  uint32_t level,
                                  const struct timeline_points *points,
                                  struct err *err) KS_MUST_USE;
bool store_ingest_flows(struct store_ingest *ingest,
                        bool by_target,
                        const struct timeline_flow *flows,
                        size_t count,
                        struct err *err) KS_MUST_USE;
/* Tracks, levels and labels; behind the last block and the last flow, which are then all written.
 */
bool store_ingest_timeline(struct store_ingest *ingest,
                           const struct timeline *timeline,
                           struct err *err) KS_MUST_USE;

/* ---- asking ---- */

/* Tracks and levels; `labels` is NULL, label_count is set; `arena` of it is not used: all lies in
 * the caller's. *out NULL: the trace has no timeline. */
bool store_timeline(struct store *store,
                    struct arena *arena,
                    int64_t trace_id,
                    struct timeline **out,
                    struct err *err) KS_MUST_USE;
/* labels[i] is that of ids[i]; ids ascending, each below label_count. Reads only
 * the rows that have one of them. */
bool store_timeline_labels(struct store *store,
                           struct arena *arena,
                           int64_t trace_id,
                           const uint32_t *ids,
                           size_t count,
                           struct timeline_label **labels,
                           struct err *err) KS_MUST_USE;

/* Which part of a level. */
struct store_timeline_part {
    uint32_t level;
    uint32_t first_track; /* inclusive, as is last_track */
    uint32_t last_track;
    int64_t start_ns;
    int64_t end_ns;
};

enum store_timeline_kind { STORE_TIMELINE_SLICES, STORE_TIMELINE_POINTS };

/* A block as the index knows it: its first and last track, and the smallest start and the largest
 * end of its items. */
struct store_timeline_place {
    int64_t id;
    uint32_t first_track;
    uint32_t last_track;
    int64_t first_start_ns;
    int64_t max_end_ns;
};

/* The blocks, in order, that may have an item which overlaps the part: one that starts before
 * end_ns and does not end before start_ns. Blocks are not read for it. ERR_GONE: the trace has no
 * timeline. */
bool store_timeline_places(struct store *store,
                           struct arena *arena,
                           int64_t trace_id,
                           enum store_timeline_kind kind,
                           const struct store_timeline_part *part,
                           struct store_timeline_place **places,
                           size_t *count,
                           struct err *err) KS_MUST_USE;

/* Called for each block, in order, with all of its items: those that do not overlap the part, too.
 * False gives up. What is handed over is sorted, no end is beyond int64, and busy_ns is at most the
 * duration; whether tracks, lanes and labels are there, the visitor checks. It must not call the
 * store, which holds a connection for it. */
struct store_timeline_visitor {
    void *context;
    bool (*block)(void *context, const struct timeline_block *block, struct err *err);
    bool (*points)(void *context, const struct timeline_points *points, struct err *err);
};
/* Reads these blocks of the trace, one in memory at a time, with the visitor's function of this
 * kind. */
bool store_timeline_blocks(struct store *store,
                           int64_t trace_id,
                           enum store_timeline_kind kind,
                           const struct store_timeline_place *places,
                           size_t count,
                           const struct store_timeline_visitor *visitor,
                           struct err *err) KS_MUST_USE;
/* Both at once: slices, then points. `block` or `points` may be NULL when they are not wanted. */
bool store_timeline_read(struct store *store,
                         int64_t trace_id,
                         const struct store_timeline_part *part,
                         const struct store_timeline_visitor *visitor,
                         struct err *err) KS_MUST_USE;
/* All flows that start (or, by_target, end) at the event, at most `limit`. */
bool store_flows(struct store *store,
                 struct arena *arena,
                 int64_t trace_id,
                 bool by_target,
                 uint32_t event,
                 size_t limit,
                 struct timeline_flow **flows,
                 size_t *count,
                 struct err *err) KS_MUST_USE;

#endif

/* Timelines in the store (model/timeline.h). Threads, arenas, errors: as in store.h. */
#ifndef KS_STORE_STORE_TIMELINE_H
#define KS_STORE_STORE_TIMELINE_H

#include "ingest/model/timeline.h"
#include "ingest/store/store.h"

/* ---- writing: functions for a timeline_sink, before store_ingest_trace ---- */

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
/* Writes tracks, levels and labels, after the last block and the last flow. */
bool store_ingest_timeline(struct store_ingest *ingest,
                           const struct timeline *timeline,
                           struct err *err) KS_MUST_USE;

/* Begins the timeline of a stored trace that has none yet; then the functions above. *out NULL: it
 * has one, or its events were not stored. */
bool store_timeline_begin(struct store *store,
                          int64_t trace_id,
                          struct store_ingest **out,
                          struct err *err) KS_MUST_USE;
/* Ends it and, if `ok`, stores it with its trace. Returns whether it is stored. ERR_NOT_FOUND: the
 * trace was deleted meanwhile. */
bool store_timeline_end(struct store_ingest *ingest, int64_t trace_id, bool ok, struct err *err)
    KS_MUST_USE;

/* ---- reading ---- */

/* Reads tracks and levels. `labels` is NULL, label_count is set, and its own `arena` is unused:
 * everything is in the caller's. *out NULL: the trace has no timeline. */
bool store_timeline(struct store_snapshot *snapshot,
                    struct arena *arena,
                    int64_t trace_id,
                    struct timeline **out,
                    struct err *err) KS_MUST_USE;
/* Reads labels: labels[i] belongs to ids[i]. ids ascend, each below label_count. Reads only rows
 * that hold one of them. */
bool store_timeline_labels(struct store_snapshot *snapshot,
                           struct arena *arena,
                           int64_t trace_id,
                           const uint32_t *ids,
                           size_t count,
                           struct timeline_label **labels,
                           struct err *err) KS_MUST_USE;

/* A part of a level. */
struct store_timeline_part {
    uint32_t level;
    uint32_t first_track; /* inclusive, as is last_track */
    uint32_t last_track;
    int64_t start_ns;
    int64_t end_ns;
};

enum store_timeline_kind { STORE_TIMELINE_SLICES, STORE_TIMELINE_POINTS };

/* An index entry of a block: first and last track, smallest start and largest end of its items. */
struct store_timeline_place {
    int64_t id;
    uint32_t first_track;
    uint32_t last_track;
    int64_t first_start_ns;
    int64_t max_end_ns;
};

/* The blocks, in order, that may hold an item that overlaps the part: it starts before end_ns and
 * does not end before start_ns. Reads the index only. ERR_GONE: the trace has no timeline. */
bool store_timeline_places(struct store_snapshot *snapshot,
                           struct arena *arena,
                           int64_t trace_id,
                           enum store_timeline_kind kind,
                           const struct store_timeline_part *part,
                           struct store_timeline_place **places,
                           size_t *count,
                           struct err *err) KS_MUST_USE;

/* Receives each block, in order, with all its items, also those outside the part. Returns false to
 * stop. The store guarantees sorted items, ends within int64, and busy_ns at most the duration; the
 * visitor checks that tracks, lanes and labels exist. It must not call the store, which holds a
 * connection meanwhile. */
struct store_timeline_visitor {
    void *context;
    bool (*block)(void *context, const struct timeline_block *block, struct err *err);
    bool (*points)(void *context, const struct timeline_points *points, struct err *err);
};
/* Reads these blocks, one in memory at a time, and calls the visitor's function of this kind. */
bool store_timeline_blocks(struct store_snapshot *snapshot,
                           int64_t trace_id,
                           enum store_timeline_kind kind,
                           const struct store_timeline_place *places,
                           size_t count,
                           const struct store_timeline_visitor *visitor,
                           struct err *err) KS_MUST_USE;
/* Finds and reads both kinds: slices, then points. NULL `block` or `points` skips that kind. */
bool store_timeline_read(struct store_snapshot *snapshot,
                         int64_t trace_id,
                         const struct store_timeline_part *part,
                         const struct store_timeline_visitor *visitor,
                         struct err *err) KS_MUST_USE;
/* Up to `limit` flows that start (or, by_target, end) at the event. */
bool store_flows(struct store_snapshot *snapshot,
                 struct arena *arena,
                 int64_t trace_id,
                 bool by_target,
                 uint32_t event,
                 size_t limit,
                 struct timeline_flow **flows,
                 size_t *count,
                 struct err *err) KS_MUST_USE;

#endif

/* What a screen can show of a timeline: rectangles at least a pixel wide, for any range. */
#ifndef KS_QUERY_TIMELINE_QUERY_H
#define KS_QUERY_TIMELINE_QUERY_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/timeline.h"
#include "ingest/store/store.h"
#include "ingest/store/store_events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum of items per track, and in all. */
#define TIMELINE_TRACK_ITEMS_MAX 4000u
#define TIMELINE_ITEMS_MAX 60000u

struct timeline_request {
    int64_t start_ns; /* start < end */
    int64_t end_ns;
    uint32_t width_px;
    const uint32_t *tracks; /* ascending; NULL: all */
    size_t track_count;
};

/* The items of one track. Slices are sorted by start, then lane; those shorter than pixel_ns are
 * merged, lane by lane, with neighbours in the same pixel. A track with too many items gets a
 * multiple of the request's pixel. Slices that begin before or end after the window are whole. */
struct timeline_track_window {
    uint32_t track;
    int64_t pixel_ns;
    struct timeline_block slices;  /* item_count 0 for counters */
    struct timeline_points points; /* including the value that holds at the window's start */
};

struct timeline_window {
    struct timeline_track_window *tracks;
    size_t track_count;
    uint32_t *label_ids; /* the labels that occur, by ascending id */
    struct timeline_label *labels;
    size_t label_count;
};

/* ERR_NOT_FOUND: an unknown track; ERR_GONE: the trace has no timeline. */
bool query_timeline(struct store_snapshot *snapshot,
                    struct arena *arena,
                    int64_t trace_id,
                    const struct timeline_request *request,
                    struct timeline_window *out,
                    struct err *err) KS_MUST_USE;

/* One end of a flow, or a slice that encloses another. */
struct timeline_partner {
    uint32_t event;
    uint32_t track; /* UINT32_MAX: not on the timeline */
    uint32_t lane;
    int64_t start_ns;
    int64_t dur_ns; /* TIMELINE_INSTANT */
    const char *name;
    const char *category; /* "" when none; NULL of flows */
    uint8_t kind;         /* enum timeline_flow_kind */
    bool incoming;        /* it leads to the requested event */
};

/* An event with everything that leads to it or from it. */
struct timeline_event {
    struct store_event event;
    uint32_t track; /* UINT32_MAX: none, as for metadata */
    uint32_t lane;
    int64_t dur_ns; /* of the slice: also of one that is two events (B and E); TIMELINE_INSTANT */
    struct timeline_partner *flows;
    size_t flow_count;
    bool more_flows;                    /* more than TIMELINE_FLOWS_MAX exist */
    struct timeline_partner *enclosing; /* outermost first */
    size_t enclosing_count;
    /* What the call that launched the event lies in, outermost first; none of host events. */
    struct timeline_partner *launch_enclosing;
    size_t launch_enclosing_count;
    /* Where no Python frame encloses the event or its launch: of the innermost operator around it
     * to which a flow of autograd leads, the forward operator and what that lies in, outermost
     * first.
     */
    struct timeline_partner *forward;
    size_t forward_count;
};

#define TIMELINE_FLOWS_MAX 1000u

bool query_timeline_event(struct store_snapshot *snapshot,
                          struct arena *arena,
                          int64_t trace_id,
                          uint32_t event,
                          struct timeline_event *out,
                          struct err *err) KS_MUST_USE;

#endif

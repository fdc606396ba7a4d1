/* What launches cost, how late their work came, and how long the queue of each stream was [CAU-2].
 */
#ifndef KS_ANALYSIS_CAUSES_LAUNCHES_H
#define KS_ANALYSIS_CAUSES_LAUNCHES_H

#include "ingest/analysis/causes/causes.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/tables/table.h"

/* Limits of a call and of a delay that count as slow. */
#define LAUNCHES_SLOW_CALL_NS INT64_C(50000)
#define LAUNCHES_SLOW_DELAY_NS INT64_C(100000)

struct launch_row {
#define TABLE_DEF "ingest/model/tables/causes/launch.def"
#include "ingest/model/tables/struct.h"
};
extern const struct row_table table_launch; /* of the rows */

struct launch_stream {
    int64_t device, stream;
    int64_t launches;
    struct causes_spread queue; /* of its length, at each point; counts, not ns */
};

struct launch_point {
    int64_t ts_ns;
    int64_t length; /* of the queue behind this point */
    uint32_t event; /* the call that adds, or the work that takes away */
};

struct launches {
    struct launch_row *rows; /* in order of the start of the call, then of the work */
    size_t count;
    struct causes_spread delay, host, device;
    int64_t short_kernels; /* work shorter than its call */
    int64_t slow_calls, slow_launches;
    struct launch_stream *streams; /* in order of device and stream; those with launches */
    size_t stream_count;
    struct launch_point *series; /* of the stream that was asked for, in order of time */
    size_t series_count;
    bool is_too_many; /* so many calls and works share a correlation that pairing them would cost
                         too much */
};

/* A stream of a device. */
struct launch_stream_id {
    int64_t device, stream;
};

/* `series`: the stream whose queue is wanted point by point; NULL: none. Positions count from
 * `zero_ns`; everything in *out lives in the arena. O(n log n). False without memory. */
bool launches_analyse(const struct trace *trace,
                      int64_t zero_ns,
                      enum causes_last_step last_step,
                      const struct launch_stream_id *series,
                      struct arena *arena,
                      struct launches *out) KS_MUST_USE;

#endif

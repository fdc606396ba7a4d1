/* Why streams and devices stood still, and what the host did meanwhile [CAU-1]. */
#ifndef KS_ANALYSIS_CAUSES_IDLE_H
#define KS_ANALYSIS_CAUSES_IDLE_H

#include "ingest/analysis/causes/causes.h"
#include "ingest/analysis/causes/host_activity.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/tables/table.h"

#define IDLE_THRESHOLD_NS INT64_C(30000)
#define IDLE_TOP_MAX 1000

/* Why the work that ends a gap came so late. */
enum idle_cause {
    IDLE_HOST_WAIT,   /* its launch came after the gap began */
    IDLE_KERNEL_WAIT, /* the gap is shorter than IDLE_THRESHOLD_NS */
    IDLE_OTHER,
    IDLE_CAUSE_COUNT
};

/* "host_wait", … */
const char *idle_cause_text(enum idle_cause cause);

/* A stream, or a device with all its streams as one. last_ns - first_ns = busy_ns + idle_ns. */
struct idle_lane {
#define TABLE_DEF "ingest/model/tables/causes/idle_lane.def"
#include "ingest/model/tables/struct.h"
    struct causes_spread causes[IDLE_CAUSE_COUNT];
    int64_t host_ns[HOST_KIND_COUNT]; /* adds up to idle_ns */
};

struct idle_gap {
#define TABLE_DEF "ingest/model/tables/causes/idle_gap.def"
#include "ingest/model/tables/struct.h"
};

extern const struct row_table table_idle_lane, table_idle_gap;

struct idle {
    struct idle_lane *streams; /* in order of device and stream */
    size_t stream_count;
    struct idle_lane *devices; /* in order of their numbers */
    size_t device_count;
    struct idle_gap *longest; /* gaps of streams, the longest first */
    size_t longest_count;     /* at most `top` */
    int64_t gap_count;        /* gaps of streams longer than 0 */
};

/* Which gaps of devices. */
struct idle_gaps_request {
    enum causes_last_step last_step;
    int64_t start_ns, end_ns; /* those that overlap it; INT64_MIN, INT64_MAX: all */
    size_t limit;             /* the longest of more */
    uint32_t next_event;      /* the gap to tell more of; CAUSES_NONE */
};

/* The gaps of one device with all its streams as one, by start. */
struct idle_device_gaps {
    struct idle_lane lane; /* of the whole trace */
    int64_t *start_ns, *duration_ns;
    enum idle_cause *causes;
    uint32_t *next_event; /* whose start ends the gap */
    size_t count;
};

struct idle_gaps {
    struct idle_device_gaps *devices; /* in order of their numbers */
    size_t device_count;
    int64_t total;                 /* longer than 0, in the window */
    int64_t left_out, left_out_ns; /* beyond `limit`: how many, how long together */
    struct idle_gap chosen;        /* that next_event ends; `stream` is that of next_event */
    int64_t chosen_host_ns[HOST_KIND_COUNT]; /* adds up to its duration */
    bool has_chosen;
};

/* Positions count from `zero_ns`; everything in *out lives in the arena. O(n log n). False without
 * memory. */
bool idle_analyse(const struct trace *trace,
                  int64_t zero_ns,
                  enum causes_last_step last_step,
                  size_t top,
                  struct arena *arena,
                  struct idle *out) KS_MUST_USE;
/* The gaps of devices one by one [CAU-1i]; otherwise as above. */
bool idle_gaps_analyse(const struct trace *trace,
                       int64_t zero_ns,
                       const struct idle_gaps_request *request,
                       struct arena *arena,
                       struct idle_gaps *out) KS_MUST_USE;

#endif

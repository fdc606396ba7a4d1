/* What a run of many ranks answers [RANK]. All arrays per rank follow ascending rank; all texts and
 * arrays live in the arena of who made them. Unknown numbers are INT64_MIN. */
#ifndef KS_MODEL_RESULTS_RANKS_H
#define KS_MODEL_RESULTS_RANKS_H

#include "ingest/model/tables/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct collective_row {
#define TABLE_DEF "ingest/model/tables/ranks/collective.def"
#include "ingest/model/tables/struct.h"
    uint32_t instance; /* its place in ranks_detail.first */
};

struct collective_sum_row {
#define TABLE_DEF "ingest/model/tables/ranks/collective_sum.def"
#include "ingest/model/tables/struct.h"
};

struct clock_row {
#define TABLE_DEF "ingest/model/tables/ranks/clock.def"
#include "ingest/model/tables/struct.h"
};

extern const struct row_table table_collective;
extern const struct row_table table_collective_sum;
extern const struct row_table table_clock;

/* One rank's part in a collective. */
struct collective_part {
    int64_t rank, trace, event;
    int64_t start_ns, duration_ns, wait_ns;
};

/* The collectives of a run on one clock [RANK-1]. */
struct ranks_collectives {
    struct collective_row *rows; /* by start, group, group's ranks, sequence */
    struct collective_sum_row *sums;
    size_t row_count, sum_count;
    /* Bytes sent from rank to rank by all-to-alls, row by row; NULL: none says how it splits. */
    int64_t *sent_bytes;
    double imbalance_send, imbalance_receive; /* NaN: nothing was sent */
    int64_t *ranks;
    int64_t *communication_ns, *hidden_ns; /* per rank */
    size_t rank_count;
    /* Parts of instance i: parts[first[i]] to parts[first[i + 1] - 1]; NULL unless asked for. */
    struct collective_part *parts;
    uint32_t *first;
};

enum rank_cause { CAUSE_COMPUTE, CAUSE_MEMORY, CAUSE_INPUT, CAUSE_HOST, CAUSE_COUNT };
const char *rank_cause_name(enum rank_cause cause); /* "compute" */

#define CULPRIT_KERNELS_MAX 3

struct culprit_kernel {
    const char *name;
    int64_t excess_ns;
};

/* Who made the others wait in a step; rank INT64_MIN: nobody. */
struct culprit_row {
    int64_t step, rank, margin_ns;
    enum rank_cause cause;
    int64_t excess_ns[CAUSE_COUNT];
    struct culprit_kernel kernels[CULPRIT_KERNELS_MAX];
    size_t kernel_count;
};

struct recurrence_row {
    int64_t rank, steps;
};

enum rank_verdict { VERDICT_UNKNOWN, VERDICT_BALANCED, VERDICT_PERSISTENT, VERDICT_SCATTERED };
const char *rank_verdict_name(enum rank_verdict verdict);

/* Clocks and stragglers of a run [RANK-2] [RANK-3]. */
struct ranks_verdict {
    struct clock_row *clocks; /* by rank */
    size_t rank_count;
    int64_t reference;      /* rank */
    int64_t island_count;   /* ranks that are a reference */
    int64_t twice_count;    /* traces left out because a later one has their rank */
    int64_t left_out_steps; /* at the end: the run has too many for its ranks */
    int64_t *steps;         /* numbers, ascending */
    size_t step_count;
    /* By rank, then step. */
    int64_t *step_ns, *wait_ns, *work_ns;
    struct culprit_row *culprits; /* by step */
    struct recurrence_row *recurrence;
    size_t recurrence_count;
    enum rank_verdict kind;
    int64_t rank;          /* persistent only */
    enum rank_cause cause; /* the same */
    int64_t culprit_steps; /* of the most frequent culprit */
    int64_t lost_ns;
    const char *text;
    /* On the aligned clock [RANK-10a]. */
    int64_t zero_ns;                      /* absolute: start of the run */
    int64_t end_ns;                       /* of its last event, from zero_ns */
    int64_t *step_start_ns, *step_end_ns; /* by step, from zero_ns: of all its ranks */
};

/* What a rank's device does in time, for the timeline of all ranks [RANK-10b]. */
enum lane_layer { LANE_BUSY, LANE_TRANSFER, LANE_WAIT, LANE_LAYER_COUNT };

/* By start; from the start of the run, on the aligned clock. */
struct lane_spans {
    int64_t *start_ns, *end_ns;
    size_t count;
};

struct rank_lane {
    int64_t rank;
    struct lane_spans layers[LANE_LAYER_COUNT];
};

/* A window of a lane: a digit a pixel [RANK-10c]. */
struct rank_levels {
    int64_t rank;
    const char *levels[LANE_LAYER_COUNT];
    int64_t covered_ns[LANE_LAYER_COUNT];
};

/* A rank in the timeline of all. */
struct lane_row {
#define TABLE_DEF "ingest/model/tables/ranks/lane.def"
#include "ingest/model/tables/struct.h"
};

extern const struct row_table table_lane;

#endif

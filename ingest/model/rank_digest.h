/* What the views of a run of many ranks need of one of its traces [RANK-0d]: its collectives, its
 * steps, and how the device's time divides between their bounds. Made once at ingest; it grows with
 * the collectives and the distinct kernels between them, not with the events.
 *
 * Times are absolute nanoseconds of the rank's own clock. Numbers that the file does not tell are
 * RANK_UNKNOWN, texts RANK_NO_TEXT. */
#ifndef KS_MODEL_RANK_DIGEST_H
#define KS_MODEL_RANK_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

#define RANK_UNKNOWN INT64_MIN
#define RANK_NO_TEXT UINT32_MAX

/* What a collective does [RANK-1b]. */
enum rank_kind {
    RANK_ALL_REDUCE,
    RANK_REDUCE_SCATTER,
    RANK_ALL_GATHER,
    RANK_ALL_TO_ALL,
    RANK_BARRIER, /* up to here: ends at the same moment on all ranks */
    RANK_BROADCAST,
    RANK_REDUCE,
    RANK_SEND_RECEIVE,
    RANK_OTHER,
    RANK_KIND_COUNT
};

/* One kernel of a collective. The texts are indices into rank_digest.texts. */
struct rank_collective {
    int64_t start_ns, duration_ns;
    int64_t sequence;  /* `Seq` */
    int64_t size;      /* `Group size` */
    int64_t in_bytes;  /* what this rank sends */
    int64_t out_bytes; /* what it receives */
    uint32_t event;    /* its place in `traceEvents`, from 0 */
    uint32_t name;     /* `Collective name`, else "unknown" */
    uint32_t dtype;
    uint32_t group;       /* `Process Group Name` */
    uint32_t group_ranks; /* `Process Group Ranks` without blanks; with a group only */
    uint32_t in_split;    /* `In split size` */
    uint8_t kind;         /* enum rank_kind */
};

/* The first one of its number. */
struct rank_step {
    int64_t number;
    int64_t start_ns, duration_ns;
};

/* Time up to the next segment's start. The three do not overlap: kernels that are no collectives;
 * copies and sets beside them; the data loader beside both. The last segment has no time. */
struct rank_segment {
    int64_t start_ns;
    int64_t compute_ns, memory_ns, input_ns;
};

/* What kernels, copies and sets of one name, but no collectives, take of a segment. */
struct rank_part {
    uint32_t segment;
    uint32_t name; /* of texts */
    int64_t ns;
};

/* Device work that is no collective, without its gaps. */
struct rank_busy {
    int64_t start_ns, end_ns;
};

/* A piece of a pipeline's work that an annotation names [RANK-4c]. */
struct rank_operation {
    int64_t start_ns, duration_ns;
    int64_t step;
    int64_t stage; /* of all chunks of the model; RANK_UNKNOWN */
    uint8_t type;  /* enum operation_type */
};

struct rank_digest {
    int64_t rank;     /* distributedInfo.rank */
    int64_t first_ns; /* start of the first complete event; RANK_UNKNOWN: there is none */
    int64_t last_ns;  /* when the last one to end ends; the same */
    /* Device time of all collectives together, and the part that other kernels cover. */
    int64_t communication_ns, hidden_ns;
    const char **texts;
    struct rank_collective *collectives; /* in order of start, then in file order */
    struct rank_step *steps;             /* by number */
    struct rank_segment *segments;       /* cut at each start and end of a collective, and at each
                                            start of a step; none without collectives */
    struct rank_part *parts;             /* by segment, then name */
    struct rank_busy *busy;              /* one after the other [RANK-10b] */
    struct rank_operation *operations;   /* by start */
    uint32_t text_count, collective_count, step_count, segment_count, part_count, busy_count,
        operation_count;
};

#endif

/* The collectives of several workers laid beside each other [TB-15]. */
#ifndef KS_MODEL_RESULTS_DISTRIBUTED_H
#define KS_MODEL_RESULTS_DISTRIBUTED_H

#include "ingest/model/collective_log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct distributed_worker {
    const struct collective_log *log;
    struct collective_range *real; /* by range of the log: when data can have flowed, the last part
                                of the range, as long as the shortest range of all workers */
    uint8_t *is_matched; /* by op: 1 when all workers have it; else `real` is the range itself */
    uint32_t matched_count;
};

struct distributed {
    struct distributed_worker *workers; /* in the order of the logs */
    size_t worker_count;
    bool agrees; /* all workers have the same number of collectives, each with equal numbers of
                    ranges [TB-15b]; ops are then matched by their place */
};

/* Of the matched collectives of one step (COLLECTIVE_NO_STEP: outside all steps), ranges merged. */
struct distributed_wait {
    int64_t step;
    int64_t total;
    int64_t real;
};

/* Matched collectives of one name. */
struct distributed_op {
    const char *name;
    int64_t calls;
    int64_t size_bytes;
    int64_t total; /* ranges merged */
    int64_t real;
};

#endif

/* The distributed view of a run between reading the request and writing the answer. */
#ifndef KS_API_VIEWS_DISTRIBUTED_H
#define KS_API_VIEWS_DISTRIBUTED_H

#include "api/views/worker_place.h"
#include "ingest/base/text/json_write.h"
#include "ingest/query/views/distributed.h"

#include <stddef.h>
#include <stdint.h>

struct distributed_answer {
    const char *run;
    int64_t span;
    int64_t *spans; /* of the run, ascending */
    size_t span_count;
    struct query_distributed view;
    struct worker_place *places; /* by worker of the view */
    const char **steps;          /* names, in order of appearance in the workers' steps */
    size_t step_count;
};

/* Writes the members workers, overlap, wait, operations and devices into an open object. */
void distributed_write(struct json_write *w, const struct distributed_answer *answer);

#endif

/* The distributed view of a run on its way from the request to the answer. */
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
    enum collective_rule rule;
    struct query_distributed view;
    struct worker_place *places; /* by worker of the view */
    const char **steps;          /* names, in the order in which the workers' steps meet them */
    size_t step_count;
};

/* Members workers, overlap, wait, operations and devices, into an open object. */
void distributed_write(struct json_write *w, const struct distributed_answer *answer);

#endif

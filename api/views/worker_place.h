/* Where a worker ran, from its name and its trace. */
#ifndef KS_API_VIEWS_WORKER_PLACE_H
#define KS_API_VIEWS_WORKER_PLACE_H

#include "api/call.h"
#include "ingest/model/results/results.h"

#include <stddef.h>

struct worker_place {
    const char *node;
    const char *process; /* digits */
};

/* The last `<node>_<digits>` in a worker's name gives node and process. Any other worker is a node
 * of its own; its process is its position among the workers [TB-15.1b]. Texts are NULL without
 * memory. */
struct worker_place worker_place_of(struct api_call *call, const char *worker, size_t position);
/* distributedInfo.backend; NULL when the trace does not say. */
const char *worker_backend(const struct trace_results *results);

#endif

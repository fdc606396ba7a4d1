/* Where a worker ran, by its name and by what its trace says. */
#ifndef KS_API_VIEWS_WORKER_PLACE_H
#define KS_API_VIEWS_WORKER_PLACE_H

#include "api/call.h"
#include "ingest/model/results/results.h"
#include "ingest/store/store.h"

#include <stddef.h>
#include <stdint.h>

#define WORKER_NO_RANK INT64_MIN

struct worker_place {
    const char *node;
    const char *process; /* digits */
};

/* `<node>_<digits>` names node and process, the last such place counts; any other worker is a node
 * of its own, its process the position among the workers [TB-15.1b]. Texts are NULL without memory.
 */
struct worker_place worker_place_of(struct api_call *call, const char *worker, size_t position);
/* The rank given at upload, else distributedInfo.rank, else the number behind "rank" in the
 * worker's name (rank_name.h); WORKER_NO_RANK. */
int64_t worker_rank(const struct store_trace *trace, const struct trace_results *results);
/* distributedInfo.backend; NULL when the trace does not say. */
const char *worker_backend(const struct trace_results *results);

#endif

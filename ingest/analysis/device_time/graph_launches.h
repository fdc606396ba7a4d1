/* Calls that launch graphs, and the engine steps that they are made in [DEV-3]. */
#ifndef KS_ANALYSIS_DEVICE_TIME_GRAPH_LAUNCHES_H
#define KS_ANALYSIS_DEVICE_TIME_GRAPH_LAUNCHES_H

#include "ingest/base/attr.h"
#include "ingest/index/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graph_launches {
    struct index_step *steps; /* of the engine */
    uint32_t step_count;
    uint32_t *step_of;   /* by event: the step of a graph launch, `step_count` outside all */
    uint32_t *rank_of;   /* by event: how many launches its step has before it */
    uint32_t *rank_all;  /* the same of the whole trace */
    uint32_t *in_step;   /* by step: its launches */
    uint32_t count;      /* launches of the trace */
    uint32_t *stream_of; /* by event: number of the stream of device work */
};

/* False without memory; to be freed in either case, also when only zeroed. */
bool graph_launches_build(struct graph_launches *graphs,
                          const struct trace_index *index) KS_MUST_USE;
void graph_launches_free(struct graph_launches *graphs);

/* Tokens of the step of a launch; ENGINE_UNKNOWN: no step, or it does not say. */
int64_t graph_launches_tokens(const struct graph_launches *graphs,
                              const struct trace_index *index,
                              uint32_t call);
/* Place among the launches of its step, or of the trace where no step holds it, if there are
 * `root_count` of them; else ALIGN_NO_RANK. */
size_t graph_launches_rank(const struct graph_launches *graphs, uint32_t call, size_t root_count);
uint32_t graph_launches_stream(const struct graph_launches *graphs, uint32_t event);

#endif

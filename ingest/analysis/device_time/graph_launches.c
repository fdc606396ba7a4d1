#include "ingest/analysis/device_time/graph_launches.h"

#include "ingest/analysis/captures/align.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"

#include <string.h>

static bool is_graph_launch(const struct trace_index *index, uint32_t event)
{
    const struct trace *trace = index->trace;
    return index_is_call(index_class(index, event)) &&
           strstr(strtab_text(trace->strings, trace->events.name[event]), "GraphLaunch") != NULL;
}

/* In order of start; to be freed. NULL without memory. */
static uint32_t *list_launches(struct graph_launches *graphs, const struct trace_index *index)
{
    uint32_t *calls = scratch_alloc(index->trace->events.count, sizeof *calls);
    for (uint32_t i = 0; calls != NULL && i < index->trace->events.count; i++) {
        if (is_graph_launch(index, i)) {
            calls[graphs->count++] = i;
        }
    }
    if (calls != NULL && !sort_by_key(calls, graphs->count, index->trace->events.ts_ns)) {
        scratch_free(calls);
        return NULL;
    }
    return calls;
}

static bool rank_launches(struct graph_launches *graphs, const struct trace_index *index)
{
    struct step_map map;
    uint32_t *calls = list_launches(graphs, index);
    bool ok = step_map_build(&map, graphs->steps, graphs->step_count) && calls != NULL;
    for (uint32_t i = 0; ok && i < graphs->count; i++) {
        uint32_t step = step_map_find(&map, index->trace->events.ts_ns[calls[i]]);
        step = step == INDEX_NONE ? graphs->step_count : step;
        graphs->step_of[calls[i]] = step;
        graphs->rank_of[calls[i]] = graphs->in_step[step]++;
        graphs->rank_all[calls[i]] = i;
    }
    step_map_free(&map);
    scratch_free(calls);
    return ok;
}

static void number_streams(struct graph_launches *graphs, const struct trace_index *index)
{
    for (uint32_t stream = 0; stream < index->stream_count; stream++) {
        struct index_range work = index->streams[stream].work;
        for (uint32_t i = work.first; i < work.end; i++) {
            graphs->stream_of[index->device_work[i]] = stream;
        }
    }
}

bool graph_launches_build(struct graph_launches *graphs, const struct trace_index *index)
{
    size_t count = index->trace->events.count;
    *graphs = (struct graph_launches){.count = 0};
    if (!index_engine_steps(index, &graphs->steps, &graphs->step_count)) {
        return false;
    }
    graphs->step_of = scratch_alloc(count, sizeof *graphs->step_of);
    graphs->rank_of = scratch_alloc(count, sizeof *graphs->rank_of);
    graphs->rank_all = scratch_alloc(count, sizeof *graphs->rank_all);
    graphs->stream_of = scratch_calloc(count, sizeof *graphs->stream_of);
    graphs->in_step = scratch_calloc((size_t)graphs->step_count + 1, sizeof *graphs->in_step);
    if (graphs->step_of == NULL || graphs->rank_of == NULL || graphs->rank_all == NULL ||
        graphs->stream_of == NULL || graphs->in_step == NULL) {
        return false;
    }
    number_streams(graphs, index);
    return rank_launches(graphs, index);
}

void graph_launches_free(struct graph_launches *graphs)
{
    SCRATCH_FREE(graphs->steps, graphs->step_of, graphs->rank_of, graphs->rank_all, graphs->in_step,
                 graphs->stream_of);
    *graphs = (struct graph_launches){.count = 0};
}

int64_t graph_launches_tokens(const struct graph_launches *graphs,
                              const struct trace_index *index,
                              uint32_t call)
{
    struct engine_annotation said;
    uint32_t step = graphs->step_of[call];
    if (step == graphs->step_count || !index_engine_step(index, graphs->steps[step].event, &said)) {
        return ENGINE_UNKNOWN;
    }
    return said.tokens;
}

size_t graph_launches_rank(const struct graph_launches *graphs, uint32_t call, size_t root_count)
{
    uint32_t step = graphs->step_of[call];
    if (step == graphs->step_count) {
        return graphs->count == root_count ? graphs->rank_all[call] : ALIGN_NO_RANK;
    }
    return graphs->in_step[step] == root_count ? graphs->rank_of[call] : ALIGN_NO_RANK;
}

uint32_t graph_launches_stream(const struct graph_launches *graphs, uint32_t event)
{
    return graphs->stream_of[event];
}

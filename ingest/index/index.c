#include "ingest/index/index.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/index/stages.h"

static bool make_columns(struct trace_index *index)
{
    size_t count = index->trace->events.count;
    index->class = scratch_alloc(count, sizeof *index->class);
    index->parent = scratch_none(count);
    index->end = scratch_alloc(count, sizeof *index->end);
    index->self_ns = scratch_alloc(count, sizeof *index->self_ns);
    index->launch = scratch_none(count);
    index->op = scratch_none(count);
    index->step = scratch_none(count);
    return index->class != NULL && index->parent != NULL && index->end != NULL &&
           index->self_ns != NULL && index->launch != NULL && index->op != NULL &&
           index->step != NULL;
}

bool index_build(struct trace_index *index, const struct trace *trace)
{
    *index = (struct trace_index){.trace = trace};
    return make_columns(index) && index_classify(index) && index_order(index) &&
           index_nest(index) && index_link(index) && index_find_steps(index);
}

void index_drop_in_time(struct trace_index *index)
{
    scratch_free(index->in_time);
    index->in_time = NULL;
}

void index_free(struct trace_index *index)
{
    index_drop_in_time(index);
    SCRATCH_FREE(index->class, index->parent, index->end, index->self_ns, index->launch, index->op,
                 index->step, index->in_order, index->launched, index->device_work, index->threads,
                 index->streams, index->steps, index->track_thread);
    *index = (struct trace_index){.trace = NULL};
}

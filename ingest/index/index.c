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
    scratch_free(index->class);
    scratch_free(index->parent);
    scratch_free(index->end);
    scratch_free(index->self_ns);
    scratch_free(index->launch);
    scratch_free(index->op);
    scratch_free(index->step);
    scratch_free(index->in_order);
    scratch_free(index->launched);
    scratch_free(index->device_work);
    scratch_free(index->threads);
    scratch_free(index->streams);
    scratch_free(index->steps);
    scratch_free(index->track_thread);
    *index = (struct trace_index){.trace = NULL};
}

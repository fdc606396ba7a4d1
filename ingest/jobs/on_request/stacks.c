#include "ingest/jobs/on_request/stacks.h"

#include "ingest/jobs/on_request/stored_trace.h"

struct request {
    /* of kernels */
    const char *name;
    enum call_paths_modules modules;
    struct arena *arena;
    struct kernel_stacks *kernels;
    /* of operators */
    const struct kernel_rules *own;
    enum operator_group by;
    struct trace_results *results;
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the call stacks of a trace");
}

static bool visit_kernels(void *context, struct trace *trace, int64_t zero_ns, struct err *err)
{
    const struct request *request = context;
    (void)zero_ns;
    return trace == NULL ||
           kernel_stacks_analyse(trace, request->name, request->modules, request->arena,
                                 request->kernels) ||
           no_memory(err);
}

static bool visit_operators(void *context, struct trace *trace, int64_t zero_ns, struct err *err)
{
    const struct request *request = context;
    (void)zero_ns;
    return trace == NULL ||
           operator_stacks_analyse(trace, request->own, request->by, request->results) ||
           no_memory(err);
}

static bool read_whole(struct jobs *jobs,
                       int64_t trace_id,
                       bool (*visit)(void *, struct trace *, int64_t, struct err *),
                       struct request *request,
                       struct err *err)
{
    struct stored_trace_visit how = {
        .trace_id = trace_id,
        .start_ns = INT64_MIN,
        .end_ns = INT64_MAX,
        .too_large = "upload a shorter trace",
        .visit = visit,
        .context = request,
    };
    if (!jobs_window_begin(jobs, &how.memory_budget_bytes, err)) {
        return false;
    }
    bool ok = stored_trace_read(jobs_store(jobs), &how, err);
    jobs_window_end(jobs);
    return ok;
}

bool stacks_read_kernels(struct jobs *jobs,
                         int64_t trace_id,
                         const char *name,
                         enum call_paths_modules modules,
                         struct arena *arena,
                         struct kernel_stacks *out,
                         struct err *err)
{
    struct request request = {.name = name, .modules = modules, .arena = arena, .kernels = out};
    *out = (struct kernel_stacks){.count = 0};
    return read_whole(jobs, trace_id, visit_kernels, &request, err);
}

bool stacks_read_operators(struct jobs *jobs,
                           int64_t trace_id,
                           enum operator_group by,
                           struct trace_results *results,
                           struct err *err)
{
    struct request request = {.own = jobs_kernel_rules(jobs), .by = by, .results = results};
    return read_whole(jobs, trace_id, visit_operators, &request, err);
}

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
    /* of a flame graph */
    struct flame *flame;
    unsigned side;
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

static bool visit_flame(void *context, struct trace *trace, int64_t zero_ns, struct err *err)
{
    const struct request *request = context;
    (void)zero_ns;
    return trace == NULL || flame_add(request->flame, trace, request->side) || no_memory(err);
}

typedef bool visit_fn(void *context, struct trace *trace, int64_t zero_ns, struct err *err);

static bool read_one(struct jobs *jobs,
                     int64_t trace_id,
                     size_t budget_bytes,
                     visit_fn *visit,
                     struct request *request,
                     struct err *err)
{
    const struct stored_trace_visit how = {
        .trace_id = trace_id,
        .start_ns = INT64_MIN,
        .end_ns = INT64_MAX,
        .memory_budget_bytes = budget_bytes,
        .too_large = "upload a shorter trace",
        .visit = visit,
        .context = request,
    };
    return stored_trace_read(jobs_store(jobs), &how, err);
}

static bool read_whole(
    struct jobs *jobs, int64_t trace_id, visit_fn *visit, struct request *request, struct err *err)
{
    size_t budget_bytes = 0;
    if (!jobs_window_begin(jobs, &budget_bytes, err)) {
        return false;
    }
    bool ok = read_one(jobs, trace_id, budget_bytes, visit, request, err);
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

static bool read_sides(struct jobs *jobs,
                       int64_t trace_id,
                       int64_t against_id,
                       struct request *request,
                       struct err *err)
{
    size_t budget_bytes = 0;
    if (!jobs_window_begin(jobs, &budget_bytes, err)) {
        return false;
    }
    bool ok = read_one(jobs, trace_id, budget_bytes, visit_flame, request, err);
    if (ok && against_id != 0) {
        request->side = 1;
        ok = read_one(jobs, against_id, budget_bytes, visit_flame, request, err) ||
             err_context(err, "trace %lld", (long long)against_id);
    }
    jobs_window_end(jobs);
    return ok;
}

bool stacks_read_flame(struct jobs *jobs,
                       int64_t trace_id,
                       int64_t against_id,
                       const struct flame_options *options,
                       struct arena *arena,
                       struct flame_graph *out,
                       struct err *err)
{
    struct request request = {.flame = flame_create(options)};
    bool found = false;
    *out = (struct flame_graph){.count = 0};
    bool ok = request.flame == NULL ? no_memory(err)
                                    : read_sides(jobs, trace_id, against_id, &request, err);
    if (ok && !flame_finish(request.flame, arena, out, &found)) {
        ok = no_memory(err);
    }
    flame_destroy(request.flame);
    return ok && (found || err_set(err, ERR_NOT_FOUND,
                                   "The flame graph has no such node: under= takes the id of a "
                                   "node of the same graph"));
}

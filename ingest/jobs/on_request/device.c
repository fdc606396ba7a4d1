#include "ingest/jobs/on_request/device.h"

#include "ingest/jobs/on_request/stored_trace.h"

/* Fills *out, which is zeroed, from a trace that has events. False without memory. */
typedef bool analyse_fn(const struct trace *trace, int64_t zero_ns, void *request);

struct visit {
    analyse_fn *analyse;
    void *request;
};

static bool visit_trace(void *context, struct trace *trace, int64_t zero_ns, struct err *err)
{
    const struct visit *visit = context;
    return trace == NULL || visit->analyse(trace, zero_ns, visit->request) ||
           err_set(err, ERR_NO_MEMORY, "no memory for the device work of a trace");
}

static bool
read_trace(struct jobs *jobs, int64_t trace_id, analyse_fn *analyse, void *request, struct err *err)
{
    struct visit context = {analyse, request};
    struct stored_trace_visit visit = {
        .trace_id = trace_id,
        .start_ns = INT64_MIN,
        .end_ns = INT64_MAX,
        .too_large = "upload a shorter trace",
        .visit = visit_trace,
        .context = &context,
    };
    if (!jobs_window_begin(jobs, &visit.memory_budget_bytes, err)) {
        return false;
    }
    bool ok = stored_trace_read(jobs_store(jobs), &visit, err);
    jobs_window_end(jobs);
    return ok;
}

/* ---- times ---- */

struct times_request {
    const struct kernel_rules *own;
    const int64_t *device;
    struct arena *arena;
    struct device_time *out;
};

static bool analyse_times(const struct trace *trace, int64_t zero_ns, void *request_void)
{
    const struct times_request *request = request_void;
    return device_time_analyse(trace, zero_ns, request->own, request->device, request->arena,
                               request->out);
}

bool device_read_times(struct jobs *jobs,
                       int64_t trace_id,
                       const int64_t *device,
                       struct arena *arena,
                       struct device_time *out,
                       struct err *err)
{
    struct times_request request = {jobs_kernel_rules(jobs), device, arena, out};
    *out = (struct device_time){.device_ns = 0};
    return read_trace(jobs, trace_id, analyse_times, &request, err);
}

/* ---- operators ---- */

struct operators_request {
    const struct kernel_rules *own;
    struct arena *arena;
    struct device_operators *out;
};

static bool analyse_operators(const struct trace *trace, int64_t zero_ns, void *request_void)
{
    const struct operators_request *request = request_void;
    (void)zero_ns;
    return device_operators_analyse(trace, request->own, request->arena, request->out);
}

bool device_read_operators(struct jobs *jobs,
                           int64_t trace_id,
                           struct arena *arena,
                           struct device_operators *out,
                           struct err *err)
{
    struct operators_request request = {jobs_kernel_rules(jobs), arena, out};
    *out = (struct device_operators){.device_ns = 0};
    return read_trace(jobs, trace_id, analyse_operators, &request, err);
}

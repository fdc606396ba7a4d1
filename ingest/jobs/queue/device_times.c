#include "ingest/jobs/queue/device_times.h"

#include "ingest/jobs/queue/stored_trace.h"

struct request {
    const int64_t *device;
    struct arena *arena;
    struct device_time *out;
};

static bool analyse(void *context, struct trace *trace, int64_t zero_ns, struct err *err)
{
    const struct request *request = context;
    *request->out = (struct device_time){.device_ns = 0};
    return trace == NULL ||
           device_time_analyse(trace, zero_ns, request->device, request->arena, request->out) ||
           err_set(err, ERR_NO_MEMORY, "no memory for the device time of a trace");
}

bool device_times_read(struct store *store,
                       int64_t trace_id,
                       const int64_t *device,
                       size_t memory_budget_bytes,
                       struct arena *arena,
                       struct device_time *out,
                       struct err *err)
{
    struct request request = {device, arena, out};
    const struct stored_trace_visit visit = {
        .trace_id = trace_id,
        .start_ns = INT64_MIN,
        .end_ns = INT64_MAX,
        .memory_budget_bytes = memory_budget_bytes,
        .too_large = "upload a shorter trace",
        .visit = analyse,
        .context = &request,
    };
    return stored_trace_read(store, &visit, err);
}

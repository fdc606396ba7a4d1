#include "ingest/jobs/on_request/window.h"

#include "ingest/analysis/analysis.h"
#include "ingest/analysis/classify/clip.h"
#include "ingest/base/saturating.h"
#include "ingest/jobs/on_request/stored_trace.h"

struct window {
    int64_t start_ns; /* relative to the trace's start, as is the end */
    int64_t end_ns;
    const struct kernel_rules *own;
    struct trace_results **out;
};

static bool analyse(void *context, struct trace *trace, int64_t zero_ns, struct err *err)
{
    const struct window *window = context;
    if (trace == NULL) {
        *window->out = results_create();
        return *window->out != NULL ||
               err_set(err, ERR_NO_MEMORY, "no memory for the figures of a window");
    }
    bool ok = clip_events(trace, saturating_add(zero_ns, window->start_ns),
                          saturating_add(zero_ns, window->end_ns));
    const struct analysis_wants wants = {.kernel_rules = window->own};
    return ok ? analysis_run_with(trace, &wants, window->out, err)
              : err_set(err, ERR_NO_MEMORY, "no memory for the figures of a window");
}

bool window_results(struct store *store,
                    const struct kernel_rules *own,
                    int64_t trace_id,
                    int64_t start_ns,
                    int64_t end_ns,
                    size_t memory_budget_bytes,
                    struct trace_results **out,
                    struct err *err)
{
    struct window window = {start_ns, end_ns, own, out};
    const struct stored_trace_visit visit = {
        .trace_id = trace_id,
        .start_ns = start_ns,
        .end_ns = end_ns,
        .memory_budget_bytes = memory_budget_bytes,
        .too_large = "ask for a shorter window",
        .visit = analyse,
        .context = &window,
    };
    *out = NULL;
    return stored_trace_read(store, &visit, err);
}

#include "ingest/jobs/on_request/run_captures.h"

#include "ingest/base/order.h"
#include "ingest/jobs/on_request/stored_trace.h"
#include "ingest/store/store_events.h"

#include <stdlib.h>

struct reading {
    struct arena *arena;
    struct capture *out;
};

static bool read_model(void *context, struct trace *trace, int64_t zero_ns, struct err *err)
{
    const struct reading *reading = context;
    (void)zero_ns;
    return trace == NULL || capture_read(trace, reading->arena, reading->out) ||
           err_set(err, ERR_NO_MEMORY, "no memory for what a trace captured");
}

bool run_captures_read(struct store *store,
                       int64_t trace_id,
                       size_t memory_budget_bytes,
                       struct arena *arena,
                       struct capture *out,
                       struct err *err)
{
    struct reading reading = {arena, out};
    const struct stored_trace_visit visit = {
        .trace_id = trace_id,
        .start_ns = INT64_MIN,
        .end_ns = INT64_MAX,
        .memory_budget_bytes = memory_budget_bytes,
        .too_large = "upload a shorter capture",
        .visit = read_model,
        .context = &reading,
    };
    *out = (struct capture){.root_count = 0};
    bool ok = stored_trace_read(store, &visit, err);
    out->trace_id = trace_id;
    return ok || err_context(err, "trace %lld, which may be a capture", (long long)trace_id);
}

/* Whether an event of a trace has this text. A trace whose events are not stored has none. */
static bool has_event(struct store *store,
                      struct arena *arena,
                      int64_t trace_id,
                      const char *text,
                      bool *has,
                      struct err *err)
{
    struct store_event_hit *hits = NULL;
    size_t count = 0;
    size_t total = 0;
    struct store_snapshot snapshot;
    store_snapshot_init(&snapshot, store);
    const struct store_event_query query = {
        .q = text, .start_ns = INT64_MIN, .end_ns = INT64_MAX, .limit = 1, .count_max = 1};
    bool ok = store_events_search(&snapshot, arena, trace_id, &query, &hits, &count, &total, err);
    store_snapshot_close(&snapshot);
    *has = ok && count > 0;
    if (!ok && (err->code == ERR_GONE || err->code == ERR_NOT_FOUND)) {
        *err = (struct err)ERR_INIT;
        return true;
    }
    return ok;
}

ORDER_BY(by_id, struct store_trace, ORDER_UP(id))

/* Of the run's traces, as far as they are looked through. */
static bool read_those_that_captured(struct store *store,
                                     const struct store_trace *traces,
                                     size_t trace_count,
                                     int64_t but_id,
                                     size_t memory_budget_bytes,
                                     struct arena *arena,
                                     struct capture *out,
                                     size_t *count,
                                     struct err *err)
{
    for (size_t i = 0; i < trace_count && i < RUN_CAPTURES_LOOKED && *count < RUN_CAPTURES_READ;
         i++) {
        bool has = false;
        if (traces[i].id == but_id) {
            continue;
        }
        if (!has_event(store, arena, traces[i].id, "StreamBeginCapture", &has, err)) {
            return false;
        }
        if (!has) {
            continue;
        }
        if (!run_captures_read(store, traces[i].id, memory_budget_bytes, arena, &out[*count],
                               err)) {
            return false;
        }
        *count += out[*count].begin_count > 0;
    }
    return true;
}

bool run_captures_find(struct store *store,
                       int64_t trace_id,
                       const char *needs,
                       size_t memory_budget_bytes,
                       struct arena *arena,
                       struct capture **out,
                       size_t *count,
                       struct err *err)
{
    struct store_trace *trace = NULL;
    struct store_trace *traces = NULL;
    size_t trace_count = 0;
    bool has = false;
    *count = 0;
    *out = arena_calloc(arena, RUN_CAPTURES_READ, sizeof **out);
    if (*out == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for what a run captured");
    }
    if (!has_event(store, arena, trace_id, needs, &has, err) || !has) {
        return !has && err->code == ERR_NONE;
    }
    struct store_snapshot snapshot;
    store_snapshot_init(&snapshot, store);
    bool ok = store_trace_get(&snapshot, arena, trace_id, &trace, err) &&
              store_traces(&snapshot, arena, trace->run, &traces, &trace_count, err);
    store_snapshot_close(&snapshot);
    if (!ok) {
        return false;
    }
    qsort(traces, trace_count, sizeof *traces, by_id);
    return read_those_that_captured(store, traces, trace_count, trace_id, memory_budget_bytes,
                                    arena, *out, count, err);
}

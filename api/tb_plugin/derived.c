#include "api/tb_plugin/derived.h"

#include "ingest/tb_plugin/figures.h"

bool derived_figures(struct api_call *call,
                     const struct store_trace *trace,
                     int64_t *figures_id,
                     struct err *err)
{
    size_t budget_bytes = 0;
    *figures_id = trace->derived_id;
    if (trace->derived_id != 0) {
        return true;
    }
    store_snapshot_close(call->snapshot); /* to see what is written now */
    if (!jobs_derive_begin(call->api->jobs, &budget_bytes, err)) {
        return false;
    }
    bool ok = tb_plugin_figures(call->api->store, trace->id, budget_bytes, figures_id, err);
    jobs_derive_end(call->api->jobs);
    return ok;
}

bool derived_figures_of(struct api_call *call,
                        const struct store_trace *const *traces,
                        size_t count,
                        const int64_t **ids,
                        struct err *err)
{
    int64_t *found = arena_calloc(call_arena(call), count + 1, sizeof *found);
    *ids = found;
    if (found == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the figures of %zu traces", count);
    }
    for (size_t i = 0; i < count; i++) {
        if (!derived_figures(call, traces[i], &found[i], err)) {
            return false;
        }
    }
    return true;
}

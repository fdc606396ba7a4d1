#include "ingest/tb_plugin/figures.h"

#include "ingest/base/thread.h"
#include "ingest/formats/format.h"
#include "ingest/input/input.h"
#include "ingest/store/store_events.h"
#include "ingest/tb_plugin/rules.h"

#define BYTES_PER_MB 1048576.0

static bool
find_figures(struct store *store, int64_t trace_id, int64_t *derived_id, struct err *err)
{
    struct arena arena;
    struct store_trace *trace = NULL;
    struct store_snapshot snapshot;
    arena_init(&arena, 0);
    store_snapshot_init(&snapshot, store);
    bool ok = store_trace_get(&snapshot, &arena, trace_id, &trace, err);
    store_snapshot_close(&snapshot);
    *derived_id = ok ? trace->derived_id : 0;
    arena_free(&arena);
    return ok;
}

static bool next_piece(void *context, const char **bytes, size_t *len, struct err *err)
{
    return store_export_next(context, bytes, len, err);
}

static bool read_trace(struct store_export *from,
                       size_t memory_budget_bytes,
                       struct format_bundle *bundle,
                       struct err *err)
{
    const struct input_stream stream = {from, next_piece, INPUT_PLAIN};
    const struct format_options options = {.memory_budget_bytes = memory_budget_bytes};
    bool ok = format_read_stream(&stream, &options, bundle, err);
    if (!ok && err->code == ERR_TOO_LARGE) {
        return err_set(err, ERR_TOO_LARGE,
                       "The plugin's figures of this trace need more than the %.0f MB of memory "
                       "that an analysis on request may take: start the server with a larger "
                       "--ingest-memory, or ask /api/v1, whose figures are stored",
                       (double)memory_budget_bytes / BYTES_PER_MB);
    }
    return ok;
}

static bool analyse(struct format_bundle *bundle, struct trace_results **out, struct err *err)
{
    struct trace *trace = bundle->item_count == 0 ? NULL : bundle->items[0].model;
    return trace == NULL ? err_set(err, ERR_INTERNAL, "the events of a stored trace are no trace")
                         : tb_plugin_analyse(trace, store_encode_log, out, err);
}

static bool derive(struct store *store,
                   int64_t trace_id,
                   size_t memory_budget_bytes,
                   int64_t *derived_id,
                   struct err *err)
{
    struct format_bundle bundle = {.item_count = 0};
    struct store_export *from = NULL;
    struct trace_results *results = NULL;
    struct store_snapshot snapshot;
    store_snapshot_init(&snapshot, store);
    bool ok = store_export_open(&snapshot, trace_id, INT64_MIN, INT64_MAX, &from, err);
    store_snapshot_close(&snapshot);
    if (!ok) {
        return false;
    }
    ok = read_trace(from, memory_budget_bytes, &bundle, err);
    store_export_close(from);
    if (!ok) {
        return false;
    }
    ok = analyse(&bundle, &results, err);
    format_bundle_free(&bundle);
    ok = ok && store_derived_write(store, trace_id, results, derived_id, err);
    results_destroy(results);
    return ok;
}

struct derive_call {
    struct store *store;
    int64_t trace_id;
    size_t memory_budget_bytes;
    int64_t *derived_id;
    struct err *err;
    bool ok;
};

static void *run(void *argument)
{
    struct derive_call *call = argument;
    call->ok =
        derive(call->store, call->trace_id, call->memory_budget_bytes, call->derived_id, call->err);
    return NULL;
}

/* The analyses need more stack than a request thread has. */
bool tb_plugin_figures(struct store *store,
                       int64_t trace_id,
                       size_t memory_budget_bytes,
                       int64_t *derived_id,
                       struct err *err)
{
    struct derive_call call = {store, trace_id, memory_budget_bytes, derived_id, err, false};
    if (!find_figures(store, trace_id, derived_id, err)) {
        return false;
    }
    if (*derived_id != 0) {
        return true;
    }
    int code = thread_call(run, &call);
    return code == 0
               ? call.ok
               : err_set_errno(err, ERR_NO_MEMORY, code, "no thread for the plugin's figures");
}

#include "ingest/jobs/queue/window.h"

#include "ingest/analysis/analysis.h"
#include "ingest/analysis/classify/clip.h"
#include "ingest/base/saturating.h"
#include "ingest/base/thread.h"
#include "ingest/formats/format.h"
#include "ingest/input/input.h"
#include "ingest/store/store_events.h"

#define BYTES_PER_MB 1048576.0

struct window {
    int64_t start_ns; /* absolute, as is the end */
    int64_t end_ns;
    size_t memory_budget_bytes;
};

static bool next_piece(void *context, const char **bytes, size_t *len, struct err *err)
{
    return store_export_next(context, bytes, len, err);
}

static bool find_trace_start(struct store *store, int64_t trace_id, int64_t *ns, struct err *err)
{
    struct arena arena;
    struct store_trace *trace = NULL;
    arena_init(&arena, 0);
    bool ok = store_trace_get(store, &arena, trace_id, &trace, err);
    if (ok) {
        *ns = trace->start_ns;
    }
    arena_free(&arena);
    return ok;
}

static bool read_events(struct store_export *from,
                        const struct window *window,
                        struct format_bundle *bundle,
                        struct err *err)
{
    const struct input_stream stream = {from, next_piece, INPUT_PLAIN};
    const struct format_options options = {.memory_budget_bytes = window->memory_budget_bytes};
    bool ok = format_read_stream(&stream, &options, bundle, err);
    if (!ok && err->code == ERR_TOO_LARGE) {
        return err_set(err, ERR_TOO_LARGE,
                       "The events of this window need more than the %.0f MB of memory that an "
                       "analysis of a window may take: ask for a shorter one, or start the server "
                       "with a larger --ingest-memory",
                       (double)window->memory_budget_bytes / BYTES_PER_MB);
    }
    return ok;
}

static bool no_results(struct trace_results **out, struct err *err)
{
    *out = results_create();
    return *out != NULL || err_set(err, ERR_NO_MEMORY, "no memory for the figures of a window");
}

static bool analyse(struct format_bundle *bundle,
                    const struct window *window,
                    struct trace_results **out,
                    struct err *err)
{
    struct trace *trace = bundle->item_count == 0 ? NULL : bundle->items[0].model;
    if (trace == NULL) {
        return err_set(err, ERR_INTERNAL, "the events of a stored trace are no trace");
    }
    bool ok = clip_events(trace, saturating_sub(window->start_ns, trace->base_time_ns),
                          saturating_sub(window->end_ns, trace->base_time_ns));
    return ok ? analysis_run(trace, out, err)
              : err_set(err, ERR_NO_MEMORY, "no memory for the figures of a window");
}

static bool read_and_analyse(struct store *store,
                             int64_t trace_id,
                             int64_t start_ns,
                             int64_t end_ns,
                             size_t memory_budget_bytes,
                             struct trace_results **out,
                             struct err *err)
{
    struct format_bundle bundle = {.item_count = 0};
    struct store_export *from = NULL;
    int64_t trace_start_ns = 0;
    *out = NULL;
    if (!find_trace_start(store, trace_id, &trace_start_ns, err) ||
        !store_export_open(store, trace_id, start_ns, end_ns, &from, err)) {
        return false;
    }
    const struct window window = {
        .start_ns = saturating_add(trace_start_ns, start_ns),
        .end_ns = saturating_add(trace_start_ns, end_ns),
        .memory_budget_bytes = memory_budget_bytes,
    };
    bool ok = read_events(from, &window, &bundle, err);
    store_export_close(from);
    if (!ok && err->code == ERR_BAD_INPUT) {
        *err = (struct err)ERR_INIT;
        return no_results(out, err);
    }
    if (!ok) {
        return false;
    }
    ok = analyse(&bundle, &window, out, err);
    format_bundle_free(&bundle);
    return ok;
}

struct window_call {
    struct store *store;
    int64_t trace_id;
    int64_t start_ns;
    int64_t end_ns;
    size_t memory_budget_bytes;
    struct trace_results **out;
    struct err *err;
    bool ok;
};

static void *run(void *context)
{
    struct window_call *call = context;
    call->ok = read_and_analyse(call->store, call->trace_id, call->start_ns, call->end_ns,
                                call->memory_budget_bytes, call->out, call->err);
    return NULL;
}

bool window_results(struct store *store,
                    int64_t trace_id,
                    int64_t start_ns,
                    int64_t end_ns,
                    size_t memory_budget_bytes,
                    struct trace_results **out,
                    struct err *err)
{
    struct window_call call = {.store = store,
                               .trace_id = trace_id,
                               .start_ns = start_ns,
                               .end_ns = end_ns,
                               .memory_budget_bytes = memory_budget_bytes,
                               .out = out,
                               .err = err};
    int code = thread_call(run, &call);
    *out = code == 0 ? *out : NULL;
    return code == 0 ? call.ok
                     : err_set_errno(err, ERR_NO_MEMORY, code, "no thread for an analysis");
}

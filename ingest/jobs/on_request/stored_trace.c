#include "ingest/jobs/on_request/stored_trace.h"

#include "ingest/base/saturating.h"
#include "ingest/base/text/buf.h"
#include "ingest/base/thread.h"
#include "ingest/formats/format.h"
#include "ingest/input/input.h"
#include "ingest/store/store_events.h"

#define BYTES_PER_MIB 1048576.0

/* The document without its events. */
struct document {
    struct buf text;
    bool is_read;
};

static bool next_piece(void *context, const char **bytes, size_t *len, struct err *err)
{
    struct document *document = context;
    (void)err;
    *bytes = document->text.ptr;
    *len = document->is_read ? 0 : document->text.len;
    document->is_read = true;
    return true;
}

/* The head is a piece of its own. */
static bool read_document(struct store_export *from, struct document *document, struct err *err)
{
    const char *head;
    size_t len;
    *document = (struct document){.is_read = false};
    buf_init(&document->text, SIZE_MAX / 2);
    if (!store_export_next(from, &head, &len, err)) {
        return false;
    }
    buf_append(&document->text, head, len);
    buf_puts(&document->text, "]}");
    return !document->text.failed || err_set(err, ERR_NO_MEMORY, "no memory for a trace");
}

static bool
find_trace_start(struct store_snapshot *snapshot, int64_t trace_id, int64_t *ns, struct err *err)
{
    struct arena arena;
    struct store_trace *trace = NULL;
    arena_init(&arena, 0);
    bool ok = store_trace_get(snapshot, &arena, trace_id, &trace, err);
    if (ok) {
        *ns = trace->start_ns;
    }
    arena_free(&arena);
    return ok;
}

static bool read_events(struct store_export *from,
                        const struct stored_trace_visit *visit,
                        struct format_bundle *bundle,
                        struct err *err)
{
    struct document document;
    const struct input_stream stream = {&document, next_piece, INPUT_PLAIN};
    const struct event_source events = store_export_events(from);
    const struct format_options options = {.memory_budget_bytes = visit->memory_budget_bytes,
                                           .operator_inputs = visit->operator_inputs,
                                           .stored = &events};
    bool ok =
        read_document(from, &document, err) && format_read_stream(&stream, &options, bundle, err);
    buf_free(&document.text);
    if (!ok && err->code == ERR_TOO_LARGE) {
        return err_set(err, ERR_TOO_LARGE,
                       "These events need more than the %.0f MiB of memory that an analysis on "
                       "request may take: %s, or start the server with a larger --ingest-memory",
                       (double)visit->memory_budget_bytes / BYTES_PER_MIB, visit->too_large);
    }
    return ok;
}

static bool pass_on(struct format_bundle *bundle,
                    const struct stored_trace_visit *visit,
                    int64_t start_ns,
                    struct err *err)
{
    struct trace *trace = bundle->item_count == 0 ? NULL : bundle->items[0].model;
    if (trace == NULL) {
        return err_set(err, ERR_INTERNAL, "the events of a stored trace are no trace");
    }
    return visit->visit(visit->context, trace, saturating_sub(start_ns, trace->base_time_ns), err);
}

static bool
read_and_visit(struct store *store, const struct stored_trace_visit *visit, struct err *err)
{
    struct format_bundle bundle = {.item_count = 0};
    struct store_export *from = NULL;
    int64_t start_ns = 0;
    struct store_snapshot snapshot;
    store_snapshot_init(&snapshot, store);
    bool ok =
        find_trace_start(&snapshot, visit->trace_id, &start_ns, err) &&
        store_export_open(&snapshot, visit->trace_id, visit->start_ns, visit->end_ns, &from, err);
    store_snapshot_close(&snapshot);
    if (!ok) {
        return false;
    }
    ok = read_events(from, visit, &bundle, err);
    store_export_close(from);
    if (!ok && err->code == ERR_BAD_INPUT) {
        *err = (struct err)ERR_INIT;
        return visit->visit(visit->context, NULL, 0, err);
    }
    if (!ok) {
        return false;
    }
    ok = pass_on(&bundle, visit, start_ns, err);
    format_bundle_free(&bundle);
    return ok;
}

struct reading {
    struct store *store;
    const struct stored_trace_visit *visit;
    struct err *err;
    bool ok;
};

static void *run(void *context)
{
    struct reading *reading = context;
    reading->ok = read_and_visit(reading->store, reading->visit, reading->err);
    return NULL;
}

bool stored_trace_read(struct store *store, const struct stored_trace_visit *visit, struct err *err)
{
    struct reading reading = {.store = store, .visit = visit, .err = err};
    int code = thread_call(run, &reading);
    return code == 0 ? reading.ok
                     : err_set_errno(err, ERR_NO_MEMORY, code, "no thread for an analysis");
}

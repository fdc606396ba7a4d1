/* Reads a stored trace, or a window of it, for an analysis on request. */
#ifndef KS_JOBS_ON_REQUEST_STORED_TRACE_H
#define KS_JOBS_ON_REQUEST_STORED_TRACE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/model/trace.h"
#include "ingest/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stored_trace_visit {
    int64_t trace_id;
    /* Relative to the trace's start; events that overlap it are read. INT64_MIN, INT64_MAX: all. */
    int64_t start_ns, end_ns;
    size_t memory_budget_bytes; /* bounds the model */
    const char *too_large;      /* what to do then: "ask for …" */
    bool operator_inputs;       /* as in struct format_options */
    /* `zero_ns`: the trace's start in the times of `trace`. NULL: there were no events. */
    bool (*visit)(void *context, struct trace *trace, int64_t zero_ns, struct err *err);
    void *context;
};

/* Calls `visit` once, on a thread of its own: the reader and the analyses need more stack than a
 * request thread has. ERR_NOT_FOUND; ERR_GONE: the events were not stored; ERR_TOO_LARGE. */
bool stored_trace_read(struct store *store,
                       const struct stored_trace_visit *visit,
                       struct err *err) KS_MUST_USE;

#endif

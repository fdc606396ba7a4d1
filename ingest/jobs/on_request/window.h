/* Figures of a part of a stored trace: its events in that window, through the same reader and the
 * same analyses as the whole. */
#ifndef KS_JOBS_ON_REQUEST_WINDOW_H
#define KS_JOBS_ON_REQUEST_WINDOW_H

#include "ingest/analysis/kernel_classes/kernel_rules.h"
#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/model/results/results.h"
#include "ingest/store/store.h"

#include <stddef.h>
#include <stdint.h>

/* Analyses the events that overlap [start_ns, end_ns] (relative to the trace's start), cut at both
 * ends. An event counts once however small its part. Device work belongs to an operator only if the
 * window also contains its launch. role_ns divides the time from the first to the last of these
 * events; the rest of the window belongs to no category. Steps come from the cut marks. Positions
 * in *out are relative to its own start_ns, which is absolute. A window without events has empty
 * results.
 *
 * Runs on a thread of its own: the reader and the analyses need more stack than a request thread
 * has.
 *
 * `own` as for kernel_class_of(). `memory_budget_bytes` bounds the model. The caller owns *out
 * (results_destroy). ERR_NOT_FOUND; ERR_GONE: the events were not stored; ERR_TOO_LARGE: a shorter
 * window may fit. */
bool window_results(struct store *store,
                    const struct kernel_rules *own,
                    int64_t trace_id,
                    int64_t start_ns,
                    int64_t end_ns,
                    size_t memory_budget_bytes,
                    struct trace_results **out,
                    struct err *err) KS_MUST_USE;

#endif

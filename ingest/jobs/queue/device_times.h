/* Device time of a stored trace (analysis/device_time), when a request asks for it. */
#ifndef KS_JOBS_QUEUE_DEVICE_TIMES_H
#define KS_JOBS_QUEUE_DEVICE_TIMES_H

#include "ingest/analysis/device_time/device_time.h"
#include "ingest/base/err.h"
#include "ingest/store/store.h"

#include <stddef.h>
#include <stdint.h>

/* Positions in *out are relative to the trace's start; texts and rows live in the arena. `device`
 * NULL: all. Runs on a thread of its own. ERR_NOT_FOUND; ERR_GONE: the events were not stored;
 * ERR_TOO_LARGE. */
bool device_times_read(struct store *store,
                       int64_t trace_id,
                       const int64_t *device,
                       size_t memory_budget_bytes,
                       struct arena *arena,
                       struct device_time *out,
                       struct err *err) KS_MUST_USE;

#endif

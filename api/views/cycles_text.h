/* Cycles as the perf-data table [CMP-10.metrics.10], for the API and the command line. */
#ifndef KS_API_VIEWS_CYCLES_TEXT_H
#define KS_API_VIEWS_CYCLES_TEXT_H

#include "ingest/base/text/buf.h"
#include "ingest/model/results/results.h"

/* cycle, pid, hostname, beta_pct, function_name, metric_name, device, func_type, mu_pct, sigma_pct,
 * duration, interpolation_status, anchor_name, anchor_dur_us, cycle_start_ts, instances_count,
 * simple_name, and ours: cycle_kind. `%.4f`, N/A where there is no metric, LF. */
void cycles_csv(struct buf *out, const struct trace_results *results);
/* {source, cycles: [...], rows: [...], counters: [...]}. start_ns: of the trace, from which the
 * cycles are counted from now on. */
void cycles_json(struct buf *out, int64_t start_ns, const struct trace_results *results);

#endif

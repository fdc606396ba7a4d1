/* From the model to results: pure functions over columns, no JSON, no SQL, no I/O.
 * Definitions: SPEC_tb sections 3 to 12 with completions; corrections of its section 21 win. */
#ifndef KS_ANALYSIS_ANALYSIS_H
#define KS_ANALYSIS_ANALYSIS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/model/results.h"
#include "ingest/model/trace.h"

#include <stdbool.h>

/* Runs every analysis. The trace's columns are only read; warnings that the analyses find
 * (overlapping operators, bad thread ids, ...) are counted in the results, together with those of
 * the reader. A trace for which the plugin's rules or roundings make a difference is analysed
 * twice: exactly, and as the plugin did (results.plugin). The caller frees *out with
 * results_destroy; it does not refer to the trace, which may be destroyed. Errors: ERR_NO_MEMORY.
 */
bool analysis_run(const struct trace *trace,
                  struct trace_results **out,
                  struct err *err) KS_MUST_USE;
/* The same with the logs of the results packed, each as soon as it is done; `pack` NULL: not. */
bool analysis_run_packing(const struct trace *trace,
                          result_log_packer pack,
                          struct trace_results **out,
                          struct err *err) KS_MUST_USE;

#endif

/* An analysis under way, and its stages: for analysis_run, and for those who analyse by other rules
 * than ours. */
#ifndef KS_ANALYSIS_STAGES_H
#define KS_ANALYSIS_STAGES_H

#include "ingest/analysis/analysis.h"
#include "ingest/analysis/call_tree/rows.h"
#include "ingest/analysis/classify/events.h"
#include "ingest/analysis/classify/texts.h"
#include "ingest/analysis/devices/devices.h"
#include "ingest/analysis/kernels/kernels.h"
#include "ingest/analysis/steps/steps.h"
#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stdint.h>

/* What stages hand to the next; filled from `sel` on in this order. */
struct analysis {
    const struct trace *trace;
    struct trace_results *results;
    const struct analysis_wants *wants;
    struct event_classes sel;
    struct time_ranges roles;
    struct steps steps;
    struct texts texts;
    struct launched_time launched;
    struct kernels kernels;
};

/* Begins with empty results that hold the trace's warnings; every answer of the stages is false
 * without memory. To be ended in either case. */
bool analysis_begin(struct analysis *run,
                    const struct trace *trace,
                    const struct analysis_wants *wants) KS_MUST_USE;
/* Frees what the stages needed. `ok`: all went well; else the results are destroyed, and the error
 * says that memory is missing. */
bool analysis_end(struct analysis *run, bool ok, struct trace_results **out, struct err *err)
    KS_MUST_USE;

/* From `sel`: the bounds and times of the trace. */
void analysis_set_bounds(struct analysis *run);
/* The has_… of [TB-6f] from `roles`, and what follows from them. */
void analysis_set_presence(struct analysis *run, bool has_kernel);
/* results.steps from `steps`; *rows, for who divides their time, are the same. */
bool analysis_write_steps(struct analysis *run, struct step_row **rows) KS_MUST_USE;
/* Call tree and memory log from a call tree, with nothing in results.arena;
 * `record_thread` as memory_log_build has it.
 */
bool analysis_write_calls(struct analysis *run,
                          struct call_rows *rows,
                          const uint32_t *record_thread) KS_MUST_USE;
/* Kernels and devices, from `texts`, `steps` and `launched`. */
bool analysis_run_devices(struct analysis *run) KS_MUST_USE;
/* What is left: views, environment, what is missing. */
bool analysis_finish(struct analysis *run) KS_MUST_USE;

/* Packs a log when packs are wanted; then its columns can go. */
bool analysis_pack_log(struct analysis *run, enum result_log log, const void *columns) KS_MUST_USE;
void analysis_drop_columns(struct analysis *run, enum result_log log);

#endif

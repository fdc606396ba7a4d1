/* From the model to results: pure functions over columns, no JSON, no SQL, no I/O. Definitions:
 * [TB-3] to [TB-12]. */
#ifndef KS_ANALYSIS_ANALYSIS_H
#define KS_ANALYSIS_ANALYSIS_H

#include "ingest/analysis/kernel_classes/kernel_rules.h"
#include "ingest/analysis/timeline/timeline.h"
#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/index/index.h"
#include "ingest/model/results/results.h"
#include "ingest/model/trace.h"

#include <stdbool.h>

/* Runs every analysis. The trace's columns are only read; warnings that the analyses find
 * (overlapping operators, bad thread ids, ...) are counted in the results, together with those of
 * the reader. The caller frees *out with results_destroy; it does not refer to the trace, which
 * may be destroyed. Errors: ERR_NO_MEMORY. */
bool analysis_run(const struct trace *trace,
                  struct trace_results **out,
                  struct err *err) KS_MUST_USE;

/* What the caller wants beside the results; NULL: not. */
struct analysis_wants {
    result_log_encoder pack; /* the logs packed, each as soon as it is done */
    /* Called once with the index, which is there until leave_index returns. */
    void (*take_index)(void *context, const struct trace_index *index);
    void (*leave_index)(void *context);
    /* What a timeline needs to be built beside the rest of the analyses: called once, as soon as it
     * is known. The callee takes what the frame holds and leaves it empty. */
    void (*take_frame)(void *context, struct timeline_frame *frame);
    bool bare_frame; /* without arrays where the views saw an event: the timeline comes later */
    /* A second thread may work: it builds the call tree, modules and the memory log. */
    bool in_two;
    /* What is still to be analysed needs little memory: called once, near the end. */
    void (*take_room)(void *context);
    void *context;
    const struct kernel_rules *kernel_rules; /* of one's own; NULL: none */
};
bool analysis_run_with(const struct trace *trace,
                       const struct analysis_wants *wants,
                       struct trace_results **out,
                       struct err *err) KS_MUST_USE;
/* What a timeline needs, and nothing else; `own` as analysis_wants.kernel_rules. The frame must be
 * freed in either case. Errors: ERR_NO_MEMORY. */
bool analysis_find_frame(const struct trace *trace,
                         const struct kernel_rules *own,
                         struct timeline_frame *frame,
                         struct err *err) KS_MUST_USE;

#endif

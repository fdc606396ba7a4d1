/* One file through reading and analysis, without a store: the part that `report`, `cycles`,
 * `compare` and the job workers share.
 *
 *     path -> input -> format_read -> analysis_run, cycles_run (models)  -> results
 *                                     kernel_use_run (kernel tables)     ->
 */
#ifndef KS_JOBS_PIPELINE_H
#define KS_JOBS_PIPELINE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/model/results.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pipeline_stage { STAGE_QUEUED, STAGE_READING, STAGE_ANALYSING, STAGE_STORING, STAGE_DONE };
const char *pipeline_stage_text(enum pipeline_stage stage); /* "queued", "reading", ... */

/* Written by the pipeline, read by anyone at any time. Bytes are those of the file as uploaded. */
struct pipeline_progress {
    _Atomic uint64_t bytes_done;
    _Atomic uint64_t bytes_total;
    _Atomic int stage; /* enum pipeline_stage */
};

struct pipeline_item {
    char *worker;      /* malloc'ed; from the file itself or its name */
    char *span_digits; /* malloc'ed; "" when none */
    struct trace_results *results;
};

struct pipeline_output {
    const char *format; /* static text */
    struct pipeline_item *items;
    size_t item_count;
};

/* All NULL and 0: nothing special. */
struct pipeline_options {
    uint64_t memory_budget_bytes; /* 0: no bound */
    const char *marker;           /* the function whose calls are the cycles */
    const char *hardware_path;    /* topo_component.csv of the host the trace was taken on */
};

/* `file_name` decides worker and span, and the kind of the cycles of a perf-data table that does
 * not tell it (SPEC_compare 2: job_prefill_perf_data.csv); `path` is where the bytes are. `options`
 * and `progress` may be NULL. Errors: those of format_read, of the hardware file (ERR_BAD_INPUT,
 * ERR_IO) and ERR_BAD_REQUEST when no function has the marker's name. On false the output is empty.
 */
bool pipeline_run(const char *path,
                  const char *file_name,
                  const struct pipeline_options *options,
                  struct pipeline_progress *progress,
                  struct pipeline_output *output,
                  struct err *err) KS_MUST_USE;
void pipeline_output_free(struct pipeline_output *output);

#endif

/* One file through reading and analysis, without a store: the part that `report` and the job
 * workers share.
 *
 *     path -> input -> format_read -> analysis_run (for items that are models) -> results
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

/* `file_name` decides worker and span; `path` is where the bytes are. `memory_budget_bytes` 0: no
 * bound. `progress` may be NULL. Errors: those of format_read. On false the output is empty. */
bool pipeline_run(const char *path,
                  const char *file_name,
                  uint64_t memory_budget_bytes,
                  struct pipeline_progress *progress,
                  struct pipeline_output *output,
                  struct err *err) KS_MUST_USE;
void pipeline_output_free(struct pipeline_output *output);

#endif

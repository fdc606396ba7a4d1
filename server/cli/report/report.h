/* Writes an analysed file as a report. */
#ifndef KS_SERVER_CLI_REPORT_REPORT_H
#define KS_SERVER_CLI_REPORT_REPORT_H

#include "ingest/base/text/buf.h"
#include "ingest/jobs/pipeline/pipeline.h"
#include "ingest/query/compare/step_query.h"

#include <stdbool.h>

/* The file that was analysed, for what is read from it again. */
struct report_source {
    const char *path;
    struct input_limits limits;
};

/* Writes text or Markdown (sections.c). `file_name` is the title. */
void report_prose(const char *file_name,
                  const struct report_source *source,
                  const struct pipeline_output *output,
                  bool markdown,
                  struct buf *out);
/* Writes cycles as text for a terminal (cycles.c): how many of each kind, how long they are, and
 * the functions that take most of them. */
void report_cycles_text(const struct trace_results *results, struct buf *out);
/* {file, format, traces: [{worker, span, format, events, ..., operators, kernels, device_time,
 * engine_steps, slices, where_time_goes, overlap_headroom, what_to_do_first}], errors:
 * [{member, code, detail}]} with the API's names; of an archive each trace has its `member`
 * (json.c). */
void report_json(const char *file_name, const struct pipeline_output *output, struct buf *out);
/* Writes what changed between two traces (change.c): the environment, one sentence, the step by
 * category, idle causes and efficiency, the operators and kernels that changed most. */
void report_change(struct buf *out,
                   const char *title,
                   const struct query_change *change,
                   const struct cause_change *causes,
                   bool markdown);

#endif

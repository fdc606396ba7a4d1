/* One file through reading and analysis, without a store: the part that `report`, `cycles`,
 * `compare` (pipeline_run) and the job workers (pipeline_stream) share.
 *
 *     path -> input -> format_read -> analysis_run, cycles_run, timeline_build (models) -> sink
 *               |                     kernel_utilisation_run (kernel tables)                    ->
 *               `-> tar -> input (a member) -> format_read ...
 */
#ifndef KS_JOBS_PIPELINE_PIPELINE_H
#define KS_JOBS_PIPELINE_PIPELINE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/input/input.h"
#include "ingest/model/event_log.h"
#include "ingest/model/results/results.h"
#include "ingest/model/timeline.h"

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
    char *worker;       /* malloc'ed; from the file itself or its name */
    char *span_digits;  /* malloc'ed; "" when none */
    char *member;       /* malloc'ed: its path in the archive; NULL outside of archives */
    const char *format; /* static text, as in format_bundle */
    struct trace_results *results;
};

/* A member of an archive that gave no trace, or a place at which the archive itself is damaged. */
struct pipeline_failure {
    char *member; /* malloc'ed: its path in the archive; "" when none can be told */
    struct err error;
};

struct pipeline_output {
    const char *format; /* static text: of the first item */
    struct pipeline_item *items;
    size_t item_count;
    struct pipeline_failure *failures;
    size_t failure_count;
};

/* Who takes the traces of a file as they are done, so that only one is in memory at a time. Order:
 * for each trace its events (while it is read), its timeline, the trace; or its events and then
 * `failed`. What is handed over is valid during the call. One call at a time but for `pack_log`,
 * yet those of the timeline may come on another thread while the trace is analysed.
 *
 * Functions that are NULL are not wanted, and what only they need is not made: without
 * `events.take` no log is kept, without `timeline.take_block` there is no timeline. `trace` and
 * `failed` must be there. Each returns false with *err set to give up; with a code of 500 or above
 * that ends the whole, below (no function of a store answers so) it is the fault of the member. */
struct pipeline_sink {
    void *context;
    struct event_sink events;
    struct timeline_sink timeline;
    result_log_encoder pack_log; /* NULL: the logs of results are wanted as columns */
    /* Called before `trace` where the results lack nothing but the timeline's warnings while the
     * timeline is still being built: on the thread of the analyses, beside calls of `timeline`.
     * NULL: `trace` gets everything. */
    bool (*tables)(void *context, const struct pipeline_item *item, struct err *err);
    /* `timeline` is NULL for what has no events. The callee may keep what the item holds by taking
     * it and leaving NULL. */
    bool (*trace)(void *context,
                  struct pipeline_item *item,
                  const struct timeline *timeline,
                  struct err *err);
    /* A member of an archive could not be read; the others go on unless it returns false, which
     * ends the whole whatever the code. */
    bool (*failed)(void *context, const char *member, const struct err *error, struct err *err);
};

/* All NULL and 0: nothing special. */
struct pipeline_options {
    uint64_t memory_budget_bytes; /* 0: no bound */
    struct input_limits input_limits;
    uint64_t max_events;       /* of a trace; 0: no bound but the format's */
    const char *marker;        /* the function whose calls are the cycles */
    const char *hardware_path; /* topo_component.csv of the host the trace was taken on */
};

/* `file_name` decides worker and span, and the kind of the cycles of a perf-data table that does
 * not tell it ([CMP-2b]: job_prefill_perf_data.csv); `path` is where the bytes are. `options` and
 * `progress` may be NULL. Errors: those of format_read, of the hardware file (ERR_BAD_INPUT,
 * ERR_IO) and ERR_BAD_REQUEST when no function has the marker's name.
 *
 * An archive (tar, also gzipped or zstd-compressed) is read member by member, each as a file of its
 * own name (member_names.h says which worker it is). What of it cannot be read goes to `failed`,
 * but an error of 500 or above ends the whole. One without any trace has the first failure's words,
 * and its code where all failures share it, else ERR_BAD_INPUT.
 *
 * The stages reading, analysing and, where the sink says so, storing take turns in an archive. */
bool pipeline_stream(const char *path,
                     const char *file_name,
                     const struct pipeline_options *options,
                     struct pipeline_progress *progress,
                     const struct pipeline_sink *sink,
                     struct err *err) KS_MUST_USE;
/* The same of a file that is still being written, as input_open_growing: no archive, and without a
 * hardware file. */
bool pipeline_growing(int fd,
                      const struct input_growth *growth,
                      const char *file_name,
                      const struct pipeline_options *options,
                      struct pipeline_progress *progress,
                      const struct pipeline_sink *sink,
                      struct err *err) KS_MUST_USE;
/* The same with all results collected, without events and timelines. On false the output is empty.
 */
bool pipeline_run(const char *path,
                  const char *file_name,
                  const struct pipeline_options *options,
                  struct pipeline_progress *progress,
                  struct pipeline_output *output,
                  struct err *err) KS_MUST_USE;
void pipeline_output_free(struct pipeline_output *output);

#endif

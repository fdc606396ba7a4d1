/* Reads and analyses one file, without a store. `report`, `cycles`, `compare` (pipeline_run) and
 * the job workers (pipeline_stream) share it.
 *
 *     path -> input -> format_read -> analysis_run, cycles_run, timeline_build (models) -> sink
 *               |                     kernel_utilisation_run (kernel tables)                    ->
 *               `-> tar -> input (a member) -> format_read ... */
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

struct kernel_rules;
struct pipeline_details;

enum pipeline_stage { STAGE_QUEUED, STAGE_READING, STAGE_ANALYSING, STAGE_STORING, STAGE_DONE };
const char *pipeline_stage_text(enum pipeline_stage stage); /* "queued", "reading", ... */

/* Written by the pipeline; any thread may read it. Bytes are those of the file as uploaded. */
struct pipeline_progress {
    _Atomic uint64_t bytes_done;
    _Atomic uint64_t bytes_total;
    _Atomic int stage; /* enum pipeline_stage */
};

struct pipeline_item {
    char *worker;       /* malloc'ed; from the file itself or its name */
    char *span_digits;  /* malloc'ed; "" when none */
    char *member;       /* malloc'ed path in the archive; NULL outside archives */
    const char *format; /* static text, as in format_bundle */
    struct trace_results *results;
    struct pipeline_details *details; /* NULL: not wanted, or the item has no events */
};

/* A member of an archive that became no trace, or a place where the archive itself is damaged. */
struct pipeline_failure {
    char *member; /* malloc'ed path in the archive; "" when unknown */
    struct err error;
};

struct pipeline_output {
    const char *format; /* static text: that of the first item */
    struct pipeline_item *items;
    size_t item_count;
    struct pipeline_failure *failures;
    size_t failure_count;
};

/* Receives the traces of a file one by one, so that only one is in memory. Order per trace: its
 * events (while it is read), its timeline, then `trace`; or its events, then `failed`. Arguments
 * are valid during the call. Calls never overlap, except `pack_log`; but calls for events and
 * timeline may come from other threads, also while the trace is analysed.
 *
 * A NULL function means: not wanted, and the pipeline skips the work for it. Without `events.take`
 * it keeps no event log; without `timeline.take_block` it builds no timeline. `trace` and `failed`
 * must be set. A function returns false with *err set to stop. A code of 500 or above ends the
 * whole upload; a lower one blames the member (no function of a store returns one). */
struct pipeline_sink {
    void *context;
    struct event_sink events;
    struct timeline_sink timeline;
    /* A trace whose model takes up to this much gets no timeline here: the sink can have it built
     * when it is first wanted (on_request/timeline.h). Smaller ones than are worth it have theirs
     * at once. */
    uint64_t timeline_later_bytes;
    result_log_encoder pack_log; /* NULL: keep the logs of results as columns */
    /* Called before `trace` where the results lack nothing but the timeline's warnings while the
     * timeline is still being built: on the thread of the analyses, beside calls of `timeline`.
     * NULL: `trace` gets everything. */
    bool (*tables)(void *context, const struct pipeline_item *item, struct err *err);
    /* `timeline` is NULL for items without events. To keep a part of the item, take it and leave
     * NULL. */
    bool (*trace)(void *context,
                  struct pipeline_item *item,
                  const struct timeline *timeline,
                  struct err *err);
    /* A member of an archive could not be read. True goes on with the others; false ends the
     * upload, whatever the code. */
    bool (*failed)(void *context, const char *member, const struct err *error, struct err *err);
};

/* Analyses that an upload leaves to requests: none, those of causes that two traces are compared
 * by, or all. */
enum pipeline_detail { PIPELINE_NO_DETAILS, PIPELINE_CAUSES, PIPELINE_ALL_DETAILS };

/* Zeroed: defaults. */
struct pipeline_options {
    uint64_t memory_budget_bytes; /* 0: no bound */
    struct input_limits input_limits;
    uint64_t max_events;                     /* of a trace; 0: no bound but the format's */
    const struct kernel_rules *kernel_rules; /* of one's own, read until the end; NULL: none */
    const char *marker;                      /* function whose calls mark cycles; NULL: find it */
    const char *hardware_path;    /* topo_component.csv of the host the trace was taken on */
    enum pipeline_detail details; /* pipeline_item.details */
};

/* Reads the file at `path`. `file_name` decides worker and span, and the kind of cycles of a
 * perf-data table that does not say ([CMP-2b]: job_prefill_perf_data.csv). `options` and `progress`
 * may be NULL. Errors: those of format_read; ERR_BAD_INPUT or ERR_IO of the hardware file;
 * ERR_BAD_REQUEST when no function has the marker's name.
 *
 * An archive (tar, also in gzip or zstd) is read member by member, each as a file with its own name
 * (member_names.h says which worker it is). Failed members go to `failed`, but an error of 500 or
 * above ends the upload. An archive without any trace fails with the first failure's message, and
 * with its code if all failures share it, else ERR_BAD_INPUT.
 *
 * In an archive the stages reading, analysing and, if the sink says so, storing alternate. */
bool pipeline_stream(const char *path,
                     const char *file_name,
                     const struct pipeline_options *options,
                     struct pipeline_progress *progress,
                     const struct pipeline_sink *sink,
                     struct err *err) KS_MUST_USE;
/* As pipeline_stream, for a file that is still being written (input_open_growing): no archive, no
 * hardware file. */
bool pipeline_growing(int fd,
                      const struct input_growth *growth,
                      const char *file_name,
                      const struct pipeline_options *options,
                      struct pipeline_progress *progress,
                      const struct pipeline_sink *sink,
                      struct err *err) KS_MUST_USE;
/* As pipeline_stream, but collects all results, without events and timelines. On false the output
 * is empty. */
bool pipeline_run(const char *path,
                  const char *file_name,
                  const struct pipeline_options *options,
                  struct pipeline_progress *progress,
                  struct pipeline_output *output,
                  struct err *err) KS_MUST_USE;
void pipeline_output_free(struct pipeline_output *output);

#endif

/* Analyses of a stored trace, when a request asks for them. Positions are
 * relative to the trace's start; texts and rows live in the arena. Each waits for its turn
 * (jobs_window_begin) and runs on a thread of its own. ERR_NOT_FOUND; ERR_GONE: the events were not
 * stored; ERR_TOO_LARGE; ERR_UNAVAILABLE while the server stops. */
#ifndef KS_JOBS_ON_REQUEST_ANALYSES_H
#define KS_JOBS_ON_REQUEST_ANALYSES_H

#include "ingest/analysis/causes/idle.h"
#include "ingest/analysis/causes/launches.h"
#include "ingest/analysis/contents/contents.h"
#include "ingest/analysis/critical_path/critical_path.h"
#include "ingest/analysis/device_time/device_operators.h"
#include "ingest/analysis/device_time/device_time.h"
#include "ingest/analysis/efficiency/efficiency.h"
#include "ingest/analysis/engine_steps/engine_steps.h"
#include "ingest/analysis/power/power.h"
#include "ingest/analysis/slices/slices.h"
#include "ingest/analysis/step_launches/step_launches.h"
#include "ingest/base/err.h"
#include "ingest/jobs/queue/jobs.h"

/* Rows of the events of a trace. */
bool rows_analysis_read(struct jobs *jobs,
                        int64_t trace_id,
                        rows_analysis *analyse,
                        struct arena *arena,
                        void **rows,
                        size_t *count,
                        struct err *err) KS_MUST_USE;

/* `device` NULL: all. */
bool device_read_times(struct jobs *jobs,
                       int64_t trace_id,
                       const int64_t *device,
                       struct arena *arena,
                       struct device_time *out,
                       struct err *err) KS_MUST_USE;

enum device_companion { DEVICE_COMPANION_AUTO, DEVICE_COMPANION_NONE, DEVICE_COMPANION_GIVEN };

/* `companion_id`: with DEVICE_COMPANION_GIVEN, a trace that the caller may read; one without a
 * capture is of no use. Automatically: the traces of the run that have one. */
bool device_read_operators(struct jobs *jobs,
                           int64_t trace_id,
                           enum device_companion companion,
                           int64_t companion_id,
                           struct arena *arena,
                           struct device_operators *out,
                           struct err *err) KS_MUST_USE;

/* With the captures of the run, for the FLOPs of attention. */
bool device_read_engine_steps(struct jobs *jobs,
                              int64_t trace_id,
                              const struct engine_attention *attention,
                              struct arena *arena,
                              struct engine_steps *out,
                              struct err *err) KS_MUST_USE;

bool slices_read(struct jobs *jobs,
                 int64_t trace_id,
                 enum slices_group by,
                 struct arena *arena,
                 struct slices *out,
                 struct err *err) KS_MUST_USE;

bool contents_read(struct jobs *jobs,
                   int64_t trace_id,
                   struct arena *arena,
                   struct contents *out,
                   struct err *err) KS_MUST_USE;
bool names_read(struct jobs *jobs,
                int64_t trace_id,
                struct arena *arena,
                struct named_rows *out,
                struct err *err) KS_MUST_USE;

bool memory_categories_read(struct jobs *jobs,
                            int64_t trace_id,
                            struct arena *arena,
                            struct memory_categories *out,
                            struct err *err) KS_MUST_USE;

/* `top` as for idle_analyse(). */
bool idle_read(struct jobs *jobs,
               int64_t trace_id,
               enum causes_last_step last_step,
               size_t top,
               struct arena *arena,
               struct idle *out,
               struct err *err) KS_MUST_USE;

bool idle_gaps_read(struct jobs *jobs,
                    int64_t trace_id,
                    const struct idle_gaps_request *wanted,
                    struct arena *arena,
                    struct idle_gaps *out,
                    struct err *err) KS_MUST_USE;

/* Also ERR_TOO_LARGE for more pairs of calls and work than a trace of a profiler can have. */
bool launches_read(struct jobs *jobs,
                   int64_t trace_id,
                   enum causes_last_step last_step,
                   const struct launch_stream_id *series,
                   struct arena *arena,
                   struct launches *out,
                   struct err *err) KS_MUST_USE;

/* With the peaks that jobs_create got. */
bool efficiency_read(struct jobs *jobs,
                     int64_t trace_id,
                     enum efficiency_group by,
                     struct arena *arena,
                     struct efficiency *out,
                     struct err *err) KS_MUST_USE;

bool power_read(struct jobs *jobs,
                int64_t trace_id,
                enum power_group by,
                struct arena *arena,
                struct power *out,
                struct err *err) KS_MUST_USE;

/* Also ERR_NOT_FOUND for an annotation that is not there, ERR_TOO_LARGE for more edges than a trace
 * of a profiler can have. */
bool critical_path_read(struct jobs *jobs,
                        int64_t trace_id,
                        const struct path_request *request,
                        struct arena *arena,
                        struct critical_path *out,
                        struct err *err) KS_MUST_USE;

#endif

/* What a trace can show and what it lacks: its views, the environment table, and the
 * profiler options that would have recorded what is missing. */
#ifndef KS_ANALYSIS_OVERVIEW_HEALTH_H
#define KS_ANALYSIS_OVERVIEW_HEALTH_H

#include "ingest/analysis/classify/events.h"
#include "ingest/analysis/classify/texts.h"
#include "ingest/base/attr.h"
#include "ingest/index/index.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>

/* Adds to results.views what the index tells: VIEW_SERVING, VIEW_SLICES. */
void health_find_index_views(struct trace_results *results, const struct trace_index *index);

/* Adds to results.views: Kernel when has_kernel, Memory with a memory event, Module (in Lightning
 * traces Lightning) when there are any. */
void health_find_views(struct trace_results *results, const struct event_classes *sel);

/* Fills results.environment from the trace's metadata, and with what all its devices have in
 * common. False without memory. */
bool health_copy_environment(struct trace_results *results, const struct trace *trace) KS_MUST_USE;

/* Fills results.missing from the other results. False without memory. */
bool health_find_missing(struct trace_results *results,
                         const struct event_classes *sel) KS_MUST_USE;

#endif

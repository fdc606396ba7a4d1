/* What a trace can show and what it lacks: its views, the environment table, the
 * profiler options that would have recorded what is missing, and steps that were cut off. */
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

/* Of the lengths of the steps; of an even number the mean of the middle two. NaN without steps or
 * without memory. */
double health_median_step_ns(const struct trace_results *results);
/* More than twice or less than half of the median [DEV-6b]. */
bool health_is_odd_step(const struct step_row *row, double median_ns);

#endif

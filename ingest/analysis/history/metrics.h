/* The metrics of a trace whose history is kept [HIST-1c]. */
#ifndef KS_ANALYSIS_HISTORY_METRICS_H
#define KS_ANALYSIS_HISTORY_METRICS_H

#include "ingest/analysis/classify/events.h"
#include "ingest/base/attr.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>
#include <stddef.h>

/* Of kernels, and of operators: those that take the most device time have a series. */
#define HISTORY_NAMES_MAX 512
/* A longer name has none. */
#define HISTORY_NAME_MAX_BYTES 4096

struct history_metric {
    const char *unit; /* "ns", "ratio", "bytes" */
    int direction;    /* -1: larger is worse; +1: larger is better */
};
/* False: no metric has this name (`len` bytes). */
bool history_metric_find(const char *name, size_t len, struct history_metric *out) KS_MUST_USE;
/* The metrics, for messages: "step_time, kernel:<name>, ...". */
const char *history_metric_names(void);

/* Fills results->series from its other rows; memory_peak comes from the records. Call it behind all
 * other analyses. False without memory. */
bool history_metrics_run(struct trace_results *results,
                         const struct event_classes *classes) KS_MUST_USE;

#endif

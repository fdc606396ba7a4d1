/* What each function took of each cycle, as rows [CMP-10.metrics] [CMP-10a.metrics]. */
#ifndef KS_ANALYSIS_CYCLES_ROWS_ROWS_H
#define KS_ANALYSIS_CYCLES_ROWS_ROWS_H

#include "ingest/analysis/cycles/rows/hardware.h"
#include "ingest/analysis/cycles/set.h"
#include "ingest/base/attr.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>

/* Fills cycles and cycle_uses; `set` must be sorted. Cycles in which nothing counts are left out.
 * False without memory. */
bool cycle_rows_write(struct trace_results *results,
                      struct cycle_set *set,
                      struct cycle_events *events,
                      struct cycle_hardware *hardware) KS_MUST_USE;

/* The value of its text with four decimals. */
double cycle_rounded(double value);

#endif

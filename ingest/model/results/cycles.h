/* Repeated cycles of a program (training steps, turns of a serving loop) and what each function
 * took of each of them: [CMP-10] and [CMP-10a], or a perf-data table that was uploaded. Rows live
 * as results.h says.
 *
 * Percentages and times stand as the perf-data tables print them, rounded to 4 decimals, so that a
 * comparison of two traces equals the comparison of their tables. */
#ifndef KS_MODEL_RESULTS_CYCLES_H
#define KS_MODEL_RESULTS_CYCLES_H

#include "ingest/model/tables/table.h"

#include <stddef.h>
#include <stdint.h>

enum cycle_kind {
    CYCLE_STEP,
    CYCLE_PREFILL,
    CYCLE_DECODE,
    CYCLE_LAYER,
    CYCLE_MIXED, /* this and the next: phases of a serving engine */
    CYCLE_IDLE,
    CYCLE_DIFFUSION,
    CYCLE_KIND_COUNT
};
const char *cycle_kind_name(enum cycle_kind kind); /* "step", "prefill", ... "diffusion" */

/* How the cycles of a trace were found. */
enum cycle_source {
    CYCLES_NONE,
    CYCLES_PROFILER_STEPS, /* ProfilerStep#N annotations */
    CYCLES_ANNOTATION,     /* a repeated annotation: a request, a step of a serving engine */
    CYCLES_ANCHOR,         /* a repeated function that was found */
    CYCLES_MARKER,         /* a function that the user named */
    CYCLES_TABLE           /* a perf-data table */
};
const char *cycle_source_name(enum cycle_source source); /* "none", "profiler_steps", ... "table" */

/* One cycle: a distinct pair (number, duration). Ascending by number, then by first row. */
struct cycle_row {
#define TABLE_DEF "ingest/model/tables/trace/cycle.def"
#include "ingest/model/tables/struct.h"
};

/* One row of the perf-data table: a (cycle, process, function, metric, device). Ordered by cycle,
 * pid, beta descending, metric. */
struct cycle_use_row {
#define TABLE_DEF "ingest/model/tables/trace/cycle_use.def"
#include "ingest/model/tables/struct.h"
};

/* A counter of a process or host over the whole file. */
struct counter_row {
#define TABLE_DEF "ingest/model/tables/trace/counter.def"
#include "ingest/model/tables/struct.h"
};

#endif

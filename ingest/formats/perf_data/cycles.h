/* Finds the cycles of a perf-data table: the distinct pairs (number, duration) of its rows. */
#ifndef KS_FORMATS_PERF_DATA_CYCLES_H
#define KS_FORMATS_PERF_DATA_CYCLES_H

#include "ingest/base/attr.h"
#include "ingest/formats/csv/row_list.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_cycles {
    struct row_list runs; /* rows of one cycle that follow each other */
};

void perf_cycles_init(struct perf_cycles *cycles);
void perf_cycles_free(struct perf_cycles *cycles);
/* Whether this is the cycle that was added last. */
bool perf_cycles_is_last(const struct perf_cycles *cycles, const struct cycle_row *cycle);
/* What the rows of the cycle that was added last carry until perf_cycles_finish. */
int64_t perf_cycles_last(const struct perf_cycles *cycles);
/* Adds one; *run is what its rows carry. False without memory. */
bool perf_cycles_add(struct perf_cycles *cycles,
                     const struct cycle_row *cycle,
                     int64_t *run) KS_MUST_USE;
size_t perf_cycles_bytes(const struct perf_cycles *cycles); /* memory held */
/* Sets the results' cycles, each once, their time, and the index of each of its cycle_uses. False
 * without memory. */
bool perf_cycles_finish(struct perf_cycles *cycles, struct trace_results *results) KS_MUST_USE;

#endif

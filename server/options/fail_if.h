/* Conditions of `compare --fail-if`, in the grammar of the gate (gate_condition): `NAME>N` or
 * `NAME>N%`. One fires when the candidate is worse by more than N. `step_time>N% and p<P` fires
 * only if Welch's test of the durations of the cycles gives a p below P, too; no other name has a
 * test.
 *
 * NAME: step_time (mean time of a cycle); kernel_time and operator_time (mean time per cycle of all
 * kernels, of all operators' self time); kernel:<name> (one function, by its full or short name);
 * suspicion (the highest score of a row). With %, N is the growth relative to the base; without,
 * the growth in microseconds; for suspicion always the score. */
#ifndef KS_SERVER_OPTIONS_FAIL_IF_H
#define KS_SERVER_OPTIONS_FAIL_IF_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>
#include <stddef.h>

bool fail_if_is_valid(const char *text);

/* The results behind a comparison, for the time of a single function. */
struct fail_if_side {
    const struct trace_results *const *results;
    size_t count;
};

#define FAIL_IF_TEXT_BYTES 400

/* Whether a valid condition fires for this pair; `why` then explains it. ERR_BAD_REQUEST: neither
 * side has the function, or the traces lack a time that it needs or the cycles for its test;
 * ERR_NO_MEMORY. */
bool fail_if_check(const char *text,
                   const struct comparison *comparison,
                   const struct fail_if_side sides[SIDE_COUNT],
                   bool *fires,
                   char why[FAIL_IF_TEXT_BYTES],
                   struct err *err) KS_MUST_USE;

#endif

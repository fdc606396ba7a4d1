/* Conditions of `compare --fail-if`: `NAME>N` or `NAME>N%`, which fire when the candidate is worse
 * by more than N.
 *
 * NAME: step_time (mean time of a cycle), kernel_time and operator_time (mean time a cycle of all
 * kernels, of all operators' own time), kernel:<name> (of one function, by its full or its short
 * name), suspicion (the highest score of a row). With % the growth relative to the base, without
 * the growth in microseconds; of suspicion always the score. */
#ifndef KS_SERVER_OPTIONS_FAIL_IF_H
#define KS_SERVER_OPTIONS_FAIL_IF_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>
#include <stddef.h>

bool fail_if_is_valid(const char *text);

/* The results that a comparison was made of, for the time of a single function. */
struct fail_if_side {
    const struct trace_results *const *results;
    size_t count;
};

#define FAIL_IF_TEXT_BYTES 400

/* Whether a condition (fail_if_is_valid) fires for this pair; `why` then says so in words. Errors:
 * ERR_BAD_REQUEST (no such function on either side, or a time that the traces do not have),
 * ERR_NO_MEMORY. */
bool fail_if_check(const char *text,
                   const struct comparison *comparison,
                   const struct fail_if_side sides[SIDE_COUNT],
                   bool *fires,
                   char why[FAIL_IF_TEXT_BYTES],
                   struct err *err) KS_MUST_USE;

#endif

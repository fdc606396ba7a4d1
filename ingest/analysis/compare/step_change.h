/* The step of two traces beside each other: how long it takes, where its time goes, and whether the
 * difference is more than chance. */
#ifndef KS_ANALYSIS_COMPARE_STEP_CHANGE_H
#define KS_ANALYSIS_COMPARE_STEP_CHANGE_H

#include "ingest/base/attr.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>

/* Means over all steps [DEV-6]. Where a trace has no steps, its whole time is one, and `per_step`
 * is false for both. */
struct step_change {
    bool per_step;
    int64_t steps[SIDE_COUNT]; /* 0: none */
    double step_ns[SIDE_COUNT];
    /* Add up to step_ns. */
    double category_ns[TIME_CATEGORY_COUNT][SIDE_COUNT];
    double p; /* Welch's test of the step times; NaN: fewer than two steps on a side */
    double u; /* Mann-Whitney of the same */
};

/* Reads steps, has_steps, role_ns and duration_ns. False without memory. */
bool step_change_of(const struct trace_results *const sides[SIDE_COUNT],
                    struct step_change *out) KS_MUST_USE;

#endif

/* The calls that efficiency counts [CAU-4.1]: of each tree of operators and calls the outermost
 * with a formula, else what launched the work. All launched work belongs to exactly one.
 * Where another recorder says whose work is [FMT-0.5a], that operator is what launched it.
 *
 *     aten::linear                    no formula, one below has: not counted
 *       aten::addmm                   formula: counted
 *         cudaLaunchKernel ─► work
 *     my::op                          no formula, nor below: counted without
 *       cudaLaunchKernel ─► work
 */
#ifndef KS_ANALYSIS_EFFICIENCY_COUNTED_CALLS_H
#define KS_ANALYSIS_EFFICIENCY_COUNTED_CALLS_H

#include "ingest/analysis/causes/causes.h"
#include "ingest/analysis/efficiency/device_peaks.h"
#include "ingest/analysis/efficiency/formulas.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counted_call {
    uint32_t event;
    bool has_formula;
    bool uses_tf32; /* the name of its work says so */
    struct formula formula;
    int64_t time_ns;               /* union of its work */
    uint32_t first_work, end_work; /* of `work` */
};

struct counted_calls {
    struct counted_call *items; /* in file order */
    uint32_t count;
    uint32_t *work; /* device events, call by call */
};

/* `causes` with the last step kept. O(n log n). False without memory; must be freed in either
 * case. The formulas need a model with operator_inputs (struct format_options). */
bool counted_calls_find(struct counted_calls *calls, const struct causes *causes) KS_MUST_USE;
void counted_calls_free(struct counted_calls *calls);

/* Nanoseconds at the peaks, NaN where they are not known; *is_compute_bound where they are.
 * [CAU-4.4] */
double counted_call_roofline(const struct formula *formula,
                             enum formula_precision precision,
                             const struct device_peaks *peaks,
                             bool *is_compute_bound);
/* With what is known of the work: float on matrix units may be tf32 [CAU-4.3]. */
enum formula_precision counted_call_precision(const struct formula *formula, bool uses_tf32);

#endif

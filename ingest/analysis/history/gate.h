/* Baseline and gate [HIST-3] [HIST-4]: is a new value worse than the values since the last change?
 */
#ifndef KS_ANALYSIS_HISTORY_GATE_H
#define KS_ANALYSIS_HISTORY_GATE_H

#include "ingest/analysis/history/changes.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct history_baseline {
    size_t first;    /* index of the first value of it */
    bool has_change; /* a change lies before `first` */
    struct history_summary summary;
};

/* Of a series without gaps. False without memory. */
bool history_baseline_find(struct history_baseline *out,
                           struct arena *arena,
                           const double *values,
                           size_t count,
                           const struct history_rules *rules) KS_MUST_USE;

/* "NAME>N" or "NAME>N%", maybe followed by " and p<P" with P above 0 and at most 1. The last ">"
 * divides, because names of kernels have them, too. */
#define GATE_CONDITION_FORM "NAME>N, NAME>N% or NAME>N% and p<P"
struct gate_condition {
    const char *name; /* not terminated */
    size_t name_len;
    const char *limit_text; /* what stands behind the last ">" */
    double limit;
    bool is_relative;
    double p_below; /* NaN: the text does not say */
};
bool gate_condition_parse(struct gate_condition *out, const char *text) KS_MUST_USE;

enum gate_verdict { GATE_PASS, GATE_FAIL, GATE_NO_BASELINE };
const char *gate_verdict_text(enum gate_verdict verdict);

struct gate_rules {
    double p; /* of conditions that do not say their own */
    int64_t min_points;
};

/* NaN: unknown. */
struct gate_row {
    double change, worse_by, p;
    enum gate_verdict verdict;
};

/* `candidate` NaN: it has no value. `direction` -1: larger is worse, +1: smaller is worse. */
struct gate_row gate_judge(double candidate,
                           const struct history_summary *baseline,
                           int direction,
                           const struct gate_condition *condition,
                           const struct gate_rules *rules);
enum gate_verdict gate_overall(const struct gate_row *rows, size_t count);

#endif

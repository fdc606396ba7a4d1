/* Two sides of cycles compared: [CMP-2] to [CMP-7], and ours beside them. Pure functions over the
 * rows of model/cycles.h. */
#ifndef KS_ANALYSIS_COMPARE_COMPARE_H
#define KS_ANALYSIS_COMPARE_COMPARE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One side: the cycles of one or several traces. Cycles of different traces are different cycles,
 * whatever their numbers. `traces` are results of which only cycles and cycle_uses are read. */
struct compare_side {
    const struct trace_results *const *traces;
    size_t trace_count;
    const char *label; /* "base" */
};

struct compare_options {
    const char *title; /* goes to comparison.title */
    int64_t base_pid,
        candidate_pid; /* COMPARISON_NO_PID: every pair. Only one given: pairs of it */
    int kind;          /* enum cycle_kind, or -1: every kind that both sides have */
};

/* Verdicts (ours). With fewer than two cycles on a side nothing can be tested: undecided. Two sides
 * whose rows, functions and cycle times are all equal do not differ. Else they differ when
 * - a row's q_presence is below COMPARE_Q_MAX; or
 * - a row's q_beta is below COMPARE_Q_MAX, or its q_mu is and the row is a finding by its score; or
 * - one of the two tests of the cycle times gives half of COMPARE_Q_MAX (they are two); or
 * - a function that one side does not have takes COMPARE_APPEARED_PPT_MIN of the other's cycle. */
#define COMPARE_Q_MAX 0.05
#define COMPARE_APPEARED_PPT_MIN 1.0
/* Rows of a higher score are the significant ones of the findings [CMP-7a]. */
#define COMPARE_SCORE_MIN 10.0

/* Sides with many processes have many pairs: more are refused, */
#define COMPARE_PAIRS_MAX 4096
/* and of those that are compared, the least suspicious are left out beyond so many rows in all. */
#define COMPARE_ROWS_MAX ((size_t)1 << 20)

/* Devices of traces are matched by their order in their process, not by number (devices.h); those
 * of tables by name [CMP-4c].
 *
 * Every pair of roles: a role is a (pid, kind of cycle). Only equal kinds meet, but where no kind
 * is on both sides, steps meet decode cycles (the pair is then one of decode). Of each kind, a pid
 * that both sides have makes a strict pair; every pid only in the base x every pid only in the
 * candidate a cross pair, whose labels end in _pid_N [CMP-2d]. Given both pids, just that pair;
 * given one, its pairs, or where these rules give it none, it with every pid of the other side.
 *
 * A row whose metric is missing is no row of the reference's report. It is one of ours where
 * neither role has any metric, or its type is "operator"; its figures of mu are NaN.
 *
 * The list, its comparisons and their texts lie in `arena` and refer to nothing else. Highest score
 * first, equal ones by pids. ERR_BAD_REQUEST when there is no pair (says which pids and kinds each
 * side has), or too many; ERR_TOO_LARGE; ERR_NO_MEMORY. */
bool compare_run(struct arena *arena,
                 const struct compare_side sides[SIDE_COUNT],
                 const struct compare_options *options,
                 struct comparison_list *out,
                 struct err *err) KS_MUST_USE;

#endif

/* A comparison of two sides, base and candidate ([CMP-3] to [CMP-7]), computed or read back from a
 * report. Rows and texts belong to the arena they were made in.
 *
 * Percentages 0..100 as in the report. Figures that a report does not hold are NaN. */
#ifndef KS_MODEL_RESULTS_COMPARISON_H
#define KS_MODEL_RESULTS_COMPARISON_H

#include "ingest/model/results/cycles.h"
#include "ingest/model/results/environment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum comparison_side { SIDE_BASE, SIDE_CANDIDATE, SIDE_COUNT };

#define COMPARISON_NO_PID INT64_MIN

/* One side: a process of one or several traces. */
struct comparison_role {
    const char *label; /* "normal", "abnormal_pid_17": as it stands in column names */
    const char *host;  /* "" when not known */
    int64_t pid;       /* COMPARISON_NO_PID when a report does not say */
    int64_t cycles;
    double mean_cycle_us;
};

/* Durations of both sides, each sorted descending, paired by rank. NaN: the side has fewer. */
struct comparison_cycle_row {
    double dur_us[SIDE_COUNT];
};

/* Beyond the reference: where a function occurs. */
enum comparison_presence {
    PRESENCE_BOTH,
    PRESENCE_ADDED,  /* only in the candidate: the reference scores it 0 */
    PRESENCE_REMOVED /* only in the base */
};
const char *
comparison_presence_name(enum comparison_presence presence); /* "both", "added", "removed" */

/* A (function, metric, device), by score descending in the reference's order [CMP-6a]. */
struct comparison_row {
    const char *function;
    const char
        *metric; /* "N/A" where the cycles have no counters: the score then uses beta alone */
    const char *device;
    double score; /* |delta beta| x (|z(beta)| + |z(log mu)|) */
    double beta_pct[SIDE_COUNT], delta_beta, z_beta, p_beta, u_beta;
    double mu[SIDE_COUNT], delta_mu, z_mu, z_log_mu, p_mu, u_mu;
    /* Ours beside them. q: p corrected for the number of tests (Benjamini-Hochberg, over all rows
     * of the comparison whose p is a number; beta and mu each for itself). */
    double q_beta, q_mu;
    enum comparison_presence presence;
    /* Fisher's exact test of the cycles that have the row among all of both sides; NaN in a report,
     * with fewer than two cycles on a side, and where the function is there without this row. */
    double p_presence, q_presence;
    int64_t cycles[SIDE_COUNT]; /* distinct cycles with this row; -1 where a report does not say */
};

#define FINDING_METRICS_MAX 3
#define FINDINGS_MAX 3

/* One of the (at most three) issues of the report. */
struct comparison_finding {
    const char *function;
    const char *device;
    double beta_pct[SIDE_COUNT], delta_beta, p_beta;
    size_t metric_count;
    struct {
        const char *metric;
        double mu[SIDE_COUNT];
    } metrics[FINDING_METRICS_MAX];
};

enum comparison_verdict {
    VERDICT_NO_DIFFERENCE, /* nothing that chance does not explain */
    VERDICT_DIFFERENT,
    VERDICT_UNDECIDED /* too few cycles for a test; or a report that does not say */
};
const char *comparison_verdict_name(enum comparison_verdict verdict); /* "no_difference", ... */

struct comparison {
    enum cycle_kind kind;
    const char *title; /* what was compared: an id, run or file names */
    bool strict;       /* the two processes have the same number */
    struct comparison_role roles[SIDE_COUNT];
    struct environment environment[SIDE_COUNT]; /* all unknown in a report */
    struct comparison_cycle_row *cycles;
    size_t cycle_count; /* ranks: the larger of both counts */
    double cycle_p;     /* Welch's test of the cycle durations; NaN: not tested */
    double cycle_u;     /* Mann-Whitney of the same */
    struct comparison_row *rows;
    size_t row_count;
    struct comparison_finding *findings;
    size_t finding_count;
    /* Where functions took time only on one side: indices into rows, by |delta beta| descending,
     * each (function, device) once. */
    uint32_t *appeared;
    size_t appeared_count;
    enum comparison_verdict verdict;
    /* Mean time a cycle (us) of kernels (gpu_compute and gpu_comm) and of operators (self), for
     * gates; NaN in a report. */
    double kernel_us[SIDE_COUNT];
    double operator_us[SIDE_COUNT];
};

/* All role pairs of two sides, the most suspicious (highest score of a row) first. */
struct comparison_list {
    struct comparison **items;
    size_t count;
    size_t left_out; /* the least suspicious pairs, where all would be too many rows */
};

#endif

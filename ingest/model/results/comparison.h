/* A comparison of two sides, base and candidate ([CMP-3] to [CMP-7]), computed or read back from a
 * report. Rows and texts belong to the arena they were made in.
 *
 * Percentages 0..100 as in the report. Figures that a report does not hold are NaN. */
#ifndef KS_MODEL_RESULTS_COMPARISON_H
#define KS_MODEL_RESULTS_COMPARISON_H

#include "ingest/model/results/cycles.h"
#include "ingest/model/results/environment.h"
#include "ingest/model/tables/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum comparison_side { SIDE_BASE, SIDE_CANDIDATE, SIDE_COUNT };

#define COMPARISON_NO_PID INT64_MIN
#define COMPARISON_UNKNOWN INT64_MIN /* of cycles, where a report does not say */

/* One side: a process of one or several traces. */
struct comparison_role {
#define TABLE_DEF "ingest/model/tables/comparison/comparison_role.def"
#include "ingest/model/tables/struct.h"
};

/* Durations of both sides, each sorted descending, paired by rank. NaN: the side has fewer. */
struct comparison_cycle_row {
#define TABLE_DEF "ingest/model/tables/comparison/comparison_cycle.def"
#include "ingest/model/tables/struct.h"
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
#define TABLE_DEF "ingest/model/tables/comparison/comparison_row.def"
#include "ingest/model/tables/struct.h"
};

#define FINDING_METRICS_MAX 3
#define FINDINGS_MAX 3

/* One of the (at most three) issues of the report. */
struct comparison_finding {
#define TABLE_DEF "ingest/model/tables/comparison/comparison_finding.def"
#include "ingest/model/tables/struct.h"
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
#define TABLE_DEF "ingest/model/tables/comparison/comparison.def"
#include "ingest/model/tables/struct.h"
    struct comparison_role roles[SIDE_COUNT];
    struct environment environment[SIDE_COUNT]; /* all unknown in a report */
    struct comparison_cycle_row *cycles;
    size_t cycle_count; /* ranks: the larger of both counts */
    struct comparison_row *rows;
    size_t row_count;
    struct comparison_finding *findings;
    size_t finding_count;
    /* Where functions took time only on one side: indices into rows, by |delta beta| descending,
     * each (function, device) once. */
    uint32_t *appeared;
    size_t appeared_count;
};

/* All role pairs of two sides, the most suspicious (highest score of a row) first. */
struct comparison_list {
    struct comparison **items;
    size_t count;
    size_t left_out; /* the least suspicious pairs, where all would be too many rows */
};

#endif

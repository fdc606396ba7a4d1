/* Idle causes and efficiency of two traces beside each other [CAU-6]. */
#ifndef KS_ANALYSIS_COMPARE_CAUSE_CHANGE_H
#define KS_ANALYSIS_COMPARE_CAUSE_CHANGE_H

#include "ingest/analysis/causes/idle.h"
#include "ingest/analysis/efficiency/efficiency.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/results.h"

#include <stddef.h>
#include <stdint.h>

struct cause_change_row {
#define TABLE_DEF "ingest/model/tables/comparison/cause_change.def"
#include "ingest/model/tables/struct.h"
};
extern const struct row_table table_cause_change; /* of the rows */

/* What is known of one trace. NULL: its events were not stored. */
struct cause_side {
    const struct idle *idle;
    const struct efficiency *efficiency; /* EFFICIENCY_BY_SHAPE: a row has one bound */
};

/* Why a side lacks the figures of a part. */
struct cause_missing {
    const char *part; /* idle, efficiency, mfu */
    int side;
    const char *reason; /* static, a sentence without its end */
};

#define CAUSE_CHANGE_ROWS_MAX 20
#define CAUSE_CHANGE_MISSING_MAX 6

struct cause_change {
    struct cause_change_row rows[CAUSE_CHANGE_ROWS_MAX];
    size_t count;
    struct cause_missing missing[CAUSE_CHANGE_MISSING_MAX];
    size_t missing_count;
};

/* `steps`: what times are divided by; 1 for whole traces. Refers to static texts only. */
void cause_change_of(const struct cause_side sides[SIDE_COUNT],
                     const int64_t steps[SIDE_COUNT],
                     struct cause_change *out);

#endif

/* What the operations of a training job answer [RANK-5] [RANK-7]. Rows live in an arena. */
#ifndef KS_MODEL_RESULTS_WHAT_IF_H
#define KS_MODEL_RESULTS_WHAT_IF_H

#include "ingest/model/tables/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pipeline_row {
#define TABLE_DEF "ingest/model/tables/ranks/pipeline.def"
#include "ingest/model/tables/struct.h"
};

struct what_if_slice_row {
#define TABLE_DEF "ingest/model/tables/ranks/what_if_slice.def"
#include "ingest/model/tables/struct.h"
};

extern const struct row_table table_pipeline;
extern const struct row_table table_what_if_slice;

struct pipeline {
    struct pipeline_row *rows; /* by step, replica, stage */
    size_t row_count;
    int64_t stages, chunks;
    double microbatches, theory;
    double bubble; /* mean of the rows; NaN: none */
};

/* A part of the job on its own pace, all else ideal. */
struct what_if_part {
    const char *name;      /* type, stage or replica */
    double slowdown;       /* step time over the ideal one */
    double *step_slowdown; /* by step */
};

struct what_if_parts {
    struct what_if_part *items;
    size_t count;
};

struct what_if_step {
    int64_t step;
    double measured_s, no_delay_s, ideal_s;
};

/* What it would bring to take a part's delays away, or to have them alone. NaN: there is no delay.
 */
struct what_if_change {
    double removed_s, added_s, removal, addition;
};

struct what_if {
    double measured_s, no_delay_s, ideal_s; /* means over steps */
    struct what_if_step *steps;
    size_t step_count;
    struct what_if_parts by_type, by_stage, by_replica;
    int64_t *worst_ranks; /* worst first */
    size_t worst_rank_count;
    struct what_if_change worst, last_stage;
    uint32_t missing; /* a bit an operation_type: annotations name none at the tail of stages */
};

enum what_if_scenario { WHAT_IF_IDEAL, WHAT_IF_NO_DELAY, WHAT_IF_MEASURED };

struct what_if_lane {
    int64_t step, dp_rank; /* INT64_MIN: the lowest */
    int64_t dsp_size;
    enum what_if_scenario scenario;
};

struct what_if_timeline {
    int64_t step;
    struct what_if_slice_row *rows; /* by start, stage, type, sequence */
    size_t row_count;
};

#endif

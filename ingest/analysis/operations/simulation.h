/* Runs the operations of a job through their dependencies, on their own pace or an ideal one
 * [RANK-7a] [RANK-7b]. */
#ifndef KS_ANALYSIS_OPERATIONS_SIMULATION_H
#define KS_ANALYSIS_OPERATIONS_SIMULATION_H

#include "ingest/analysis/operations/dependencies.h"
#include "ingest/analysis/operations/lanes.h"

struct simulation {
    struct operation_lanes lanes;
    struct dependencies dependencies;
    double *own_s;   /* as the lanes' times: duration, or transfer of what ends in a group */
    double *ideal_s; /* by operation: one value a type */
    double *end_s;   /* of the last run: by operation, then replica */
};

/* Which operations keep their own value. */
struct pace {
    const bool *operations; /* by operation; NULL: none */
    const bool *replicas;   /* by replica; NULL: none */
    const bool *cells;      /* by replica, then stage; NULL: none */
    bool is_inverted;       /* all but these */
};

/* ERR_BAD_INPUT, ERR_NO_MEMORY; to be freed in either case. */
bool simulation_build(struct simulation *out,
                      const struct operation_table *table,
                      int64_t dsp_size,
                      struct err *err) KS_MUST_USE;
void simulation_free(struct simulation *simulation);

/* One step; returns its time: the latest end of an optimizer. */
double simulation_run(struct simulation *simulation, size_t step, const struct pace *pace);
/* The value that the operation had in such a run. */
double simulation_value(const struct simulation *simulation,
                        size_t step,
                        const struct pace *pace,
                        uint32_t operation,
                        size_t replica);

#endif

/* Sides to compare, made row by row. */
#ifndef KS_TESTS_UNIT_INGEST_ANALYSIS_COMPARE_COMPARE_FIXTURE_H
#define KS_TESTS_UNIT_INGEST_ANALYSIS_COMPARE_COMPARE_FIXTURE_H

#include "ingest/base/err.h"
#include "ingest/model/results/results.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#define SIDE_ROWS_MAX 20000
#define SIDE_CYCLES_MAX 256
#define NO_METRIC (double)NAN

/* A trace that has cycles. */
struct made_trace {
    struct trace_results results;
    struct cycle_row cycles[SIDE_CYCLES_MAX];
    struct cycle_use_row uses[SIDE_ROWS_MAX];
};

static inline void made_begin(struct made_trace *made)
{
    memset(made, 0, sizeof *made);
    made->results.cycles = made->cycles;
    made->results.cycle_uses = made->uses;
}

static inline void
made_cycle(struct made_trace *made, int64_t number, enum cycle_kind kind, double dur_us)
{
    size_t at = made->results.cycle_count++;
    assert_true(at < SIDE_CYCLES_MAX);
    made->cycles[at] = (struct cycle_row){.number = number,
                                          .kind = kind,
                                          .anchor = "step",
                                          .start_ns = (int64_t)at * 1000000,
                                          .dur_us = dur_us};
}

/* A row in the cycle made last; `metric` NULL and mu NO_METRIC: none. */
static inline struct cycle_use_row *made_use(struct made_trace *made,
                                             int64_t pid,
                                             const char *function,
                                             const char *metric,
                                             double beta_pct,
                                             double mu_pct)
{
    size_t at = made->results.cycle_use_count++;
    assert_true(at < SIDE_ROWS_MAX);
    made->uses[at] = (struct cycle_use_row){.cycle = (int64_t)made->results.cycle_count - 1,
                                            .pid = pid,
                                            .host = "node",
                                            .function = function,
                                            .simple_name = function,
                                            .type = "gpu_compute",
                                            .metric = metric,
                                            .device = "GPU 0",
                                            .beta_pct = beta_pct,
                                            .mu_pct = mu_pct,
                                            .sigma_pct = mu_pct,
                                            .duration_us = beta_pct * 10,
                                            .interpolation = " ",
                                            .instances = 1};
    return &made->uses[at];
}

/* `count` cycles of a process in which one function takes the given shares, without metric. */
static inline void made_shares(struct made_trace *made,
                               int64_t pid,
                               const char *function,
                               const double *beta_pct,
                               size_t count)
{
    for (size_t i = 0; i < count; i++) {
        made_cycle(made, (int64_t)made->results.cycle_count + 1, CYCLE_STEP,
                   1000 + (double)(i % 3));
        (void)made_use(made, pid, function, NULL, beta_pct[i], NO_METRIC);
    }
}

#endif

#include "ingest/analysis/compare/step_change.h"

#include "ingest/analysis/util/stat_tests.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <math.h>
#include <stdlib.h>

static void take_whole(const struct trace_results *trace, int side, struct step_change *out)
{
    out->step_ns[side] = (double)trace->duration_ns;
    for (int category = 0; category < TIME_CATEGORY_COUNT; category++) {
        out->category_ns[category][side] = (double)trace->role_ns[category];
    }
}

/* Durations of the steps to `values`, ascending. */
static void
take_steps(const struct trace_results *trace, int side, struct step_change *out, double *values)
{
    double count = (double)trace->step_count;
    for (size_t i = 0; i < trace->step_count; i++) {
        const struct step_row *step = &trace->steps[i];
        values[i] = (double)(step->end_ns - step->start_ns);
        out->step_ns[side] += values[i] / count;
        for (int category = 0; category < TIME_CATEGORY_COUNT; category++) {
            out->category_ns[category][side] += (double)step->cost_ns[category] / count;
        }
    }
    qsort(values, trace->step_count, sizeof *values, order_f64_at);
}

static double deviation(const double *values, size_t count, double mean)
{
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        squares += (values[i] - mean) * (values[i] - mean);
    }
    return sqrt(squares / (double)(count - 1));
}

static bool test(struct step_change *out, double *const values[SIDE_COUNT])
{
    size_t n1 = (size_t)out->steps[SIDE_BASE];
    size_t n2 = (size_t)out->steps[SIDE_CANDIDATE];
    if (n1 < 2 || n2 < 2) {
        return true;
    }
    const double *means = out->step_ns;
    out->p = stat_welch_p(means[SIDE_BASE], deviation(values[SIDE_BASE], n1, means[SIDE_BASE]), n1,
                          means[SIDE_CANDIDATE],
                          deviation(values[SIDE_CANDIDATE], n2, means[SIDE_CANDIDATE]), n2);
    return stat_mann_whitney_p(values[SIDE_BASE], n1, values[SIDE_CANDIDATE], n2, &out->u);
}

static bool has_steps(const struct trace_results *trace)
{
    return trace->has_steps && trace->step_count > 0;
}

bool step_change_of(const struct trace_results *const sides[SIDE_COUNT], struct step_change *out)
{
    *out = (struct step_change){.per_step =
                                    has_steps(sides[SIDE_BASE]) && has_steps(sides[SIDE_CANDIDATE]),
                                .p = (double)NAN,
                                .u = (double)NAN};
    double *values[SIDE_COUNT] = {NULL, NULL};
    bool ok = true;
    for (int side = 0; side < SIDE_COUNT; side++) {
        const struct trace_results *trace = sides[side];
        out->steps[side] = has_steps(trace) ? (int64_t)trace->step_count : 0;
        values[side] = scratch_alloc(trace->step_count, sizeof **values);
        ok = ok && values[side] != NULL;
        if (ok && out->per_step) {
            take_steps(trace, side, out, values[side]);
        } else if (ok) {
            take_whole(trace, side, out);
        }
    }
    ok = ok && (!out->per_step || test(out, values));
    SCRATCH_FREE(values[SIDE_BASE], values[SIDE_CANDIDATE]);
    return ok;
}

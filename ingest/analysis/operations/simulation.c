#include "ingest/analysis/operations/simulation.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <math.h>
#include <stdlib.h>

/* Clocks that differ by more make a transfer negative beyond belief. */
#define ABSURD_TRANSFER_S (-0.010)

/* ---- own values [RANK-7a] ---- */

/* The latest start of a unit in each replica, or in all of them. */
static void latest_starts(const struct simulation *s, size_t step, uint32_t unit, double *late_s)
{
    const struct dependencies *d = &s->dependencies;
    const struct operation_lanes *lanes = &s->lanes;
    double last_s = -(double)INFINITY;
    for (size_t r = 0; r < lanes->replica_count; r++) {
        late_s[r] = -(double)INFINITY;
        for (uint32_t m = d->first_member[unit]; m < d->first_member[unit + 1]; m++) {
            double start_s = lanes->start_s[operation_lane(lanes, step, r) + d->members[m]];
            late_s[r] = fmax(late_s[r], start_s);
        }
        last_s = fmax(last_s, late_s[r]);
    }
    for (size_t r = 0; d->is_synchronised[unit] && r < lanes->replica_count; r++) {
        late_s[r] = last_s;
    }
}

static void set_own(struct simulation *s, size_t step, uint32_t unit, double *late_s)
{
    const struct dependencies *d = &s->dependencies;
    const struct operation_lanes *lanes = &s->lanes;
    latest_starts(s, step, unit, late_s);
    for (uint32_t m = d->first_member[unit]; m < d->first_member[unit + 1]; m++) {
        for (size_t r = 0; r < lanes->replica_count; r++) {
            size_t at = operation_lane(lanes, step, r) + d->members[m];
            double end_s = lanes->start_s[at] + lanes->duration_s[at];
            double transfer_s = end_s - late_s[r];
            transfer_s = transfer_s <= ABSURD_TRANSFER_S ? 0 : transfer_s;
            s->own_s[at] = d->is_grouped[d->members[m]] ? transfer_s : lanes->duration_s[at];
        }
    }
}

/* ---- ideal values [RANK-7c] ---- */

/* Neumaier's sum: what is lost of each is summed apart. */
static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    double lost = 0;
    for (size_t i = 0; i < count; i++) {
        double next = sum + values[i];
        lost += fabs(sum) >= fabs(values[i]) ? (sum - next) + values[i] : (values[i] - next) + sum;
        sum = next;
    }
    return (sum + lost) / (double)count;
}

static double median_of(double *values, size_t count)
{
    qsort(values, count, sizeof *values, order_f64_at);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static bool has_mean(uint8_t type)
{
    return type == OPERATION_FORWARD_COMPUTE || type == OPERATION_BACKWARD_COMPUTE ||
           type == OPERATION_GC || type == OPERATION_OPTIMIZER;
}

/* Keys of one type stand beside each other. */
static void set_ideal(struct simulation *s, double *room)
{
    const struct operation_lanes *lanes = &s->lanes;
    size_t lane_count = lanes->step_count * lanes->replica_count;
    for (size_t first = 0, end; first < lanes->key_count; first = end) {
        uint8_t type = lanes->keys[first].type;
        size_t count = 0;
        end = first;
        while (end < lanes->key_count && lanes->keys[end].type == type) {
            end++;
        }
        for (size_t lane = 0; lane < lane_count; lane++) {
            for (size_t i = first; i < end; i++) {
                room[count++] = s->own_s[lane * lanes->key_count + i];
            }
        }
        double value = has_mean(type) ? mean_of(room, count) : median_of(room, count);
        for (size_t i = first; i < end; i++) {
            s->ideal_s[i] = value;
        }
    }
}

static bool set_values(struct simulation *s)
{
    const struct operation_lanes *lanes = &s->lanes;
    size_t count = lanes->key_count * lanes->step_count * lanes->replica_count;
    double *room = scratch_alloc(count, sizeof *room);
    double *late_s = scratch_alloc(lanes->replica_count, sizeof *late_s);
    s->own_s = scratch_alloc(count, sizeof *s->own_s);
    s->ideal_s = scratch_alloc(lanes->key_count, sizeof *s->ideal_s);
    s->end_s = scratch_alloc(lanes->key_count * lanes->replica_count, sizeof *s->end_s);
    bool ok = room != NULL && late_s != NULL && s->own_s != NULL && s->ideal_s != NULL &&
              s->end_s != NULL;
    for (size_t step = 0; ok && step < lanes->step_count; step++) {
        for (uint32_t unit = 0; unit < s->dependencies.unit_count; unit++) {
            set_own(s, step, unit, late_s);
        }
    }
    if (ok) {
        set_ideal(s, room);
    }
    SCRATCH_FREE(room, late_s);
    return ok;
}

bool simulation_build(struct simulation *out,
                      const struct operation_table *table,
                      int64_t dsp_size,
                      struct err *err)
{
    *out = (struct simulation){.own_s = NULL};
    if (!operation_lanes_build(&out->lanes, table, err)) {
        return false;
    }
    int64_t replicas = (int64_t)out->lanes.replicas[out->lanes.replica_count - 1] + 1;
    return dependencies_build(&out->dependencies, &out->lanes, replicas * dsp_size, err) &&
           (set_values(out) ||
            err_set(err, ERR_NO_MEMORY, "no memory for the simulation of a job"));
}

void simulation_free(struct simulation *simulation)
{
    operation_lanes_free(&simulation->lanes);
    dependencies_free(&simulation->dependencies);
    SCRATCH_FREE(simulation->own_s, simulation->ideal_s, simulation->end_s);
}

/* ---- running [RANK-7b] ---- */

static bool
is_own(const struct simulation *s, const struct pace *pace, uint32_t operation, size_t replica)
{
    uint32_t stage = s->lanes.keys[operation].stage;
    bool is_chosen = (pace->operations != NULL && pace->operations[operation]) ||
                     (pace->replicas != NULL && pace->replicas[replica]) ||
                     (pace->cells != NULL && pace->cells[replica * s->lanes.stage_count + stage]);
    return is_chosen != pace->is_inverted;
}

double simulation_value(const struct simulation *simulation,
                        size_t step,
                        const struct pace *pace,
                        uint32_t operation,
                        size_t replica)
{
    size_t at = operation_lane(&simulation->lanes, step, replica) + operation;
    return is_own(simulation, pace, operation, replica) ? simulation->own_s[at]
                                                        : simulation->ideal_s[operation];
}

/* When the members of a unit have all started in a replica. */
static double start_of(const struct simulation *s, uint32_t unit, size_t replica)
{
    const struct dependencies *d = &s->dependencies;
    size_t replicas = s->lanes.replica_count;
    double start_s = 0;
    for (uint32_t m = d->first_member[unit]; m < d->first_member[unit + 1]; m++) {
        uint32_t operation = d->members[m];
        for (uint32_t b = d->first_before[operation]; b < d->first_before[operation + 1]; b++) {
            start_s = fmax(start_s, s->end_s[d->before[b] * replicas + replica]);
        }
    }
    return start_s;
}

static void run_unit(struct simulation *s, size_t step, const struct pace *pace, uint32_t unit)
{
    const struct dependencies *d = &s->dependencies;
    size_t replicas = s->lanes.replica_count;
    double latest_s = 0;
    for (size_t r = 0; d->is_synchronised[unit] && r < replicas; r++) {
        latest_s = fmax(latest_s, start_of(s, unit, r));
    }
    for (size_t r = 0; r < replicas; r++) {
        double start_s = d->is_synchronised[unit] ? latest_s : start_of(s, unit, r);
        for (uint32_t m = d->first_member[unit]; m < d->first_member[unit + 1]; m++) {
            s->end_s[d->members[m] * replicas + r] =
                start_s + simulation_value(s, step, pace, d->members[m], r);
        }
    }
}

double simulation_run(struct simulation *simulation, size_t step, const struct pace *pace)
{
    const struct operation_lanes *lanes = &simulation->lanes;
    size_t replicas = lanes->replica_count;
    double time_s = -(double)INFINITY;
    bool all_count = (simulation->dependencies.missing & 1U << OPERATION_OPTIMIZER) != 0;
    for (uint32_t i = 0; i < simulation->dependencies.unit_count; i++) {
        run_unit(simulation, step, pace, simulation->dependencies.order[i]);
    }
    for (size_t i = 0; i < lanes->key_count; i++) {
        bool counts = all_count || lanes->keys[i].type == OPERATION_OPTIMIZER;
        for (size_t r = 0; counts && r < replicas; r++) {
            time_s = fmax(time_s, simulation->end_s[i * replicas + r]);
        }
    }
    return time_s;
}

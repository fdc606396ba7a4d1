#include "ingest/analysis/operations/what_if.h"

#include "ingest/analysis/operations/simulation.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Simulated operations of one answer: each stage and each replica is a run of its own. */
#define SIMULATED_MAX ((uint64_t)1 << 32)
#define WORST_PERCENT 3
/* Differences below this share are rounding. */
#define ROUNDING 1e-9
#define NUMBER_BYTES 16

struct asking {
    struct simulation simulation;
    struct arena *arena;
    struct what_if *out;
    double *ideal_s; /* by step */
    bool *operations, *replicas, *cells;
    struct err *err;
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for what a job would take");
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum / (double)count;
}

/* Mean over the steps; *by_step, unless NULL, receives each. */
static double run_steps(struct asking *a, const struct pace *pace, double *by_step)
{
    size_t count = a->simulation.lanes.step_count;
    double sum = 0;
    for (size_t s = 0; s < count; s++) {
        double time_s = simulation_run(&a->simulation, s, pace);
        sum += time_s;
        if (by_step != NULL) {
            by_step[s] = time_s;
        }
    }
    return sum / (double)count;
}

/* ---- all of it ---- */

static double measured_of(const struct operation_lanes *lanes, size_t step)
{
    size_t first = operation_lane(lanes, step, 0);
    size_t count = lanes->replica_count * lanes->key_count;
    double start_s = (double)INFINITY;
    double end_s = -(double)INFINITY;
    for (size_t i = first; i < first + count; i++) {
        start_s = fmin(start_s, lanes->start_s[i]);
        end_s = fmax(end_s, lanes->start_s[i] + lanes->duration_s[i]);
    }
    return end_s - start_s;
}

static bool run_whole(struct asking *a)
{
    static const struct pace own = {.is_inverted = true};
    static const struct pace ideal = {.is_inverted = false};
    const struct operation_lanes *lanes = &a->simulation.lanes;
    struct what_if *out = a->out;
    size_t count = lanes->step_count;
    double *room = scratch_alloc(count, sizeof *room);
    out->steps = arena_calloc(a->arena, count, sizeof *out->steps);
    a->ideal_s = arena_calloc(a->arena, count, sizeof *a->ideal_s);
    bool ok = room != NULL && out->steps != NULL && a->ideal_s != NULL;
    if (ok) {
        out->step_count = count;
        out->no_delay_s = run_steps(a, &own, room);
        out->ideal_s = run_steps(a, &ideal, a->ideal_s);
    }
    for (size_t s = 0; ok && s < count; s++) {
        out->steps[s] =
            (struct what_if_step){lanes->steps[s], measured_of(lanes, s), room[s], a->ideal_s[s]};
        room[s] = out->steps[s].measured_s;
    }
    out->measured_s = ok ? mean_of(room, count) : 0;
    scratch_free(room);
    return ok || no_memory(a->err);
}

/* ---- parts [RANK-7e] ---- */

static struct what_if_part *
add_part(struct asking *a, struct what_if_parts *parts, const char *name)
{
    struct what_if_part *part = &parts->items[parts->count];
    part->name = arena_strdup(a->arena, name);
    part->step_slowdown = arena_calloc(a->arena, a->out->step_count, sizeof *part->step_slowdown);
    if (part->name == NULL || part->step_slowdown == NULL) {
        return NULL;
    }
    parts->count++;
    return part;
}

static bool
run_part(struct asking *a, struct what_if_parts *parts, const char *name, const struct pace *pace)
{
    struct what_if_part *part = add_part(a, parts, name);
    if (part == NULL) {
        return no_memory(a->err);
    }
    part->slowdown = run_steps(a, pace, part->step_slowdown) / a->out->ideal_s;
    for (size_t s = 0; s < a->out->step_count; s++) {
        part->step_slowdown[s] /= a->ideal_s[s];
    }
    return true;
}

static bool make_parts(struct asking *a, struct what_if_parts *parts, size_t most)
{
    parts->items = arena_calloc(a->arena, most + 1, sizeof *parts->items);
    return parts->items != NULL || no_memory(a->err);
}

/* Sends and receives of a direction count as one. */
static const char *part_name(uint8_t type)
{
    switch (type) {
    case OPERATION_FORWARD_RECV:
    case OPERATION_FORWARD_SEND:
        return "forward-pp-comm";
    case OPERATION_BACKWARD_RECV:
    case OPERATION_BACKWARD_SEND:
        return "backward-pp-comm";
    default:
        return operation_type_name((enum operation_type)type);
    }
}

/* Keys stand by type, and both of a pair beside each other. */
static bool run_types(struct asking *a)
{
    const struct operation_lanes *lanes = &a->simulation.lanes;
    const struct pace pace = {.operations = a->operations};
    bool ok = make_parts(a, &a->out->by_type, OPERATION_TYPE_COUNT);
    for (size_t first = 0, end; ok && first < lanes->key_count; first = end) {
        const char *name = part_name(lanes->keys[first].type);
        memset(a->operations, 0, lanes->key_count * sizeof *a->operations);
        end = first;
        while (end < lanes->key_count && part_name(lanes->keys[end].type) == name) {
            a->operations[end++] = true;
        }
        ok = run_part(a, &a->out->by_type, name, &pace);
    }
    return ok;
}

static bool run_stages(struct asking *a)
{
    const struct operation_lanes *lanes = &a->simulation.lanes;
    const struct pace pace = {.operations = a->operations};
    char name[NUMBER_BYTES];
    bool ok = make_parts(a, &a->out->by_stage, lanes->stage_count);
    for (uint32_t stage = 0; ok && stage < lanes->stage_count; stage++) {
        for (size_t i = 0; i < lanes->key_count; i++) {
            a->operations[i] = lanes->keys[i].stage == stage;
        }
        (void)snprintf(name, sizeof name, "%" PRIu32, stage);
        ok = run_part(a, &a->out->by_stage, name, &pace);
    }
    return ok;
}

static bool run_replicas(struct asking *a)
{
    const struct operation_lanes *lanes = &a->simulation.lanes;
    const struct pace pace = {.replicas = a->replicas};
    char name[NUMBER_BYTES];
    bool ok = make_parts(a, &a->out->by_replica, lanes->replica_count);
    for (size_t r = 0; ok && r < lanes->replica_count; r++) {
        memset(a->replicas, 0, lanes->replica_count * sizeof *a->replicas);
        a->replicas[r] = true;
        (void)snprintf(name, sizeof name, "%" PRIu32, lanes->replicas[r]);
        ok = run_part(a, &a->out->by_replica, name, &pace);
    }
    return ok;
}

/* ---- changes [RANK-7f] ---- */

static void run_change(struct asking *a, struct pace pace, struct what_if_change *out)
{
    double delay_s = a->out->no_delay_s - a->out->ideal_s;
    bool is_known = fabs(delay_s) > ROUNDING * a->out->no_delay_s;
    out->added_s = run_steps(a, &pace, NULL);
    pace.is_inverted = true;
    out->removed_s = run_steps(a, &pace, NULL);
    out->removal = is_known ? (a->out->no_delay_s - out->removed_s) / delay_s : (double)NAN;
    out->addition = is_known ? (out->added_s - a->out->ideal_s) / delay_s : (double)NAN;
}

/* A rank and how much its replica and its stage slow the job. */
struct score {
    double slowdown;
    int64_t rank;
    size_t cell;
};

ORDER_BY(by_score, struct score, ORDER_DOWN(slowdown), ORDER_UP(rank))

ORDER_BY(by_rank, struct score, ORDER_UP(rank))

static size_t replica_at(const struct operation_lanes *lanes, uint32_t dp_rank)
{
    size_t low = 0;
    size_t high = lanes->replica_count;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (lanes->replicas[middle] <= dp_rank) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A score for each rank of the lowest step. NULL without memory; to be freed. */
static struct score *
list_scores(const struct asking *a, const struct operation_table *table, size_t *count)
{
    const struct operation_lanes *lanes = &a->simulation.lanes;
    struct score *scores = scratch_alloc(table->count, sizeof *scores);
    size_t all = 0;
    *count = 0;
    for (uint32_t i = 0; scores != NULL && i < table->count; i++) {
        const struct operation *own = &table->items[i];
        if (own->step != lanes->steps[0]) {
            continue;
        }
        size_t replica = replica_at(lanes, own->dp_rank);
        scores[all++] = (struct score){fmin(a->out->by_replica.items[replica].slowdown,
                                            a->out->by_stage.items[own->stage].slowdown),
                                       own->rank, replica * lanes->stage_count + own->stage};
    }
    if (all > 0) {
        qsort(scores, all, sizeof *scores, by_rank);
    }
    for (size_t i = 0; i < all; i++) {
        bool is_new = *count == 0 || scores[*count - 1].rank != scores[i].rank;
        *count += is_new;
        scores[*count - 1] = scores[i];
    }
    if (*count > 0) {
        qsort(scores, *count, sizeof *scores, by_score);
    }
    return scores;
}

static bool run_worst(struct asking *a, const struct operation_table *table)
{
    size_t count = 0;
    struct score *scores = list_scores(a, table, &count);
    size_t worst = (WORST_PERCENT * count + 99) / 100;
    a->out->worst_ranks = arena_calloc(a->arena, worst + 1, sizeof *a->out->worst_ranks);
    bool ok = scores != NULL && a->out->worst_ranks != NULL;
    for (size_t i = 0; ok && i < worst; i++) {
        a->out->worst_ranks[i] = scores[i].rank;
        a->cells[scores[i].cell] = true;
    }
    a->out->worst_rank_count = worst;
    scratch_free(scores);
    if (ok) {
        run_change(a, (struct pace){.cells = a->cells}, &a->out->worst);
    }
    return ok || no_memory(a->err);
}

static void run_last_stage(struct asking *a)
{
    const struct operation_lanes *lanes = &a->simulation.lanes;
    for (size_t i = 0; i < lanes->key_count; i++) {
        a->operations[i] = lanes->keys[i].stage + 1 == lanes->stage_count;
    }
    run_change(a, (struct pace){.operations = a->operations}, &a->out->last_stage);
}

/* ---- the whole ---- */

static bool check_size(const struct asking *a)
{
    const struct operation_lanes *lanes = &a->simulation.lanes;
    uint64_t runs = (uint64_t)lanes->stage_count + lanes->replica_count + OPERATION_TYPE_COUNT;
    uint64_t operations = (uint64_t)lanes->key_count * lanes->step_count * lanes->replica_count;
    return operations <= SIMULATED_MAX / runs ||
           err_set(a->err, ERR_TOO_LARGE,
                   "%" PRIu64 " operations of %" PRIu32 " stages and %zu replicas are too many to "
                   "simulate each stage and replica: upload fewer steps",
                   operations, lanes->stage_count, lanes->replica_count);
}

static bool prepare(struct asking *a)
{
    const struct operation_lanes *lanes = &a->simulation.lanes;
    a->operations = scratch_calloc(lanes->key_count, sizeof *a->operations);
    a->replicas = scratch_calloc(lanes->replica_count, sizeof *a->replicas);
    a->cells = scratch_calloc(lanes->replica_count * lanes->stage_count, sizeof *a->cells);
    return (a->operations != NULL && a->replicas != NULL && a->cells != NULL) || no_memory(a->err);
}

bool what_if_run(const struct operation_table *table,
                 int64_t dsp_size,
                 struct arena *arena,
                 struct what_if *out,
                 struct err *err)
{
    struct asking a = {.arena = arena, .out = out, .err = err};
    *out = (struct what_if){.step_count = 0};
    bool ok = simulation_build(&a.simulation, table, dsp_size, err) && check_size(&a) &&
              prepare(&a) && run_whole(&a) && run_types(&a) && run_stages(&a) && run_replicas(&a) &&
              run_worst(&a, table);
    if (ok) {
        run_last_stage(&a);
        out->missing = a.simulation.dependencies.missing;
    }
    SCRATCH_FREE(a.operations, a.replicas, a.cells);
    simulation_free(&a.simulation);
    return ok;
}

/* ---- one lane [RANK-7g] ---- */

ORDER_BY(by_start,
         struct what_if_slice_row,
         ORDER_UP(start_ns),
         ORDER_UP(stage),
         ORDER_TEXT(optype),
         ORDER_UP(seq_id))

struct lane_place {
    size_t step, replica;
};

/* False: the job has no such lane. */
static bool find_lane(const struct operation_lanes *lanes,
                      const struct what_if_lane *lane,
                      size_t *step,
                      size_t *replica)
{
    *step = 0;
    *replica = 0;
    while (lane->step != INT64_MIN && *step < lanes->step_count &&
           lanes->steps[*step] != lane->step) {
        (*step)++;
    }
    while (lane->dp_rank != INT64_MIN && *replica < lanes->replica_count &&
           (int64_t)lanes->replicas[*replica] != lane->dp_rank) {
        (*replica)++;
    }
    return *step < lanes->step_count && *replica < lanes->replica_count;
}

/* The rows of a lane, without times. */
static bool begin_timeline(const struct operation_lanes *lanes,
                           const struct what_if_lane *lane,
                           struct arena *arena,
                           struct what_if_timeline *out,
                           struct lane_place *place,
                           struct err *err)
{
    if (!find_lane(lanes, lane, &place->step, &place->replica)) {
        return err_set(err, ERR_NOT_FOUND, "The job has no such step or dp_rank");
    }
    out->step = lanes->steps[place->step];
    out->rows = arena_calloc(arena, lanes->key_count, sizeof *out->rows);
    if (out->rows == NULL) {
        return no_memory(err);
    }
    out->row_count = lanes->key_count;
    for (size_t i = 0; i < out->row_count; i++) {
        out->rows[i] = (struct what_if_slice_row){
            .optype = operation_type_name((enum operation_type)lanes->keys[i].type),
            .seq_id = lanes->keys[i].seq_id,
            .stage = lanes->keys[i].stage};
    }
    return true;
}

/* As it was, waiting included: needs no dependencies. */
static bool measured_timeline(const struct operation_table *table,
                              const struct what_if_lane *lane,
                              struct arena *arena,
                              struct what_if_timeline *out,
                              struct err *err)
{
    struct operation_lanes lanes;
    struct lane_place at;
    bool ok = operation_lanes_build(&lanes, table, err) &&
              begin_timeline(&lanes, lane, arena, out, &at, err);
    if (ok) {
        size_t step = operation_lane(&lanes, at.step, 0);
        size_t cells = lanes.replica_count * lanes.key_count;
        size_t first = operation_lane(&lanes, at.step, at.replica);
        double begin_s = (double)INFINITY;
        for (size_t i = step; i < step + cells; i++) {
            begin_s = fmin(begin_s, lanes.start_s[i]);
        }
        for (size_t i = 0; i < out->row_count; i++) {
            out->rows[i].start_ns = saturating_s_to_ns(lanes.start_s[first + i] - begin_s);
            out->rows[i].duration_ns = saturating_s_to_ns(lanes.duration_s[first + i]);
        }
    }
    operation_lanes_free(&lanes);
    return ok;
}

static bool simulated_timeline(const struct operation_table *table,
                               const struct what_if_lane *lane,
                               struct arena *arena,
                               struct what_if_timeline *out,
                               struct err *err)
{
    struct simulation simulation;
    const struct pace pace = {.is_inverted = lane->scenario == WHAT_IF_NO_DELAY};
    struct lane_place at;
    bool ok = simulation_build(&simulation, table, lane->dsp_size, err) &&
              begin_timeline(&simulation.lanes, lane, arena, out, &at, err);
    if (ok) {
        (void)simulation_run(&simulation, at.step, &pace);
        for (uint32_t i = 0; i < out->row_count; i++) {
            double value_s = simulation_value(&simulation, at.step, &pace, i, at.replica);
            double end_s = simulation.end_s[i * simulation.lanes.replica_count + at.replica];
            out->rows[i].start_ns = saturating_s_to_ns(end_s - value_s);
            out->rows[i].duration_ns = saturating_s_to_ns(value_s);
        }
    }
    simulation_free(&simulation);
    return ok;
}

bool what_if_timeline_run(const struct operation_table *table,
                          const struct what_if_lane *lane,
                          struct arena *arena,
                          struct what_if_timeline *out,
                          struct err *err)
{
    *out = (struct what_if_timeline){.row_count = 0};
    bool ok = lane->scenario == WHAT_IF_MEASURED ? measured_timeline(table, lane, arena, out, err)
                                                 : simulated_timeline(table, lane, arena, out, err);
    if (ok && out->row_count > 0) {
        qsort(out->rows, out->row_count, sizeof *out->rows, by_start);
    }
    return ok;
}

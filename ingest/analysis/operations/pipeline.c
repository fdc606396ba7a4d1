/* What a pipeline leaves idle, stage by stage [RANK-5]. */
#include "ingest/analysis/operations/lanes.h"
#include "ingest/analysis/operations/what_if.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"

#include <math.h>
#include <stdlib.h>

/* A computation of a lane. */
struct work {
    double start_s, end_s;
    uint32_t stage;
};

static bool is_compute(uint8_t type)
{
    return type == OPERATION_FORWARD_COMPUTE || type == OPERATION_BACKWARD_COMPUTE;
}

ORDER_BY(by_stage, struct work, ORDER_UP(stage), ORDER_UP(start_s), ORDER_UP(end_s))

static size_t list_work(const struct operation_lanes *lanes, size_t lane, struct work *works)
{
    size_t count = 0;
    for (size_t i = 0; i < lanes->key_count; i++) {
        if (is_compute(lanes->keys[i].type)) {
            double start_s = lanes->start_s[lane + i];
            works[count++] =
                (struct work){start_s, start_s + lanes->duration_s[lane + i], lanes->keys[i].stage};
        }
    }
    if (count > 0) {
        qsort(works, count, sizeof *works, by_stage);
    }
    return count;
}

/* The row of one stage from its works, which stand by start; false: none of them takes time. */
static bool fill_row(struct pipeline_row *row,
                     const struct work *works,
                     size_t count,
                     double window_start_s,
                     double window_end_s)
{
    double busy_s = 0;
    double first_s = (double)NAN;
    double block_start_s = 0;
    double block_end_s = 0;
    bool has_block = false;
    for (size_t i = 0; i < count; i++) {
        if (has_block && works[i].start_s <= block_end_s) {
            block_end_s = fmax(block_end_s, works[i].end_s);
        } else if (works[i].end_s > works[i].start_s) {
            busy_s += has_block ? block_end_s - block_start_s : 0;
            first_s = has_block ? first_s : works[i].start_s;
            block_start_s = works[i].start_s;
            block_end_s = works[i].end_s;
            has_block = true;
        }
    }
    busy_s += block_end_s - block_start_s;
    double window_s = window_end_s - window_start_s;
    row->window_ns = saturating_s_to_ns(window_s);
    row->compute_ns = saturating_s_to_ns(busy_s);
    row->bubble = window_s > 0 ? 1 - busy_s / window_s : (double)NAN;
    row->before_first_ns = saturating_s_to_ns(first_s - window_start_s);
    row->after_last_ns = saturating_s_to_ns(window_end_s - block_end_s);
    return has_block;
}

static void add_lane(struct pipeline *out,
                     const struct operation_lanes *lanes,
                     size_t step,
                     size_t replica,
                     struct work *works)
{
    size_t count = list_work(lanes, operation_lane(lanes, step, replica), works);
    double start_s = (double)INFINITY;
    double end_s = -(double)INFINITY;
    for (size_t i = 0; i < count; i++) {
        start_s = fmin(start_s, works[i].start_s);
        end_s = fmax(end_s, works[i].end_s);
    }
    for (size_t first = 0, end; first < count; first = end) {
        struct pipeline_row *row = &out->rows[out->row_count];
        end = first;
        while (end < count && works[end].stage == works[first].stage) {
            end++;
        }
        row->step = lanes->steps[step];
        row->dp_rank = lanes->replicas[replica];
        row->stage = works[first].stage;
        if (fill_row(row, works + first, end - first, start_s, end_s)) {
            out->row_count++;
        }
    }
}

static void sum_up(struct pipeline *out, const struct operation_lanes *lanes)
{
    double sum = 0;
    size_t known = 0;
    size_t forwards = 0;
    for (size_t i = 0; i < out->row_count; i++) {
        if (!isnan(out->rows[i].bubble)) {
            known++;
            sum += out->rows[i].bubble;
        }
    }
    for (size_t i = 0; i < lanes->key_count; i++) {
        forwards += lanes->keys[i].type == OPERATION_FORWARD_COMPUTE && lanes->keys[i].stage == 0;
    }
    out->stages = lanes->stage_count;
    out->chunks = lanes->chunk_count < 1 ? 1 : lanes->chunk_count;
    out->microbatches = (double)forwards / (double)out->chunks;
    double others = (double)out->stages - 1;
    double slots = (double)out->chunks * out->microbatches + others;
    out->theory = slots > 0 ? others / slots : (double)NAN;
    out->bubble = known == 0 ? (double)NAN : sum / (double)known;
}

bool bubbles_run(const struct operation_table *table,
                 struct arena *arena,
                 struct pipeline *out,
                 struct err *err)
{
    struct operation_lanes lanes;
    struct work *works = NULL;
    *out = (struct pipeline){.row_count = 0};
    if (!operation_lanes_build(&lanes, table, err)) {
        operation_lanes_free(&lanes);
        return false;
    }
    size_t most = lanes.key_count < lanes.stage_count ? lanes.key_count : lanes.stage_count;
    works = scratch_alloc(lanes.key_count, sizeof *works);
    out->rows =
        arena_calloc(arena, lanes.step_count * lanes.replica_count * most + 1, sizeof *out->rows);
    bool ok = works != NULL && out->rows != NULL;
    for (size_t step = 0; ok && step < lanes.step_count; step++) {
        for (size_t replica = 0; replica < lanes.replica_count; replica++) {
            add_lane(out, &lanes, step, replica, works);
        }
    }
    if (ok) {
        sum_up(out, &lanes);
    }
    scratch_free(works);
    operation_lanes_free(&lanes);
    return ok || err_set(err, ERR_NO_MEMORY, "no memory for the pipeline of a job");
}

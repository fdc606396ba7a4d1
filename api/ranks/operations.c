/* Pipeline and what-if of a training job, from the operations that were uploaded, or that
 * annotations of its traces name [RANK-5] [RANK-7]. */
#include "ingest/query/ranks/operations.h"

#include "api/handlers.h"
#include "api/ranks/common.h"
#include "api/table/table_view.h"

#include <math.h>

#define LIMIT_DEFAULT 100
#define DSP_SIZE_MAX 1000000

/* A number, whole where it is one. */
static void write_number(struct json_write *w, const char *key, double value)
{
    bool is_whole = isfinite(value) && fabs(value) < 9e15 && value == floor(value);
    if (is_whole) {
        jw_key_int(w, key, (int64_t)value);
    } else {
        jw_key_double(w, key, value);
    }
}

static bool read_dsp_size(const struct api_call *call, int64_t *dsp_size, struct err *err)
{
    *dsp_size = 1;
    return query_string_int(&call->query, "dsp_size", 1, DSP_SIZE_MAX, dsp_size, err);
}

/* The table that was uploaded, else what annotations tell. */
static bool read_table(struct api_call *call, struct operation_table **table, struct err *err)
{
    struct ranks_verdict *verdict = NULL;
    struct ranks_wanted wanted = {.verdict = &verdict};
    struct query_ranks ranks;
    if (!query_operations_uploaded(call->snapshot, call_arena(call), call->params[0], table, err)) {
        return false;
    }
    return *table != NULL || (ranks_read_of(call, &ranks, &wanted, err) &&
                              query_operations_annotated(call->snapshot, call_arena(call), &ranks,
                                                         verdict, table, err));
}

/* ---- pipeline ---- */

struct pipeline_answer {
    struct table_view view;
    struct pipeline pipeline;
};

static void write_pipeline(struct json_write *w, const void *answer_void)
{
    const struct pipeline_answer *answer = answer_void;
    table_view_members(w, &answer->view, NULL);
    jw_key_int(w, "stages", answer->pipeline.stages);
    write_number(w, "microbatches", answer->pipeline.microbatches);
    jw_key_int(w, "chunks", answer->pipeline.chunks);
    jw_key_double(w, "theory", answer->pipeline.theory);
    jw_key_double(w, "bubble", answer->pipeline.bubble);
}

bool ranks_pipeline_get(struct api_call *call, struct err *err)
{
    struct pipeline_answer answer = {
        .view = {.table = &table_pipeline, .stem = "pipeline", .write_members = write_pipeline}};
    struct operation_table *table = NULL;
    if (!table_view_read(&answer.view, call, "step", LIMIT_DEFAULT, err) ||
        !read_table(call, &table, err) ||
        !query_operations_pipeline(table, call_arena(call), &answer.pipeline, err) ||
        !table_view_run(&answer.view, call, answer.pipeline.rows, answer.pipeline.row_count, err)) {
        return false;
    }
    answer.view.context = &answer;
    return table_view_answer(&answer.view, call);
}

/* ---- what-if ---- */

#define ALL_STEPS SIZE_MAX

/* Of one step, or of all. */
static void
write_parts(struct json_write *w, const char *key, const struct what_if_parts *parts, size_t step)
{
    jw_key_object_begin(w, key);
    for (size_t i = 0; i < parts->count; i++) {
        const struct what_if_part *part = &parts->items[i];
        jw_key_double(w, part->name,
                      step == ALL_STEPS ? part->slowdown : part->step_slowdown[step]);
    }
    jw_object_end(w);
}

static void write_all_parts(struct json_write *w, const struct what_if *from, size_t step)
{
    write_parts(w, "by_optype", &from->by_type, step);
    write_parts(w, "by_stage", &from->by_stage, step);
    write_parts(w, "by_dp_rank", &from->by_replica, step);
}

static void write_change(struct json_write *w, const struct what_if_change *change)
{
    jw_key_double(w, "removed_s", change->removed_s);
    jw_key_double(w, "added_s", change->added_s);
    jw_key_double(w, "removal", change->removal);
    jw_key_double(w, "addition", change->addition);
}

static void write_steps(struct json_write *w, const struct what_if *from, bool per_step)
{
    jw_key_array_begin(w, "steps");
    for (size_t s = 0; s < from->step_count; s++) {
        const struct what_if_step *step = &from->steps[s];
        jw_object_begin(w);
        jw_key_int(w, "step", step->step);
        jw_key_double(w, "measured_s", step->measured_s);
        jw_key_double(w, "no_delay_s", step->no_delay_s);
        jw_key_double(w, "ideal_s", step->ideal_s);
        jw_key_double(w, "slowdown", step->no_delay_s / step->ideal_s);
        if (per_step) {
            write_all_parts(w, from, s);
        }
        jw_object_end(w);
    }
    jw_array_end(w);
}

/* Types that the answer had to do without. */
static void write_missing(struct json_write *w, uint32_t missing)
{
    jw_key_array_begin(w, "missing");
    for (int type = 0; type < OPERATION_TYPE_COUNT; type++) {
        if ((missing & 1U << type) != 0) {
            jw_string(w, operation_type_name((enum operation_type)type));
        }
    }
    jw_array_end(w);
}

bool ranks_what_if_get(struct api_call *call, struct err *err)
{
    struct what_if from;
    struct operation_table *table = NULL;
    int64_t dsp_size;
    if (!read_dsp_size(call, &dsp_size, err) || !read_table(call, &table, err) ||
        !query_operations_what_if(table, call_arena(call), dsp_size, &from, err)) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    jw_key_double(&w, "slowdown", from.no_delay_s / from.ideal_s);
    jw_key_double(&w, "launch_slowdown", from.measured_s / from.no_delay_s);
    jw_key_double(&w, "measured_s", from.measured_s);
    jw_key_double(&w, "no_delay_s", from.no_delay_s);
    jw_key_double(&w, "ideal_s", from.ideal_s);
    write_all_parts(&w, &from, ALL_STEPS);
    jw_key_object_begin(&w, "worst_ranks");
    jw_key_array_begin(&w, "ranks");
    for (size_t i = 0; i < from.worst_rank_count; i++) {
        jw_int(&w, from.worst_ranks[i]);
    }
    jw_array_end(&w);
    write_change(&w, &from.worst);
    jw_object_end(&w);
    jw_key_object_begin(&w, "last_stage");
    write_change(&w, &from.last_stage);
    jw_object_end(&w);
    write_missing(&w, from.missing);
    write_steps(&w, &from, call_flag(call, "per_step"));
    jw_object_end(&w);
    return true;
}

/* ---- one lane ---- */

struct lane_answer {
    struct table_view view;
    struct what_if_timeline timeline;
};

static void write_lane(struct json_write *w, const void *answer_void)
{
    const struct lane_answer *answer = answer_void;
    table_view_members(w, &answer->view, NULL);
    jw_key_int(w, "step", answer->timeline.step);
}

bool ranks_what_if_timeline_get(struct api_call *call, struct err *err)
{
    static const char *const scenarios[] = {"ideal", "no_delay", "measured", NULL};
    struct lane_answer answer = {
        .view = {.table = &table_what_if_slice, .stem = "what-if", .write_members = write_lane}};
    struct what_if_lane lane = {.step = INT64_MIN, .dp_rank = INT64_MIN};
    size_t scenario = 0;
    if (!table_view_read(&answer.view, call, "start_ns", LIMIT_DEFAULT, err) ||
        !table_params_choice(call, "scenario", scenarios, &scenario, err) ||
        !query_string_int(&call->query, "step", -INT64_MAX, INT64_MAX, &lane.step, err) ||
        !query_string_int(&call->query, "dp_rank", 0, INT64_MAX, &lane.dp_rank, err) ||
        !read_dsp_size(call, &lane.dsp_size, err)) {
        return false;
    }
    struct operation_table *table = NULL;
    lane.scenario = (enum what_if_scenario)scenario;
    if (!read_table(call, &table, err) ||
        !query_operations_timeline(table, call_arena(call), &lane, &answer.timeline, err) ||
        !table_view_run(&answer.view, call, answer.timeline.rows, answer.timeline.row_count, err)) {
        return false;
    }
    answer.view.context = &answer;
    return table_view_answer(&answer.view, call);
}

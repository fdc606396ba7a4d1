#include "ingest/analysis/call_tree/call_tree.h"
#include "ingest/analysis/classify/tb_clock.h"
#include "ingest/analysis/classify/texts.h"
#include "ingest/analysis/collectives/collectives.h"
#include "ingest/analysis/collectives/log.h"
#include "ingest/analysis/devices/devices.h"
#include "ingest/analysis/devices/gpus.h"
#include "ingest/analysis/kernels/kernels.h"
#include "ingest/analysis/launches/launches.h"
#include "ingest/analysis/memory/log.h"
#include "ingest/analysis/modules/modules.h"
#include "ingest/analysis/operators/calls.h"
#include "ingest/analysis/operators/operators.h"
#include "ingest/analysis/overview/health.h"
#include "ingest/analysis/overview/recommend.h"
#include "ingest/analysis/relations/backward.h"
#include "ingest/analysis/relations/launch_correlation.h"
#include "ingest/analysis/relations/op_tree.h"
#include "ingest/analysis/relations/tb_collectives.h"
#include "ingest/analysis/rules.h"
#include "ingest/analysis/steps/breakdown.h"
#include "ingest/analysis/steps/steps.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/index/index.h"

#include <string.h>

static void set_bounds(struct analysis *run)
{
    struct trace_results *results = run->results;
    results->event_count = run->trace->events.count;
    results->decimal_times = run->trace->decimal_times;
    results->plugin_start_ns = run->sel.first_ns;
    results->start_ns = saturating_add(run->trace->base_time_ns, run->sel.first_ns);
    results->duration_ns = saturating_sub(run->sel.last_ns, run->sel.first_ns);
    results->mlu = run->sel.mlu;
}

/* The has_… of [TB-6f]; [TB-8a]: a device's columns are shown when it did anything. */
static void set_presence(struct analysis *run)
{
    struct trace_results *results = run->results;
    const struct ranges *roles = run->roles.by_role;
    results->has_runtime = roles[TIME_RUNTIME].count > 0;
    results->has_kernel = roles[TIME_KERNEL].count > 0 || run->ours.communicates != NULL;
    results->has_communication = roles[TIME_COMMUNICATION].count > 0;
    results->has_memcpy_or_memset = roles[TIME_MEMCPY].count > 0 || roles[TIME_MEMSET].count > 0;
    results->operators_have_device = results->has_kernel || results->has_memcpy_or_memset;
    const char *device_type = run->sel.mlu ? "MLU" : "GPU";
    bool has_device = results->operators_have_device || results->has_runtime;
    results->device_type = has_device ? device_type : "CPU";
}

static const char *step_name(struct analysis *run, uint32_t event)
{
    static const char ONLY_STEP[] = "0";
    struct arena *arena = &run->results->arena;
    if (event == STEP_NO_EVENT) {
        return arena_strndup(arena, ONLY_STEP, strlen(ONLY_STEP));
    }
    char number[NAMES_STEP_NUMBER_BYTES];
    const char *name = names_text(&run->sel.names, run->sel.name[event]);
    if (strncmp(name, NAMES_STEP_PREFIX, strlen(NAMES_STEP_PREFIX)) != 0) {
        return arena_strndup(arena, name, strlen(name));
    }
    size_t len = names_step_number(name, number, sizeof number);
    return arena_strndup(arena, number, len);
}

/* How the whole time divides is asked of the exact figures only. */
static bool divide_time(struct analysis *run, struct step_row *rows)
{
    const struct event_classes *sel = &run->sel;
    bool is_exact = run->sel.ours;
    struct range span = {is_exact ? sel->first_ns : INT64_MIN, is_exact ? sel->last_ns : INT64_MAX};
    int64_t unasked_ns[TIME_CATEGORY_COUNT];
    return breakdown_run(rows, is_exact ? run->results->role_ns : unasked_ns, span, &run->steps,
                         &run->roles);
}

static bool write_steps(struct analysis *run)
{
    struct trace_results *results = run->results;
    const struct steps *steps = &run->steps;
    struct step_row *rows = arena_calloc(&results->arena, steps->count, sizeof *rows);
    if (rows == NULL || !divide_time(run, rows)) {
        return false;
    }
    results->steps = rows;
    results->step_count = steps->count;
    results->steps_undefined = steps->undefined;
    results->has_profiler_steps = steps->has_profiler_steps;
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        rows[i].name = step_name(run, step->event);
        rows[i].launches = step->launches;
        rows[i].device_activities = step->device_activities;
        if (!steps->undefined) {
            rows[i].start_ns = tb_clock_position(&run->sel, step->start);
            rows[i].end_ns = tb_clock_position(&run->sel, step->end);
        }
        if (run->sel.ours && steps->has_profiler_steps) {
            results->steps_ns = saturating_add(results->steps_ns, step->end - step->start);
        }
        if (rows[i].name == NULL) {
            return false;
        }
    }
    return true;
}

static bool find_collectives(struct analysis *run)
{
    struct trace_results *results = run->results;
    return tb_collectives_collect(&run->comms, &run->sel) &&
           tb_collectives_summary(&run->comms, &run->sel, &results->communication_nodes,
                                  &results->communication_signature) &&
           (!run->sel.ours || collectives_collect(&run->ours, &run->sel, &run->links));
}

static bool write_collectives(struct analysis *run)
{
    struct trace_results *results = run->results;
    struct arena *arena = &results->arena;
    results->collective_count = run->ours.count;
    results->communication_rule = run->sel.ours ? COLLECTIVES_OWN_RULE : COLLECTIVES_TB_RULE;
    return collective_log_build(&results->comm_log, arena, &run->comms, &run->sel, &run->steps) &&
           collectives_log(&results->comm_log_ours, arena, &run->ours, &run->sel, &run->steps);
}

static bool hand_frame_on(struct analysis *run)
{
    const struct trace_results *results = run->results;
    struct timeline_frame frame = {.start_ns = results->start_ns,
                                   .sees_events =
                                       results->plugin_start_ns != 0 || results->duration_ns != 0,
                                   .mlu = results->mlu,
                                   .communicates = run->ours.communicates};
    if (!run->sel.ours || run->wants->take_frame == NULL) {
        return true;
    }
    run->ours.communicates = NULL;
    run->wants->take_frame(run->wants->context, &frame);
    timeline_frame_free(&frame);
    return true;
}

static bool find_steps(struct analysis *run)
{
    return steps_from_index(&run->steps, &run->sel, &run->index);
}

static bool run_steps(struct analysis *run)
{
    bool ok = find_collectives(run) &&
              time_ranges_collect(&run->roles, &run->sel, &run->comms, run->ours.communicates);
    if (ok) {
        set_presence(run);
        ok = hand_frame_on(run) && run->rules->find_steps(run) && write_collectives(run) &&
             write_steps(run);
    }
    tb_collectives_free(&run->comms);
    time_ranges_free(&run->roles);
    launch_correlation_drop_devices(&run->links);
    return ok;
}

/* ---- logs: packed as soon as nobody needs their columns, for they are the largest results ---- */

bool analysis_pack_log(struct analysis *run, enum result_log log, const void *columns)
{
    bool has_any = run->wants->pack != NULL && columns != NULL;
    return !has_any || run->wants->pack(log, columns, &run->results->packed[log]);
}

void analysis_drop_columns(struct analysis *run, enum result_log log)
{
    struct trace_results *results = run->results;
    if (run->wants->pack == NULL) {
        return;
    }
    arena_free(&results->log_arenas[log]);
    switch (log) {
    case RESULT_CALL_TREE:
        results->call_tree = NULL;
        break;
    case RESULT_MEMORY_LOG:
        results->memory_log = NULL;
        break;
    default:
        results->gpu_counters = NULL;
        break;
    }
}

static bool run_memory_log(struct analysis *run, const struct call_rows *rows)
{
    struct trace_results *results = run->results;
    struct arena *arena = &results->log_arenas[RESULT_MEMORY_LOG];
    bool ok =
        memory_log_build(&results->memory_log, arena, &run->sel, results->call_tree, rows) &&
        (run->wants->pack != NULL ? analysis_pack_log(run, RESULT_MEMORY_LOG, results->memory_log)
                                  : memory_log_write(results->memory_log, arena));
    analysis_drop_columns(run, RESULT_MEMORY_LOG);
    return ok;
}

/* To be packed it needs no columns, which would be the most that an ingest has in memory. */
bool analysis_call_tree(struct analysis *run)
{
    struct trace_results *results = run->results;
    struct arena *arena = &results->log_arenas[RESULT_CALL_TREE];
    struct call_rows rows;
    bool ok =
        call_tree_build(&results->call_tree, arena, &rows, &run->tree, &run->backward) &&
        modules_run(&results->modules, &results->module_count, &results->arena, &run->sel,
                    results->call_tree, &rows, run->rules->modules_merge) &&
        (run->wants->pack != NULL ? analysis_pack_log(run, RESULT_CALL_TREE, results->call_tree)
                                  : call_rows_write(&rows, results->call_tree, arena));
    call_rows_drop_partners(&rows);
    ok = ok && run_memory_log(run, &rows);
    analysis_drop_columns(run, RESULT_CALL_TREE);
    call_rows_free(&rows);
    return ok;
}

/* By the index, which nobody needs any longer then. */
static bool run_operators(struct analysis *run)
{
    struct event_classes *sel = &run->sel;
    bool ok = texts_init(&run->texts, &run->results->arena, &sel->names) &&
              operator_calls_run(run->results, &run->texts, sel, &run->index, &run->launched) &&
              op_tree_from_index(&run->tree, sel, &run->index);
    index_free(&run->index);
    return ok && analysis_call_tree(run);
}

static bool run_devices(struct analysis *run)
{
    struct trace_results *results = run->results;
    return kernels_collect(&run->kernels, &run->sel) &&
           kernels_run(results, &run->texts, &run->sel.names, &run->kernels) &&
           devices_run(results, &results->arena, &run->kernels, &run->steps, &run->launched) &&
           gpus_run(results, &run->sel) &&
           (run->rules->run_counters == NULL || run->rules->run_counters(run)) &&
           recommend_run(results, &run->sel, &run->kernels, &run->launched);
}

/* The largest arrays are freed. */
static void hand_room_on(const struct analysis *run)
{
    if (run->wants->take_room != NULL) {
        run->wants->take_room(run->wants->context);
    }
}

static bool choose_events(struct analysis *run)
{
    if (!index_build(&run->index, run->trace)) {
        return false;
    }
    health_find_index_views(run->results, &run->index);
    return classify_events(&run->sel, run->trace, &run->index, run->wants->kernel_rules, false,
                           &run->results->warnings);
}

static bool run_all(struct analysis *run)
{
    struct trace_results *results = run->results;
    if (!run->rules->choose_events(run)) {
        return false;
    }
    index_drop_in_time(&run->index);
    set_bounds(run);
    bool ok = launch_correlation_build(&run->links, &run->sel) && run_steps(run) &&
              run->rules->run_operators(run);
    op_tree_free(&run->tree);
    launch_correlation_free(&run->links);
    if (!ok) {
        return false;
    }
    hand_room_on(run);
    if (!run_devices(run)) {
        return false;
    }
    health_find_views(results, &run->sel);
    return health_copy_environment(results, run->trace) && health_find_missing(results, &run->sel);
}

static void free_run(struct analysis *run)
{
    index_free(&run->index);
    collectives_free(&run->ours);
    texts_free(&run->texts);
    kernels_free(&run->kernels);
    steps_free(&run->steps);
    classify_free(&run->sel);
}

bool analysis_by_rules(const struct trace *trace,
                       const struct analysis_wants *wants,
                       const struct analysis_rules *rules,
                       struct trace_results **out,
                       struct err *err)
{
    struct analysis run = {.trace = trace,
                           .rules = rules,
                           .results = results_create(),
                           .wants = wants,
                           .backward = {.main_thread = OP_NO_THREAD}};
    /* Index arrays keep one bit for marks. */
    bool ok = trace->events.count <= INT32_MAX && run.results != NULL;
    if (ok) {
        run.results->warnings = trace->warnings;
        ok = run_all(&run);
    }
    free_run(&run);
    if (!ok) {
        results_destroy(run.results);
        run.results = NULL;
    }
    *out = run.results;
    return ok || err_set(err, ERR_NO_MEMORY, "Not enough memory to analyse %u events.",
                         trace->events.count);
}

bool analysis_run(const struct trace *trace, struct trace_results **out, struct err *err)
{
    return analysis_run_with(trace, &(struct analysis_wants){.pack = NULL}, out, err);
}

bool analysis_run_with(const struct trace *trace,
                       const struct analysis_wants *wants,
                       struct trace_results **out,
                       struct err *err)
{
    static const struct analysis_rules ours = {
        .choose_events = choose_events, .find_steps = find_steps, .run_operators = run_operators};
    return analysis_by_rules(trace, wants, &ours, out, err);
}

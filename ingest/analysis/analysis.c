#include "ingest/analysis/analysis.h"

#include "ingest/analysis/call_tree/call_tree.h"
#include "ingest/analysis/classify/select.h"
#include "ingest/analysis/classify/texts.h"
#include "ingest/analysis/classify/times.h"
#include "ingest/analysis/collectives/comm_log.h"
#include "ingest/analysis/collectives/comm_ours.h"
#include "ingest/analysis/devices/devices.h"
#include "ingest/analysis/devices/gpu_counters.h"
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
#include "ingest/analysis/relations/comm.h"
#include "ingest/analysis/relations/link.h"
#include "ingest/analysis/relations/op_tree.h"
#include "ingest/analysis/relations/visit_tables.h"
#include "ingest/analysis/relations/visits.h"
#include "ingest/analysis/steps/breakdown.h"
#include "ingest/analysis/steps/steps.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/index/index.h"

#include <string.h>

enum figure_set {
    FIGURES_EXACT,
    FIGURES_PLUGIN,        /* by its rules */
    FIGURES_PLUGIN_ROUNDED /* and with decimal times as its doubles have them */
};

/* What one analysis hands to the next. */
struct run {
    const struct trace *trace;
    enum figure_set set;
    struct trace_results *results;
    const struct analysis_wants *wants;
    struct trace_index index; /* empty in the plugin's figures */
    struct selection sel;
    struct links links;
    struct comms comms;
    struct comm_ours ours; /* empty in the plugin's figures */
    struct roles roles;
    struct steps steps;
    struct op_tree tree;
    struct backward backward; /* empty in our figures */
    struct visits visits;
    struct kernels kernels;
    struct launched_time launched;
    struct texts texts;
};

static void set_bounds(struct run *run)
{
    struct trace_results *results = run->results;
    results->event_count = run->trace->events.count;
    results->decimal_times = run->trace->decimal_times;
    results->plugin_start_ns = run->sel.first_ns;
    results->start_ns = ns_add(run->trace->base_time_ns, run->sel.first_ns);
    results->duration_ns = ns_sub(run->sel.last_ns, run->sel.first_ns);
    results->mlu = run->sel.mlu;
}

/* The has_… of [TB-6f]; [TB-8a]: a device's columns are shown when it did anything. */
static void set_presence(struct run *run)
{
    struct trace_results *results = run->results;
    const struct ranges *roles = run->roles.by_role;
    results->has_runtime = roles[ROLE_RUNTIME].count > 0;
    results->has_kernel = roles[ROLE_KERNEL].count > 0 || run->ours.finds_more;
    results->has_communication = roles[ROLE_COMMUNICATION].count > 0;
    results->has_memcpy_or_memset = roles[ROLE_MEMCPY].count > 0 || roles[ROLE_MEMSET].count > 0;
    results->operators_have_device = results->has_kernel || results->has_memcpy_or_memset;
    const char *device_type = run->sel.mlu ? "MLU" : "GPU";
    bool has_device = results->operators_have_device || results->has_runtime;
    results->device_type = has_device ? device_type : "CPU";
}

static const char *step_name(struct run *run, uint32_t event)
{
    static const char ONLY_STEP[] = "0";
    struct arena *arena = &run->results->arena;
    if (event == STEP_NO_EVENT) {
        return arena_strndup(arena, ONLY_STEP, strlen(ONLY_STEP));
    }
    char number[NAMES_STEP_NUMBER_BYTES];
    const char *name = names_text(&run->sel.names, run->sel.name[event]);
    size_t len = names_step_number(name, number, sizeof number);
    return arena_strndup(arena, number, len);
}

/* How the whole time divides is asked of the exact figures only. */
static bool divide_time(struct run *run, struct step_row *rows)
{
    const struct selection *sel = &run->sel;
    bool is_exact = run->set == FIGURES_EXACT;
    struct range span = {is_exact ? sel->first_ns : INT64_MIN, is_exact ? sel->last_ns : INT64_MAX};
    int64_t unasked_ns[ROLE_COUNT];
    return breakdown_run(rows, is_exact ? run->results->role_ns : unasked_ns, span, &run->steps,
                         &run->roles);
}

static bool write_steps(struct run *run)
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
            rows[i].start_ns = times_position(&run->sel, step->start);
            rows[i].end_ns = times_position(&run->sel, step->end);
        }
        if (rows[i].name == NULL) {
            return false;
        }
    }
    return true;
}

static bool find_collectives(struct run *run)
{
    struct trace_results *results = run->results;
    return comm_collect(&run->comms, &run->sel) &&
           comm_summary(&run->comms, &run->sel, &results->communication_nodes,
                        &results->communication_signature) &&
           (run->set != FIGURES_EXACT ||
            comm_ours_collect(&run->ours, &run->sel, &run->links, &run->comms));
}

static bool write_collectives(struct run *run)
{
    struct trace_results *results = run->results;
    struct arena *arena = &results->arena;
    results->collective_count = run->ours.count;
    results->communication_rule = run->ours.finds_more ? COMM_OURS : COMM_PLUGIN;
    return comm_log_build(&results->comm_log, arena, &run->comms, &run->sel, &run->steps) &&
           comm_ours_log(&results->comm_log_ours, arena, &run->ours, &run->sel, &run->steps);
}

/* Where our rule sees no collective, the plugin's may: it goes by external ids alone. */
static bool mark_by_plugin(struct run *run, bool **communicates)
{
    *communicates = scratch_calloc(run->trace->events.count, sizeof **communicates);
    const struct events_in_time work = run->sel.lists[LIST_DEVICE];
    for (uint32_t i = 0; *communicates != NULL && i < work.count; i++) {
        uint32_t event = work.items[i];
        (*communicates)[event] = comm_has_device_event(&run->comms, &run->sel, event);
    }
    return *communicates != NULL;
}

static bool hand_frame_on(struct run *run)
{
    const struct trace_results *results = run->results;
    struct timeline_frame frame = {.start_ns = results->start_ns,
                                   .sees_events =
                                       results->plugin_start_ns != 0 || results->duration_ns != 0,
                                   .mlu = results->mlu,
                                   .communicates = run->ours.communicates};
    if (run->set != FIGURES_EXACT || run->wants->take_frame == NULL) {
        return true;
    }
    run->ours.communicates = NULL;
    bool has_any = results->has_communication || run->ours.count > 0;
    if (has_any && frame.communicates == NULL && !mark_by_plugin(run, &frame.communicates)) {
        return false;
    }
    run->wants->take_frame(run->wants->context, &frame);
    timeline_frame_free(&frame);
    return true;
}

static bool find_steps(struct run *run)
{
    return run->set == FIGURES_EXACT ? steps_from_index(&run->steps, &run->sel, &run->index)
                                     : steps_build(&run->steps, &run->sel, &run->links);
}

static bool run_steps(struct run *run)
{
    bool ok = find_collectives(run) &&
              roles_collect(&run->roles, &run->sel, &run->comms, run->ours.communicates);
    if (ok) {
        set_presence(run);
        ok = hand_frame_on(run) && find_steps(run) && write_collectives(run) && write_steps(run);
    }
    comm_free(&run->comms);
    roles_free(&run->roles);
    link_drop_devices(&run->links);
    return ok;
}

/* ---- logs: packed as soon as nobody needs their columns, for they are the largest results ---- */

static bool pack_log(struct run *run, enum result_log log, const void *columns)
{
    bool has_any = run->wants->pack != NULL && columns != NULL;
    return !has_any || run->wants->pack(log, columns, &run->results->packed[log]);
}

static void drop_columns(struct run *run, enum result_log log)
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

static bool run_memory_log(struct run *run, const struct call_rows *rows)
{
    struct trace_results *results = run->results;
    struct arena *arena = &results->log_arenas[RESULT_MEMORY_LOG];
    bool ok = memory_log_build(&results->memory_log, arena, &run->sel, results->call_tree, rows) &&
              (run->wants->pack != NULL ? pack_log(run, RESULT_MEMORY_LOG, results->memory_log)
                                        : memory_log_write(results->memory_log, arena));
    drop_columns(run, RESULT_MEMORY_LOG);
    return ok;
}

/* To be packed it needs no columns, which would be the most that an ingest has in memory. */
static bool run_call_tree(struct run *run)
{
    struct trace_results *results = run->results;
    struct arena *arena = &results->log_arenas[RESULT_CALL_TREE];
    struct call_rows rows;
    bool ok = call_tree_build(&results->call_tree, arena, &rows, &run->tree, &run->backward) &&
              modules_run(&results->modules, &results->module_count, &results->arena, &run->sel,
                          results->call_tree, &rows) &&
              (run->wants->pack != NULL ? pack_log(run, RESULT_CALL_TREE, results->call_tree)
                                        : call_rows_write(&rows, results->call_tree, arena));
    call_rows_drop_partners(&rows);
    ok = ok && run_memory_log(run, &rows);
    drop_columns(run, RESULT_CALL_TREE);
    call_rows_free(&rows);
    return ok;
}

/* By the index, which nobody needs any longer then. */
static bool run_our_operators(struct run *run)
{
    struct selection *sel = &run->sel;
    bool ok = texts_init(&run->texts, &run->results->arena, &sel->names) &&
              operator_calls_run(run->results, &run->texts, sel, &run->index, &run->launched) &&
              op_tree_from_index(&run->tree, sel, &run->index);
    index_free(&run->index);
    return ok && run_call_tree(run);
}

static bool run_visit_tables(struct run *run)
{
    struct trace_results *results = run->results;
    return visits_build(&run->visits, &run->tree, &run->backward) &&
           texts_init(&run->texts, &results->arena, &run->sel.names) &&
           visit_tables_run(results, &run->texts, &run->tree, &run->visits, &run->launched);
}

static bool run_plugin_operators(struct run *run)
{
    bool ok = op_tree_build(&run->tree, &run->sel, &run->links, &run->results->warnings) &&
              backward_build(&run->backward, &run->tree) && run_call_tree(run) &&
              run_visit_tables(run);
    backward_free(&run->backward);
    return ok;
}

static bool run_operators(struct run *run)
{
    return run->set == FIGURES_EXACT ? run_our_operators(run) : run_plugin_operators(run);
}

/* Only the plugin's trace route asks for them. */
static bool run_gpu_counters(struct run *run)
{
    struct trace_results *results = run->results;
    if (run->set == FIGURES_EXACT) {
        return true;
    }
    bool ok = gpu_counters_build(&results->gpu_counters, &results->log_arenas[RESULT_GPU_COUNTERS],
                                 &run->kernels) &&
              pack_log(run, RESULT_GPU_COUNTERS, results->gpu_counters);
    drop_columns(run, RESULT_GPU_COUNTERS);
    return ok;
}

static bool run_devices(struct run *run)
{
    struct trace_results *results = run->results;
    return kernels_collect(&run->kernels, &run->sel) &&
           kernels_run(results, &run->texts, &run->sel.names, &run->kernels) &&
           devices_run(results, &results->arena, &run->kernels, &run->steps, &run->launched) &&
           gpus_run(results, &run->sel) && run_gpu_counters(run) &&
           recommend_run(results, &run->sel, &run->kernels, &run->launched);
}

/* The largest arrays are freed. */
static void hand_room_on(const struct run *run)
{
    if (run->wants->take_room != NULL) {
        run->wants->take_room(run->wants->context);
    }
}

/* Whether the decimal times of the plugin can round is known once events are selected. */
static bool choose_events(struct run *run)
{
    struct warnings *warnings = &run->results->warnings;
    if (run->set == FIGURES_EXACT) {
        return index_build(&run->index, run->trace) &&
               select_events(&run->sel, run->trace, &run->index, false, warnings);
    }
    if (!select_events(&run->sel, run->trace, NULL, false, warnings)) {
        return false;
    }
    if (!select_can_round(&run->sel)) {
        return true;
    }
    select_free(&run->sel);
    run->set = FIGURES_PLUGIN_ROUNDED;
    run->results->ticks_per_us = (int64_t)TIMES_TICKS_PER_US;
    *warnings = run->trace->warnings;
    return select_events(&run->sel, run->trace, NULL, true, warnings);
}

static bool run_all(struct run *run)
{
    struct trace_results *results = run->results;
    if (!choose_events(run)) {
        return false;
    }
    index_drop_in_time(&run->index);
    set_bounds(run);
    bool ok = link_devices(&run->links, &run->sel) && run_steps(run) && run_operators(run);
    visits_free(&run->visits);
    op_tree_free(&run->tree);
    link_free(&run->links);
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

static void free_run(struct run *run)
{
    index_free(&run->index);
    comm_ours_free(&run->ours);
    texts_free(&run->texts);
    kernels_free(&run->kernels);
    steps_free(&run->steps);
    select_free(&run->sel);
}

static bool run_set(const struct trace *trace,
                    const struct analysis_wants *wants,
                    enum figure_set set,
                    struct trace_results **out,
                    struct err *err)
{
    struct run run = {.trace = trace,
                      .set = set,
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
    return run_set(trace, wants, FIGURES_EXACT, out, err);
}

bool analysis_run_tb_plugin(const struct trace *trace,
                            result_log_packer pack,
                            struct trace_results **out,
                            struct err *err)
{
    return run_set(trace, &(struct analysis_wants){.pack = pack}, FIGURES_PLUGIN, out, err);
}

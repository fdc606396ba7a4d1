#include "ingest/tb_plugin/rules.h"

#include "ingest/analysis/stages.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/tb_plugin/classify.h"
#include "ingest/tb_plugin/clock.h"
#include "ingest/tb_plugin/steps/breakdown.h"
#include "ingest/tb_plugin/steps/collectives.h"
#include "ingest/tb_plugin/steps/steps.h"
#include "ingest/tb_plugin/tables/device_set.h"
#include "ingest/tb_plugin/tables/gpu_counters.h"
#include "ingest/tb_plugin/tables/modules.h"
#include "ingest/tb_plugin/tables/recommend.h"
#include "ingest/tb_plugin/tables/visit_tables.h"
#include "ingest/tb_plugin/tree/call_tree.h"
#include "ingest/tb_plugin/tree/postorder.h"

struct tb_analysis {
    struct analysis run;
    struct launch_correlation links;
    struct tb_collectives comms;
    struct tb_tree tree;
    struct backward backward;
};

/* Whether decimal times can round is known once events are selected. */
static bool choose_events(struct analysis *run)
{
    struct warnings *warnings = &run->results->warnings;
    if (!tb_classify_events(&run->sel, run->trace, NULL, warnings)) {
        return false;
    }
    if (!tb_classify_needs_clock(&run->sel)) {
        return true;
    }
    classify_free(&run->sel);
    *warnings = run->trace->warnings;
    return tb_classify_events(&run->sel, run->trace, &tb_clock, warnings);
}

/* Kernels of collectives are none for the plugin. */
static bool collect_roles(struct tb_analysis *a)
{
    struct analysis *run = &a->run;
    if (!tb_collectives_collect(&a->comms, &run->sel)) {
        return false;
    }
    uint8_t *categories = time_categories_find(&run->sel);
    bool ok = categories != NULL;
    if (ok) {
        tb_collectives_mark(&a->comms, &run->sel, categories);
        ok = time_ranges_collect(&run->roles, &run->sel, categories, true);
    }
    scratch_free(categories);
    analysis_set_presence(run, run->roles.by_role[TIME_KERNEL].count > 0);
    return ok;
}

static bool run_steps(struct tb_analysis *a)
{
    struct analysis *run = &a->run;
    struct trace_results *results = run->results;
    struct step_row *rows = NULL;
    bool ok = collect_roles(a) && tb_steps_build(&run->steps, &run->sel, &a->links) &&
              tb_collectives_log(&results->comm_log, &results->arena, &a->comms, &run->sel,
                                 &run->steps) &&
              analysis_write_steps(run, &rows) && tb_breakdown_run(rows, &run->steps, &run->roles);
    time_ranges_free(&run->roles);
    tb_collectives_free(&a->comms);
    launch_correlation_drop_devices(&a->links);
    return ok;
}

static bool run_tables(struct tb_analysis *a)
{
    struct analysis *run = &a->run;
    struct postorder postorder;
    bool ok = postorder_build(&postorder, &a->tree, &a->backward) &&
              texts_init(&run->texts, &run->results->arena, &run->sel.names) &&
              visit_tables_run(run->results, &run->texts, &a->tree, &postorder, &run->launched);
    postorder_free(&postorder);
    return ok;
}

static bool run_calls(struct tb_analysis *a)
{
    struct analysis *run = &a->run;
    struct trace_results *results = run->results;
    struct call_rows rows = {.tree = NULL};
    uint32_t *record_thread = NULL;
    bool ok = tb_tree_build(&a->tree, &run->sel, &a->links, &results->warnings) &&
              backward_build(&a->backward, &a->tree.ops) &&
              tb_call_tree_build(&results->call_tree, &results->log_arenas[RESULT_CALL_TREE], &rows,
                                 &a->tree.ops, &a->backward, &record_thread) &&
              tb_modules_run(results, &run->sel, &rows) &&
              analysis_write_calls(run, &rows, record_thread);
    call_rows_free(&rows);
    scratch_free(record_thread);
    ok = ok && run_tables(a);
    backward_free(&a->backward);
    tb_tree_free(&a->tree);
    return ok;
}

/* Its trace route asks for them. */
static bool run_counters(struct analysis *run)
{
    struct trace_results *results = run->results;
    bool ok = gpu_counters_build(&results->gpu_counters, &results->log_arenas[RESULT_GPU_COUNTERS],
                                 &run->kernels) &&
              analysis_pack_log(run, RESULT_GPU_COUNTERS, results->gpu_counters);
    analysis_drop_columns(run, RESULT_GPU_COUNTERS);
    return ok;
}

static bool run_all(struct tb_analysis *a)
{
    struct analysis *run = &a->run;
    if (!choose_events(run)) {
        return false;
    }
    analysis_set_bounds(run);
    return launch_correlation_build(&a->links, &run->sel) && run_steps(a) && run_calls(a) &&
           analysis_run_devices(run) && device_set_order(run->results, &run->kernels) &&
           run_counters(run) &&
           recommend_run(run->results, &run->sel, &run->kernels, &run->launched) &&
           analysis_finish(run);
}

bool tb_plugin_analyse(const struct trace *trace,
                       result_log_encoder pack,
                       struct trace_results **out,
                       struct err *err)
{
    const struct analysis_wants wants = {.pack = pack};
    struct tb_analysis a = {.backward = {.main_thread = OP_NO_THREAD}};
    bool ok = analysis_begin(&a.run, trace, &wants) && run_all(&a);
    launch_correlation_free(&a.links);
    return analysis_end(&a.run, ok, out, err);
}

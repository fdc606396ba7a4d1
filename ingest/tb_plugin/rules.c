#include "ingest/tb_plugin/rules.h"

#include "ingest/analysis/rules.h"
#include "ingest/tb_plugin/gpu_counters.h"
#include "ingest/tb_plugin/postorder.h"
#include "ingest/tb_plugin/visit_tables.h"

/* Whether decimal times can round is known once events are selected. */
static bool choose_events(struct analysis *run)
{
    struct warnings *warnings = &run->results->warnings;
    if (!classify_events(&run->sel, run->trace, NULL, NULL, false, warnings)) {
        return false;
    }
    if (!classify_can_round(&run->sel)) {
        return true;
    }
    classify_free(&run->sel);
    run->results->ticks_per_us = (int64_t)TB_CLOCK_TICKS_PER_US;
    *warnings = run->trace->warnings;
    return classify_events(&run->sel, run->trace, NULL, NULL, true, warnings);
}

static bool find_steps(struct analysis *run)
{
    return steps_build(&run->steps, &run->sel, &run->links);
}

static bool run_tables(struct analysis *run)
{
    struct trace_results *results = run->results;
    struct postorder postorder;
    bool ok = postorder_build(&postorder, &run->tree, &run->backward) &&
              texts_init(&run->texts, &results->arena, &run->sel.names) &&
              visit_tables_run(results, &run->texts, &run->tree, &postorder, &run->launched);
    postorder_free(&postorder);
    return ok;
}

static bool run_operators(struct analysis *run)
{
    bool ok = op_tree_build(&run->tree, &run->sel, &run->links, &run->results->warnings) &&
              backward_build(&run->backward, &run->tree) && analysis_call_tree(run) &&
              run_tables(run);
    backward_free(&run->backward);
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

bool tb_plugin_analyse(const struct trace *trace,
                       result_log_encoder pack,
                       struct trace_results **out,
                       struct err *err)
{
    static const struct analysis_rules rules = {.choose_events = choose_events,
                                                .find_steps = find_steps,
                                                .run_operators = run_operators,
                                                .run_counters = run_counters,
                                                .modules_merge = MODULES_MERGE_ROOTS};
    return analysis_by_rules(trace, &(struct analysis_wants){.pack = pack}, &rules, out, err);
}

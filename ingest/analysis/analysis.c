#include "ingest/analysis/analysis.h"

#include "ingest/analysis/call_tree/call_tree.h"
#include "ingest/analysis/collectives/collectives.h"
#include "ingest/analysis/contents/contents.h"
#include "ingest/analysis/history/metrics.h"
#include "ingest/analysis/modules/modules.h"
#include "ingest/analysis/operators/calls.h"
#include "ingest/analysis/overview/advice.h"
#include "ingest/analysis/overview/health.h"
#include "ingest/analysis/ranks/digest.h"
#include "ingest/analysis/stages.h"
#include "ingest/analysis/steps/breakdown.h"
#include "ingest/analysis/steps/step_work.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/thread.h"
#include "ingest/index/index.h"

#include <string.h>

/* Our rules: everything by the index. */
struct indexed_analysis {
    struct analysis run;
    struct trace_index index; /* free once there are operators */
    struct collectives collectives;
    uint8_t *categories; /* enum time_category by event, until a frame takes them */
    struct device_uses uses;
    struct op_tree tree;
    /* What builds the tree and what is made of it: `run`, or a copy with names of its own on a
     * thread of its own. */
    struct analysis *calls_run;
    struct analysis beside;
    struct thread_helper helper;
};

static bool choose_events(struct indexed_analysis *a)
{
    struct analysis *run = &a->run;
    if (!index_build(&a->index, run->trace)) {
        return false;
    }
    health_find_index_views(run->results, &a->index);
    if (run->wants->take_index != NULL) {
        run->wants->take_index(run->wants->context, &a->index);
    }
    bool ok =
        classify_events(&run->sel, &a->index, run->wants->kernel_rules, &run->results->warnings);
    index_drop_in_time(&a->index);
    if (ok && run->sel.listed_count > 0) {
        run->sel.zero_ns = contents_start(run->trace, run->sel.first_ns);
    }
    return ok;
}

/* Device work of collectives communicates. */
static bool find_categories(struct indexed_analysis *a)
{
    if (!collectives_collect(&a->collectives, &a->run.sel, &a->index)) {
        return false;
    }
    a->categories = time_categories_find(&a->run.sel);
    for (uint32_t i = 0; a->categories != NULL && i < a->collectives.work_count; i++) {
        a->categories[a->collectives.work[i].event] = TIME_COMMUNICATION;
    }
    return a->categories != NULL;
}

/* Takes the categories. False without memory; the frame is to be freed in either case. */
static bool add_relations(struct indexed_analysis *a, struct timeline_frame *frame)
{
    const struct trace_index *index = &a->index;
    frame->categories = a->categories;
    a->categories = NULL;
    frame->launches = scratch_alloc(index->launched_count, sizeof *frame->launches);
    frame->launch_count = frame->launches == NULL ? 0 : index->launched_count;
    for (size_t i = 0; i < frame->launch_count; i++) {
        uint32_t work = index->launched[i];
        frame->launches[i] =
            (struct timeline_flow){index->launch[work], work, TIMELINE_FLOW_LAUNCH};
    }
    return frame->launches != NULL;
}

static struct timeline_frame begin_frame(const struct trace_results *results)
{
    return (struct timeline_frame){.start_ns = results->start_ns,
                                   .sees_events =
                                       results->first_event_ns != 0 || results->duration_ns != 0,
                                   .mlu = results->mlu};
}

static bool hand_frame_on(struct indexed_analysis *a)
{
    const struct analysis_wants *wants = a->run.wants;
    struct timeline_frame frame = begin_frame(a->run.results);
    bool is_bare = wants->bare_frame && frame.sees_events;
    bool ok = wants->take_frame == NULL || is_bare || add_relations(a, &frame);
    if (ok && wants->take_frame != NULL) {
        wants->take_frame(wants->context, &frame);
    }
    timeline_frame_free(&frame);
    return ok;
}

/* Of marked steps; they may overlap. */
static int64_t sum_steps(const struct steps *steps)
{
    int64_t sum_ns = 0;
    for (uint32_t i = 0; steps->has_steps && i < steps->count; i++) {
        sum_ns = saturating_add(sum_ns, steps->items[i].end - steps->items[i].start);
    }
    return sum_ns;
}

static bool run_steps(struct indexed_analysis *a)
{
    struct analysis *run = &a->run;
    struct trace_results *results = run->results;
    const struct event_classes *sel = &run->sel;
    struct step_row *rows = NULL;
    if (!find_categories(a) || !time_ranges_collect(&run->roles, sel, a->categories, false)) {
        return false;
    }
    analysis_set_presence(run, sel->class_count[INDEX_KERNEL] > 0);
    results->collective_count = a->collectives.count;
    bool ok =
        hand_frame_on(a) && steps_from_index(&run->steps, sel, &a->index) &&
        collectives_log(&results->comm_log, &results->arena, &a->collectives, sel, &run->steps) &&
        analysis_write_steps(run, &rows) &&
        breakdown_run(rows, results->role_ns, (struct range){sel->first_ns, sel->last_ns},
                      &run->steps, &run->roles) &&
        step_work_run(rows, &a->uses, sel, &a->index);
    if (ok && !run->steps.has_steps) {
        rows[0].name = "whole trace";
    }
    results->steps_ns = ok ? sum_steps(&run->steps) : 0;
    time_ranges_free(&run->roles);
    return ok;
}

static void free_index(struct indexed_analysis *a)
{
    const struct analysis_wants *wants = a->run.wants;
    if (a->index.trace != NULL && wants->leave_index != NULL) {
        wants->leave_index(wants->context);
    }
    index_free(&a->index);
}

static bool run_tree(void *context, struct err *err)
{
    struct indexed_analysis *a = context;
    struct trace_results *results = a->run.results;
    struct call_rows rows = {.tree = NULL};
    bool ok = rank_digest_build(&results->rank_digest, &results->beside_arena, &a->calls_run->sel,
                                &a->index) &&
              op_tree_from_index(&a->tree, &a->calls_run->sel, &a->index);
    if (a->calls_run == &a->run) {
        free_index(a);
    }
    ok = ok &&
         call_tree_build(&results->call_tree, &results->log_arenas[RESULT_CALL_TREE], &rows,
                         &a->tree) &&
         modules_run(results, &rows) &&
         analysis_write_calls(a->calls_run, &rows, a->tree.track_thread);
    call_rows_free(&rows);
    op_tree_free(&a->tree);
    return ok || err_set(err, ERR_NO_MEMORY, "no memory for call tree and ranks");
}

/* Beside the rest, if that is wanted; but Lightning's names are not those of the trace. */
static bool begin_tree(struct indexed_analysis *a)
{
    struct err ignored = ERR_INIT;
    a->calls_run = &a->run;
    if (!a->run.wants->in_two || a->run.sel.names.extra != NULL) {
        return true;
    }
    a->beside = a->run;
    if (!names_copy(&a->beside.sel.names, &a->run.sel.names)) {
        return false;
    }
    a->calls_run = &a->beside;
    thread_helper_init(&a->helper, run_tree, a);
    return thread_helper_give(&a->helper, &ignored);
}

static bool end_tree(struct indexed_analysis *a)
{
    struct err ignored = ERR_INIT;
    if (a->calls_run != &a->beside) {
        return true;
    }
    bool ok = thread_helper_wait(&a->helper, &ignored);
    thread_helper_end(&a->helper);
    names_free(&a->beside.sel.names);
    a->calls_run = NULL;
    return ok;
}

static bool run_calls(struct indexed_analysis *a)
{
    struct analysis *run = &a->run;
    struct trace_results *results = run->results;
    struct err ignored = ERR_INIT;
    return texts_init(&run->texts, &results->arena, &run->sel.names) &&
           operator_calls_run(results, &run->texts, &run->sel, &a->index, &run->launched) &&
           (a->calls_run != run || run_tree(a, &ignored));
}

/* By the names of devices, or of the calls of their runtime, the first of which tell. */
static bool is_amd(const struct event_classes *sel)
{
    static const char *const NAMES[] = {"AMD", "Instinct", "Radeon"};
    const uint32_t looked_at = 1000;
    const struct events_in_time calls = sel->lists[LIST_RUNTIME];
    bool found = false;
    for (uint32_t i = 0; !found && i < sel->trace->device_count; i++) {
        const struct device_properties *device = &sel->trace->devices[i];
        bool is_named = (device->has & DEVICE_HAS_NAME) != 0;
        for (size_t k = 0; is_named && k < sizeof NAMES / sizeof *NAMES; k++) {
            found = found || strstr(device->name, NAMES[k]) != NULL;
        }
    }
    for (uint32_t i = 0; !found && i < calls.count && i < looked_at; i++) {
        found = strncmp(names_text(&sel->names, sel->name[calls.items[i]]), "hip", 3) == 0;
    }
    return found;
}

static bool advise(struct indexed_analysis *a)
{
    struct trace_results *results = a->run.results;
    results->is_amd = is_amd(&a->run.sel);
    return step_work_fill_devices(results, &a->uses) && advice_run(results, &a->run.sel) &&
           history_metrics_run(results, &a->run.sel);
}

/* The largest arrays are freed. */
static void hand_room_on(const struct analysis *run)
{
    if (run->wants->take_room != NULL) {
        run->wants->take_room(run->wants->context);
    }
}

static bool run_all(struct indexed_analysis *a)
{
    if (!choose_events(a)) {
        return false;
    }
    analysis_set_bounds(&a->run);
    if (!begin_tree(a) || !run_steps(a) || !run_calls(a)) {
        return false;
    }
    hand_room_on(&a->run);
    return analysis_run_devices(&a->run) && end_tree(a) && advise(a) && analysis_finish(&a->run);
}

bool analysis_run_with(const struct trace *trace,
                       const struct analysis_wants *wants,
                       struct trace_results **out,
                       struct err *err)
{
    struct indexed_analysis a = {.tree = {.nodes = NULL}};
    bool ok = analysis_begin(&a.run, trace, wants) && run_all(&a);
    (void)end_tree(&a);
    free_index(&a);
    collectives_free(&a.collectives);
    scratch_free(a.categories);
    device_uses_free(&a.uses);
    return analysis_end(&a.run, ok, out, err);
}

bool analysis_find_frame(const struct trace *trace,
                         const struct kernel_rules *own,
                         struct timeline_frame *frame,
                         struct err *err)
{
    const struct analysis_wants wants = {.kernel_rules = own};
    struct indexed_analysis a = {.tree = {.nodes = NULL}};
    struct trace_results *results = NULL;
    *frame = (struct timeline_frame){.categories = NULL};
    bool ok = analysis_begin(&a.run, trace, &wants) && choose_events(&a);
    if (ok) {
        analysis_set_bounds(&a.run);
        *frame = begin_frame(a.run.results);
        ok = find_categories(&a) && add_relations(&a, frame);
    }
    index_free(&a.index);
    collectives_free(&a.collectives);
    scratch_free(a.categories);
    ok = analysis_end(&a.run, ok, &results, err);
    results_destroy(results);
    return ok;
}

bool analysis_run(const struct trace *trace, struct trace_results **out, struct err *err)
{
    return analysis_run_with(trace, &(struct analysis_wants){.pack = NULL}, out, err);
}

#include "ingest/jobs/pipeline/file.h"

#include "ingest/analysis/analysis.h"
#include "ingest/analysis/kernel_utilisation/kernel_utilisation.h"
#include "ingest/analysis/timeline/timeline.h"
#include "ingest/base/memory/heap.h"
#include "ingest/base/saturating.h"
#include "ingest/base/thread.h"
#include "ingest/formats/format.h"
#include "ingest/jobs/pipeline/details.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pipeline_set_stage(const struct pipeline_way *way, enum pipeline_stage stage)
{
    if (way->progress != NULL) {
        atomic_store(&way->progress->stage, (int)stage);
    }
}

void pipeline_report(const struct pipeline_way *way, struct input *in)
{
    if (way->progress != NULL) {
        input_report(in, &way->progress->bytes_done, &way->progress->bytes_total);
    }
}

void pipeline_item_free(struct pipeline_item *item)
{
    free(item->worker);
    free(item->span_digits);
    free(item->member);
    results_destroy(item->results);
    pipeline_details_free(item->details);
    *item = (struct pipeline_item){.worker = NULL};
}

/* ---- perf-data tables ---- */

static size_t length_without(const char *text, size_t len, const char *suffix)
{
    size_t suffix_len = strlen(suffix);
    bool ends = len >= suffix_len && memcmp(text + len - suffix_len, suffix, suffix_len) == 0;
    return ends ? len - suffix_len : len;
}

/* The kind that the name of a perf-data table gives its cycles: what stands before _perf_data.csv
 * [CMP-2b]. Of several words the last one says what the rows are of. */
static enum cycle_kind kind_of_name(const char *file_name)
{
    static const struct {
        const char *suffix;
        enum cycle_kind kind;
    } kinds[] = {{"_prefill", CYCLE_PREFILL}, {"_decode", CYCLE_DECODE}, {"_layer", CYCLE_LAYER}};
    size_t len = strlen(file_name);
    len = length_without(file_name, len, ".gz");
    len = length_without(file_name, len, ".zst");
    size_t job_len = length_without(file_name, len, "_perf_data.csv");
    for (size_t i = 0; job_len < len && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (length_without(file_name, job_len, kinds[i].suffix) < job_len) {
            return kinds[i].kind;
        }
    }
    return CYCLE_STEP;
}

/* Tables of ours tell the kind of each cycle; of those that do not, all are steps. */
static void name_cycles(struct trace_results *results, const char *file_name)
{
    enum cycle_kind kind = kind_of_name(file_name);
    for (size_t i = 0; i < results->cycle_count; i++) {
        if (results->cycles[i].kind != CYCLE_STEP) {
            return;
        }
    }
    for (size_t i = 0; i < results->cycle_count; i++) {
        results->cycles[i].kind = kind;
    }
}

/* ---- analysing and handing on ---- */

/* Frees the worker. NULL without memory. */
static char *with_part(char *worker, const char *part)
{
    size_t size = strlen(worker) + strlen(part) + 2;
    char *both = malloc(size);
    if (both != NULL) {
        (void)snprintf(both, size, "%s/%s", worker, part);
    }
    free(worker);
    return both;
}

static bool name_item(struct format_item *from,
                      const char *format,
                      const struct pipeline_name *name,
                      struct pipeline_item *to,
                      struct err *err)
{
    char *worker = NULL;
    bool ok = format_split_name(name->file_name, &worker, &to->span_digits);
    if (name->worker != NULL) {
        free(worker);
        worker = strdup(name->worker);
    }
    if (from->worker != NULL) {
        free(worker);
        worker = from->worker;
        from->worker = NULL;
    }
    to->worker = worker == NULL || from->part == NULL ? worker : with_part(worker, from->part);
    to->member = name->member == NULL ? NULL : strdup(name->member);
    to->format = format;
    return (ok && to->worker != NULL && (to->member != NULL || name->member == NULL)) ||
           err_set(err, ERR_NO_MEMORY, "no memory for the names of a trace");
}

/* ---- cycles and timeline, beside the rest of the analyses ---- */

struct beside {
    const struct pipeline_way *way;
    const struct trace *model;
    const struct trace_index *index; /* of the analyses, as long as cycles are sought */
    struct trace_results *cycles;    /* nothing else is in them */
    struct timeline *timeline;
    struct timeline_frame frame;
    bool has_frame;
    bool is_large; /* all at once would take more memory than time is worth */
    bool is_later; /* the timeline is, so that only its warnings are found here */
    struct warnings survey;
    bool has_helper; /* for the cycles, unless the trace is large, then the timeline */
    struct thread_helper helper;
    bool has_cycles;       /* they are found */
    struct err cycles_err; /* without a helper for them: why not */
    bool gave_timeline;    /* to the helper, which is past the cycles */
};

static bool sink_takes_timelines(const struct pipeline_way *way)
{
    return way->sink->timeline.take_block != NULL;
}

static bool wants_timeline(const struct beside *beside)
{
    return sink_takes_timelines(beside->way) && !beside->is_later;
}

static bool survey_timeline(struct beside *beside, struct err *err)
{
    return !beside->is_later || timeline_survey(beside->model, &beside->survey) ||
           err_set(err, ERR_NO_MEMORY, "no memory to look at the times of a trace");
}

static bool find_cycles(struct beside *beside, struct err *err)
{
    beside->cycles = results_create();
    return beside->cycles == NULL
               ? err_set(err, ERR_NO_MEMORY, "no memory for the cycles of a trace")
               : cycles_run(beside->index, &beside->way->cycles, beside->cycles, err);
}

static bool build_timeline(struct beside *beside, struct err *err)
{
    return timeline_build(beside->model, &beside->frame, &beside->way->sink->timeline,
                          &beside->timeline, err);
}

/* Two pieces: the cycles, for a start, and the timeline. */
static bool run_beside(void *argument, struct err *err)
{
    struct beside *beside = argument;
    if (beside->gave_timeline) {
        return build_timeline(beside, err);
    }
    beside->has_cycles = find_cycles(beside, err) && survey_timeline(beside, err);
    return beside->has_cycles;
}

static bool is_worth_a_thread(const struct trace *model)
{
    const uint32_t least_events = 2000;
    return model->events.count >= least_events;
}

/* Worth a request of its own, and small enough for that. */
static bool is_later(const struct pipeline_way *way, const struct trace *model)
{
    return sink_takes_timelines(way) && is_worth_a_thread(model) &&
           trace_memory_bytes(model) <= way->sink->timeline_later_bytes;
}

/* The arrays of analyses and timeline at once. */
static bool is_large(const struct pipeline_way *way, const struct trace *model)
{
    const uint64_t event_bytes = 40;
    const uint64_t most_bytes = (uint64_t)40 << 20;
    uint64_t budget_bytes = way->memory_budget_bytes;
    uint64_t bytes = model->events.count * event_bytes;
    return bytes > most_bytes ||
           (budget_bytes > 0 && bytes + trace_memory_bytes(model) > budget_bytes);
}

static bool helper_finds_cycles(const struct beside *beside)
{
    return beside->has_helper && !beside->is_large;
}

/* Of a large trace the analyses' thread finds the cycles, before the analyses take memory. What the
 * helper fails at, end_beside tells. */
static void take_index(void *context, const struct trace_index *index)
{
    struct beside *beside = context;
    struct err ignored = ERR_INIT;
    beside->index = index;
    if (helper_finds_cycles(beside)) {
        (void)!thread_helper_give(&beside->helper, &ignored);
    } else {
        beside->has_cycles = find_cycles(beside, &beside->cycles_err);
    }
}

static void leave_index(void *context)
{
    struct beside *beside = context;
    struct err ignored = ERR_INIT;
    if (helper_finds_cycles(beside) && !beside->gave_timeline) {
        (void)!thread_helper_wait(&beside->helper, &ignored);
    }
}

/* Waits for the cycles, which are mostly done by now: they need no frame. */
static void begin_timeline(struct beside *beside)
{
    struct err ignored = ERR_INIT;
    if (beside->has_helper && beside->has_frame && wants_timeline(beside) &&
        (beside->is_large || thread_helper_wait(&beside->helper, &ignored))) {
        beside->gave_timeline = true;
        (void)!thread_helper_give(&beside->helper, &ignored);
    }
}

static void take_frame(void *context, struct timeline_frame *frame)
{
    struct beside *beside = context;
    beside->frame = *frame;
    beside->has_frame = true;
    *frame = (struct timeline_frame){.categories = NULL};
    if (!beside->is_large) {
        begin_timeline(beside);
    }
}

static void take_room(void *context)
{
    struct beside *beside = context;
    if (beside->is_large) {
        begin_timeline(beside);
    }
}

static bool take_cycles(struct beside *beside, struct trace_results *results, struct err *err)
{
    bool ok = beside->has_cycles;
    if (helper_finds_cycles(beside) && !beside->gave_timeline) {
        ok = thread_helper_wait(&beside->helper, err);
    } else if (!ok) {
        *err = beside->cycles_err;
    }
    if (ok) {
        results_take_cycles(results, beside->cycles);
    }
    return ok;
}

/* The timeline changes nothing in them but warnings, if the views saw an event: timeline_settle. */
static bool hand_tables_on(const struct beside *beside, struct pipeline_item *item, struct err *err)
{
    const struct pipeline_sink *sink = beside->way->sink;
    return !beside->has_helper || beside->is_later || !beside->has_frame ||
           !beside->frame.sees_events || sink->tables == NULL ||
           sink->tables(sink->context, item, err);
}

/* Waits for the helper; without one all is done now, unless something has failed. */
static bool end_beside(struct beside *beside, bool ok, struct err *err)
{
    struct err second = ERR_INIT;
    ok = ok && (helper_finds_cycles(beside) || survey_timeline(beside, err)) &&
         (beside->has_helper || !wants_timeline(beside) || build_timeline(beside, err));
    bool helped = thread_helper_wait(&beside->helper, &second);
    thread_helper_end(&beside->helper);
    if (ok && !helped) {
        *err = second;
    }
    return ok && helped;
}

/* Where the views see nothing, bounds and overview of the trace are those of its timeline. */
static bool settle_timeline(struct beside *beside, struct trace_results *results, struct err *err)
{
    bool is_needed = beside->is_later && !beside->frame.sees_events;
    beside->is_later = beside->is_later && !is_needed;
    if (is_needed && !build_timeline(beside, err)) {
        return false;
    }
    if (beside->timeline != NULL) {
        timeline_settle(beside->timeline, results);
    } else if (beside->is_later) {
        warnings_merge(&results->warnings, &beside->survey);
    }
    return true;
}

static bool analyse_model(const struct pipeline_way *way,
                          struct format_item *from,
                          struct pipeline_item *item,
                          struct timeline **timeline,
                          struct err *err)
{
    const uint64_t most_overlapping_bytes = (uint64_t)6 << 20;
    const struct trace *model = from->model;
    struct beside beside = {.way = way,
                            .model = model,
                            .is_large = is_large(way, model),
                            .is_later = is_later(way, model),
                            .has_helper = is_worth_a_thread(model),
                            .cycles_err = ERR_INIT};
    struct analysis_wants wants = {.pack = way->sink->pack_log,
                                   .kernel_rules = way->kernel_rules,
                                   .take_index = take_index,
                                   .leave_index = leave_index,
                                   .take_frame = sink_takes_timelines(way) ? take_frame : NULL,
                                   .bare_frame = beside.is_later,
                                   .in_two = is_worth_a_thread(model) && !beside.is_large,
                                   .take_room = take_room,
                                   .context = &beside};
    /* The timeline goes to the same log; and what the log holds is much beside a large trace. */
    bool may_overlap = beside.is_later && trace_memory_bytes(model) <= most_overlapping_bytes;
    if (!may_overlap && !format_item_end_events(from, err)) {
        return false;
    }
    thread_helper_init(&beside.helper, run_beside, &beside);
    bool ok = analysis_run_with(model, &wants, &item->results, err) &&
              take_cycles(&beside, item->results, err) && format_item_end_events(from, err) &&
              hand_tables_on(&beside, item, err);
    ok = end_beside(&beside, ok, err) && settle_timeline(&beside, item->results, err);
    timeline_frame_free(&beside.frame);
    results_destroy(beside.cycles);
    *timeline = beside.timeline;
    return ok;
}

/* What reading leaves in pieces is worth collecting beside a model of this size. */
static void return_pieces_if_large(const struct trace *model)
{
    const size_t large_bytes = (size_t)16 << 20;
    if (trace_memory_bytes(model) > large_bytes) {
        heap_return_free_pieces();
    }
}

static bool find_details(const struct pipeline_way *way,
                         const struct trace *model,
                         struct pipeline_item *item,
                         struct err *err)
{
    if (way->details == PIPELINE_NO_DETAILS) {
        return true;
    }
    int64_t zero_ns = saturating_sub(item->results->start_ns, model->base_time_ns);
    item->details = pipeline_details_find(model, zero_ns, way->kernel_rules, way->details);
    if (item->details == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for a report");
    }
    if (way->details == PIPELINE_ALL_DETAILS && (item->results->views & 1U << VIEW_SLICES) != 0) {
        item->results->duration_ns = item->details->names.duration_ns;
    }
    return true;
}

/* The model goes as soon as there are results. */
static bool analyse(const struct pipeline_way *way,
                    struct format_item *from,
                    struct pipeline_item *item,
                    struct timeline **timeline,
                    struct err *err)
{
    bool ok = true;
    if (from->model != NULL) {
        return_pieces_if_large(from->model);
        ok = analyse_model(way, from, item, timeline, err) &&
             find_details(way, from->model, item, err);
    } else if (from->kernel_table != NULL) {
        ok = kernel_utilisation_run(from->kernel_table, &item->results, err);
    } else {
        item->results = from->results;
        from->results = NULL;
    }
    trace_destroy(from->model);
    kernel_table_destroy(from->kernel_table);
    from->model = NULL;
    from->kernel_table = NULL;
    return ok;
}

static bool hand_on(const struct pipeline_way *way,
                    struct format_item *from,
                    const char *format,
                    const struct pipeline_name *name,
                    struct err *err)
{
    struct pipeline_item item = {.worker = NULL};
    struct timeline *timeline = NULL;
    pipeline_set_stage(way, STAGE_ANALYSING);
    bool ok =
        name_item(from, format, name, &item, err) && analyse(way, from, &item, &timeline, err);
    if (ok && item.results->cycle_source == CYCLES_TABLE) {
        name_cycles(item.results, name->file_name);
    }
    ok = ok && way->sink->trace(way->sink->context, &item, timeline, err);
    timeline_destroy(timeline);
    pipeline_item_free(&item);
    return ok;
}

bool pipeline_file(const struct pipeline_way *way,
                   struct input *in,
                   const struct pipeline_name *name,
                   struct err *err)
{
    struct format_bundle bundle;
    struct format_options options = {
        .memory_budget_bytes =
            way->memory_budget_bytes > SIZE_MAX ? SIZE_MAX : (size_t)way->memory_budget_bytes,
        .max_events = way->max_events,
        .events = way->sink->events.take == NULL ? NULL : &way->sink->events,
        .events_end_later = true,
        .operator_inputs = way->details != PIPELINE_NO_DETAILS,
    };
    pipeline_set_stage(way, STAGE_READING);
    bool ok = format_read(in, &options, &bundle, err);
    input_close(in);
    if (!ok) {
        return false;
    }
    ok = bundle.item_count > 0 || err_set(err, ERR_BAD_INPUT, "the file holds no trace");
    for (bool ended = false; ok && !ended;) {
        for (size_t i = 0; ok && i < bundle.item_count; i++) {
            ok = hand_on(way, &bundle.items[i], bundle.format, name, err);
        }
        if (bundle.rest != NULL) {
            pipeline_set_stage(way, STAGE_READING);
        }
        ok = ok && format_bundle_next(&bundle, &options, &ended, err);
    }
    format_bundle_free(&bundle);
    return ok;
}

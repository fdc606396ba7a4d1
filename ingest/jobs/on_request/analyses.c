#include "ingest/jobs/on_request/analyses.h"

#include "ingest/jobs/on_request/run_captures.h"
#include "ingest/jobs/on_request/stored_trace.h"

#include <math.h>

#define BYTES_PER_MIB 1048576.0
#define UPLOAD_SHORTER "upload a shorter trace"

/* What analyses take beside the model, bytes an event: measured on real traces of 1 and of 10
 * million events, and a quarter more (tests/bench/RESULTS.md). Others take less than the model. */
#define PATH_EVENT_BYTES 110
#define IDLE_EVENT_BYTES 90
#define LAUNCHES_EVENT_BYTES 50
#define EFFICIENCY_EVENT_BYTES 50

/* Fills *out, which is zeroed, from a trace that has events. False without memory. */
typedef bool analyse_fn(const struct trace *trace, int64_t zero_ns, void *request);

struct analysis {
    analyse_fn *run;
    size_t event_bytes;
    /* Inputs of operators take as much memory as all else; only some analyses look at them. */
    bool reads_inputs;
};

struct visit {
    const struct analysis *analysis;
    void *request;
    size_t memory_budget_bytes;
};

static bool has_memory(const struct visit *visit, const struct trace *trace, struct err *err)
{
    size_t need_bytes =
        trace_memory_bytes(trace) + trace->events.count * visit->analysis->event_bytes;
    return need_bytes <= visit->memory_budget_bytes ||
           err_set(err, ERR_TOO_LARGE,
                   "This analysis of %u events needs about %.0f MiB of memory, and an analysis on "
                   "request may take %.0f: " UPLOAD_SHORTER
                   ", or start the server with a larger --ingest-memory",
                   (unsigned)trace->events.count, (double)need_bytes / BYTES_PER_MIB,
                   (double)visit->memory_budget_bytes / BYTES_PER_MIB);
}

static bool visit_trace(void *context, struct trace *trace, int64_t zero_ns, struct err *err)
{
    const struct visit *visit = context;
    return trace == NULL || (has_memory(visit, trace, err) &&
                             (visit->analysis->run(trace, zero_ns, visit->request) ||
                              err_set(err, ERR_NO_MEMORY, "no memory for an analysis of a trace")));
}

static bool read_trace(struct store *store,
                       int64_t trace_id,
                       size_t memory_budget_bytes,
                       const struct analysis *analysis,
                       void *request,
                       struct err *err)
{
    struct visit context = {analysis, request, memory_budget_bytes};
    const struct stored_trace_visit visit = {
        .trace_id = trace_id,
        .start_ns = INT64_MIN,
        .end_ns = INT64_MAX,
        .memory_budget_bytes = memory_budget_bytes,
        .too_large = UPLOAD_SHORTER,
        .operator_inputs = analysis->reads_inputs,
        .visit = visit_trace,
        .context = &context,
    };
    return stored_trace_read(store, &visit, err);
}

/* For an analysis that reads no other trace. */
static bool analyse_in_turn(struct jobs *jobs,
                            int64_t trace_id,
                            const struct analysis *analysis,
                            void *request,
                            struct err *err)
{
    size_t budget_bytes = 0;
    if (!jobs_window_begin(jobs, &budget_bytes, err)) {
        return false;
    }
    bool ok = read_trace(jobs_store(jobs), trace_id, budget_bytes, analysis, request, err);
    jobs_window_end(jobs);
    return ok;
}

static bool read_in_turn(
    struct jobs *jobs, int64_t trace_id, analyse_fn *analyse, void *request, struct err *err)
{
    return analyse_in_turn(jobs, trace_id, &(const struct analysis){.run = analyse}, request, err);
}

/* ---- rows of the index ---- */

struct rows_request {
    rows_analysis *analyse;
    struct arena *arena;
    void **rows;
    size_t *count;
};

static bool analyse_rows(const struct trace *trace, int64_t zero_ns, void *request_void)
{
    const struct rows_request *request = request_void;
    struct trace_index index;
    bool ok = index_build(&index, trace) &&
              request->analyse(&index, zero_ns, request->arena, request->rows, request->count);
    index_free(&index);
    return ok;
}

bool rows_analysis_read(struct jobs *jobs,
                        int64_t trace_id,
                        rows_analysis *analyse,
                        struct arena *arena,
                        void **rows,
                        size_t *count,
                        struct err *err)
{
    struct rows_request request = {analyse, arena, rows, count};
    *rows = NULL;
    *count = 0;
    return read_in_turn(jobs, trace_id, analyse_rows, &request, err);
}

/* ---- times ---- */

struct times_request {
    const struct kernel_rules *own;
    const int64_t *device;
    struct arena *arena;
    struct device_time *out;
};

static bool analyse_times(const struct trace *trace, int64_t zero_ns, void *request_void)
{
    const struct times_request *request = request_void;
    return device_time_analyse(trace, zero_ns, request->own, request->device, request->arena,
                               request->out);
}

bool device_read_times(struct jobs *jobs,
                       int64_t trace_id,
                       const int64_t *device,
                       struct arena *arena,
                       struct device_time *out,
                       struct err *err)
{
    struct times_request request = {jobs_kernel_rules(jobs), device, arena, out};
    *out = (struct device_time){.device_ns = 0};
    return read_in_turn(jobs, trace_id, analyse_times, &request, err);
}

/* ---- operators ---- */

struct operators_request {
    const struct kernel_rules *own;
    struct device_captures captures;
    struct arena *arena;
    struct device_operators *out;
};

static bool analyse_operators(const struct trace *trace, int64_t zero_ns, void *request_void)
{
    const struct operators_request *request = request_void;
    (void)zero_ns;
    return device_operators_analyse(trace, request->own, &request->captures, request->arena,
                                    request->out);
}

static bool find_captures(struct store *store,
                          int64_t trace_id,
                          enum device_companion companion,
                          int64_t companion_id,
                          size_t budget_bytes,
                          struct arena *arena,
                          struct device_captures *out,
                          struct err *err)
{
    struct capture *items = NULL;
    *out = (struct device_captures){.is_given = companion == DEVICE_COMPANION_GIVEN};
    if (companion == DEVICE_COMPANION_NONE) {
        return true;
    }
    if (companion == DEVICE_COMPANION_AUTO) {
        bool ok = run_captures_find(store, trace_id, "GraphLaunch", budget_bytes, arena, &items,
                                    &out->count, err);
        out->items = items;
        return ok;
    }
    items = arena_calloc(arena, 1, sizeof *items);
    out->items = items;
    out->count = 1;
    return items == NULL ? err_set(err, ERR_NO_MEMORY, "no memory for a capture")
                         : run_captures_read(store, companion_id, budget_bytes, arena, items, err);
}

bool device_read_operators(struct jobs *jobs,
                           int64_t trace_id,
                           enum device_companion companion,
                           int64_t companion_id,
                           struct arena *arena,
                           struct device_operators *out,
                           struct err *err)
{
    struct operators_request request = {.own = jobs_kernel_rules(jobs), .arena = arena, .out = out};
    struct store *store = jobs_store(jobs);
    size_t budget_bytes = 0;
    *out = (struct device_operators){.device_ns = 0};
    if (!jobs_window_begin(jobs, &budget_bytes, err)) {
        return false;
    }
    bool ok = find_captures(store, trace_id, companion, companion_id, budget_bytes, arena,
                            &request.captures, err) &&
              read_trace(store, trace_id, budget_bytes,
                         &(const struct analysis){.run = analyse_operators}, &request, err);
    jobs_window_end(jobs);
    return ok;
}

/* ---- engine steps ---- */

struct engine_request {
    const struct kernel_rules *own;
    struct capture *captures;
    size_t capture_count;
    const struct engine_attention *attention;
    struct arena *arena;
    struct engine_steps *out;
};

static bool analyse_engine_steps(const struct trace *trace, int64_t zero_ns, void *request_void)
{
    const struct engine_request *request = request_void;
    return engine_steps_analyse(trace, zero_ns, request->own, request->captures,
                                request->capture_count, request->attention, request->arena,
                                request->out);
}

bool device_read_engine_steps(struct jobs *jobs,
                              int64_t trace_id,
                              const struct engine_attention *attention,
                              struct arena *arena,
                              struct engine_steps *out,
                              struct err *err)
{
    struct engine_request request = {
        .own = jobs_kernel_rules(jobs), .attention = attention, .arena = arena, .out = out};
    struct store *store = jobs_store(jobs);
    size_t budget_bytes = 0;
    *out = (struct engine_steps){.count = 0};
    if (!jobs_window_begin(jobs, &budget_bytes, err)) {
        return false;
    }
    /* Only detailed annotations tell the pairs that FLOPs need. */
    bool ok = run_captures_find(store, trace_id, "sqsq", budget_bytes, arena, &request.captures,
                                &request.capture_count, err) &&
              read_trace(store, trace_id, budget_bytes,
                         &(const struct analysis){.run = analyse_engine_steps}, &request, err);
    jobs_window_end(jobs);
    return ok;
}

/* ---- slices ---- */

struct slices_request {
    enum slices_group by;
    struct arena *arena;
    struct slices *out;
};

static bool analyse_slices(const struct trace *trace, int64_t zero_ns, void *request_void)
{
    const struct slices_request *request = request_void;
    (void)zero_ns;
    return slices_analyse(trace, request->by, request->arena, request->out);
}

bool slices_read(struct jobs *jobs,
                 int64_t trace_id,
                 enum slices_group by,
                 struct arena *arena,
                 struct slices *out,
                 struct err *err)
{
    struct slices_request request = {by, arena, out};
    *out = (struct slices){.count = 0};
    return read_in_turn(jobs, trace_id, analyse_slices, &request, err);
}

/* ---- contents ---- */

struct contents_request {
    struct arena *arena;
    struct contents *out;
};

static bool analyse_contents(const struct trace *trace, int64_t zero_ns, void *request_void)
{
    const struct contents_request *request = request_void;
    return contents_analyse(trace, zero_ns, request->arena, request->out);
}

bool contents_read(
    struct jobs *jobs, int64_t trace_id, struct arena *arena, struct contents *out, struct err *err)
{
    struct contents_request request = {arena, out};
    *out = (struct contents){.device_count = 0};
    return read_in_turn(jobs, trace_id, analyse_contents, &request, err);
}

struct names_request {
    struct arena *arena;
    struct named_rows *out;
};

static bool analyse_names(const struct trace *trace, int64_t zero_ns, void *request_void)
{
    const struct names_request *request = request_void;
    (void)zero_ns;
    return contents_names(trace, request->arena, request->out);
}

bool names_read(struct jobs *jobs,
                int64_t trace_id,
                struct arena *arena,
                struct named_rows *out,
                struct err *err)
{
    struct names_request request = {arena, out};
    *out = (struct named_rows){.count = 0};
    return read_in_turn(jobs, trace_id, analyse_names, &request, err);
}

struct memory_request {
    struct arena *arena;
    struct memory_categories *out;
};

static bool analyse_memory(const struct trace *trace, int64_t zero_ns, void *request_void)
{
    const struct memory_request *request = request_void;
    return contents_memory(trace, zero_ns, request->arena, request->out);
}

bool memory_categories_read(struct jobs *jobs,
                            int64_t trace_id,
                            struct arena *arena,
                            struct memory_categories *out,
                            struct err *err)
{
    struct memory_request request = {arena, out};
    *out = (struct memory_categories){.count = 0};
    return read_in_turn(jobs, trace_id, analyse_memory, &request, err);
}

/* ---- causes ---- */

struct idle_request {
    enum causes_last_step last_step;
    size_t top;
    struct arena *arena;
    struct idle *out;
};

static bool analyse_idle(const struct trace *trace, int64_t zero_ns, void *request_void)
{
    const struct idle_request *request = request_void;
    return idle_analyse(trace, zero_ns, request->last_step, request->top, request->arena,
                        request->out);
}

bool idle_read(struct jobs *jobs,
               int64_t trace_id,
               enum causes_last_step last_step,
               size_t top,
               struct arena *arena,
               struct idle *out,
               struct err *err)
{
    struct idle_request request = {last_step, top, arena, out};
    const struct analysis analysis = {.run = analyse_idle, .event_bytes = IDLE_EVENT_BYTES};
    *out = (struct idle){.stream_count = 0};
    return analyse_in_turn(jobs, trace_id, &analysis, &request, err);
}

struct gaps_request {
    const struct idle_gaps_request *wanted;
    struct arena *arena;
    struct idle_gaps *out;
};

static bool analyse_gaps(const struct trace *trace, int64_t zero_ns, void *request_void)
{
    const struct gaps_request *request = request_void;
    return idle_gaps_analyse(trace, zero_ns, request->wanted, request->arena, request->out);
}

bool idle_gaps_read(struct jobs *jobs,
                    int64_t trace_id,
                    const struct idle_gaps_request *wanted,
                    struct arena *arena,
                    struct idle_gaps *out,
                    struct err *err)
{
    struct gaps_request request = {wanted, arena, out};
    *out = (struct idle_gaps){.device_count = 0};
    return read_in_turn(jobs, trace_id, analyse_gaps, &request, err);
}

struct launches_request {
    enum causes_last_step last_step;
    const struct launch_stream_id *series;
    struct arena *arena;
    struct launches *out;
};

static bool analyse_launches(const struct trace *trace, int64_t zero_ns, void *request_void)
{
    const struct launches_request *request = request_void;
    return launches_analyse(trace, zero_ns, request->last_step, request->series, request->arena,
                            request->out);
}

bool launches_read(struct jobs *jobs,
                   int64_t trace_id,
                   enum causes_last_step last_step,
                   const struct launch_stream_id *series,
                   struct arena *arena,
                   struct launches *out,
                   struct err *err)
{
    struct launches_request request = {last_step, series, arena, out};
    const struct analysis analysis = {.run = analyse_launches, .event_bytes = LAUNCHES_EVENT_BYTES};
    *out = (struct launches){.count = 0};
    return analyse_in_turn(jobs, trace_id, &analysis, &request, err) &&
           (!out->is_too_many ||
            err_set(
                err, ERR_TOO_LARGE,
                "so many calls and so much device work of this trace share a correlation id that"
                " their launches cannot be told apart"));
}

struct efficiency_request {
    enum efficiency_group by;
    const struct device_peaks_list *own;
    struct arena *arena;
    struct efficiency *out;
};

static bool analyse_efficiency(const struct trace *trace, int64_t zero_ns, void *request_void)
{
    const struct efficiency_request *request = request_void;
    (void)zero_ns;
    return efficiency_analyse(trace, request->by, request->own, request->arena, request->out);
}

bool efficiency_read(struct jobs *jobs,
                     int64_t trace_id,
                     enum efficiency_group by,
                     struct arena *arena,
                     struct efficiency *out,
                     struct err *err)
{
    struct efficiency_request request = {by, jobs_device_peaks(jobs), arena, out};
    const struct analysis analysis = {
        .run = analyse_efficiency, .event_bytes = EFFICIENCY_EVENT_BYTES, .reads_inputs = true};
    *out = (struct efficiency){.mfu = (double)NAN};
    return analyse_in_turn(jobs, trace_id, &analysis, &request, err);
}

struct power_request {
    const struct kernel_rules *own;
    enum power_group by;
    struct arena *arena;
    struct power *out;
};

static bool analyse_power(const struct trace *trace, int64_t zero_ns, void *request_void)
{
    const struct power_request *request = request_void;
    return power_analyse(trace, zero_ns, request->own, request->by, request->arena, request->out);
}

bool power_read(struct jobs *jobs,
                int64_t trace_id,
                enum power_group by,
                struct arena *arena,
                struct power *out,
                struct err *err)
{
    struct power_request request = {jobs_kernel_rules(jobs), by, arena, out};
    *out = (struct power){.token_j = (double)NAN};
    return read_in_turn(jobs, trace_id, analyse_power, &request, err);
}

struct path_visit {
    const struct path_request *request;
    struct arena *arena;
    struct critical_path *out;
};

static bool analyse_path(const struct trace *trace, int64_t zero_ns, void *visit_void)
{
    const struct path_visit *visit = visit_void;
    return critical_path_analyse(trace, zero_ns, visit->request, visit->arena, visit->out);
}

bool critical_path_read(struct jobs *jobs,
                        int64_t trace_id,
                        const struct path_request *request,
                        struct arena *arena,
                        struct critical_path *out,
                        struct err *err)
{
    struct path_request with_peaks = *request;
    struct path_visit visit = {&with_peaks, arena, out};
    with_peaks.peaks = jobs_device_peaks(jobs);
    const struct analysis analysis = {.run = analyse_path,
                                      .event_bytes = PATH_EVENT_BYTES,
                                      .reads_inputs = path_asks_rooflines(request)};
    *out = (struct critical_path){.state = PATH_BUILT};
    if (!analyse_in_turn(jobs, trace_id, &analysis, &visit, err)) {
        return false;
    }
    if (out->state == PATH_NO_ANNOTATION) {
        return err_set(err, ERR_NOT_FOUND,
                       "The trace has no such instance of the annotation; instances count from 0");
    }
    return out->state == PATH_BUILT ||
           err_set(err, ERR_TOO_LARGE,
                   "The trace has more dependencies than a profiler records; choose a shorter "
                   "window with annotation=");
}

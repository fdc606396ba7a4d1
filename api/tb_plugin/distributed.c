/* The plugin's distributed routes [TB-15]. */
#include "ingest/query/views/distributed.h"

#include "api/tb_plugin/common.h"
#include "api/tb_plugin/derived.h"
#include "api/tb_plugin/handlers.h"
#include "api/views/worker_place.h"
#include "ingest/base/text/num.h"
#include "ingest/tb_plugin/run_views.h"

#include <string.h>

#define GIB 1073741824.0

struct span_request {
    struct plugin_run run;
    const struct store_trace **traces; /* of the span, by worker */
    size_t count;
};

static bool is_of_span(struct api_call *call, const struct store_trace *trace, const char *span)
{
    bool is_default = trace->span_digits[0] == '\0';
    return span == NULL || *span == '\0' || strcmp(plugin_span_text(call, trace), span) == 0 ||
           (is_default && strcmp(span, "1") == 0);
}

/* The view exists where all workers of the span agree [TB-15b]. */
static bool begin_span(struct api_call *call, struct span_request *request, struct err *err)
{
    const char *span = query_string_get(&call->query, "span");
    *request = (struct span_request){.traces = NULL};
    if (!plugin_find_run(call, &request->run, err) ||
        !plugin_find_views(call, &request->run, err)) {
        return false;
    }
    request->traces = arena_calloc(call_arena(call), request->run.count + 1, sizeof(void *));
    if (request->traces == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the distributed view");
    }
    for (size_t i = 0; i < request->run.count; i++) {
        if (is_of_span(call, &request->run.traces[i], span)) {
            request->traces[request->count++] = &request->run.traces[i];
        }
    }
    bool exists =
        request->count > 0 && run_views_span_agrees(request->run.traces, request->run.communication,
                                                    request->run.count, request->traces[0]->span);
    return exists ||
           err_set(err, ERR_NOT_FOUND,
                   "run \"%.80s\" has no distributed view: its workers do not all hold the same "
                   "collectives",
                   request->run.name);
}

static bool load(struct api_call *call,
                 struct span_request *request,
                 struct query_distributed *out,
                 struct err *err)
{
    const int64_t *ids = NULL;
    return begin_span(call, request, err) &&
           derived_figures_of(call, request->traces, request->count, &ids, err) &&
           query_distributed(call->snapshot, call_arena(call), request->traces, request->count, ids,
                             out, err);
}

static void put_metadata(struct json_write *w,
                         const char *title,
                         const char *const *legends,
                         size_t legend_count)
{
    jw_key_object_begin(w, "metadata");
    jw_key_string(w, "title", title);
    if (legend_count > 0) {
        jw_key_array_begin(w, "legends");
        for (size_t i = 0; i < legend_count; i++) {
            jw_string(w, legends[i]);
        }
        jw_array_end(w);
        jw_key_string(w, "units", "us");
    }
    jw_object_end(w);
}

/* ---- overlap, waittime: the same shape ---- */

#define PARTS_MAX 4

/* What one worker has of one step. */
struct step_parts {
    const char *step; /* NULL: outside all steps */
    size_t worker;
    int64_t ticks[PARTS_MAX];
    bool is_empty[PARTS_MAX]; /* a sum over nothing, the integer 0 [TB-1b] */
    bool is_undefined;        /* the last part: what is left of a step without bounds [TB-1.1] */
};

struct step_table {
    struct step_parts *items;
    size_t count;
    size_t part_count;
};

static bool same_step(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void put_parts(struct json_write *w,
                      const struct query_distributed *view,
                      const struct step_parts *item,
                      size_t part_count)
{
    const struct query_worker *worker = &view->workers[item->worker];
    struct plugin_unit unit = plugin_ticks(worker->results);
    jw_key_array_begin(w, worker->trace->worker);
    for (size_t i = 0; i < part_count; i++) {
        if (item->is_undefined && i + 1 == part_count) {
            jw_raw(w, PLUGIN_UNDEFINED_TOTAL_TEXT, strlen(PLUGIN_UNDEFINED_TOTAL_TEXT));
        } else if (item->is_empty[i]) {
            jw_int(w, 0);
        } else {
            plugin_put_sum_us(w, unit, item->ticks[i]);
        }
    }
    jw_array_end(w);
}

/* Means over the worker's steps, cut to integers [TB-15c]. */
static void put_mean(struct json_write *w,
                     const struct query_distributed *view,
                     const struct step_table *table,
                     size_t worker)
{
    struct plugin_unit unit = plugin_ticks(view->workers[worker].results);
    double sums[PARTS_MAX] = {0};
    bool is_undefined = false;
    size_t steps = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (table->items[i].worker != worker) {
            continue;
        }
        steps++;
        is_undefined = is_undefined || table->items[i].is_undefined;
        for (size_t part = 0; part < table->part_count; part++) {
            sums[part] += plugin_us(unit, table->items[i].ticks[part]);
        }
    }
    jw_key_array_begin(w, view->workers[worker].trace->worker);
    for (size_t part = 0; part < table->part_count; part++) {
        double mean = steps == 0 ? 0 : sums[part] / (double)steps;
        if (is_undefined && part + 1 == table->part_count) {
            plugin_put_rounded(w, PLUGIN_UNDEFINED_TOTAL);
        } else {
            jw_int(w, (int64_t)mean);
        }
    }
    jw_array_end(w);
}

/* Steps in the order in which the workers' steps meet them [TB-15c]. */
static void put_steps(struct json_write *w,
                      const struct query_distributed *view,
                      const struct step_table *table)
{
    jw_key_object_begin(w, "data");
    jw_key_object_begin(w, "all");
    for (size_t i = 0; i < view->worker_count; i++) {
        put_mean(w, view, table, i);
    }
    jw_object_end(w);
    for (size_t i = 0; i < table->count; i++) {
        bool is_first = true;
        for (size_t j = 0; j < i && is_first; j++) {
            is_first = !same_step(table->items[j].step, table->items[i].step);
        }
        if (!is_first) {
            continue;
        }
        jw_key_object_begin(w, table->items[i].step == NULL ? "null" : table->items[i].step);
        const struct step_parts *last = NULL; /* of steps of one name the last one stands */
        for (size_t j = i; j < table->count; j++) {
            const struct step_parts *item = &table->items[j];
            if (same_step(item->step, table->items[i].step)) {
                if (last != NULL && last->worker != item->worker) {
                    put_parts(w, view, last, table->part_count);
                }
                last = item;
            }
        }
        put_parts(w, view, last, table->part_count);
        jw_object_end(w);
    }
    jw_object_end(w);
}

static void collect_overlap(struct step_table *table, const struct query_distributed *view)
{
    for (size_t i = 0; i < view->worker_count; i++) {
        const struct trace_results *results = view->workers[i].results;
        for (size_t j = 0; j < results->step_count; j++) {
            const struct step_row *step = &results->steps[j];
            int64_t length = step->end_ns - step->start_ns;
            int64_t busy = step->computation_ns + step->communication_ns - step->overlap_ns;
            table->items[table->count++] = (struct step_parts){
                .step = step->name,
                .worker = i,
                .ticks = {step->computation_ns - step->overlap_ns, step->overlap_ns,
                          step->communication_ns - step->overlap_ns, length - busy},
                .is_empty = {step->computation_ns == 0, step->overlap_ns == 0,
                             step->communication_ns == 0, false},
                .is_undefined = results->steps_undefined};
        }
    }
}

static void collect_waits(struct step_table *table, const struct query_distributed *view)
{
    for (size_t i = 0; i < view->worker_count; i++) {
        const struct query_worker *worker = &view->workers[i];
        for (size_t j = 0; j < worker->wait_count; j++) {
            const struct distributed_wait *wait = &worker->waits[j];
            bool has_step = wait->step >= 0 && (size_t)wait->step < worker->results->step_count;
            table->items[table->count++] = (struct step_parts){
                .step = has_step ? worker->results->steps[wait->step].name : NULL,
                .worker = i,
                .ticks = {wait->real, wait->total - wait->real}};
        }
    }
}

static bool answer_steps(struct api_call *call,
                         const char *title,
                         const char *const *legends,
                         size_t part_count,
                         void (*collect)(struct step_table *, const struct query_distributed *),
                         struct err *err)
{
    struct span_request request;
    struct query_distributed view;
    struct step_table table = {.part_count = part_count};
    size_t room = 0;
    if (!load(call, &request, &view, err)) {
        return false;
    }
    for (size_t i = 0; i < view.worker_count; i++) {
        room += view.workers[i].results->step_count + view.workers[i].wait_count;
    }
    table.items = arena_calloc(call_arena(call), room + 1, sizeof *table.items);
    if (table.items == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the distributed view");
    }
    collect(&table, &view);
    struct json_write w = call_json_long(call, true);
    jw_object_begin(&w);
    put_metadata(&w, title, legends, part_count);
    put_steps(&w, &view, &table);
    jw_object_end(&w);
    return true;
}

bool plugin_distributed_overlap(struct api_call *call, struct err *err)
{
    static const char *const legends[] = {"Computation", "Overlapping", "Communication", "Other"};
    return answer_steps(call, "Computation/Communication Overview", legends, 4, collect_overlap,
                        err);
}

bool plugin_distributed_waittime(struct api_call *call, struct err *err)
{
    static const char *const legends[] = {"Data Transfer Time", "Synchronizing Time"};
    return answer_steps(call, "Synchronizing/Communication Overview", legends, 2, collect_waits,
                        err);
}

/* ---- commops ---- */

static void put_comm_columns(struct json_write *w)
{
    static const char *const names[] = {"Calls",
                                        "Total Size (bytes)",
                                        "Avg Size (bytes)",
                                        "Total Latency (us)",
                                        "Avg Latency (us)",
                                        "Data Transfer Time (us)",
                                        "Avg Data Transfer Time (us)"};
    jw_key_array_begin(w, "columns");
    plugin_put_column(w, "string", "Name", NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        plugin_put_column(w, "number", names[i], NULL);
    }
    jw_array_end(w);
}

static void
put_comm_op(struct json_write *w, const struct distributed_op *op, struct plugin_unit unit)
{
    double calls = (double)op->calls;
    jw_array_begin(w);
    jw_string(w, op->name);
    jw_int(w, op->calls);
    jw_int(w, op->size_bytes);
    plugin_put_rounded(w, (double)op->size_bytes / calls);
    plugin_put_sum_us(w, unit, op->total);
    plugin_put_rounded(w, plugin_us(unit, op->total) / calls);
    plugin_put_sum_us(w, unit, op->real);
    plugin_put_rounded(w, plugin_us(unit, op->real) / calls);
    jw_array_end(w);
}

bool plugin_distributed_commops(struct api_call *call, struct err *err)
{
    struct span_request request;
    struct query_distributed view;
    if (!load(call, &request, &view, err)) {
        return false;
    }
    struct json_write w = call_json_long(call, true);
    jw_object_begin(&w);
    put_metadata(&w, "Communication Operations Stats", NULL, 0);
    jw_key_object_begin(&w, "data");
    for (size_t i = 0; i < view.worker_count; i++) {
        const struct query_worker *worker = &view.workers[i];
        jw_key_object_begin(&w, worker->trace->worker);
        put_comm_columns(&w);
        jw_key_array_begin(&w, "rows");
        for (size_t j = 0; j < worker->op_count; j++) {
            put_comm_op(&w, &worker->ops[j], plugin_ticks(worker->results));
        }
        jw_array_end(&w);
        jw_object_end(&w);
    }
    jw_object_end(&w);
    jw_object_end(&w);
    return true;
}

/* ---- gpuinfo ---- */

static void put_gpu(struct json_write *w, struct api_call *call, const struct gpu_row *gpu)
{
    const char *key = call_format(call, "GPU%lld", (long long)gpu->id);
    jw_key_object_begin(w, key == NULL ? "" : key);
    if (gpu->name != NULL) {
        jw_key_string(w, "Name", gpu->name);
    }
    if (gpu->memory_bytes != INT64_MIN) {
        char text[NUM_TEXT_BYTES];
        (void)num_repr(text, num_round_digits((double)gpu->memory_bytes / GIB, 2));
        jw_key_string(w, "Memory", call_format(call, "%s GB", text));
        jw_key_int(w, "Memory Raw", gpu->memory_bytes);
    }
    if (gpu->capability != NULL) {
        jw_key_string(w, "Compute Capability", gpu->capability);
    }
    jw_object_end(w);
}

static void put_process(struct json_write *w,
                        struct api_call *call,
                        const struct worker_place *place,
                        const struct trace_results *results)
{
    const char *key = call_format(call, "Process %s", place->process);
    jw_key_object_begin(w, key == NULL ? "" : key);
    for (size_t i = 0; i < results->gpu_count; i++) {
        put_gpu(w, call, &results->gpus[i]);
    }
    jw_object_end(w);
}

/* Nodes in the order of their first workers [TB-A.distributed_gpuinfo]. */
static bool
put_nodes(struct json_write *w, struct api_call *call, const struct query_distributed *view)
{
    struct worker_place *places =
        arena_calloc(call_arena(call), view->worker_count + 1, sizeof *places);
    if (places == NULL) {
        return false;
    }
    for (size_t i = 0; i < view->worker_count; i++) {
        places[i] = worker_place_of(call, view->workers[i].trace->worker, i);
        if (places[i].node == NULL || places[i].process == NULL) {
            return false;
        }
    }
    for (size_t i = 0; i < view->worker_count; i++) {
        bool is_first = true;
        for (size_t j = 0; j < i && is_first; j++) {
            is_first = strcmp(places[j].node, places[i].node) != 0;
        }
        if (!is_first) {
            continue;
        }
        jw_key_object_begin(w, places[i].node);
        for (size_t j = i; j < view->worker_count; j++) {
            if (strcmp(places[j].node, places[i].node) == 0) {
                put_process(w, call, &places[j], view->workers[j].results);
            }
        }
        jw_object_end(w);
    }
    return true;
}

bool plugin_distributed_gpuinfo(struct api_call *call, struct err *err)
{
    struct span_request request;
    struct query_distributed view;
    bool any = false;
    if (!load(call, &request, &view, err)) {
        return false;
    }
    for (size_t i = 0; i < view.worker_count; i++) {
        any = any || view.workers[i].results->device_property_count > 0;
    }
    struct json_write w = call_json_long(call, true);
    if (!any) {
        jw_null(&w);
        return true;
    }
    jw_object_begin(&w);
    put_metadata(&w, "Device Information", NULL, 0);
    jw_key_object_begin(&w, "data");
    bool ok = put_nodes(&w, call, &view);
    jw_object_end(&w);
    jw_object_end(&w);
    return ok || err_set(err, ERR_NO_MEMORY, "no memory for the device information");
}

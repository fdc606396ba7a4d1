/* Computation and communication of the workers of a run, laid beside each other. */
#include "api/views/distributed.h"

#include "api/handlers.h"
#include "api/table/table_params.h"
#include "ingest/base/order.h"
#include "ingest/base/text/strtab.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "No memory for the distributed view");
}

/* The traces of a run that are a profiler's. */
struct run_traces {
    const struct store_trace **items; /* by worker, then span */
    size_t count;
};

static bool read_run(struct run_traces *run, struct api_call *call, struct err *err)
{
    struct store_trace *traces = NULL;
    size_t count = 0;
    *run = (struct run_traces){.count = 0};
    if (!store_traces(call->snapshot, call_arena(call), call->params[0], &traces, &count, err)) {
        return false;
    }
    run->items = arena_calloc(call_arena(call), count + 1, sizeof(struct store_trace *));
    for (size_t i = 0; run->items != NULL && i < count; i++) {
        if ((traces[i].views >> VIEW_TRACE & 1U) != 0) {
            run->items[run->count++] = &traces[i];
        }
    }
    return run->items != NULL || no_memory(err);
}

/* ---- spans ---- */

static bool list_spans(struct distributed_answer *answer,
                       struct api_call *call,
                       const struct run_traces *run,
                       struct err *err)
{
    answer->spans = arena_calloc(call_arena(call), run->count + 1, sizeof *answer->spans);
    if (answer->spans == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < run->count; i++) {
        answer->spans[i] = run->items[i]->span;
    }
    qsort(answer->spans, run->count, sizeof *answer->spans, order_i64_at);
    for (size_t i = 0; i < run->count; i++) {
        if (i == 0 || answer->spans[i] != answer->spans[i - 1]) {
            answer->spans[answer->span_count++] = answer->spans[i];
        }
    }
    return true;
}

static bool choose_span(struct distributed_answer *answer, struct api_call *call, struct err *err)
{
    answer->span = answer->span_count == 0 ? 1 : answer->spans[0];
    if (!query_string_int(&call->query, "span", 1, INT64_MAX, &answer->span, err)) {
        return false;
    }
    for (size_t i = 0; i < answer->span_count; i++) {
        if (answer->spans[i] == answer->span) {
            return true;
        }
    }
    return err_set(err, ERR_NOT_FOUND,
                   "Run \"%.80s\" has no span %" PRId64 " of a profiler: it has %zu, from %" PRId64
                   " on",
                   answer->run, answer->span, answer->span_count,
                   answer->span_count == 0 ? 1 : answer->spans[0]);
}

/* Those of the span; of a worker that has several the one that came last. */
static void keep_span(struct run_traces *run, int64_t span)
{
    size_t kept = 0;
    for (size_t i = 0; i < run->count; i++) {
        const struct store_trace *trace = run->items[i];
        if (trace->span != span) {
            continue;
        }
        if (kept > 0 && strcmp(run->items[kept - 1]->worker, trace->worker) == 0) {
            kept--;
            trace = trace->id > run->items[kept]->id ? trace : run->items[kept];
        }
        run->items[kept++] = trace;
    }
    run->count = kept;
}

static bool check_collectives(const struct run_traces *run, const char *name, struct err *err)
{
    bool has_any = false;
    for (size_t i = 0; i < run->count; i++) {
        has_any = has_any || run->items[i]->collective_count > 0;
    }
    return has_any ||
           err_set(err, ERR_NOT_FOUND,
                   "Run \"%.80s\" has no collectives: upload a trace of each process of a "
                   "torch.distributed run",
                   name);
}

/* ---- answering ---- */

static bool name_steps(struct distributed_answer *answer, struct arena *arena, struct err *err)
{
    const struct query_distributed *view = &answer->view;
    struct strtab *names = strtab_create();
    size_t room = 0;
    for (size_t i = 0; i < view->worker_count; i++) {
        room += view->workers[i].results->step_count;
    }
    answer->steps = arena_calloc(arena, room + 1, sizeof *answer->steps);
    bool ok = names != NULL && answer->steps != NULL;
    for (size_t i = 0; ok && i < view->worker_count; i++) {
        const struct trace_results *results = view->workers[i].results;
        for (size_t j = 0; ok && j < results->step_count; j++) {
            const char *name = results->steps[j].name;
            if (strtab_find(names, name, strlen(name)) == STRTAB_NONE) {
                answer->steps[answer->step_count++] = name;
                ok = strtab_intern(names, name, strlen(name)) != STRTAB_NONE;
            }
        }
    }
    strtab_destroy(names);
    return ok || no_memory(err);
}

static bool find_places(struct distributed_answer *answer, struct api_call *call, struct err *err)
{
    size_t count = answer->view.worker_count;
    answer->places = arena_calloc(call_arena(call), count + 1, sizeof *answer->places);
    for (size_t i = 0; answer->places != NULL && i < count; i++) {
        answer->places[i] = worker_place_of(call, answer->view.workers[i].trace->worker, i);
    }
    return answer->places != NULL || no_memory(err);
}

static bool load(struct distributed_answer *answer, struct api_call *call, struct err *err)
{
    struct run_traces run;
    answer->run = call->params[0];
    if (!read_run(&run, call, err) || !list_spans(answer, call, &run, err) ||
        !choose_span(answer, call, err)) {
        return false;
    }
    keep_span(&run, answer->span);
    return check_collectives(&run, answer->run, err) &&
           query_distributed(call->snapshot, call_arena(call), run.items, run.count, NULL,
                             &answer->view, err) &&
           find_places(answer, call, err) && name_steps(answer, call_arena(call), err);
}

bool distributed_get(struct api_call *call, struct err *err)
{
    struct distributed_answer answer = {.span = 0};
    if (!load(&answer, call, err)) {
        return false;
    }
    struct json_write w = call_json_long(call, false);
    jw_object_begin(&w);
    jw_key_string(&w, "run", answer.run);
    jw_key_int(&w, "span", answer.span);
    jw_key_array_begin(&w, "spans");
    for (size_t i = 0; i < answer.span_count; i++) {
        jw_int(&w, answer.spans[i]);
    }
    jw_array_end(&w);
    jw_key_bool(&w, "agrees", answer.view.agrees);
    distributed_write(&w, &answer);
    jw_object_end(&w);
    return true;
}

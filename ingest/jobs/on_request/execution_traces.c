#include "ingest/jobs/on_request/execution_traces.h"

#include "ingest/analysis/execution_trace/tensors.h"
#include "ingest/base/thread.h"
#include "ingest/formats/execution_trace/execution_trace.h"
#include "ingest/jobs/pipeline/archive.h"
#include "ingest/jobs/pipeline/rank_name.h"

#include <string.h>

/* Execution traces of a run that are read for one answer. */
#define SOURCES_MAX 8

struct reading {
    struct jobs *jobs;
    const struct store_trace *trace;
    uint64_t record_id;
    const char *name;
    struct arena *arena;
    struct call_tensors *out;
    const struct store_trace *sources[SOURCES_MAX];
    size_t source_count;
    size_t budget_bytes;
    struct err *err;
    bool ok;
};

/* ---- which ---- */

enum nearness { SAME_RANK, SAME_WORKER, UNKNOWN_RANK, OTHER_RANK };

/* As the file says, else its name. */
static int64_t rank_of(const struct store_trace *trace)
{
    return trace->rank != STORE_NO_RANK ? trace->rank : rank_of_name(trace->file_name);
}

static enum nearness nearness_of(const struct store_trace *source, const struct store_trace *trace)
{
    int64_t rank = rank_of(source);
    int64_t wanted = rank_of(trace);
    if (rank != RANK_NAME_NONE && wanted != RANK_NAME_NONE) {
        return rank == wanted ? SAME_RANK : OTHER_RANK;
    }
    return strcmp(source->worker, trace->worker) == 0 ? SAME_WORKER : UNKNOWN_RANK;
}

/* Returns how many there are, of which the first are kept. */
static size_t add_sources(struct reading *reading,
                          const struct store_trace *traces,
                          size_t count,
                          enum nearness near)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_one = (traces[i].views >> VIEW_EXECUTION & 1U) != 0 &&
                      nearness_of(&traces[i], reading->trace) == near;
        if (is_one && reading->source_count < SOURCES_MAX) {
            reading->sources[reading->source_count++] = &traces[i];
        }
        found += is_one;
    }
    return found;
}

/* Ranks run the same calls: one of another rank would answer, and wrongly. */
static bool find_sources(struct reading *reading)
{
    struct store_trace *traces = NULL;
    size_t count = 0;
    struct store_snapshot state;
    store_snapshot_init(&state, jobs_store(reading->jobs));
    bool ok =
        store_traces(&state, reading->arena, reading->trace->run, &traces, &count, reading->err);
    store_snapshot_close(&state);
    if (!ok) {
        return false;
    }
    (void)add_sources(reading, traces, count, SAME_RANK);
    (void)add_sources(reading, traces, count, SAME_WORKER);
    size_t known_count = reading->source_count;
    if (add_sources(reading, traces, count, UNKNOWN_RANK) > 1) {
        reading->source_count = known_count;
    }
    return true;
}

/* ---- loading ---- */

struct loading {
    const struct format_options options;
    struct execution_trace **out;
};

static bool load_input(void *context, struct input *in, struct err *err)
{
    const struct loading *loading = context;
    return execution_trace_load(in, &loading->options, loading->out, err);
}

static bool
load(const struct reading *reading, const struct store_trace *source, struct execution_trace **out)
{
    struct arena arena;
    const char *path = NULL;
    struct loading loading = {{.memory_budget_bytes = reading->budget_bytes}, out};
    arena_init(&arena, 0);
    bool ok = store_blob_checked_path(jobs_store(reading->jobs), &arena, source->sha256_hex,
                                      source->size_bytes, &path, reading->err) &&
              pipeline_read_worker(path, source->worker, jobs_input_limits(reading->jobs),
                                   load_input, &loading, reading->err);
    arena_free(&arena);
    return ok;
}

/* ---- the answer ---- */

static uint32_t find_call(const struct execution_trace *trace, const struct reading *reading)
{
    for (uint32_t i = 0; i < trace->node_count; i++) {
        const struct execution_node *node = &trace->nodes[i];
        if (node->record_id == reading->record_id &&
            strcmp(strtab_text(trace->texts, node->name), reading->name) == 0) {
            return i;
        }
    }
    return EXECUTION_NO_NODE;
}

static bool
copy_text(struct arena *arena, const struct strtab *texts, uint32_t id, const char **out)
{
    *out = id == STRTAB_NONE ? NULL
                             : arena_strndup(arena, strtab_text(texts, id), strtab_len(texts, id));
    return id == STRTAB_NONE || *out != NULL;
}

static bool copy_links(const struct execution_trace *trace,
                       const struct tensor_use *use,
                       struct arena *arena,
                       struct call_tensor *out)
{
    out->links = arena_calloc(arena, use->node_count + 1, sizeof *out->links);
    bool ok = out->links != NULL;
    for (size_t i = 0; ok && i < use->node_count; i++) {
        const struct execution_node *node = &trace->nodes[use->nodes[i]];
        out->links[i] = (struct call_link){.node = node->id, .record_id = node->record_id};
        ok = copy_text(arena, trace->texts, node->name, &out->links[i].name);
    }
    out->link_count = use->node_count;
    return ok;
}

static struct call_tensor *copy_side(const struct execution_trace *trace,
                                     const struct tensor_use *uses,
                                     size_t count,
                                     struct arena *arena)
{
    struct call_tensor *out = arena_calloc(arena, count + 1, sizeof *out);
    bool ok = out != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        const struct execution_tensor *tensor = uses[i].tensor;
        out[i] = (struct call_tensor){.tensor = tensor->id,
                                      .storage = tensor->storage,
                                      .elements = tensor->elements,
                                      .element_bytes = tensor->element_bytes,
                                      .position = tensor->position,
                                      .more = uses[i].more,
                                      .by_storage = uses[i].by_storage};
        ok = copy_text(arena, trace->texts, tensor->type, &out[i].type) &&
             copy_text(arena, trace->texts, tensor->shape, &out[i].shape) &&
             copy_text(arena, trace->texts, tensor->device, &out[i].device) &&
             copy_links(trace, &uses[i], arena, &out[i]);
    }
    return ok ? out : NULL;
}

static bool
answer(const struct execution_trace *trace, uint32_t node, const struct reading *reading)
{
    struct call_tensors *out = reading->out;
    struct node_tensors found;
    struct arena arena;
    arena_init(&arena, 0);
    bool ok = node_tensors_find(trace, node, &arena, &found);
    if (ok) {
        out->node = trace->nodes[node].id;
        out->input_count = found.input_count;
        out->output_count = found.output_count;
        out->inputs = copy_side(trace, found.inputs, found.input_count, reading->arena);
        out->outputs = copy_side(trace, found.outputs, found.output_count, reading->arena);
        ok = out->inputs != NULL && out->outputs != NULL;
    }
    arena_free(&arena);
    return ok || err_set(reading->err, ERR_NO_MEMORY, "no memory for the tensors of a call");
}

static void *run(void *context)
{
    struct reading *reading = context;
    reading->ok = true;
    for (size_t i = 0; reading->ok && reading->out->source == NULL && i < reading->source_count;
         i++) {
        struct execution_trace *trace = NULL;
        reading->ok = load(reading, reading->sources[i], &trace);
        uint32_t node = reading->ok ? find_call(trace, reading) : EXECUTION_NO_NODE;
        if (node != EXECUTION_NO_NODE) {
            reading->out->source = reading->sources[i];
            reading->ok = answer(trace, node, reading);
        }
        execution_trace_destroy(trace);
    }
    return NULL;
}

bool call_tensors_read(struct jobs *jobs,
                       const struct store_trace *trace,
                       uint64_t record_id,
                       const char *name,
                       struct arena *arena,
                       struct call_tensors *out,
                       struct err *err)
{
    struct reading reading = {.jobs = jobs,
                              .trace = trace,
                              .record_id = record_id,
                              .name = name,
                              .arena = arena,
                              .out = out,
                              .err = err};
    *out = (struct call_tensors){.source = NULL};
    if (!find_sources(&reading) || reading.source_count == 0) {
        return err->code == ERR_NONE;
    }
    if (!jobs_window_begin(jobs, &reading.budget_bytes, err)) {
        return false;
    }
    int code = thread_call(run, &reading);
    jobs_window_end(jobs);
    return code == 0 ? reading.ok
                     : err_set_errno(err, ERR_NO_MEMORY, code, "no thread for an analysis");
}

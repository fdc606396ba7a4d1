#include "ingest/query/views/distributed.h"

#include "ingest/analysis/collectives/distributed.h"

static const struct collective_log nothing = {.op_count = 0};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the distributed view");
}

static bool load_worker(struct store_snapshot *snapshot,
                        struct arena *arena,
                        const struct store_trace *trace,
                        int64_t id,
                        struct query_worker *worker,
                        const struct collective_log **log,
                        struct err *err)
{
    struct trace_results *results = NULL;
    struct collective_log *stored = NULL;
    if (!store_overview(snapshot, arena, id, &results, err) ||
        !store_comm_log(snapshot, arena, id, &stored, err)) {
        return false;
    }
    worker->trace = trace;
    worker->results = results;
    *log = stored == NULL ? &nothing : stored;
    return true;
}

/* Workers without collectives take no part: nothing of theirs could match. */
static bool match_workers(struct query_distributed *out,
                          struct arena *arena,
                          const struct collective_log *const *logs)
{
    size_t count = out->worker_count;
    struct distributed matched;
    struct distributed_worker *silent = arena_calloc(arena, count + 1, sizeof *silent);
    const struct collective_log **speaking =
        arena_calloc(arena, count + 1, sizeof(struct collective_log *));
    size_t speaking_count = 0;
    if (silent == NULL || speaking == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (logs[i]->op_count > 0) {
            speaking[speaking_count++] = logs[i];
        }
    }
    if (!distributed_match(&matched, arena, speaking, speaking_count)) {
        return false;
    }
    out->agrees = matched.agrees && speaking_count == count;
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        silent[i].log = &nothing;
        out->workers[i].matched = logs[i]->op_count > 0 ? &matched.workers[next++] : &silent[i];
    }
    return true;
}

bool query_distributed(struct store_snapshot *snapshot,
                       struct arena *arena,
                       const struct store_trace *const *traces,
                       size_t count,
                       const int64_t *figures_ids,
                       struct query_distributed *out,
                       struct err *err)
{
    const struct collective_log **logs =
        arena_calloc(arena, count + 1, sizeof(struct collective_log *));
    *out = (struct query_distributed){
        .workers = arena_calloc(arena, count + 1, sizeof *out->workers), .worker_count = count};
    if (logs == NULL || out->workers == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        int64_t id = figures_ids == NULL ? traces[i]->id : figures_ids[i];
        if (!load_worker(snapshot, arena, traces[i], id, &out->workers[i], &logs[i], err)) {
            return false;
        }
    }
    if (!match_workers(out, arena, logs)) {
        return no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        struct query_worker *worker = &out->workers[i];
        if (!distributed_waits(&worker->waits, &worker->wait_count, arena, worker->matched) ||
            !distributed_ops(&worker->ops, &worker->op_count, arena, worker->matched)) {
            return no_memory(err);
        }
    }
    return true;
}

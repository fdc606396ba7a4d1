#include "ingest/query/views/distributed.h"

#include "ingest/analysis/collectives/distributed.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/text/strtab.h"

#include <string.h>

static const struct collective_log nothing = {.op_count = 0};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the distributed view");
}

/* The number of the first step with the name of each; to be freed. NULL without memory. */
static uint32_t *first_of_name(const struct trace_results *results)
{
    size_t count = results->step_count;
    struct strtab *names = strtab_create();
    uint32_t *first = scratch_none(count + 1);
    uint32_t *by_name = scratch_none(count + 1);
    bool ok = names != NULL && first != NULL && by_name != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        const char *name = results->steps[i].name;
        uint32_t id = strtab_intern(names, name, strlen(name));
        ok = id != STRTAB_NONE;
        if (ok) {
            by_name[id] = by_name[id] == UINT32_MAX ? i : by_name[id];
            first[i] = by_name[id];
        }
    }
    strtab_destroy(names);
    scratch_free(by_name);
    if (!ok) {
        scratch_free(first);
    }
    return ok ? first : NULL;
}

/* A collective is of the step of a name [TB-15a]: those of several steps of one name are together.
 */
static bool join_steps(struct collective_log *log, const struct trace_results *results)
{
    uint32_t *first = first_of_name(results);
    for (uint32_t i = 0; first != NULL && i < log->op_count; i++) {
        int64_t step = log->ops[i].step;
        bool has_step = step >= 0 && (uint64_t)step < results->step_count;
        log->ops[i].step = has_step ? (int64_t)first[step] : step;
    }
    scratch_free(first);
    return first != NULL;
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
    if (stored != NULL && stored->op_count > 0 && !join_steps(stored, results)) {
        return no_memory(err);
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

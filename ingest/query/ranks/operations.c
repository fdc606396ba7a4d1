#include "ingest/query/ranks/operations.h"

#include "ingest/analysis/operations/annotated.h"
#include "ingest/analysis/operations/what_if.h"
#include "ingest/base/saturating.h"
#include "ingest/store/store_ranks.h"

#include <string.h>

#define FORMAT "operations"

bool query_operations_uploaded(struct store_snapshot *snapshot,
                               struct arena *arena,
                               const char *run,
                               struct operation_table **out,
                               struct err *err)
{
    struct store_trace *traces = NULL;
    size_t count = 0;
    int64_t id = 0;
    *out = NULL;
    if (!store_traces(snapshot, arena, run, &traces, &count, err)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        bool is_later = strcmp(traces[i].format, FORMAT) == 0 && traces[i].id > id;
        id = is_later ? traces[i].id : id;
    }
    return id == 0 || store_operations(snapshot, arena, id, out, err);
}

/* Reads one digest at a time: what stays is the operations. */
static bool read_ranks(struct store_snapshot *snapshot,
                       struct arena *arena,
                       const struct ranks_verdict *verdict,
                       struct annotated_rank *ranks,
                       struct err *err)
{
    bool ok = true;
    for (size_t r = 0; ok && r < verdict->rank_count; r++) {
        const struct clock_row *clock = &verdict->clocks[r];
        struct rank_digest *digest = NULL;
        struct arena passing;
        arena_init(&passing, 0);
        ranks[r].rank = clock->rank;
        ranks[r].zero_ns = saturating_add(verdict->zero_ns, clock->offset_ns);
        ok = store_rank_digest(snapshot, &passing, clock->trace, &digest, err);
        if (ok && digest != NULL && !annotated_read(&ranks[r], digest, arena)) {
            ok = err_set(err, ERR_NO_MEMORY, "No memory for the operations of a run");
        }
        arena_free(&passing);
    }
    return ok;
}

bool query_operations_annotated(struct store_snapshot *snapshot,
                                struct arena *arena,
                                const struct query_ranks *ranks,
                                const struct ranks_verdict *verdict,
                                struct operation_table **out,
                                struct err *err)
{
    struct annotated_rank *annotated =
        arena_calloc(arena, verdict->rank_count + 1, sizeof *annotated);
    *out = NULL;
    if (annotated == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the operations of a run");
    }
    if (!read_ranks(snapshot, arena, verdict, annotated, err)) {
        return false;
    }
    if (!annotated_operations(annotated, verdict->rank_count, arena, out)) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the operations of a run");
    }
    return *out != NULL ||
           err_set(err, ERR_NOT_FOUND,
                   "Run \"%.80s\" has no table of operations, and no annotation of its traces "
                   "names them: upload operations.csv with the columns dp_rank, stage, rank, step, "
                   "optype, start_ts, duration, seq_id, mc, gmc, mb_id",
                   ranks->run);
}

bool query_operations_pipeline(const struct operation_table *table,
                               struct arena *arena,
                               struct pipeline *out,
                               struct err *err)
{
    return bubbles_run(table, arena, out, err);
}

bool query_operations_what_if(const struct operation_table *table,
                              struct arena *arena,
                              int64_t dsp_size,
                              struct what_if *out,
                              struct err *err)
{
    return what_if_run(table, dsp_size, arena, out, err);
}

bool query_operations_timeline(const struct operation_table *table,
                               struct arena *arena,
                               const struct what_if_lane *lane,
                               struct what_if_timeline *out,
                               struct err *err)
{
    return what_if_timeline_run(table, lane, arena, out, err);
}

#include "ingest/query/ranks/operations.h"

#include "ingest/analysis/operations/what_if.h"
#include "ingest/store/store_ranks.h"

#include <string.h>

#define FORMAT "operations"

static bool read_table(struct store_snapshot *snapshot,
                       struct arena *arena,
                       const char *run,
                       struct operation_table **table,
                       struct err *err)
{
    struct store_trace *traces = NULL;
    size_t count = 0;
    int64_t id = 0;
    *table = NULL;
    if (!store_traces(snapshot, arena, run, &traces, &count, err)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        bool is_later = strcmp(traces[i].format, FORMAT) == 0 && traces[i].id > id;
        id = is_later ? traces[i].id : id;
    }
    if (id != 0 && !store_operations(snapshot, arena, id, table, err)) {
        return false;
    }
    return *table != NULL ||
           err_set(err, ERR_NOT_FOUND,
                   "Run \"%.80s\" has no table of operations: upload operations.csv with the "
                   "columns dp_rank, stage, rank, step, optype, start_ts, duration, seq_id, mc, "
                   "gmc, mb_id",
                   run);
}

bool query_operations_pipeline(struct store_snapshot *snapshot,
                               struct arena *arena,
                               const char *run,
                               struct pipeline *out,
                               struct err *err)
{
    struct operation_table *table = NULL;
    return read_table(snapshot, arena, run, &table, err) && bubbles_run(table, arena, out, err);
}

bool query_operations_what_if(struct store_snapshot *snapshot,
                              struct arena *arena,
                              const char *run,
                              int64_t dsp_size,
                              struct what_if *out,
                              struct err *err)
{
    struct operation_table *table = NULL;
    return read_table(snapshot, arena, run, &table, err) &&
           what_if_run(table, dsp_size, arena, out, err);
}

bool query_operations_timeline(struct store_snapshot *snapshot,
                               struct arena *arena,
                               const char *run,
                               const struct what_if_lane *lane,
                               struct what_if_timeline *out,
                               struct err *err)
{
    struct operation_table *table = NULL;
    return read_table(snapshot, arena, run, &table, err) &&
           what_if_timeline_run(table, lane, arena, out, err);
}

#include "ingest/tb_plugin/run_views.h"

/* FNV-1a over the numbers. */
static struct communication read_log(const struct collective_log *log)
{
    struct communication found = {0, UINT64_C(0xcbf29ce484222325)};
    for (uint32_t i = 0; log != NULL && i < log->op_count; i++) {
        found.nodes++;
        found.hash = (found.hash ^ log->ops[i].range_count) * UINT64_C(0x100000001b3);
    }
    return found;
}

bool run_views_communication(struct store_snapshot *snapshot,
                             const struct store_trace *traces,
                             size_t count,
                             struct communication *out,
                             struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        struct arena arena;
        struct collective_log *log = NULL;
        arena_init(&arena, 0);
        ok = store_comm_log(snapshot, &arena, traces[i].derived_id, &log, err);
        out[i] = read_log(log);
        arena_free(&arena);
    }
    return ok;
}

bool run_views_span_agrees(const struct store_trace *traces,
                           const struct communication *communication,
                           size_t count,
                           int64_t span)
{
    const struct communication *first = NULL;
    for (size_t i = 0; i < count; i++) {
        if (traces[i].span != span) {
            continue;
        }
        const struct communication *here = &communication[i];
        first = first == NULL ? here : first;
        if (here->nodes == 0 || here->nodes != first->nodes || here->hash != first->hash) {
            return false;
        }
    }
    return first != NULL;
}

uint32_t run_views_of(const struct store_trace *traces,
                      const struct communication *communication,
                      size_t count)
{
    uint32_t views = 0;
    int64_t last_span = 0;
    for (size_t i = 0; i < count; i++) {
        views |= traces[i].derived_views;
        last_span = traces[i].span > last_span ? traces[i].span : last_span;
    }
    for (int64_t span = 1; span <= last_span; span++) {
        if (run_views_span_agrees(traces, communication, count, span)) {
            return views | 1U << VIEW_DISTRIBUTED;
        }
    }
    return views;
}

#include "api/comparison/compare_counters.h"

#include "api/table/rows.h"
#include "ingest/base/order.h"

#include <stdlib.h>

/* What one trace counted; nothing when it is gone. */
struct counted {
    enum comparison_side side;
    struct counter_row *rows;
    size_t count;
};

static bool
read_trace(struct counted *counted, struct api_call *call, int64_t trace_id, struct err *err)
{
    struct err check = ERR_INIT;
    if (!store_trace_check(call->snapshot, trace_id, &check)) {
        if (check.code != ERR_NOT_FOUND) {
            *err = check;
        }
        return check.code == ERR_NOT_FOUND;
    }
    return store_counters(call->snapshot, call_arena(call), trace_id, &counted->rows,
                          &counted->count, err);
}

ORDER_BY(compare_counters, struct compare_counter, ORDER_TEXT(name), ORDER_TEXT(host))

static void add_counters(struct compare_counters *out, const struct counted *counted)
{
    for (size_t i = 0; i < counted->count; i++) {
        const struct counter_row *row = &counted->rows[i];
        struct compare_counter *item = &out->items[out->count++];
        item->name = row->name;
        item->host = row->host;
        item->samples[counted->side] = row->samples;
        item->sum[counted->side] = row->mean * (double)row->samples;
    }
}

static void merge(struct compare_counters *out)
{
    size_t kept = 0;
    qsort(out->items, out->count, sizeof *out->items, compare_counters);
    for (size_t i = 0; i < out->count; i++) {
        const struct compare_counter *next = &out->items[i];
        if (kept == 0 || compare_counters(&out->items[kept - 1], next) != 0) {
            out->items[kept++] = *next;
            continue;
        }
        for (int side = 0; side < SIDE_COUNT; side++) {
            struct compare_counter *into = &out->items[kept - 1];
            into->sum[side] += next->sum[side];
            into->samples[side] = rows_add(into->samples[side], next->samples[side]);
        }
    }
    out->count = kept;
}

bool compare_counters_read(struct compare_counters *out,
                           struct api_call *call,
                           const struct store_comparison *stored,
                           struct err *err)
{
    struct arena *arena = call_arena(call);
    size_t traces = stored->trace_count[SIDE_BASE] + stored->trace_count[SIDE_CANDIDATE];
    struct counted *counted = arena_calloc(arena, traces + 1, sizeof *counted);
    size_t at = 0;
    size_t count = 0;
    *out = (struct compare_counters){.count = 0};
    for (int side = 0; counted != NULL && side < SIDE_COUNT; side++) {
        for (size_t i = 0; i < stored->trace_count[side]; i++) {
            counted[at].side = (enum comparison_side)side;
            if (!read_trace(&counted[at], call, stored->trace_ids[side][i], err)) {
                return false;
            }
            count += counted[at++].count;
        }
    }
    out->items = arena_calloc(arena, count + 1, sizeof *out->items);
    if (counted == NULL || out->items == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the counters");
    }
    for (size_t i = 0; i < traces; i++) {
        add_counters(out, &counted[i]);
    }
    merge(out);
    return true;
}

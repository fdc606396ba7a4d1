/* When a rank's device works on something else than collectives [RANK-10b]. */
#include "ingest/analysis/ranks/digest_internal.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <stdlib.h>
#include <string.h>

/* Device work stands in order of start. Returns how many stretches there are. */
static uint32_t unite(const struct digesting *d, struct rank_busy *items)
{
    const struct events_in_time work = d->sel->lists[LIST_DEVICE];
    uint32_t count = 0;
    for (uint32_t i = 0; i < work.count; i++) {
        uint32_t event = work.items[i];
        if (digest_is_collective(d, event)) {
            continue;
        }
        int64_t start_ns = digest_start(d, event);
        int64_t end_ns = saturating_add(start_ns, trace_dur_ns(&d->sel->trace->events, event));
        if (count > 0 && start_ns <= items[count - 1].end_ns) {
            items[count - 1].end_ns = i64_max(items[count - 1].end_ns, end_ns);
        } else if (end_ns > start_ns) {
            items[count++] = (struct rank_busy){start_ns, end_ns};
        }
    }
    return count;
}

/* Gaps of at most so many nanoseconds are closed; false without memory. */
static bool find_gap(const struct rank_busy *items, uint32_t count, int64_t *gap_ns)
{
    int64_t *gaps = scratch_alloc(count, sizeof *gaps);
    if (gaps == NULL) {
        return false;
    }
    for (uint32_t i = 1; i < count; i++) {
        gaps[i - 1] = saturating_sub(items[i].start_ns, items[i - 1].end_ns);
    }
    qsort(gaps, count - 1, sizeof *gaps, order_i64_at);
    *gap_ns = gaps[count - 1 - RANK_BUSY_MAX];
    scratch_free(gaps);
    return true;
}

static uint32_t close_gaps(struct rank_busy *items, uint32_t count, int64_t gap_ns)
{
    uint32_t kept = 1;
    for (uint32_t i = 1; i < count; i++) {
        if (saturating_sub(items[i].start_ns, items[kept - 1].end_ns) <= gap_ns) {
            items[kept - 1].end_ns = items[i].end_ns;
        } else {
            items[kept++] = items[i];
        }
    }
    return kept;
}

bool digest_busy(struct digesting *d)
{
    struct rank_busy *items = scratch_alloc(d->sel->lists[LIST_DEVICE].count, sizeof *items);
    int64_t gap_ns = 0;
    if (items == NULL) {
        return false;
    }
    uint32_t count = unite(d, items);
    bool ok = count <= RANK_BUSY_MAX || find_gap(items, count, &gap_ns);
    if (ok && count > RANK_BUSY_MAX) {
        count = close_gaps(items, count, gap_ns);
    }
    d->out->busy = arena_calloc(d->arena, (size_t)count + 1, sizeof *d->out->busy);
    ok = ok && d->out->busy != NULL;
    if (ok && count > 0) {
        memcpy(d->out->busy, items, count * sizeof *items);
        d->out->busy_count = count;
    }
    scratch_free(items);
    return ok;
}

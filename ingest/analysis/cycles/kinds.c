/* Prefill or decode: by the name of the anchor, by names inside, or by duration [CMP-10.cycles.2]
 * [CMP-10a.kinds]. */
#include "ingest/analysis/cycles/owners.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/text/num.h"
#include "ingest/index/sort.h"

/* Shorter anchors do not tell prefills by their duration [CMP-10a.kinds.3]. */
#define LONG_ANCHOR_NS INT64_C(1000000)
#define LONG_ANCHORS_MIN 3
#define PREFILL_MEDIAN_RATIO 3.0
#define PREFILL_PERCENTILE 0.8

static void
classify_by_anchor(struct cycle_owners *owners, const struct cycle_events *events, uint32_t prefill)
{
    for (uint32_t i = 0; i < owners->anchor_count; i++) {
        bool is_prefill = cycle_name(events, owners->anchors[i].at) == prefill;
        owners->anchors[i].kind = is_prefill ? ANCHOR_PREFILL : ANCHOR_DECODE;
    }
}

static bool has_encode(struct cycle_events *events)
{
    for (uint32_t at = 0; at < events->count; at++) {
        if ((cycle_name_flags(&events->names, cycle_name(events, at)) & CYCLE_NAME_ENCODE) != 0) {
            return true;
        }
    }
    return false;
}

/* By the names of all that the anchor owns: prefill wins over decode [CMP-10a.kinds.1]. */
static bool classify_by_words(struct cycle_owners *owners, struct cycle_events *events)
{
    uint32_t decode = CYCLE_NAME_DECODE | (has_encode(events) ? 0 : CYCLE_NAME_JUST_DECODE);
    bool found = false;
    for (uint32_t at = 0; at < events->count; at++) {
        if (owners->owner[at] == CYCLE_NONE) {
            continue;
        }
        struct cycle_anchor *anchor = &owners->anchors[owners->owner[at]];
        uint32_t flags = cycle_name_flags(&events->names, cycle_name(events, at));
        if ((flags & CYCLE_NAME_PREFILL) != 0) {
            anchor->kind = ANCHOR_PREFILL;
        } else if ((flags & decode) != 0 && anchor->kind == ANCHOR_UNTYPED) {
            anchor->kind = ANCHOR_DECODE;
        }
        found = found || anchor->kind != ANCHOR_UNTYPED;
    }
    return found;
}

/* Ascending durations of the anchors that are long enough. NULL without memory. */
static int64_t *long_durations(const struct cycle_owners *owners,
                               const struct cycle_events *events,
                               uint32_t *count)
{
    int64_t *durations = scratch_alloc(owners->anchor_count, sizeof *durations);
    int64_t *sorted = scratch_alloc(owners->anchor_count, sizeof *sorted);
    uint32_t *order = scratch_alloc(owners->anchor_count, sizeof *order);
    bool ok = durations != NULL && sorted != NULL && order != NULL;
    *count = 0;
    for (uint32_t i = 0; ok && i < owners->anchor_count; i++) {
        int64_t dur_ns = cycle_anchor_ns(events, &owners->anchors[i]);
        if (dur_ns > LONG_ANCHOR_NS) {
            order[*count] = *count;
            durations[(*count)++] = dur_ns;
        }
    }
    ok = ok && sort_by_key(order, *count, durations);
    for (uint32_t i = 0; ok && i < *count; i++) {
        sorted[i] = durations[order[i]];
    }
    scratch_free(durations);
    scratch_free(order);
    if (!ok) {
        scratch_free(sorted);
        return NULL;
    }
    return sorted;
}

static bool
classify_by_duration(struct cycle_owners *owners, const struct cycle_events *events, bool *found)
{
    uint32_t count;
    int64_t *sorted = long_durations(owners, events, &count);
    if (sorted == NULL) {
        return false;
    }
    double median = num_percentile_sorted(sorted, count, 0.5);
    double limit = num_percentile_sorted(sorted, count, PREFILL_PERCENTILE);
    *found = count >= LONG_ANCHORS_MIN && (double)sorted[count - 1] / median > PREFILL_MEDIAN_RATIO;
    scratch_free(sorted);
    for (uint32_t i = 0; *found && i < owners->anchor_count; i++) {
        double dur_ns = (double)cycle_anchor_ns(events, &owners->anchors[i]);
        bool is_prefill = dur_ns > limit && dur_ns > PREFILL_MEDIAN_RATIO * median;
        owners->anchors[i].kind = is_prefill ? ANCHOR_PREFILL : ANCHOR_DECODE;
    }
    return true;
}

bool cycle_owners_classify(struct cycle_owners *owners,
                           struct cycle_events *events,
                           uint32_t prefill,
                           bool *is_typed)
{
    *is_typed = true;
    if (prefill != CYCLE_NONE) {
        classify_by_anchor(owners, events, prefill);
        return true;
    }
    return classify_by_words(owners, events) || classify_by_duration(owners, events, is_typed);
}

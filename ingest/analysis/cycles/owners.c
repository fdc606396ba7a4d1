#include "ingest/analysis/cycles/owners.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/text/num.h"
#include "ingest/index/sort.h"

/* Calls of a later anchor that tell what the calls before the first one look like
 * [CMP-10a.owners.3]. */
#define USUAL_CALLS 5
/* Shorter anchors do not tell prefills by their duration [CMP-10a.kinds.3]. */
#define LONG_ANCHOR_NS INT64_C(1000000)
#define LONG_ANCHORS_MIN 3
#define PREFILL_MEDIAN_RATIO 3.0
#define PREFILL_PERCENTILE 0.8

#define BELOW_ANCHOR 1u /* the event or one above it has the anchor's name */
#define BELOW_PREFILL 2u

struct search {
    struct cycle_owners *owners;
    const struct cycle_events *events;
    const struct cycle_calls *calls;
    uint32_t *parent; /* by position: the call that an event of whatever class hangs under */
    uint8_t *below;   /* by position: BELOW_* */
    uint32_t anchor;
    uint32_t prefill;
};

/* ---- what hangs under what ---- */

/* The Python call of their process that started last, if it encloses them [CMP-10a.owners.4]. Calls
 * hang as they are nested. Calls that start together with an event count as started. */
static bool hang_events(struct search *s)
{
    const struct cycle_events *events = s->events;
    uint32_t *last = scratch_none(events->process_count);
    s->parent = scratch_none(events->count);
    if (last == NULL || s->parent == NULL) {
        scratch_free(last);
        return false;
    }
    uint32_t seen = 0;
    for (uint32_t at = 0; at < events->count; at++) {
        for (; seen < events->count && cycle_start_ns(events, seen) <= cycle_start_ns(events, at);
             seen++) {
            if (events->class[seen] == CYCLE_CLASS_PYTHON) {
                last[cycle_process(events, seen)] = seen;
            }
        }
        uint32_t call = last[cycle_process(events, at)];
        if (events->class[at] == CYCLE_CLASS_PYTHON) {
            s->parent[at] = s->calls->parent[at];
        } else if (call != CYCLE_NONE && cycle_end_ns(events, call) >= cycle_end_ns(events, at)) {
            s->parent[at] = call;
        }
    }
    scratch_free(last);
    return true;
}

/* ---- anchors ---- */

/* Whose anchor a position is, before anchors are numbered: the position of the anchor. */
static void own(struct search *s, uint32_t at)
{
    uint32_t *owner = s->owners->owner;
    uint32_t parent = s->parent[at];
    uint32_t name = cycle_name(s->events, at);
    uint8_t above = parent == CYCLE_NONE ? 0 : s->below[parent];
    uint8_t own_name = name == s->anchor ? BELOW_ANCHOR : name == s->prefill ? BELOW_PREFILL : 0;
    enum cycle_class class = (enum cycle_class)s->events->class[at];
    bool counts = class != CYCLE_CLASS_COUNTER && class != CYCLE_CLASS_SILENT;
    bool is_anchor = counts && own_name != 0 && (above & own_name) == 0;
    s->below[at] = above | own_name;
    if (is_anchor) {
        owner[at] = at;
        s->owners->anchor_count++;
    } else if (counts && class != CYCLE_CLASS_GPU && parent != CYCLE_NONE) {
        owner[at] = owner[parent];
    }
}

/* Calls come before what hangs under them only among calls: so calls first. */
static bool find_anchors(struct search *s)
{
    const struct cycle_events *events = s->events;
    struct cycle_owners *owners = s->owners;
    owners->owner = scratch_none(events->count);
    s->below = scratch_calloc(events->count, sizeof *s->below);
    if (owners->owner == NULL || s->below == NULL) {
        return false;
    }
    for (uint32_t at = 0; at < events->count; at++) {
        if (events->class[at] == CYCLE_CLASS_PYTHON) {
            own(s, at);
        }
    }
    for (uint32_t at = 0; at < events->count; at++) {
        if (events->class[at] != CYCLE_CLASS_PYTHON) {
            own(s, at);
        }
    }
    return true;
}

/* From positions of anchors to their numbers. */
static bool number_anchors(struct search *s)
{
    const struct cycle_events *events = s->events;
    struct cycle_owners *owners = s->owners;
    uint32_t *number = scratch_none(events->count);
    owners->anchors = scratch_calloc(owners->anchor_count, sizeof *owners->anchors);
    if (number == NULL || owners->anchors == NULL) {
        scratch_free(number);
        return false;
    }
    uint32_t count = 0;
    for (uint32_t at = 0; at < events->count; at++) {
        if (owners->owner[at] == at) {
            owners->anchors[count] = (struct cycle_anchor){.at = at, .cycle = CYCLE_NONE};
            number[at] = count++;
        }
    }
    for (uint32_t at = 0; at < events->count; at++) {
        uint32_t anchor = owners->owner[at];
        owners->owner[at] = anchor == CYCLE_NONE ? CYCLE_NONE : number[anchor];
    }
    scratch_free(number);
    return true;
}

/* ---- before the first anchor ---- */

/* Names of the first calls, on the thread and depth of their anchor, that the later anchors own. */
static bool find_usual_names(const struct search *s, bool *is_usual)
{
    const struct cycle_events *events = s->events;
    const struct cycle_owners *owners = s->owners;
    uint8_t *seen = scratch_calloc(owners->anchor_count, sizeof *seen);
    if (seen == NULL) {
        return false;
    }
    for (uint32_t at = 0; at < events->count; at++) {
        uint32_t owner = owners->owner[at];
        if (owner == CYCLE_NONE || owner == 0 || events->class[at] != CYCLE_CLASS_PYTHON ||
            seen[owner] == USUAL_CALLS) {
            continue;
        }
        uint32_t anchor = owners->anchors[owner].at;
        if (cycle_track(events, at)->thread == cycle_track(events, anchor)->thread &&
            s->calls->depth[at] == s->calls->depth[anchor]) {
            is_usual[cycle_name(events, at)] = true;
            seen[owner]++;
        }
    }
    scratch_free(seen);
    return true;
}

/* What ends before the first anchor, from the first usual call on its thread on, is the first
 * anchor's, device work too [CMP-10a.owners.3]. */
static bool own_beginning(struct search *s)
{
    const struct cycle_events *events = s->events;
    struct cycle_owners *owners = s->owners;
    if (owners->anchor_count == 0) {
        return true;
    }
    uint32_t first = owners->anchors[0].at;
    bool *is_usual = scratch_calloc(strtab_count(events->trace->strings), sizeof *is_usual);
    bool ok = is_usual != NULL && find_usual_names(s, is_usual);
    bool begun = false;
    for (uint32_t at = 0; ok && at < events->count; at++) {
        enum cycle_class class = (enum cycle_class)events->class[at];
        if (cycle_start_ns(events, at) > cycle_start_ns(events, first)) {
            break;
        }
        if (cycle_end_ns(events, at) > cycle_start_ns(events, first) ||
            class == CYCLE_CLASS_COUNTER || class == CYCLE_CLASS_SILENT || at == first) {
            continue;
        }
        begun = begun || (class == CYCLE_CLASS_PYTHON && is_usual[cycle_name(events, at)] &&
                          cycle_track(events, at)->thread == cycle_track(events, first)->thread);
        owners->owner[at] = begun ? 0 : owners->owner[at];
    }
    scratch_free(is_usual);
    return ok;
}

bool cycle_owners_find(struct cycle_owners *owners,
                       struct cycle_events *events,
                       const struct cycle_calls *calls,
                       uint32_t anchor,
                       uint32_t prefill)
{
    *owners = (struct cycle_owners){.anchors = NULL};
    struct search s = {
        .owners = owners, .events = events, .calls = calls, .anchor = anchor, .prefill = prefill};
    bool ok = hang_events(&s) && find_anchors(&s) && number_anchors(&s) &&
              cycle_owners_bound(owners, events, calls) && cycle_owners_fill_gaps(owners, events) &&
              own_beginning(&s);
    SCRATCH_FREE(s.parent, s.below);
    return ok;
}

/* ---- prefill or decode: by the name of the anchor, by names inside, or by duration ---- */

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
    SCRATCH_FREE(durations, order);
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

void cycle_owners_free(struct cycle_owners *owners)
{
    SCRATCH_FREE(owners->anchors, owners->owner);
    *owners = (struct cycle_owners){.anchors = NULL};
}

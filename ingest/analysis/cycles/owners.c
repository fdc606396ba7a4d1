#include "ingest/analysis/cycles/owners.h"

#include "ingest/base/memory/scratch.h"

/* Calls of a later anchor that tell what the calls before the first one look like
 * [CMP-10a.owners.3]. */
#define USUAL_CALLS 5

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
    scratch_free(s.parent);
    scratch_free(s.below);
    return ok;
}

void cycle_owners_free(struct cycle_owners *owners)
{
    scratch_free(owners->anchors);
    scratch_free(owners->owner);
    *owners = (struct cycle_owners){.anchors = NULL};
}

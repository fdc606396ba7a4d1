/* What is in each cycle [CMP-10.cycles.4] [CMP-10a.boundaries].
 *
 *     owned by an anchor of a cycle   whole, into that cycle
 *     others of the host              into every cycle they overlap, cut at its boundary
 *     device work                     whole, with the uncut call that started it
 */
#include "ingest/analysis/cycles/rows/types.h"
#include "ingest/analysis/cycles/set.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"

/* Device work by what started it: (process, correlation), numbered. */
struct device_work {
    struct key_map keys;
    uint32_t key_count; /* of keys that have work; later ones have none */
    uint32_t *first;    /* work[first[key] .. first[key + 1]) */
    uint32_t *work;
    struct id_map seen; /* (cycle, key) pairs whose work is in the cycle */
};

struct fill {
    struct cycle_set *set;
    struct cycle_events *events;
    const struct cycle_owners *owners;
    struct device_work device;
    uint32_t last_started;     /* the last cycle that starts at or before the present event */
    uint32_t covered_until[2]; /* cycles before it that are behind last_started are covered from end
                                  to end: by Python calls [1], by anything [0] */
};

/* ---- pieces ---- */

/* Counts one step; true when there have been too many. */
static bool is_too_much(struct cycle_set *set)
{
    set->is_nonsense = set->is_nonsense || ++set->overlaps > CYCLE_OVERLAPS_MAX;
    return set->is_nonsense;
}

static bool add_piece(struct fill *f, uint32_t cycle, uint32_t at, int64_t start_ns, int64_t end_ns)
{
    bool is_cut =
        start_ns != cycle_start_ns(f->events, at) || end_ns != cycle_end_ns(f->events, at);
    const struct cycle_piece piece = {.cycle = cycle & CYCLE_INDEX_MAX, .is_cut = is_cut, .at = at};
    struct cycle *into = &f->set->items[cycle];
    cycle_take(into, f->events, at, start_ns, end_ns);
    if (f->events->class[at] == CYCLE_CLASS_PYTHON) {
        into->first_ns = i64_min(into->first_ns, start_ns);
        into->last_ns = i64_max(into->last_ns, end_ns);
    }
    return cycle_type_of(f->events, at) == CYCLE_TYPE_NONE || cycle_set_add(f->set, &piece);
}

static bool add_whole(struct fill *f, uint32_t cycle, uint32_t at)
{
    return add_piece(f, cycle, at, cycle_start_ns(f->events, at), cycle_end_ns(f->events, at));
}

/* ---- device work ---- */

static struct key work_key(uint32_t process, int64_t correlation)
{
    uint64_t bits = (uint64_t)correlation;
    return (struct key){{process, (uint32_t)bits, (uint32_t)(bits >> 32)}};
}

/* The number of the key of a call or of device work; KEY_MAP_NONE for none. False without memory.
 */
static bool key_of(struct fill *f, uint32_t at, uint32_t *key)
{
    int64_t correlation;
    *key = KEY_MAP_NONE;
    if (!cycle_correlation(f->events, at, &correlation)) {
        return true;
    }
    *key = key_map_add(&f->device.keys, work_key(cycle_process(f->events, at), correlation));
    return *key != KEY_MAP_NONE;
}

static bool sort_device_work(struct fill *f, const uint32_t *key_at, uint32_t work_count)
{
    struct device_work *device = &f->device;
    device->key_count = device->keys.count;
    device->first = scratch_calloc((size_t)device->key_count + 2, sizeof *device->first);
    device->work = scratch_alloc(work_count, sizeof *device->work);
    if (device->first == NULL || device->work == NULL) {
        return false;
    }
    for (uint32_t at = 0; at < f->events->count; at++) {
        if (key_at[at] != KEY_MAP_NONE) {
            device->first[key_at[at] + 2]++;
        }
    }
    for (uint32_t key = 0; key < device->key_count; key++) {
        device->first[key + 2] += device->first[key + 1];
    }
    for (uint32_t at = 0; at < f->events->count; at++) {
        if (key_at[at] != KEY_MAP_NONE) {
            device->work[device->first[key_at[at] + 1]++] = at;
        }
    }
    return true;
}

static bool index_device_work(struct fill *f)
{
    uint32_t *key_at = scratch_none(f->events->count);
    uint32_t work_count = 0;
    bool ok = key_at != NULL;
    for (uint32_t at = 0; ok && at < f->events->count; at++) {
        if (f->events->class[at] == CYCLE_CLASS_GPU) {
            ok = key_of(f, at, &key_at[at]);
            work_count++;
        }
    }
    ok = ok && sort_device_work(f, key_at, work_count);
    scratch_free(key_at);
    return ok;
}

static uint32_t cycle_of(const struct fill *f, uint32_t at)
{
    uint32_t owner = f->owners->owner[at];
    return owner == CYCLE_NONE ? CYCLE_NONE : f->owners->anchors[owner].cycle;
}

/* Once a cycle; what the cycle's anchor owns is there already [CMP-10a.boundaries.3]. */
static bool add_launched(struct fill *f, uint32_t cycle, uint32_t call)
{
    struct device_work *device = &f->device;
    uint32_t key;
    if (f->events->class[call] != CYCLE_CLASS_LAUNCH) {
        return true;
    }
    if (!key_of(f, call, &key)) {
        return false;
    }
    if (key == KEY_MAP_NONE || key >= device->key_count) {
        return true;
    }
    struct id_slot *seen =
        id_map_add(&device->seen, (int64_t)cycle * device->key_count + (int64_t)key);
    if (seen == NULL || seen->value != ID_MAP_NONE) {
        return seen != NULL;
    }
    seen->value = 1;
    for (uint32_t i = device->first[key]; i < device->first[key + 1]; i++) {
        uint32_t at = device->work[i];
        if (cycle_of(f, at) != cycle && !add_whole(f, cycle, at)) {
            return false;
        }
        if (is_too_much(f->set)) {
            break;
        }
    }
    return true;
}

/* ---- the host ---- */

static bool add_uncut(struct fill *f, uint32_t cycle, uint32_t at)
{
    return add_whole(f, cycle, at) && add_launched(f, cycle, at);
}

/* Operators count where they start, with all of their self time. */
static bool add_operator(struct fill *f, uint32_t at)
{
    const struct cycle *cycle = &f->set->items[f->last_started];
    bool is_inside = cycle_start_ns(f->events, at) >= cycle->start_ns &&
                     cycle_start_ns(f->events, at) < cycle->end_ns;
    return !is_inside || add_whole(f, f->last_started, at);
}

/* Whether the event adds nothing to cycles that one of its kind covers from end to end. */
static bool adds_only_time(struct fill *f, uint32_t at)
{
    return !f->events->has_many_hosts && cycle_type_of(f->events, at) == CYCLE_TYPE_NONE;
}

static bool add_overlapping(struct fill *f, uint32_t at)
{
    struct cycle_set *set = f->set;
    int64_t start_ns = cycle_start_ns(f->events, at);
    int64_t end_ns = cycle_end_ns(f->events, at);
    uint32_t *covered = &f->covered_until[f->events->class[at] == CYCLE_CLASS_PYTHON];
    bool only_time = adds_only_time(f, at);
    for (uint32_t i = f->last_started; i < set->count && set->items[i].start_ns <= end_ns; i++) {
        if (only_time && i > f->last_started && i < *covered) {
            i = *covered - 1;
            continue;
        }
        const struct cycle *cycle = &set->items[i];
        int64_t from_ns = start_ns > cycle->start_ns ? start_ns : cycle->start_ns;
        int64_t to_ns = end_ns < cycle->end_ns ? end_ns : cycle->end_ns;
        bool is_whole = from_ns == start_ns && to_ns == end_ns;
        bool covers = start_ns <= cycle->start_ns && end_ns >= cycle->end_ns;
        if (is_whole ? !add_uncut(f, i, at)
                     : from_ns < to_ns && !add_piece(f, i, at, from_ns, to_ns)) {
            return false;
        }
        bool goes_on = i == *covered || i == f->last_started + 1;
        *covered = covers && goes_on && i >= *covered ? i + 1 : *covered;
        if (is_too_much(set)) {
            break;
        }
    }
    return true;
}

static bool add_event(struct fill *f, uint32_t at)
{
    enum cycle_class class = (enum cycle_class)f->events->class[at];
    uint32_t cycle = cycle_of(f, at);
    if (class == CYCLE_CLASS_COUNTER || class == CYCLE_CLASS_SILENT) {
        return true;
    }
    if (cycle != CYCLE_NONE) {
        return add_uncut(f, cycle, at);
    }
    if (class == CYCLE_CLASS_GPU) {
        return true;
    }
    return class == CYCLE_CLASS_OPERATOR ? add_operator(f, at) : add_overlapping(f, at);
}

static bool fill_all(struct fill *f)
{
    struct cycle_set *set = f->set;
    if (set->count == 0) {
        return true;
    }
    for (uint32_t at = 0; at < f->events->count && !set->is_nonsense; at++) {
        while (f->last_started + 1 < set->count &&
               set->items[f->last_started + 1].start_ns <= cycle_start_ns(f->events, at)) {
            f->last_started++;
        }
        if (!add_event(f, at)) {
            return false;
        }
    }
    return true;
}

bool cycle_set_fill(struct cycle_set *set,
                    struct cycle_events *events,
                    const struct cycle_owners *owners,
                    const int64_t *self_ns)
{
    bool is_long = events->count > UINT32_MAX - CYCLE_PIECES_MORE_MAX;
    set->piece_max = is_long ? UINT32_MAX : events->count + CYCLE_PIECES_MORE_MAX;
    set->self_ns = self_ns;
    struct fill f = {.set = set, .events = events, .owners = owners};
    bool ok = index_device_work(&f) && fill_all(&f);
    key_map_free(&f.device.keys);
    id_map_free(&f.device.seen);
    SCRATCH_FREE(f.device.first, f.device.work);
    return ok;
}

/* How the device's time divides between the bounds of collectives and steps [RANK-3c]. */
#include "ingest/analysis/ranks/digest_internal.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/index/sort.h"

#include <stdlib.h>
#include <string.h>

#define LOADER_PREFIX "enumerate(DataLoader)#"

enum layer { LAYER_COMPUTE, LAYER_MEMORY, LAYER_INPUT, LAYER_COUNT };

/* A range that covers time; what lies in a lower layer covers the higher ones too. */
struct cover {
    int64_t start_ns, end_ns;
    uint32_t name; /* of the classes, later its number among those of covers */
    enum layer layer;
};

/* A name of covers, and the part of it that grew last. */
struct cover_name {
    uint32_t text;
    bool is_kept;
    uint32_t segment, part;
};

struct segmenting {
    struct digesting *d;
    struct rank_segment *segments;
    uint32_t count;       /* of segments; the last one has no time */
    struct cover *covers; /* in order of start */
    uint32_t cover_count;
    struct cover_name *names;
};

/* ---- cuts ---- */

static bool make_cuts(struct segmenting *s)
{
    const struct rank_digest *out = s->d->out;
    size_t room = (size_t)out->collective_count * 2 + out->step_count;
    int64_t *cuts = scratch_alloc(room, sizeof *cuts);
    size_t count = 0;
    for (uint32_t i = 0; cuts != NULL && i < out->collective_count; i++) {
        const struct rank_collective *item = &out->collectives[i];
        cuts[count++] = item->start_ns;
        cuts[count++] = saturating_add(item->start_ns, item->duration_ns);
    }
    for (uint32_t i = 0; cuts != NULL && i < out->step_count; i++) {
        cuts[count++] = out->steps[i].start_ns;
    }
    s->segments = arena_calloc(s->d->arena, room + 1, sizeof *s->segments);
    bool ok = cuts != NULL && s->segments != NULL;
    if (ok) {
        qsort(cuts, count, sizeof *cuts, order_i64_at);
    }
    for (size_t i = 0; ok && i < count; i++) {
        if (i == 0 || cuts[i] != cuts[i - 1]) {
            s->segments[s->count++].start_ns = cuts[i];
        }
    }
    scratch_free(cuts);
    return ok;
}

/* ---- what covers time ---- */

static void add_cover(struct segmenting *s, uint32_t event, enum layer layer)
{
    int64_t start_ns = digest_start(s->d, event);
    int64_t dur_ns = trace_dur_ns(&s->d->sel->trace->events, event);
    s->covers[s->cover_count++] =
        (struct cover){start_ns, saturating_add(start_ns, dur_ns), s->d->sel->name[event], layer};
}

static bool is_loading(const struct segmenting *s, uint32_t event)
{
    const char *name = names_text(&s->d->sel->names, s->d->sel->name[event]);
    return strncmp(name, LOADER_PREFIX, strlen(LOADER_PREFIX)) == 0;
}

/* Both lists stand in order of time, and so do the covers. */
static bool list_covers(struct segmenting *s)
{
    const struct event_classes *sel = s->d->sel;
    const struct events_in_time work = sel->lists[LIST_DEVICE];
    const struct events_in_time host = sel->lists[LIST_HOST];
    const int64_t *ts_ns = sel->trace->events.ts_ns;
    uint32_t at = 0;
    s->covers = scratch_alloc((size_t)work.count + host.count, sizeof *s->covers);
    if (s->covers == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < work.count; i++) {
        uint32_t event = work.items[i];
        for (; at < host.count && ts_ns[host.items[at]] < ts_ns[event]; at++) {
            if (is_loading(s, host.items[at])) {
                add_cover(s, host.items[at], LAYER_INPUT);
            }
        }
        if (!digest_is_collective(s->d, event)) {
            add_cover(s, event, sel->class[event] == INDEX_KERNEL ? LAYER_COMPUTE : LAYER_MEMORY);
        }
    }
    for (; at < host.count; at++) {
        if (is_loading(s, host.items[at])) {
            add_cover(s, host.items[at], LAYER_INPUT);
        }
    }
    return true;
}

/* ---- coverage ---- */

/* The last segment from `from` on that starts at or before a time; `from` for earlier times. It is
 * mostly near. */
static uint32_t segment_at(const struct segmenting *s, uint32_t from, int64_t ns)
{
    uint32_t low = from;
    uint32_t step = 1;
    while (step < s->count - low && s->segments[low + step].start_ns <= ns) {
        low += step;
        step *= 2;
    }
    uint32_t high = step < s->count - low ? low + step : s->count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (s->segments[middle].start_ns <= ns) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Adds the union of the covers up to a layer. The pieces ascend, so that the segments are walked
 * once. */
static void sweep(struct segmenting *s, enum layer top, int64_t *covered_ns)
{
    int64_t covered = INT64_MIN;
    uint32_t segment = 0;
    memset(covered_ns, 0, s->count * sizeof *covered_ns);
    for (uint32_t i = 0; i < s->cover_count; i++) {
        const struct cover *cover = &s->covers[i];
        int64_t from = i64_max(cover->start_ns, covered);
        if (cover->layer > top || cover->end_ns <= from) {
            continue;
        }
        covered = cover->end_ns;
        from = i64_max(from, s->segments[0].start_ns);
        while (segment + 1 < s->count && s->segments[segment + 1].start_ns <= from) {
            segment++;
        }
        while (segment + 1 < s->count && from < cover->end_ns) {
            int64_t to = i64_min(cover->end_ns, s->segments[segment + 1].start_ns);
            covered_ns[segment] += to - from;
            from = to;
            segment += to == s->segments[segment + 1].start_ns;
        }
    }
}

static bool fill_segments(struct segmenting *s)
{
    int64_t *covered_ns = scratch_alloc((size_t)s->count * LAYER_COUNT, sizeof *covered_ns);
    if (covered_ns == NULL) {
        return false;
    }
    for (int layer = 0; layer < LAYER_COUNT; layer++) {
        sweep(s, (enum layer)layer, covered_ns + (size_t)layer * s->count);
    }
    for (uint32_t i = 0; i < s->count; i++) {
        int64_t compute = covered_ns[i];
        int64_t memory = covered_ns[s->count + i];
        s->segments[i].compute_ns = compute;
        s->segments[i].memory_ns = memory - compute;
        s->segments[i].input_ns = covered_ns[(size_t)2 * s->count + i] - memory;
    }
    scratch_free(covered_ns);
    return true;
}

/* Collectives stand in order of start, and each of their bounds is a cut. */
static void sum_communication(struct segmenting *s)
{
    struct rank_digest *out = s->d->out;
    int64_t covered = INT64_MIN;
    uint32_t segment = 0;
    for (uint32_t i = 0; i < out->collective_count; i++) {
        const struct rank_collective *item = &out->collectives[i];
        int64_t end_ns = saturating_add(item->start_ns, item->duration_ns);
        int64_t from = i64_max(item->start_ns, covered);
        if (end_ns <= from) {
            continue;
        }
        covered = end_ns;
        out->communication_ns = saturating_add(out->communication_ns, end_ns - from);
        while (segment + 1 < s->count && s->segments[segment].start_ns < end_ns) {
            bool is_inside = s->segments[segment].start_ns >= from;
            out->hidden_ns += is_inside ? s->segments[segment].compute_ns : 0;
            segment++;
        }
    }
}

/* ---- parts by name ---- */

struct name_cost {
    int64_t ns;
    uint32_t name; /* of the classes */
    uint32_t number;
    uint32_t parts;
};

struct name_costs {
    struct name_cost *items;
    size_t cap;
    struct id_map numbers; /* of names of the classes */
};

ORDER_BY(by_time, struct name_cost, ORDER_DOWN(ns), ORDER_UP(name))

/* The segments that a cover touches: [*first, end). Covers stand in order of start: *first is that
 * of the one before, at the beginning 0. */
static uint32_t touched(const struct segmenting *s, const struct cover *cover, uint32_t *first)
{
    *first = segment_at(s, *first, cover->start_ns);
    if (cover->end_ns <= s->segments[0].start_ns || cover->end_ns == cover->start_ns) {
        return *first;
    }
    uint32_t end = segment_at(s, *first, cover->end_ns - 1) + 1;
    return end < s->count ? end : s->count - 1;
}

/* NULL without memory. */
static struct name_cost *cost_of(struct name_costs *costs, uint32_t name)
{
    uint32_t count = costs->numbers.count;
    struct id_slot *slot = id_map_add(&costs->numbers, name);
    if (slot == NULL) {
        return NULL;
    }
    if (slot->index == count) {
        struct name_cost *items = scratch_grow(costs->items, count, &costs->cap, sizeof *items);
        if (items == NULL) {
            return NULL;
        }
        costs->items = items;
        items[count] = (struct name_cost){.name = name, .number = count};
    }
    return &costs->items[slot->index];
}

static bool cost_names(struct segmenting *s, struct name_costs *costs)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < s->cover_count; i++) {
        struct cover *cover = &s->covers[i];
        if (cover->layer == LAYER_INPUT) {
            continue;
        }
        struct name_cost *cost = cost_of(costs, cover->name);
        if (cost == NULL) {
            return false;
        }
        uint32_t end = touched(s, cover, &first);
        uint32_t parts = first < end ? end - first : 0;
        cost->parts = parts < UINT32_MAX - cost->parts ? cost->parts + parts : UINT32_MAX;
        cost->ns = saturating_add(cost->ns, cover->end_ns - cover->start_ns);
        cover->name = cost->number;
    }
    return true;
}

/* Keeps the names that together have not too many parts, those with most time first. */
static bool choose_names(struct segmenting *s)
{
    struct name_costs costs = {.items = NULL};
    uint64_t parts = 0;
    id_map_init(&costs.numbers);
    bool ok = cost_names(s, &costs);
    uint32_t count = costs.numbers.count;
    s->names = ok ? scratch_alloc(count, sizeof *s->names) : NULL;
    ok = s->names != NULL;
    if (ok && count > 0) {
        qsort(costs.items, count, sizeof *costs.items, by_time);
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        const struct name_cost *cost = &costs.items[i];
        parts += cost->parts;
        bool is_kept = parts <= RANK_PARTS_MAX;
        s->names[cost->number] =
            (struct cover_name){.text = is_kept ? digest_name(s->d, cost->name) : RANK_NO_TEXT,
                                .is_kept = is_kept,
                                .segment = UINT32_MAX};
    }
    id_map_free(&costs.numbers);
    scratch_free(costs.items);
    return ok;
}

struct part_list {
    struct rank_part *items;
    size_t cap;
    struct key_map keys; /* numbers the parts */
};

/* The part of a name in a segment, mostly the one that grew last. NULL without memory. */
static struct rank_part *part_of(struct part_list *parts, struct cover_name *name, uint32_t segment)
{
    if (name->segment == segment) {
        return &parts->items[name->part];
    }
    uint32_t count = parts->keys.count;
    struct rank_part *items = scratch_grow(parts->items, count, &parts->cap, sizeof *items);
    if (items == NULL) {
        return NULL;
    }
    parts->items = items;
    uint32_t at = key_map_add(&parts->keys, (struct key){{segment, name->text, 0, 0}});
    if (at == KEY_MAP_NONE) {
        return NULL;
    }
    if (at == count) {
        items[at] = (struct rank_part){.segment = segment, .name = name->text};
    }
    name->segment = segment;
    name->part = at;
    return &items[at];
}

static bool
add_parts(struct segmenting *s, struct part_list *parts, const struct cover *cover, uint32_t *first)
{
    uint32_t end = touched(s, cover, first);
    for (uint32_t i = *first; i < end; i++) {
        struct rank_part *part = part_of(parts, &s->names[cover->name], i);
        if (part == NULL) {
            return false;
        }
        int64_t from = i64_max(cover->start_ns, s->segments[i].start_ns);
        int64_t to = i64_min(cover->end_ns, s->segments[i + 1].start_ns);
        part->ns = saturating_add(part->ns, to - from);
    }
    return true;
}

/* By segment, then by name. */
static bool write_parts(struct segmenting *s, const struct part_list *parts)
{
    struct rank_digest *out = s->d->out;
    uint32_t count = parts->keys.count;
    int64_t names = (int64_t)strtab_count(s->d->texts);
    int64_t *places = scratch_alloc(count, sizeof *places);
    uint32_t *order = scratch_alloc(count, sizeof *order);
    out->parts = arena_calloc(s->d->arena, (size_t)count + 1, sizeof *out->parts);
    out->part_count = count;
    bool ok = places != NULL && order != NULL && out->parts != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        places[i] = parts->items[i].segment * names + parts->items[i].name;
        order[i] = i;
    }
    ok = ok && sort_pairs(places, order, count);
    for (uint32_t i = 0; ok && i < count; i++) {
        out->parts[i] = parts->items[order[i]];
    }
    SCRATCH_FREE(places, order);
    return ok;
}

static bool find_parts(struct segmenting *s)
{
    struct part_list parts = {.items = NULL};
    uint32_t first = 0;
    bool ok = choose_names(s);
    key_map_init(&parts.keys);
    for (uint32_t i = 0; ok && i < s->cover_count; i++) {
        const struct cover *cover = &s->covers[i];
        ok = cover->layer == LAYER_INPUT || !s->names[cover->name].is_kept ||
             add_parts(s, &parts, cover, &first);
    }
    ok = ok && write_parts(s, &parts);
    key_map_free(&parts.keys);
    scratch_free(parts.items);
    return ok;
}

bool digest_segments(struct digesting *d)
{
    struct segmenting s = {.d = d};
    if (d->out->collective_count == 0) {
        return true;
    }
    bool ok = make_cuts(&s) && list_covers(&s) && fill_segments(&s);
    if (ok) {
        sum_communication(&s);
        ok = find_parts(&s);
    }
    SCRATCH_FREE(s.names, s.covers);
    d->out->segments = s.segments;
    d->out->segment_count = s.count;
    return ok;
}

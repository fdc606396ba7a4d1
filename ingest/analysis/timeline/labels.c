#include "ingest/analysis/timeline/labels.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"
#include "ingest/model/results/results.h"

#include <limits.h>

struct labelling {
    struct timeline_labels *labels;
    const struct timeline_items *items;
    const uint8_t *categories;
    uint32_t *latest; /* by name: the label that it had last */
};

static uint8_t role_of(const struct labelling *l, uint32_t event)
{
    return l->categories == NULL ? TIME_OTHER : l->categories[event];
}

/* What a label was last found by: a class of events, and its role. The same again with the same
 * name is the same label. */
static uint64_t origin_of(const struct labelling *l, uint32_t event)
{
    return (uint64_t)trace_index(&l->items->trace->events.class, event) << CHAR_BIT |
           role_of(l, event);
}

/* ---- labels ---- */

static bool add_sum(struct timeline_labels *labels, uint32_t number)
{
    struct timeline_label_sum *sums =
        scratch_grow(labels->sums, number, &labels->sums_cap, sizeof *sums);
    if (sums == NULL) {
        return false;
    }
    labels->sums = sums;
    sums[number] = (struct timeline_label_sum){.count = 0};
    return true;
}

/* KEY_MAP_NONE without memory. */
static uint32_t find_label(struct labelling *l, uint32_t event, uint64_t origin)
{
    const struct trace_events *events = &l->items->trace->events;
    struct timeline_labels *labels = l->labels;
    uint32_t name = events->name[event];
    uint32_t known = labels->keys.count;
    const struct key key = {{name, trace_category(events, event), role_of(l, event), 0}};
    uint32_t number = key_map_add(&labels->keys, key);
    if (number == KEY_MAP_NONE || (number == known && !add_sum(labels, number))) {
        return KEY_MAP_NONE;
    }
    labels->sums[number].origin = origin;
    l->latest[name] = number;
    return number;
}

/* The label of an event; KEY_MAP_NONE without memory. */
static inline uint32_t number_of(struct labelling *l, uint32_t event)
{
    uint64_t origin = origin_of(l, event);
    uint32_t number = l->latest[l->items->trace->events.name[event]];
    bool is_latest = number != KEY_MAP_NONE && l->labels->sums[number].origin == origin;
    return KS_LIKELY(is_latest) ? number : find_label(l, event, origin);
}

static bool label_events(struct labelling *l)
{
    const struct trace *trace = l->items->trace;
    struct timeline_labels *labels = l->labels;
    uint32_t row = 0;
    for (uint32_t event = 0; event < trace->events.count; event++) {
        enum item_class class = timeline_class(l->items, event);
        if (class == ITEM_COUNTER) {
            while (row < trace->counter_count && trace->counters[row].event < event) {
                row++;
            }
            l->items->by_event[event] = row;
        } else if (class == ITEM_SLICE || class == ITEM_INSTANT) {
            uint32_t number = number_of(l, event);
            if (number == KEY_MAP_NONE) {
                return false;
            }
            int64_t dur_ns =
                class == ITEM_INSTANT
                    ? 0
                    : saturating_sub(timeline_end_ns(l->items, event), trace->events.ts_ns[event]);
            struct timeline_label_sum *sum = &labels->sums[number];
            l->items->by_event[event] = number;
            sum->count++;
            sum->total_ns = saturating_add(sum->total_ns, dur_ns);
        } else if (class == ITEM_FLOW) {
            l->items->by_event[event] = TIMELINE_NO_EVENT;
        }
    }
    return true;
}

static int by_count(uint32_t a, uint32_t b, const void *ctx)
{
    const struct timeline_label_sum *sums = ctx;
    return (sums[a].count < sums[b].count) - (sums[a].count > sums[b].count);
}

static bool rank_labels(struct timeline_labels *labels)
{
    uint32_t count = labels->keys.count;
    uint32_t *order = scratch_alloc(count, sizeof *order);
    labels->rank = scratch_alloc(count, sizeof *labels->rank);
    bool ok = order != NULL && labels->rank != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        order[i] = i;
    }
    ok = ok && sort_stable(order, count, by_count, labels->sums);
    for (uint32_t i = 0; ok && i < count; i++) {
        labels->rank[order[i]] = i;
    }
    scratch_free(order);
    return ok;
}

bool timeline_labels_find(struct timeline_labels *labels,
                          const struct timeline_items *items,
                          const uint8_t *categories)
{
    const struct trace *trace = items->trace;
    struct labelling l = {.labels = labels, .items = items, .categories = categories};
    *labels = (struct timeline_labels){0};
    key_map_init(&labels->keys);
    l.latest = scratch_none(strtab_count(trace->strings));
    bool ok = l.latest != NULL && label_events(&l) && rank_labels(labels);
    scratch_free(l.latest);
    return ok;
}

void timeline_labels_free(struct timeline_labels *labels)
{
    key_map_free(&labels->keys);
    SCRATCH_FREE(labels->sums, labels->rank);
    *labels = (struct timeline_labels){0};
}

/* One copy of each text, however many labels have it. */
static const char *
copy_text(const struct trace *trace, const char **copies, uint32_t id, struct arena *arena)
{
    if (copies[id] == NULL) {
        copies[id] =
            arena_strndup(arena, strtab_text(trace->strings, id), strtab_len(trace->strings, id));
    }
    return copies[id];
}

struct timeline_label *timeline_labels_write(const struct timeline_labels *labels,
                                             const struct trace *trace,
                                             struct arena *arena)
{
    uint32_t count = labels->keys.count;
    const char **copies = scratch_calloc(strtab_count(trace->strings), sizeof *copies);
    struct timeline_label *out = arena_calloc(arena, count, sizeof *out);
    bool ok = copies != NULL && out != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        const struct key *key = &labels->keys.keys[i];
        struct timeline_label *label = &out[labels->rank[i]];
        label->name = copy_text(trace, copies, key->id[0], arena);
        label->category = copy_text(trace, copies, trace->categories[key->id[1]], arena);
        label->role = (uint8_t)key->id[2];
        label->count = labels->sums[i].count;
        label->total_ns = labels->sums[i].total_ns;
        ok = label->name != NULL && label->category != NULL;
    }
    scratch_free(copies);
    return ok ? out : NULL;
}

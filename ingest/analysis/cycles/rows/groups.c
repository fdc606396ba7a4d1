#include "ingest/analysis/cycles/rows/groups.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

static const char ONCPU[] = "oncpu";

/* ---- life ---- */

size_t cycle_groups_name_count(const struct cycle_groups *groups)
{
    return (size_t)strtab_count(groups->events->trace->strings) + 1;
}

const char *cycle_groups_name(const struct cycle_groups *groups, uint32_t name)
{
    return name == groups->oncpu_name ? ONCPU : strtab_text(groups->events->trace->strings, name);
}

bool cycle_groups_init(struct cycle_groups *groups,
                       struct cycle_events *events,
                       const struct cycle_set *set,
                       struct cycle_metrics *metrics)
{
    *groups = (struct cycle_groups){.events = events, .set = set, .metrics = metrics};
    key_map_init(&groups->keys);
    id_map_init(&groups->devices);
    const struct strtab *strings = events->trace->strings;
    uint32_t known = strtab_find(strings, ONCPU, sizeof ONCPU - 1);
    groups->oncpu_name = known == STRTAB_NONE ? strtab_count(strings) : known;
    size_t names = cycle_groups_name_count(groups);
    groups->shown_type = scratch_calloc(names, sizeof *groups->shown_type);
    groups->recent = scratch_none(names);
    groups->slice = scratch_calloc(events->process_count, sizeof *groups->slice);
    groups->sliced = scratch_alloc(events->process_count, sizeof *groups->sliced);
    return groups->shown_type != NULL && groups->recent != NULL && groups->slice != NULL &&
           groups->sliced != NULL;
}

void cycle_groups_free(struct cycle_groups *groups)
{
    key_map_free(&groups->keys);
    id_map_free(&groups->devices);
    SCRATCH_FREE(groups->items, groups->sums, groups->device, groups->shown_type, groups->recent,
                 groups->slice, groups->sliced, groups->slices);
    *groups = (struct cycle_groups){.events = NULL};
}

/* ---- finding a group ---- */

static bool device_number(struct cycle_groups *g, int64_t device, uint32_t *number)
{
    struct id_slot *slot = id_map_add(&g->devices, device);
    if (slot == NULL) {
        return false;
    }
    *number = slot->index;
    int64_t *devices = scratch_grow(g->device, slot->index, &g->device_cap, sizeof *devices);
    if (devices == NULL) {
        return false;
    }
    g->device = devices;
    devices[slot->index] = device;
    return true;
}

static struct cycle_group *add_group(struct cycle_groups *g, uint32_t index, struct key key)
{
    struct cycle_group *items = scratch_grow(g->items, index, &g->item_cap, sizeof *items);
    if (items == NULL) {
        return NULL;
    }
    g->items = items;
    items[index] = (struct cycle_group){.name = key.id[1],
                                        .process = key.id[2],
                                        .device = key.id[3],
                                        .host = CYCLE_NONE,
                                        .first_sum = CYCLE_NONE};
    return &items[index];
}

/* NULL without memory. */
static struct cycle_group *
make_group(struct cycle_groups *g, uint32_t cycle, uint32_t name, uint32_t process, int64_t device)
{
    uint32_t device_index;
    uint32_t known = g->keys.count;
    if (!device_number(g, device, &device_index)) {
        return NULL;
    }
    struct key key = {{cycle, name, process, device_index}};
    uint32_t number = key_map_add(&g->keys, key);
    if (number == KEY_MAP_NONE) {
        return NULL;
    }
    g->recent[name] = number;
    return number < known ? &g->items[number - g->first] : add_group(g, number - g->first, key);
}

/* The same: most often the one that the name had last. */
static inline struct cycle_group *
find_group(struct cycle_groups *g, uint32_t cycle, uint32_t name, uint32_t process, int64_t device)
{
    uint32_t recent = g->recent[name];
    if (KS_LIKELY(recent != KEY_MAP_NONE && recent >= g->first)) {
        struct cycle_group *group = &g->items[recent - g->first];
        if (KS_LIKELY(group->process == process && g->device[group->device] == device)) {
            return group;
        }
    }
    return make_group(g, cycle, name, process, device);
}

/* ---- metrics ---- */

static struct cycle_sum *
find_sum(struct cycle_groups *g, struct cycle_group *group, enum cycle_metric metric)
{
    for (uint32_t i = group->first_sum; i != CYCLE_NONE; i = g->sums[i].next) {
        if (g->sums[i].metric == metric) {
            return &g->sums[i];
        }
    }
    struct cycle_sum *sums = scratch_grow(g->sums, g->sum_count, &g->sum_cap, sizeof *sums);
    if (sums == NULL) {
        return NULL;
    }
    g->sums = sums;
    sums[g->sum_count] = (struct cycle_sum){.next = group->first_sum, .metric = metric};
    group->first_sum = g->sum_count++;
    return &sums[group->first_sum];
}

static bool
add_metrics(struct cycle_groups *g, struct cycle_group *group, const struct cycle_interval *in)
{
    size_t count;
    if (g->metrics == NULL) {
        return true;
    }
    const uint8_t *metrics = cycle_type_metrics(in->type, &count);
    double weight = ns_to_us(saturating_sub(in->end_ns, in->start_ns));
    for (size_t i = 0; i < count; i++) {
        enum cycle_metric metric = (enum cycle_metric)metrics[i];
        struct cycle_value value;
        if (!cycle_metrics_ask(g->metrics, in, metric, &value)) {
            return false;
        }
        if (!value.found) {
            continue;
        }
        struct cycle_sum *sum = find_sum(g, group, metric);
        if (sum == NULL) {
            return false;
        }
        sum->weight += weight;
        sum->mean += weight * value.mean;
        sum->variance += weight * value.variance;
        sum->count += 1.0;
        sum->plain_mean += value.mean;
        sum->plain_variance += value.variance;
        group->interpolated_count += value.interpolated;
        group->measured_count += !value.interpolated;
    }
    return true;
}

double cycle_sum_mean(const struct cycle_sum *sum)
{
    return sum->weight > 0.0 ? sum->mean / sum->weight : sum->plain_mean / sum->count;
}

double cycle_sum_variance(const struct cycle_sum *sum)
{
    return sum->weight > 0.0 ? sum->variance / sum->weight : sum->plain_variance / sum->count;
}

/* ---- pieces ---- */

struct amount {
    uint32_t cycle;
    uint32_t name;
    int64_t dur_ns;
    int64_t instances;
};

static bool
add_interval(struct cycle_groups *g, const struct cycle_interval *in, const struct amount *amount)
{
    struct cycle_group *group = find_group(g, amount->cycle, amount->name, in->process, in->device);
    if (group == NULL) {
        return false;
    }
    if (group->instances == 0 || in->start_ns < group->first_ns) {
        group->first_ns = in->start_ns;
        group->host = in->host;
    }
    group->dur_ns = saturating_add(group->dur_ns, amount->dur_ns);
    group->instances += amount->instances;
    g->shown_type[amount->name] = (uint8_t)in->type;
    return add_metrics(g, group, in);
}

static bool close_slice(struct cycle_groups *g, uint32_t cycle, uint32_t process)
{
    struct cycle_slice *slice = &g->slice[process];
    struct cycle_interval in = {CYCLE_TYPE_ONCPU, process,         slice->host,
                                slice->device,    slice->start_ns, slice->end_ns};
    struct amount amount = {cycle, g->oncpu_name, slice->dur_ns, slice->instances};
    slice->instances = 0;
    return add_interval(g, &in, &amount);
}

/* To be called in order of their start. */
static bool add_slice(struct cycle_groups *g, const struct cycle_piece *piece)
{
    uint32_t process = cycle_process(g->events, piece->at);
    struct cycle_slice *slice = &g->slice[process];
    struct cycle_piece_times times = cycle_piece_times(g->set, g->events, piece);
    if (slice->instances > 0 && times.start_ns < slice->end_ns) {
        slice->end_ns = i64_max(slice->end_ns, times.end_ns);
        slice->dur_ns = saturating_add(slice->dur_ns, times.dur_ns);
        slice->instances++;
        return true;
    }
    if (slice->instances == 0) {
        g->sliced[g->sliced_count++] = process;
    } else if (!close_slice(g, piece->cycle, process)) {
        return false;
    }
    *slice = (struct cycle_slice){.start_ns = times.start_ns,
                                  .end_ns = times.end_ns,
                                  .dur_ns = times.dur_ns,
                                  .instances = 1,
                                  .device = cycle_device(g->events, piece->at),
                                  .host = cycle_host(g->events, piece->at)};
    return true;
}

static bool keep_slice(struct cycle_groups *g, uint32_t place)
{
    uint32_t *slices = scratch_grow(g->slices, g->slice_count, &g->slice_cap, sizeof *slices);
    if (slices == NULL) {
        return false;
    }
    g->slices = slices;
    slices[g->slice_count++] = place;
    return true;
}

/* Where nobody asks when a piece was, or on which host. */
static bool add_length(struct cycle_groups *g,
                       const struct cycle_piece *piece,
                       enum cycle_type type,
                       int64_t device)
{
    uint32_t name = cycle_name(g->events, piece->at);
    struct cycle_group *group =
        find_group(g, piece->cycle, name, cycle_process(g->events, piece->at), device);
    if (group == NULL) {
        return false;
    }
    group->dur_ns = saturating_add(group->dur_ns, cycle_piece_dur_ns(g->set, g->events, piece));
    group->instances++;
    g->shown_type[name] = (uint8_t)type;
    return true;
}

static bool add_piece(struct cycle_groups *g, const struct cycle_piece *piece, uint32_t place)
{
    enum cycle_type type = cycle_type_of(g->events, piece->at);
    if (type == CYCLE_TYPE_ONCPU) {
        return keep_slice(g, place);
    }
    int64_t device =
        type == CYCLE_TYPE_OPERATOR ? CYCLE_NO_DEVICE : cycle_device(g->events, piece->at);
    if (g->metrics == NULL && g->events->host == NULL) {
        return add_length(g, piece, type, device);
    }
    struct cycle_piece_times times = cycle_piece_times(g->set, g->events, piece);
    struct cycle_interval in = {
        .type = type,
        .process = cycle_process(g->events, piece->at),
        .host = cycle_host(g->events, piece->at),
        .device = device,
        .start_ns = times.start_ns,
        .end_ns = times.end_ns,
    };
    struct amount amount = {piece->cycle, cycle_name(g->events, piece->at), times.dur_ns, 1};
    return add_interval(g, &in, &amount);
}

struct slice_order {
    const struct cycle_groups *groups;
    uint32_t cycle;
};

static int64_t slice_start_ns(const struct slice_order *order, uint32_t place)
{
    const struct cycle_set *set = order->groups->set;
    const struct cycle_piece piece = cycle_piece_at(set, order->cycle, place);
    return cycle_piece_times(set, order->groups->events, &piece).start_ns;
}

static int compare_starts(uint32_t a, uint32_t b, const void *context)
{
    int64_t start_a = slice_start_ns(context, a);
    int64_t start_b = slice_start_ns(context, b);
    return (start_a > start_b) - (start_a < start_b);
}

/* Parts that were cut begin with the cycle, which can be later than slices that the cycle owns. */
static bool add_slices(struct cycle_groups *g, uint32_t cycle)
{
    const struct slice_order order = {g, cycle};
    if (!sort_stable(g->slices, g->slice_count, compare_starts, &order)) {
        return false;
    }
    g->sliced_count = 0;
    for (uint32_t i = 0; i < g->slice_count; i++) {
        const struct cycle_piece piece = cycle_piece_at(g->set, cycle, g->slices[i]);
        if (!add_slice(g, &piece)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < g->sliced_count; i++) {
        if (!close_slice(g, cycle, g->sliced[i])) {
            return false;
        }
    }
    return true;
}

bool cycle_groups_collect(struct cycle_groups *g, uint32_t cycle)
{
    g->first = g->keys.count;
    g->sum_count = 0;
    g->slice_count = 0;
    if (g->metrics != NULL) {
        cycle_metrics_open(g->metrics, &g->set->items[cycle]);
    }
    for (uint32_t i = g->set->first_piece[cycle]; i < g->set->first_piece[cycle + 1]; i++) {
        const struct cycle_piece piece = cycle_piece_at(g->set, cycle, i);
        if (!add_piece(g, &piece, i)) {
            return false;
        }
    }
    return g->slice_count == 0 || add_slices(g, cycle);
}

#include "ingest/analysis/cycles/rows/counters.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <string.h>

/* Fewer samples than these during an event say less than the line through its neighbours
 * [CMP-10.metrics.7]. */
#define SAMPLES_MIN 3u
#define NO_METRIC 0xFFu
#define INSTANCE_DIGITS_MAX 18

/* ---- what a counter samples ---- */

/* The digits behind the last underscore, CYCLE_NO_INSTANCE when it is no number
 * [CMP-10a.metrics.3]. */
static int64_t instance_in_name(const char *name)
{
    const char *underscore = strrchr(name, '_');
    const char *at = underscore == NULL ? "" : underscore + 1;
    size_t len = strlen(at);
    int64_t number = 0;
    if (len == 0 || len > INSTANCE_DIGITS_MAX) {
        return CYCLE_NO_INSTANCE;
    }
    for (; *at != '\0'; at++) {
        if (*at < '0' || *at > '9') {
            return CYCLE_NO_INSTANCE;
        }
        number = number * 10 + (*at - '0');
    }
    return number;
}

static int64_t instance_of(const struct cycle_events *events, uint32_t at)
{
    uint16_t category = trace_category(&events->trace->events, events->row[at]);
    uint8_t flags = events->names.category_flags[category];
    if ((flags & CYCLE_CATEGORY_XPU) != 0) {
        return cycle_track(events, at)->instance;
    }
    if ((flags & CYCLE_CATEGORY_NUMBERED) != 0) {
        return instance_in_name(strtab_text(events->trace->strings, cycle_name(events, at)));
    }
    return CYCLE_NO_INSTANCE;
}

static struct key series_key(enum cycle_metric metric, uint32_t host_key, int64_t instance)
{
    uint64_t bits = (uint64_t)instance;
    return (struct key){{(uint32_t)metric, host_key, (uint32_t)bits, (uint32_t)(bits >> 32)}};
}

/* ---- filling ---- */

/* While series are made: each sample stands in the common series and, where there are several
 * hosts, in one of its host. */
struct entry {
    uint32_t at; /* position */
    uint32_t series;
};

struct entries {
    struct entry *items;
    uint32_t count;
    size_t cap;
};

static bool
add_entry(struct cycle_counters *counters, struct entries *entries, uint32_t at, struct key key)
{
    uint32_t series = key_map_add(&counters->keys, key);
    struct entry *items =
        scratch_grow(entries->items, entries->count, &entries->cap, sizeof *items);
    if (items == NULL) {
        return false;
    }
    entries->items = items;
    items[entries->count++] = (struct entry){at, series};
    return series != KEY_MAP_NONE;
}

static bool list_entries(struct cycle_counters *counters,
                         const struct cycle_events *events,
                         struct entries *entries)
{
    uint8_t *metric_of = scratch_calloc(strtab_count(events->trace->strings), sizeof *metric_of);
    bool ok = metric_of != NULL;
    for (uint32_t at = 0; ok && at < events->count; at++) {
        if (events->class[at] != CYCLE_CLASS_COUNTER) {
            continue;
        }
        uint8_t *metric = &metric_of[cycle_name(events, at)];
        if (*metric == 0) {
            enum cycle_metric found =
                cycle_metric_of(strtab_text(events->trace->strings, cycle_name(events, at)));
            *metric = found == CYCLE_METRIC_COUNT ? NO_METRIC : (uint8_t)(found + 1);
        }
        if (*metric == NO_METRIC) {
            continue;
        }
        enum cycle_metric sampled = (enum cycle_metric)(*metric - 1);
        int64_t instance = instance_of(events, at);
        ok = add_entry(counters, entries, at, series_key(sampled, CYCLE_HOST_COMMON, instance));
        if (ok && events->has_many_hosts) {
            uint32_t host = cycle_host(events, at);
            host = host == CYCLE_NONE ? counters->localhost : host;
            ok = add_entry(counters, entries, at,
                           series_key(sampled, CYCLE_HOST_KEY(host), instance));
        }
    }
    scratch_free(metric_of);
    return ok;
}

static bool make_series(struct cycle_counters *counters,
                        const struct cycle_events *events,
                        const struct entries *entries)
{
    counters->series_count = counters->keys.count;
    counters->series = scratch_calloc(counters->series_count, sizeof *counters->series);
    counters->time_ns = scratch_alloc(entries->count, sizeof *counters->time_ns);
    counters->value = scratch_alloc(entries->count, sizeof *counters->value);
    counters->cpu_series = scratch_alloc(counters->series_count, sizeof *counters->cpu_series);
    if (counters->series == NULL || counters->time_ns == NULL || counters->value == NULL ||
        counters->cpu_series == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < entries->count; i++) {
        counters->series[entries->items[i].series].count++;
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < counters->series_count; i++) {
        struct cycle_series *series = &counters->series[i];
        series->first = first;
        first += series->count;
        series->count = 0;
        series->metric = (enum cycle_metric)counters->keys.keys[i].id[0];
        series->host_key = counters->keys.keys[i].id[1];
        if (series->metric == CYCLE_METRIC_PROCESS_CPU_USAGE) {
            counters->cpu_series[counters->cpu_series_count++] = i;
        }
    }
    for (uint32_t i = 0; i < entries->count; i++) {
        struct cycle_series *series = &counters->series[entries->items[i].series];
        uint32_t place = series->first + series->count++;
        counters->time_ns[place] = cycle_start_ns(events, entries->items[i].at);
        counters->value[place] = cycle_extra(events, entries->items[i].at)->value;
    }
    return true;
}

static bool list_hosts(struct cycle_counters *counters, const struct cycle_events *events)
{
    counters->hosted_ns = scratch_alloc(events->count, sizeof *counters->hosted_ns);
    counters->hosted_host = scratch_alloc(events->count, sizeof *counters->hosted_host);
    counters->hosted_change = scratch_alloc(events->count, sizeof *counters->hosted_change);
    if (counters->hosted_ns == NULL || counters->hosted_host == NULL ||
        counters->hosted_change == NULL) {
        return false;
    }
    uint32_t count = 0;
    for (uint32_t at = 0; at < events->count; at++) {
        uint32_t host = cycle_host(events, at);
        if (events->class[at] == CYCLE_CLASS_COUNTER && host != CYCLE_NONE) {
            counters->hosted_ns[count] = cycle_start_ns(events, at);
            counters->hosted_host[count++] = host;
        }
    }
    counters->hosted_count = count;
    for (uint32_t i = count; i > 0; i--) {
        bool same = i < count && counters->hosted_host[i - 1] == counters->hosted_host[i];
        counters->hosted_change[i - 1] = same ? counters->hosted_change[i] : i;
    }
    return true;
}

bool cycle_counters_init(struct cycle_counters *counters, struct cycle_events *events)
{
    static const char LOCALHOST[] = "localhost";
    struct entries entries = {.items = NULL};
    *counters = (struct cycle_counters){.series = NULL};
    key_map_init(&counters->keys);
    counters->localhost = strtab_intern(events->hosts, LOCALHOST, sizeof LOCALHOST - 1);
    bool ok = counters->localhost != STRTAB_NONE && list_entries(counters, events, &entries) &&
              make_series(counters, events, &entries) &&
              (!events->has_many_hosts || list_hosts(counters, events));
    scratch_free(entries.items);
    return ok;
}

void cycle_counters_free(struct cycle_counters *counters)
{
    for (uint32_t i = 0; counters->series != NULL && i < counters->series_count; i++) {
        mean_variance_tree_free(&counters->series[i].stats);
    }
    key_map_free(&counters->keys);
    SCRATCH_FREE(counters->series, counters->time_ns, counters->value, counters->cpu_series,
                 counters->hosted_ns, counters->hosted_host, counters->hosted_change);
    *counters = (struct cycle_counters){.series = NULL};
}

/* ---- windows ---- */

/* The first of times[low .. high) that is at or behind the time (`behind`: behind it). */
static uint32_t
first_at(const int64_t *times, uint32_t low, uint32_t high, int64_t time_ns, bool behind)
{
    size_t first = low;
    ORDER_SEARCH(first, high, at, times[at] < time_ns || (behind && times[at] == time_ns));
    return (uint32_t)first;
}

void cycle_counters_open(struct cycle_counters *counters, struct cycle *cycle)
{
    counters->window++;
    counters->window_start_ns = cycle->window_start_ns;
    counters->window_end_ns = cycle->window_end_ns;
    uint32_t from =
        first_at(counters->hosted_ns, 0, counters->hosted_count, cycle->window_start_ns, false);
    uint32_t to =
        first_at(counters->hosted_ns, from, counters->hosted_count, cycle->window_end_ns, true);
    if (from < to) {
        uint32_t host = counters->hosted_host[from];
        cycle->has_many_hosts = cycle->has_many_hosts || counters->hosted_change[from] < to ||
                                (cycle->host != CYCLE_NONE && cycle->host != host);
    }
}

bool cycle_series_window(struct cycle_counters *counters, struct cycle_series *series)
{
    if (series->window != counters->window) {
        const int64_t *times = counters->time_ns + series->first;
        series->window = counters->window;
        series->from = first_at(times, 0, series->count, counters->window_start_ns, false);
        series->to = first_at(times, series->from, series->count, counters->window_end_ns, true);
    }
    return series->from < series->to;
}

struct cycle_series *cycle_counters_find(struct cycle_counters *counters,
                                         enum cycle_metric metric,
                                         uint32_t host_key,
                                         int64_t instance,
                                         bool *no_memory)
{
    uint32_t number = key_map_add(&counters->keys, series_key(metric, host_key, instance));
    if (number == KEY_MAP_NONE) {
        *no_memory = true;
        return NULL;
    }
    if (number >= counters->series_count) {
        return NULL;
    }
    struct cycle_series *series = &counters->series[number];
    return cycle_series_window(counters, series) ? series : NULL;
}

/* ---- one event ---- */

static double microseconds(int64_t ns)
{
    return (double)ns / 1000.0;
}

/* On the line through the samples around the time; beyond the window's samples, the nearest one. */
static double interpolated_at(const struct cycle_counters *counters,
                              const struct cycle_series *series,
                              int64_t time_ns)
{
    const int64_t *times = counters->time_ns + series->first;
    const double *values = counters->value + series->first;
    uint32_t behind = first_at(times, series->from, series->to, time_ns, true);
    if (behind == series->from || behind == series->to) {
        return values[behind == series->from ? behind : behind - 1];
    }
    double slope =
        (values[behind] - values[behind - 1]) / microseconds(times[behind] - times[behind - 1]);
    return slope * microseconds(time_ns - times[behind - 1]) + values[behind - 1];
}

bool cycle_series_between(struct cycle_counters *counters,
                          struct cycle_series *series,
                          int64_t start_ns,
                          int64_t end_ns,
                          struct mean_variance *out,
                          bool *interpolated)
{
    const int64_t *times = counters->time_ns + series->first;
    uint32_t from = first_at(times, series->from, series->to, start_ns, false);
    uint32_t to = first_at(times, from, series->to, end_ns, true);
    *interpolated = to - from < SAMPLES_MIN;
    if (!*interpolated) {
        return mean_variance_of(&series->stats, counters->value + series->first, series->count,
                                from, to, out);
    }
    double ends[2] = {interpolated_at(counters, series, start_ns),
                      interpolated_at(counters, series, end_ns)};
    *out = mean_variance_direct(ends, 2);
    return true;
}

/* Counters over the whole file. */
#include "ingest/analysis/cycles/rows/counters.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"

#include <math.h>
#include <string.h>

struct summary {
    const struct cycle_events *events;
    struct key_map keys; /* (name, host or CYCLE_NONE) */
    struct counter_row *rows;
    size_t cap;
};

/* Welford's running update; `std` holds the sum of squares until the end. */
static void take_value(struct counter_row *row, double value)
{
    row->samples++;
    double distance = value - row->mean;
    row->mean += distance / (double)row->samples;
    row->std += distance * (value - row->mean);
    row->min = row->samples == 1 || value < row->min ? value : row->min;
    row->max = row->samples == 1 || value > row->max ? value : row->max;
}

static bool take_sample(struct summary *s, uint32_t at)
{
    uint32_t known = s->keys.count;
    struct key key = {{cycle_name(s->events, at), cycle_host(s->events, at)}};
    uint32_t number = key_map_add(&s->keys, key);
    if (number == KEY_MAP_NONE) {
        return false;
    }
    if (number == known) {
        struct counter_row *rows = scratch_grow(s->rows, known, &s->cap, sizeof *rows);
        if (rows == NULL) {
            return false;
        }
        s->rows = rows;
        rows[number] = (struct counter_row){.samples = 0};
    }
    take_value(&s->rows[number], cycle_extra(s->events, at)->value);
    return true;
}

static int compare_rows(uint32_t a, uint32_t b, const void *context)
{
    const struct counter_row *rows = context;
    int found = strcmp(rows[a].name, rows[b].name);
    return found != 0 ? found : strcmp(rows[a].host, rows[b].host);
}

static bool name_rows(struct summary *s, struct arena *arena)
{
    for (uint32_t i = 0; i < s->keys.count; i++) {
        const struct strtab *strings = s->events->trace->strings;
        uint32_t name = s->keys.keys[i].id[0];
        uint32_t host = s->keys.keys[i].id[1];
        const char *host_text = host == CYCLE_NONE ? "" : strtab_text(s->events->hosts, host);
        struct counter_row *row = &s->rows[i];
        row->name = arena_strndup(arena, strtab_text(strings, name), strtab_len(strings, name));
        row->host = arena_strdup(arena, host_text);
        row->std = sqrt(row->std / (double)row->samples);
        if (row->name == NULL || row->host == NULL) {
            return false;
        }
    }
    return true;
}

static bool write_rows(const struct summary *s, struct trace_results *results)
{
    uint32_t count = s->keys.count;
    uint32_t *order = scratch_alloc(count, sizeof *order);
    results->counters = arena_calloc(&results->arena, count, sizeof *results->counters);
    for (uint32_t i = 0; order != NULL && i < count; i++) {
        order[i] = i;
    }
    bool ok = order != NULL && results->counters != NULL &&
              sort_stable(order, count, compare_rows, s->rows);
    for (uint32_t i = 0; ok && i < count; i++) {
        results->counters[results->counter_count++] = s->rows[order[i]];
    }
    scratch_free(order);
    return ok;
}

bool cycle_counters_summarise(struct trace_results *results, const struct cycle_events *events)
{
    struct summary s = {.events = events};
    key_map_init(&s.keys);
    bool ok = true;
    for (uint32_t at = 0; ok && events->has_counters && at < events->count; at++) {
        ok = events->class[at] != CYCLE_CLASS_COUNTER || take_sample(&s, at);
    }
    ok = ok && name_rows(&s, &results->arena) && write_rows(&s, results);
    key_map_free(&s.keys);
    scratch_free(s.rows);
    return ok;
}

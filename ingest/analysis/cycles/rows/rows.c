#include "ingest/analysis/cycles/rows/rows.h"

#include "ingest/analysis/cycles/rows/groups.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECIMALS 10000.0
#define DECIMAL_TEXT_BYTES 400
#define SIMPLE_NAME_BYTES 256
#define DEVICE_TEXT_BYTES 48
/* More are not kept: the cycle that would exceed it and all later ones are left out. */
#define ROWS_MAX ((size_t)1000000)

/* ---- figures ---- */

/* Far from the middle between two texts, rounding the product gives the nearest text's digits, and
 * their quotient is the double that the text reads as. */
double cycle_rounded(double value)
{
    double scaled = value * DECIMALS;
    double below = floor(scaled);
    if (fabs(scaled) < 0x1p52 && fabs(scaled - below - 0.5) > 1e-3) {
        return (scaled - below < 0.5 ? below : below + 1.0) / DECIMALS;
    }
    char text[DECIMAL_TEXT_BYTES];
    if (!isfinite(value)) {
        return value;
    }
    (void)snprintf(text, sizeof text, "%.4f", value);
    return strtod(text, NULL);
}

/* ---- texts ---- */

struct writer {
    struct trace_results *results;
    const struct cycle_set *set;
    struct cycle_events *events;
    const struct cycle_hardware *hardware;
    const struct cycle_groups *groups;
    const char **names;        /* by string id: copies in the results */
    const char **simple_names; /* the same */
    const char **hosts;        /* by host */
    const char **devices;      /* by number of the device */
    uint32_t device_count;
    size_t device_cap;
    struct cycle_use_row *rows;
    size_t row_count;
    size_t row_cap;
    size_t first_row; /* of the present cycle */
    bool is_full;
};

static const char *copy_text(struct writer *w, const char *text)
{
    return arena_strdup(&w->results->arena, text);
}

static const char *name_text(struct writer *w, uint32_t name)
{
    if (w->names[name] == NULL) {
        w->names[name] = copy_text(w, cycle_groups_name(w->groups, name));
    }
    return w->names[name];
}

static const char *simple_text(struct writer *w, uint32_t name)
{
    char out[SIMPLE_NAME_BYTES];
    if (w->simple_names[name] == NULL) {
        const char *full = name_text(w, name);
        const char *simple = full == NULL ? NULL : cycle_simple_name(full, out, sizeof out);
        w->simple_names[name] = simple == NULL || simple == full ? full : copy_text(w, simple);
    }
    return w->simple_names[name];
}

static const char *host_text(struct writer *w, uint32_t host)
{
    if (host == CYCLE_NONE) {
        return "";
    }
    if (w->hosts[host] == NULL) {
        w->hosts[host] = copy_text(w, strtab_text(w->events->hosts, host));
    }
    return w->hosts[host];
}

static const char *device_text(struct writer *w, uint32_t number)
{
    char text[DEVICE_TEXT_BYTES];
    int64_t physical;
    for (; w->device_count <= number; w->device_count++) {
        const char **devices =
            scratch_grow((void *)w->devices, w->device_count, &w->device_cap, sizeof *devices);
        if (devices == NULL) {
            return NULL;
        }
        w->devices = devices;
        int64_t device = w->groups->device[w->device_count];
        bool is_known = cycle_hardware_device(w->hardware, device, &physical);
        (void)snprintf(text, sizeof text, "GPU %lld%s", (long long)physical,
                       is_known ? "" : " (virtual)");
        devices[w->device_count] = copy_text(w, device < 0 && !is_known ? "Host" : text);
    }
    return w->devices[number];
}

/* ---- rows ---- */

/* "**": every value was interpolated, "*": some were [CMP-10.metrics.9]. */
static const char *interpolation_of(const struct cycle_group *group)
{
    if (group->interpolated_count == 0) {
        return " ";
    }
    return group->measured_count == 0 ? "**" : "*";
}

static bool add_row(struct writer *w, const struct cycle_use_row *row)
{
    struct cycle_use_row *rows = scratch_grow(w->rows, w->row_count, &w->row_cap, sizeof *rows);
    if (rows == NULL) {
        return false;
    }
    w->rows = rows;
    rows[w->row_count++] = *row;
    return true;
}

static bool add_group(struct writer *w, const struct cycle *cycle, const struct cycle_group *group)
{
    int64_t cycle_ns = cycle_time_ns(cycle);
    double beta = cycle_ns > 0 ? 100.0 * ((double)group->dur_ns / (double)cycle_ns) : 0.0;
    struct cycle_use_row row = {
        .cycle = (int64_t)w->results->cycle_count,
        .pid = w->events->pid[group->process],
        .host = host_text(w, group->host),
        .function = name_text(w, group->name),
        .simple_name = simple_text(w, group->name),
        .type = cycle_type_name(w->groups->shown_type[group->name]),
        .device = device_text(w, group->device),
        .beta_pct = cycle_rounded(beta),
        .mu_pct = (double)NAN,
        .sigma_pct = (double)NAN,
        .duration_us = ns_to_us(group->dur_ns),
        .interpolation = interpolation_of(group),
        .instances = group->instances,
    };
    if (row.host == NULL || row.function == NULL || row.simple_name == NULL || row.device == NULL) {
        return false;
    }
    if (group->first_sum == CYCLE_NONE) {
        return add_row(w, &row);
    }
    for (uint32_t i = group->first_sum; i != CYCLE_NONE; i = w->groups->sums[i].next) {
        const struct cycle_sum *sum = &w->groups->sums[i];
        row.metric = cycle_metric_name(sum->metric);
        row.mu_pct = cycle_rounded(100.0 * cycle_sum_mean(sum));
        row.sigma_pct = cycle_rounded(100.0 * sqrt(cycle_sum_variance(sum)));
        if (!add_row(w, &row)) {
            return false;
        }
    }
    return true;
}

static int compare_doubles(double a, double b)
{
    return a < b ? -1 : a > b;
}

/* By pid, share descending, metric; then by what tells rows apart [CMP-10.metrics.10]. */
static int compare_rows(uint32_t a, uint32_t b, const void *context)
{
    const struct cycle_use_row *left = (const struct cycle_use_row *)context + a;
    const struct cycle_use_row *right = (const struct cycle_use_row *)context + b;
    if (left->pid != right->pid) {
        return left->pid < right->pid ? -1 : 1;
    }
    int found = compare_doubles(right->beta_pct, left->beta_pct);
    if (found == 0) {
        found = strcmp(left->metric == NULL ? "N/A" : left->metric,
                       right->metric == NULL ? "N/A" : right->metric);
    }
    if (found == 0) {
        found = strcmp(left->function, right->function);
    }
    return found != 0 ? found : strcmp(left->device, right->device);
}

static bool sort_rows(struct writer *w)
{
    size_t count = w->row_count - w->first_row;
    struct cycle_use_row *rows = w->rows + w->first_row;
    uint32_t *order = scratch_alloc(count, sizeof *order);
    struct cycle_use_row *sorted = scratch_alloc(count, sizeof *sorted);
    bool ok = order != NULL && sorted != NULL && w->rows != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        order[i] = (uint32_t)i;
    }
    ok = ok && sort_stable(order, count, compare_rows, rows);
    for (size_t i = 0; ok && i < count; i++) {
        sorted[i] = rows[order[i]];
    }
    if (ok && count > 0) {
        memcpy(rows, sorted, count * sizeof *rows);
    }
    SCRATCH_FREE(order, sorted);
    return ok;
}

/* ---- cycles ---- */

static const char *anchor_text(struct writer *w, const struct cycle *cycle)
{
    const char *engine = w->set->engine;
    return cycle->name != CYCLE_NONE ? name_text(w, cycle->name)
                                     : copy_text(w, engine[0] != '\0' ? engine : "ProfilerStep");
}

static bool add_cycle(struct writer *w, const struct cycle *cycle)
{
    struct cycle_row *row = &w->results->cycles[w->results->cycle_count];
    *row = (struct cycle_row){
        .number = cycle->number,
        .kind = cycle->kind,
        .anchor = anchor_text(w, cycle),
        .start_ns = saturating_add(w->events->trace->base_time_ns, cycle_time_start(cycle)),
        .dur_us = ns_to_us(cycle_time_ns(cycle)),
    };
    w->results->cycle_count++;
    return row->anchor != NULL;
}

static bool write_cycle(struct writer *w, struct cycle_groups *groups, uint32_t number)
{
    const struct cycle *cycle = &w->set->items[number];
    w->first_row = w->row_count;
    if (!cycle->is_settled || w->set->first_piece[number] == w->set->first_piece[number + 1]) {
        return true;
    }
    if (!cycle_groups_collect(groups, number)) {
        return false;
    }
    for (uint32_t i = groups->first; i < groups->keys.count; i++) {
        if (!add_group(w, cycle, &groups->items[i - groups->first])) {
            return false;
        }
    }
    if (w->row_count > ROWS_MAX) {
        w->row_count = w->first_row;
        w->is_full = true;
        return true;
    }
    return sort_rows(w) && add_cycle(w, cycle);
}

static bool copy_rows(struct writer *w)
{
    struct trace_results *results = w->results;
    results->cycle_uses = arena_calloc(&results->arena, w->row_count, sizeof *results->cycle_uses);
    if (results->cycle_uses == NULL) {
        return false;
    }
    if (w->row_count > 0) {
        memcpy(results->cycle_uses, w->rows, w->row_count * sizeof *w->rows);
    }
    results->cycle_use_count = w->row_count;
    return true;
}

static bool write_cycles(struct writer *w, struct cycle_groups *groups)
{
    struct trace_results *results = w->results;
    size_t names = cycle_groups_name_count(groups);
    w->names = scratch_calloc(names, sizeof *w->names);
    w->simple_names = scratch_calloc(names, sizeof *w->simple_names);
    w->hosts = scratch_calloc(strtab_count(w->events->hosts), sizeof *w->hosts);
    results->cycles = arena_calloc(&results->arena, w->set->count, sizeof *results->cycles);
    bool ok =
        w->names != NULL && w->simple_names != NULL && w->hosts != NULL && results->cycles != NULL;
    for (uint32_t i = 0; ok && !w->is_full && i < w->set->count; i++) {
        ok = write_cycle(w, groups, i);
    }
    return ok && copy_rows(w);
}

bool cycle_rows_write(struct trace_results *results,
                      struct cycle_set *set,
                      struct cycle_events *events,
                      struct cycle_hardware *hardware)
{
    struct cycle_counters counters = {.series = NULL};
    struct cycle_metrics metrics = {.events = events, .counters = &counters, .hardware = hardware};
    struct cycle_groups groups;
    struct writer w = {
        .results = results, .set = set, .events = events, .hardware = hardware, .groups = &groups};
    bool ok = cycle_groups_init(&groups, events, set, events->has_counters ? &metrics : NULL) &&
              (!events->has_counters || cycle_counters_init(&counters, events)) &&
              write_cycles(&w, &groups);
    cycle_groups_free(&groups);
    cycle_counters_free(&counters);
    id_map_free(&metrics.cores);
    SCRATCH_FREE((void *)w.names, (void *)w.simple_names, (void *)w.hosts, (void *)w.devices,
                 w.rows);
    return ok;
}

#include "ingest/analysis/history/metrics.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KNOWN                                                                        \
    "step_time, kernel:<name>, kernel_call:<name>, operator:<name>, class:<class>, " \
    "busy, exposed_communication, memory_peak"

static const struct known_metric {
    const char *name; /* ending in ":": a name follows */
    struct history_metric metric;
} known[] = {
    {"step_time", {"ns", -1}},      {"kernel:", {"ns", -1}},
    {"kernel_call:", {"ns", -1}},   {"operator:", {"ns", -1}},
    {"class:", {"ns", -1}},         {"busy", {"ratio", 1}},
    {"memory_peak", {"bytes", -1}}, {"exposed_communication", {"ns", -1}},
};

bool history_metric_find(const char *name, size_t len, struct history_metric *out)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t known_len = strlen(known[i].name);
        bool takes_name = known[i].name[known_len - 1] == ':';
        if (len >= known_len && memcmp(name, known[i].name, known_len) == 0 &&
            (takes_name ? len > known_len : len == known_len)) {
            *out = known[i].metric;
            return true;
        }
    }
    return false;
}

const char *history_metric_names(void)
{
    return KNOWN;
}

/* ---- rows ---- */

struct filling {
    struct trace_results *results;
    size_t cap;
    double steps; /* to divide by */
    bool ok;
};

static void add(struct filling *f, const char *prefix, const char *name, double value)
{
    struct trace_results *results = f->results;
    size_t prefix_len = strlen(prefix);
    size_t name_len = strlen(name);
    if (!f->ok || isnan(value) || name_len > HISTORY_NAME_MAX_BYTES) {
        return;
    }
    size_t size = prefix_len + name_len + 1;
    char *metric = arena_alloc(&results->arena, size);
    f->ok = metric != NULL && results->series_count < f->cap;
    if (f->ok) {
        (void)snprintf(metric, size, "%s%s", prefix, name);
        results->series[results->series_count++] =
            (struct series_row){.metric = metric, .value = value};
    }
}

static double per_step(const struct filling *f, int64_t sum)
{
    return (double)sum / f->steps;
}

/* Positions of the rows that take the most, ties in their order. */
struct ranked {
    int64_t total;
    size_t position;
};

ORDER_BY(compare_ranked, struct ranked, ORDER_DOWN(total), ORDER_UP(position))

static size_t rank(struct ranked *items, size_t count)
{
    qsort(items, count, sizeof *items, compare_ranked);
    return count < HISTORY_NAMES_MAX ? count : HISTORY_NAMES_MAX;
}

static void add_kernels(struct filling *f)
{
    const struct trace_results *results = f->results;
    struct ranked *items = scratch_alloc(results->kernel_count, sizeof *items);
    f->ok = f->ok && items != NULL;
    for (size_t i = 0; f->ok && i < results->kernel_count; i++) {
        items[i] = (struct ranked){results->kernels[i].total_ns, i};
    }
    size_t count = f->ok ? rank(items, results->kernel_count) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct kernel_row *row = &results->kernels[items[i].position];
        add(f, "kernel:", row->name, per_step(f, row->total_ns));
        add(f, "kernel_call:", row->name, row->median_ns);
    }
    scratch_free(items);
}

static void add_operators(struct filling *f)
{
    const struct trace_results *results = f->results;
    const struct operator_row *rows = results->operators[OPERATOR_BY_NAME];
    size_t row_count = results->operator_count[OPERATOR_BY_NAME];
    struct ranked *items = scratch_alloc(row_count, sizeof *items);
    f->ok = f->ok && items != NULL;
    for (size_t i = 0; f->ok && i < row_count; i++) {
        items[i] = (struct ranked){rows[i].device_self_ns, i};
    }
    size_t count = f->ok ? rank(items, row_count) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct operator_row *row = &rows[items[i].position];
        add(f, "operator:", row->name, per_step(f, row->device_self_ns));
    }
    scratch_free(items);
}

/* Classes are few: those of our rules and of one's own. A further one has no series. */
#define CLASSES_MAX 256

struct class_total {
    const char *name;
    int64_t total_ns;
};

static void add_classes(struct filling *f)
{
    const struct trace_results *results = f->results;
    struct class_total *totals = scratch_calloc(CLASSES_MAX, sizeof *totals);
    size_t count = 0;
    f->ok = f->ok && totals != NULL;
    for (size_t i = 0; f->ok && i < results->kernel_count; i++) {
        const char *class = results->kernels[i].class;
        size_t at = 0;
        while (at < count && strcmp(totals[at].name, class) != 0) {
            at++;
        }
        if (at < CLASSES_MAX) {
            count = at == count ? count + 1 : count;
            totals[at].name = class;
            totals[at].total_ns = saturating_add(totals[at].total_ns, results->kernels[i].total_ns);
        }
    }
    for (size_t i = 0; f->ok && i < count; i++) {
        add(f, "class:", totals[i].name, per_step(f, totals[i].total_ns));
    }
    scratch_free(totals);
}

static void add_steps(struct filling *f)
{
    const struct trace_results *results = f->results;
    size_t count = results_step_count(results);
    double *durations = scratch_alloc(count, sizeof *durations);
    f->ok = f->ok && durations != NULL;
    for (size_t i = 0; f->ok && i < count; i++) {
        durations[i] = (double)saturating_sub(results->steps[i].end_ns, results->steps[i].start_ns);
    }
    if (f->ok) {
        add(f, "step_time", "", num_median(durations, count));
    }
    scratch_free(durations);
}

static void add_exposed(struct filling *f)
{
    const struct trace_results *results = f->results;
    int64_t sum_ns = 0;
    for (size_t i = 0; i < results->step_count; i++) {
        const struct step_row *step = &results->steps[i];
        sum_ns = saturating_add(sum_ns, saturating_sub(step->communication_ns, step->overlap_ns));
    }
    if (results->device_ns > 0 || sum_ns > 0) {
        add(f, "exposed_communication", "", per_step(f, sum_ns));
    }
}

static void add_busy(struct filling *f)
{
    const struct trace_results *results = f->results;
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < results->device_count; i++) {
        bool is_known = !isnan(results->devices[i].utilisation);
        sum += is_known ? results->devices[i].utilisation : 0;
        count += is_known;
    }
    if (count > 0) {
        add(f, "busy", "", sum / (double)count);
    }
}

static void add_memory_peak(struct filling *f, const struct event_classes *classes)
{
    const struct events_in_time records = classes->lists[LIST_MEMORY];
    int64_t peak_bytes = INT64_MIN;
    for (uint32_t i = 0; i < records.count; i++) {
        uint32_t args = classes->trace->events.args[records.items[i]];
        if (args != TRACE_NO_ARGS &&
            (classes->trace->memory_args[args].has & MEMORY_HAS_ALLOCATED) != 0) {
            peak_bytes =
                i64_max(peak_bytes, classes->trace->memory_args[args].total_allocated_bytes);
        }
    }
    if (peak_bytes != INT64_MIN) {
        add(f, "memory_peak", "", (double)peak_bytes);
    }
}

bool history_metrics_run(struct trace_results *results, const struct event_classes *classes)
{
    size_t steps = results_step_count(results);
    struct filling f = {.results = results, .ok = true, .steps = steps == 0 ? 1 : (double)steps};
    const size_t singles = 4; /* step_time, exposed_communication, busy, memory_peak */
    f.cap = singles + 3 * (size_t)HISTORY_NAMES_MAX + CLASSES_MAX;
    results->series = arena_calloc(&results->arena, f.cap, sizeof *results->series);
    f.ok = results->series != NULL;
    if (f.ok) {
        add_steps(&f);
        add_kernels(&f);
        add_operators(&f);
        add_classes(&f);
        add_exposed(&f);
        add_busy(&f);
        add_memory_peak(&f, classes);
    }
    return f.ok;
}

#include "ingest/analysis/overview/health.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/model/results/environment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define OWN_ROWS 4 /* of devices and of the recorder */
#define RECORDER_BYTES 208

/* ---- views ---- */

static bool has_engine_steps(const struct trace_index *index)
{
    struct engine_annotation said;
    for (uint32_t i = 0; i < index->count; i++) {
        if (index_engine_step(index, index->in_order[i], &said)) {
            return true;
        }
    }
    return false;
}

static bool has_slices(const struct trace_events *events)
{
    for (uint32_t i = 0; i < events->count; i++) {
        char phase = trace_phase(events, i);
        if (phase == 'X' || phase == 'B') {
            return true;
        }
    }
    return false;
}

/* No operator, launch call or device work, waits of a stream included. */
static bool is_of_another_kind(const struct trace_index *index)
{
    uint32_t known = index->class_count[INDEX_OPERATOR];
    for (int class = INDEX_RUNTIME_CALL; class <= INDEX_DEVICE_WAIT; class ++) {
        known += index->class_count[class];
    }
    return known == 0;
}

void health_find_index_views(struct trace_results *results, const struct trace_index *index)
{
    results->views |= has_engine_steps(index) ? 1u << VIEW_SERVING : 0;
    if (is_of_another_kind(index) && has_slices(&index->trace->events)) {
        results->views |= 1u << VIEW_SLICES;
    }
}

/* Counters of category memory: a memory timeline [FMT-7]. */
static bool has_memory_categories(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->events.class_count; i++) {
        const struct event_class *class = &trace->events.classes[i];
        const char *category = strtab_text(trace->strings, trace->categories[class->category]);
        if (class->phase == 'C' && strcmp(category, "memory") == 0) {
            return true;
        }
    }
    return false;
}

static bool is_unit_of_bytes(const char *name)
{
    static const char *const units[] = {"B",  "byte", "bytes", "KB", "KiB",
                                        "MB", "MiB",  "GB",    "GiB"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcasecmp(name, units[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* A series that is named by a unit of bytes, as Ascend's HBM in KB. */
static bool has_memory_counters(const struct trace *trace)
{
    uint32_t last = STRTAB_NONE;
    for (uint32_t i = 0; i < trace->counter_count; i++) {
        uint32_t series = trace->counters[i].series;
        if (series != last && is_unit_of_bytes(strtab_text(trace->strings, series))) {
            return true;
        }
        last = series;
    }
    return false;
}

void health_find_views(struct trace_results *results, const struct event_classes *sel)
{
    bool has_categories = has_memory_categories(sel->trace);
    /* A memory timeline has sums over time, and nothing that takes time. */
    if (!has_categories || has_slices(&sel->trace->events)) {
        results->views |= 1u << VIEW_OVERVIEW | 1u << VIEW_OPERATOR | 1u << VIEW_TRACE;
    }
    results->views |= results->has_kernel ? 1u << VIEW_KERNEL : 0;
    results->views |= sel->class_count[INDEX_MEMORY] > 0 ? 1u << VIEW_MEMORY : 0;
    results->views |= has_categories ? 1u << VIEW_CATEGORIES : 0;
    results->views |= has_memory_counters(sel->trace) ? 1u << VIEW_MEMORY_COUNTERS : 0;
    if (results->rank_digest != NULL && results->rank_digest->operation_count > 0) {
        results->views |= 1u << VIEW_PIPELINE;
    }
    if (results->module_count > 0) {
        results->views |= 1u << (sel->lightning ? VIEW_LIGHTNING : VIEW_MODULE);
    }
}

/* ---- environment ---- */

/* What all entries of `deviceProperties` agree on says something of every device, also of those
 * whose number has no entry. */
static bool all_agree(const struct trace *trace, uint32_t bit)
{
    const struct device_properties *first = trace->devices;
    bool agree = trace->device_count > 0;
    for (uint32_t i = 0; agree && i < trace->device_count; i++) {
        const struct device_properties *entry = &trace->devices[i];
        agree = (entry->has & bit) == bit;
        if (agree && bit == DEVICE_HAS_NAME) {
            agree = strcmp(entry->name, first->name) == 0;
        } else if (agree && bit == DEVICE_HAS_TOTAL_MEMORY) {
            agree = entry->total_memory_bytes == first->total_memory_bytes;
        } else if (agree) {
            agree = entry->compute_major == first->compute_major &&
                    entry->compute_minor == first->compute_minor;
        }
    }
    return agree;
}

static bool add_row(struct trace_results *results, const char *name, const char *value)
{
    struct environment_row *row = &results->environment[results->environment_count++];
    row->name = arena_strdup(&results->arena, name);
    row->value = arena_strdup(&results->arena, value);
    return row->name != NULL && row->value != NULL;
}

static bool add_devices(struct trace_results *results, const struct trace *trace)
{
    const struct device_properties *first = trace->devices;
    char text[48];
    if (all_agree(trace, DEVICE_HAS_NAME) &&
        !add_row(results, ENVIRONMENT_KEY_DEVICE, first->name)) {
        return false;
    }
    if (all_agree(trace, DEVICE_HAS_TOTAL_MEMORY)) {
        (void)snprintf(text, sizeof text, "%lld", (long long)first->total_memory_bytes);
        if (!add_row(results, ENVIRONMENT_KEY_MEMORY, text)) {
            return false;
        }
    }
    if (all_agree(trace, DEVICE_HAS_COMPUTE_MAJOR | DEVICE_HAS_COMPUTE_MINOR)) {
        (void)snprintf(text, sizeof text, "%lld.%lld", (long long)first->compute_major,
                       (long long)first->compute_minor);
        return add_row(results, ENVIRONMENT_KEY_CAPABILITY, text);
    }
    return true;
}

static bool add_recorder(struct trace_results *results, const struct recorded *recorded)
{
    char text[RECORDER_BYTES];
    if (recorded == NULL || recorded->recorder == NULL) {
        return true;
    }
    bool has_version = recorded->format_version != NULL;
    (void)snprintf(text, sizeof text, "%.100s%s%.100s", recorded->recorder, has_version ? " " : "",
                   has_version ? recorded->format_version : "");
    return add_row(results, ENVIRONMENT_KEY_RECORDER, text);
}

bool health_copy_environment(struct trace_results *results, const struct trace *trace)
{
    results->environment = arena_calloc(&results->arena, (size_t)trace->meta_count + OWN_ROWS,
                                        sizeof *results->environment);
    if (results->environment == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < trace->meta_count; i++) {
        const char *value = trace->meta[i].value == NULL ? "" : trace->meta[i].value;
        if (!add_row(results, trace->meta[i].key, value)) {
            return false;
        }
    }
    return add_recorder(results, trace->recorded) && add_devices(results, trace);
}

/* ---- steps ---- */

double health_median_step_ns(const struct trace_results *results)
{
    size_t count = results_step_count(results);
    int64_t *times = count == 0 ? NULL : scratch_alloc(count, sizeof *times);
    double median_ns = (double)NAN;
    for (size_t i = 0; times != NULL && i < count; i++) {
        times[i] = results->steps[i].end_ns - results->steps[i].start_ns;
    }
    if (times != NULL) {
        qsort(times, count, sizeof *times, order_i64_at);
        size_t lower = (count - 1) / 2;
        size_t upper = count / 2;
        median_ns = ((double)times[lower] + (double)times[upper]) / 2;
    }
    scratch_free(times);
    return median_ns;
}

bool health_is_odd_step(const struct step_row *row, double median_ns)
{
    double step_ns = (double)(row->end_ns - row->start_ns);
    return step_ns > 2 * median_ns || 2 * step_ns < median_ns;
}

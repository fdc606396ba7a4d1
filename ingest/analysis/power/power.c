#include "ingest/analysis/power/power.h"

#include "ingest/analysis/kernel_classes/kernel_classes.h"
#include "ingest/analysis/power/power_counters.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_DEF "ingest/model/tables/causes/power.def"
#define TABLE_ROW struct power_row
#include "ingest/model/tables/describe.h"

#define TABLE_DEF "ingest/model/tables/causes/power_counter.def"
#define TABLE_ROW struct power_counter
#include "ingest/model/tables/describe.h"

/* Watts times nanoseconds to joule. */
#define JOULE 1e-9
#define IDLE "idle"

struct analysis {
    const struct trace_index *index;
    const struct kernel_rules *own;
    int64_t zero_ns;
    struct arena *arena;
    struct power_devices devices;
    struct power *out;
};

static double mean_of(double joule, double ns)
{
    return ns > 0 ? joule / JOULE / ns : (double)NAN;
}

static struct power_row row_of(const char *name, double joule)
{
    return (struct power_row){.name = name,
                              .start_ns = INT64_MIN,
                              .energy_j = joule,
                              .mean_w = (double)NAN,
                              .share = (double)NAN,
                              .clock_mhz = (double)NAN,
                              .tokens = INT64_MIN,
                              .token_j = (double)NAN};
}

static bool reserve(struct analysis *a, size_t count)
{
    a->out->rows = arena_calloc(a->arena, count + 1, sizeof *a->out->rows);
    return a->out->rows != NULL;
}

/* ---- by device, by step ---- */

/* Energy, sampled time and clock of a stretch, over all devices from `first` to before `end`. */
static void measure(const struct analysis *a,
                    size_t first,
                    size_t end,
                    int64_t start_ns,
                    int64_t end_ns,
                    struct power_row *row)
{
    double clock = 0;
    int64_t clock_ns = 0;
    for (size_t i = first; i < end; i++) {
        const struct power_device *device = &a->devices.items[i];
        row->energy_j += JOULE * power_curve_integral(&device->watts, start_ns, end_ns);
        row->sampled_ns = saturating_add(row->sampled_ns,
                                         power_curve_sampled_ns(&device->watts, start_ns, end_ns));
        clock += power_curve_integral(&device->megahertz, start_ns, end_ns);
        clock_ns =
            saturating_add(clock_ns, power_curve_sampled_ns(&device->megahertz, start_ns, end_ns));
    }
    row->mean_w = mean_of(row->energy_j, (double)row->sampled_ns);
    row->clock_mhz = clock_ns > 0 ? clock / (double)clock_ns : (double)NAN;
}

static bool by_device(struct analysis *a)
{
    if (!reserve(a, a->devices.count)) {
        return false;
    }
    for (size_t i = 0; i < a->devices.count; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "%" PRId64, a->devices.items[i].device);
        const char *name = arena_strdup(a->arena, text);
        if (name == NULL) {
            return false;
        }
        struct power_row row = row_of(name, 0);
        measure(a, i, i + 1, INT64_MIN, INT64_MAX, &row);
        row.time_ns = row.sampled_ns;
        a->out->rows[a->out->count++] = row;
    }
    return true;
}

/* 0: the step does not say. */
static int64_t tokens_of(const struct analysis *a, const struct index_step *step)
{
    struct engine_annotation said;
    return index_engine_step(a->index, step->event, &said) ? i64_max(0, said.tokens) : 0;
}

static void measure_step(const struct analysis *a,
                         const struct index_step *step,
                         int64_t tokens,
                         struct power_row *row)
{
    measure(a, 0, a->devices.count, step->start_ns, step->end_ns, row);
    if (tokens > 0) {
        row->tokens = tokens;
        row->token_j = row->sampled_ns > 0 ? row->energy_j / (double)tokens : (double)NAN;
    }
}

static bool by_step(struct analysis *a)
{
    const struct trace *trace = a->index->trace;
    if (!reserve(a, a->index->step_count)) {
        return false;
    }
    for (uint32_t i = 0; i < a->index->step_count; i++) {
        const struct index_step *step = &a->index->steps[i];
        uint32_t name = trace->events.name[step->event];
        const char *text = arena_strndup(a->arena, strtab_text(trace->strings, name),
                                         strtab_len(trace->strings, name));
        if (text == NULL) {
            return false;
        }
        struct power_row row = row_of(text, 0);
        row.start_ns = saturating_sub(step->start_ns, a->zero_ns);
        row.time_ns = saturating_sub(step->end_ns, step->start_ns);
        measure_step(a, step, tokens_of(a, step), &row);
        a->out->rows[a->out->count++] = row;
    }
    return true;
}

/* Of the steps that say so and were sampled. */
static void sum_tokens(struct analysis *a)
{
    double joule = 0;
    for (uint32_t i = 0; i < a->index->step_count; i++) {
        const struct index_step *step = &a->index->steps[i];
        struct power_row row = row_of("", 0);
        int64_t tokens = tokens_of(a, step);
        if (tokens == 0) {
            continue;
        }
        measure_step(a, step, tokens, &row);
        if (!isnan(row.token_j)) {
            a->out->tokens = saturating_add(a->out->tokens, tokens);
            joule += row.energy_j;
        }
    }
    a->out->token_j = a->out->tokens > 0 ? joule / (double)a->out->tokens : (double)NAN;
}

/* ---- by class ---- */

/* Pieces of work of measured devices, and their edges: 2 n its start, 2 n + 1 its end. */
struct work {
    uint32_t *event;
    uint8_t *device; /* place in devices.items */
    uint32_t *class; /* place in `classes` */
    uint32_t count;
    const char **classes; /* names */
    uint32_t class_count;
    size_t class_cap;
};

static uint32_t class_place(struct work *work, const char *name)
{
    for (uint32_t i = 0; i < work->class_count; i++) {
        if (strcmp(work->classes[i], name) == 0) {
            return i;
        }
    }
    const char **grown =
        scratch_grow(work->classes, work->class_count, &work->class_cap, sizeof *grown);
    if (grown == NULL) {
        return UINT32_MAX;
    }
    work->classes = grown;
    work->classes[work->class_count] = name;
    return work->class_count++;
}

/* `known`: by string id, the class's place + 1. UINT32_MAX without memory. */
static uint32_t
class_of(const struct analysis *a, struct work *work, uint32_t event, uint32_t *known)
{
    const struct trace *trace = a->index->trace;
    enum index_class kind = index_class(a->index, event);
    if (kind == INDEX_MEMCPY || kind == INDEX_MEMSET) {
        return class_place(work, kind == INDEX_MEMCPY ? KERNEL_CLASS_MEMCPY : KERNEL_CLASS_MEMSET);
    }
    uint32_t name = trace->events.name[event];
    struct kernel_class class;
    if (known[name] == 0) {
        uint32_t place = kernel_class_of(a->own, strtab_text(trace->strings, name), &class)
                             ? class_place(work, class.name)
                             : UINT32_MAX;
        if (place == UINT32_MAX) {
            return UINT32_MAX;
        }
        known[name] = place + 1;
    }
    return known[name] - 1;
}

static bool list_work(const struct analysis *a, struct work *work)
{
    const struct trace_index *index = a->index;
    uint32_t *known = scratch_calloc(strtab_count(index->trace->strings), sizeof *known);
    work->event = scratch_alloc(index->device_count, sizeof *work->event);
    work->device = scratch_alloc(index->device_count, sizeof *work->device);
    work->class = scratch_alloc(index->device_count, sizeof *work->class);
    bool ok = known != NULL && work->event != NULL && work->device != NULL && work->class != NULL;
    for (uint32_t i = 0; ok && i < index->stream_count; i++) {
        const struct index_stream *stream = &index->streams[i];
        size_t place = 0;
        while (place < a->devices.count && a->devices.items[place].device != stream->device) {
            place++;
        }
        for (uint32_t at = stream->work.first;
             ok && place < a->devices.count && at < stream->work.end; at++) {
            uint32_t event = index->device_work[at];
            uint32_t class = class_of(a, work, event, known);
            ok = class != UINT32_MAX;
            work->event[work->count] = event;
            work->device[work->count] = (uint8_t)place;
            work->class[work->count] = class;
            work->count += ok;
        }
    }
    scratch_free(known);
    return ok;
}

/* Edges device by device, each in order of time. */
static uint32_t *order_edges(const struct analysis *a, const struct work *work, int64_t *at_ns)
{
    const struct trace_events *events = &a->index->trace->events;
    uint32_t *edges = scratch_alloc(2ul * work->count, sizeof *edges);
    int64_t *device = scratch_alloc(2ul * work->count, sizeof *device);
    bool ok = edges != NULL && device != NULL;
    for (uint32_t i = 0; ok && i < 2 * work->count; i++) {
        uint32_t event = work->event[i / 2];
        edges[i] = i;
        device[i] = work->device[i / 2];
        at_ns[i] =
            saturating_add(events->ts_ns[event], i % 2 == 0 ? 0 : trace_dur_ns(events, event));
    }
    ok = ok && sort_by_key(edges, 2ul * work->count, at_ns) &&
         sort_by_key(edges, 2ul * work->count, device);
    scratch_free(device);
    if (!ok) {
        scratch_free(edges);
        return NULL;
    }
    return edges;
}

/* What a class has of the stretch from one edge to the next: its part of the work that runs. */
static void share_out(struct power_row *rows,
                      const uint32_t *running,
                      uint32_t class_count,
                      uint32_t total,
                      double joule,
                      int64_t sampled_ns)
{
    for (uint32_t i = 0; total > 0 && i < class_count; i++) {
        rows[i].energy_j += joule * running[i] / total;
        rows[i].time_ns = saturating_add(rows[i].time_ns, saturating_mul(sampled_ns, running[i]));
        rows[i].sampled_ns = saturating_add(rows[i].sampled_ns, running[i] > 0 ? sampled_ns : 0);
        /* Until the end: watts times time, of its parts. */
        rows[i].mean_w =
            (isnan(rows[i].mean_w) ? 0 : rows[i].mean_w) + (double)sampled_ns * running[i] / total;
    }
}

static void sweep(const struct analysis *a,
                  const struct work *work,
                  const uint32_t *edges,
                  const int64_t *at_ns,
                  uint32_t *running)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < 2 * work->count; i++) {
        uint32_t edge = edges[i];
        uint32_t class = work->class[edge / 2];
        const struct power_curve *watts = &a->devices.items[work->device[edge / 2]].watts;
        if (total > 0) {
            int64_t from_ns = at_ns[edges[i - 1]];
            share_out(a->out->rows, running, work->class_count, total,
                      JOULE * power_curve_integral(watts, from_ns, at_ns[edge]),
                      power_curve_sampled_ns(watts, from_ns, at_ns[edge]));
        }
        bool begins = edge % 2 == 0;
        running[class] += begins ? 1U : UINT32_MAX;
        total += begins ? 1U : UINT32_MAX;
    }
}

ORDER_BY(by_energy, struct power_row, ORDER_DOWN(energy_j), ORDER_TEXT(name))

/* The classes' rows, then one of the time without work. */
static bool by_class(struct analysis *a)
{
    struct work work = {.count = 0};
    bool ok = list_work(a, &work) && work.count <= UINT32_MAX / 2;
    int64_t *at_ns = scratch_alloc(2ul * work.count, sizeof *at_ns);
    uint32_t *running = scratch_calloc(work.class_count + 1ul, sizeof *running);
    uint32_t *edges = ok && at_ns != NULL ? order_edges(a, &work, at_ns) : NULL;
    ok = ok && edges != NULL && running != NULL && reserve(a, work.class_count + 1ul);
    double joule = 0;
    for (uint32_t i = 0; ok && i < work.class_count; i++) {
        const char *name = arena_strdup(a->arena, work.classes[i]);
        ok = name != NULL;
        a->out->rows[i] = row_of(name, 0);
    }
    if (ok) {
        sweep(a, &work, edges, at_ns, running);
    }
    for (uint32_t i = 0; ok && i < work.class_count; i++) {
        struct power_row *row = &a->out->rows[i];
        row->mean_w = mean_of(row->energy_j, isnan(row->mean_w) ? 0 : row->mean_w);
        joule += row->energy_j;
    }
    if (ok && a->devices.count > 0) {
        a->out->count = work.class_count;
        a->out->rows[a->out->count++] = row_of(IDLE, fmax(0, a->out->energy_j - joule));
        qsort(a->out->rows, a->out->count, sizeof *a->out->rows, by_energy);
    }
    SCRATCH_FREE(work.event, work.device, work.class, work.classes, at_ns, running, edges);
    return ok;
}

/* ---- all ---- */

static void sum_devices(struct analysis *a)
{
    struct power_row whole = row_of("", 0);
    measure(a, 0, a->devices.count, INT64_MIN, INT64_MAX, &whole);
    a->out->energy_j = whole.energy_j;
    a->out->sampled_ns = whole.sampled_ns;
}

static bool fill_rows(struct analysis *a, enum power_group by)
{
    sum_devices(a);
    sum_tokens(a);
    bool ok = by == POWER_BY_DEVICE ? by_device(a) : by == POWER_BY_STEP ? by_step(a) : by_class(a);
    for (size_t i = 0; ok && a->out->energy_j > 0 && i < a->out->count; i++) {
        a->out->rows[i].share = a->out->rows[i].energy_j / a->out->energy_j;
    }
    return ok;
}

bool power_analyse(const struct trace *trace,
                   int64_t zero_ns,
                   const struct kernel_rules *own,
                   enum power_group by,
                   struct arena *arena,
                   struct power *out)
{
    struct trace_index index;
    struct analysis a = {
        .index = &index, .own = own, .zero_ns = zero_ns, .arena = arena, .out = out};
    *out = (struct power){.token_j = (double)NAN};
    bool ok = index_build(&index, trace) &&
              power_devices_find(&index, zero_ns, arena, out, &a.devices) &&
              (a.devices.count == 0 || fill_rows(&a, by));
    index_free(&index);
    return ok;
}

#include "ingest/analysis/kernels/kernels.h"

#include "ingest/analysis/classify/tensor_core.h"
#include "ingest/analysis/classify/times.h"
#include "ingest/analysis/util/percentiles.h"
#include "ingest/base/containers/introsort.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/num.h"
#include "ingest/index/sort.h"

#include <math.h>
#include <string.h>

bool kernels_collect(struct kernels *kernels, const struct event_classes *sel)
{
    *kernels = (struct kernels){.sel = sel};
    kernels->events = scratch_alloc(sel->class_count[INDEX_KERNEL], sizeof *kernels->events);
    if (kernels->events == NULL) {
        return false;
    }
    const struct events_in_time work = sel->lists[LIST_DEVICE];
    for (uint32_t i = 0; i < work.count; i++) {
        if (sel->class[work.items[i]] == INDEX_KERNEL) {
            kernels->events[kernels->count++] = work.items[i];
        }
    }
    return true;
}

void kernels_free(struct kernels *kernels)
{
    scratch_free(kernels->events);
    *kernels = (struct kernels){0};
}

static int by_end(uint32_t a, uint32_t b, const void *ctx)
{
    int64_t end_a = times_end_key(ctx, a);
    int64_t end_b = times_end_key(ctx, b);
    return (end_a > end_b) - (end_a < end_b);
}

bool kernels_sort_by_end(uint32_t *events, uint32_t count, const struct event_classes *sel)
{
    int64_t last_key = INT64_MIN;
    bool in_order = true;
    for (uint32_t i = 0; i < count && in_order; i++) {
        int64_t key = times_end_key(sel, events[i]);
        in_order = key >= last_key;
        last_key = key;
    }
    return in_order || sort_stable(events, count, by_end, sel);
}

/* Kernels grouped by name; groups in the order of their first kernel. */
struct by_name {
    const struct kernels *kernels;
    struct key_map keys; /* id[0]: name */
    uint32_t *group;     /* by kernel */
    int64_t *calls;      /* by group */
    int64_t *total_ns;
    uint32_t *first; /* group g: members[first[g] .. first[g + 1]), events in order of time */
    uint32_t *members;
    struct percentiles *percentiles;
    double *weights; /* scratch for one group */
};

static bool group_kernels(struct by_name *b)
{
    const struct kernels *kernels = b->kernels;
    b->group = scratch_alloc(kernels->count, sizeof *b->group);
    for (uint32_t i = 0; b->group != NULL && i < kernels->count; i++) {
        const struct key key = {{kernels->sel->name[kernels->events[i]], 0, 0, 0}};
        b->group[i] = key_map_add(&b->keys, key);
        if (b->group[i] == KEY_MAP_NONE) {
            return false;
        }
    }
    return b->group != NULL;
}

static bool fill_members(struct by_name *b)
{
    const struct kernels *kernels = b->kernels;
    uint32_t count = b->keys.count;
    b->first = scratch_calloc((size_t)count + 1, sizeof *b->first);
    b->members = scratch_alloc(kernels->count, sizeof *b->members);
    b->calls = scratch_calloc(count, sizeof *b->calls);
    b->total_ns = scratch_calloc(count, sizeof *b->total_ns);
    uint32_t *next = scratch_alloc(count, sizeof *next);
    bool ok = b->first != NULL && b->members != NULL && b->calls != NULL && b->total_ns != NULL &&
              next != NULL;
    for (uint32_t i = 0; ok && i < kernels->count; i++) {
        b->first[b->group[i] + 1]++;
    }
    for (uint32_t g = 0; ok && g < count; g++) {
        b->calls[g] = b->first[g + 1];
        b->first[g + 1] += b->first[g];
        next[g] = b->first[g];
    }
    for (uint32_t i = 0; ok && i < kernels->count; i++) {
        uint32_t event = kernels->events[i];
        uint32_t g = b->group[i];
        b->members[next[g]++] = event;
        b->total_ns[g] =
            saturating_add(b->total_ns[g], trace_dur_ns(&kernels->sel->trace->events, event));
    }
    scratch_free(next);
    return ok;
}

static bool add_percentiles(struct by_name *b)
{
    const struct kernels *kernels = b->kernels;
    b->percentiles = scratch_calloc(b->keys.count, sizeof *b->percentiles);
    int64_t *durations = scratch_alloc(kernels->count, sizeof *durations);
    bool ok = durations != NULL && b->percentiles != NULL;
    for (uint32_t i = 0; ok && i < kernels->count; i++) {
        durations[i] = trace_dur_ns(&kernels->sel->trace->events, kernels->events[i]);
    }
    ok = ok && percentiles_by_group(durations, b->group, kernels->count, b->calls, b->keys.count,
                                    b->percentiles);
    scratch_free(durations);
    return ok;
}

/* ---- order of the rows ---- */

static int by_name_text(uint32_t a, uint32_t b, const void *ctx)
{
    const struct by_name *by_name = ctx;
    const struct names *names = &by_name->kernels->sel->names;
    return strcmp(names_text(names, by_name->keys.keys[a].id[0]),
                  names_text(names, by_name->keys.keys[b].id[0]));
}

/* Groups in the order of the table; free() it. Bytes of UTF-8 order like code points. */
static uint32_t *order_groups(const struct by_name *b)
{
    uint32_t count = b->keys.count;
    uint32_t *named = scratch_alloc(count, sizeof *named);
    uint32_t *order = scratch_alloc(count, sizeof *order);
    int64_t *reversed_totals = scratch_alloc(count, sizeof *reversed_totals);
    bool ok = named != NULL && order != NULL && reversed_totals != NULL;
    for (uint32_t g = 0; ok && g < count; g++) {
        named[g] = g;
    }
    ok = ok && sort_stable(named, count, by_name_text, b);
    if (ok) {
        for (uint32_t i = 0; i < count; i++) {
            reversed_totals[i] = b->total_ns[named[count - 1 - i]];
        }
        introsort_kernel_order(order, reversed_totals, count);
        for (uint32_t i = 0; i < count; i++) {
            order[i] = named[order[i]];
        }
    }
    SCRATCH_FREE(named, reversed_totals);
    if (!ok) {
        scratch_free(order);
        order = NULL;
    }
    return order;
}

/* ---- figures ---- */

/* Σ x·dur / Σ dur over one group; `x` NULL: Σ dur. */
static double
pairwise_sum(struct by_name *b, uint32_t group, double (*x)(const struct trace *, uint32_t))
{
    const struct trace *trace = b->kernels->sel->trace;
    const uint32_t *members = b->members + b->first[group];
    size_t count = (size_t)b->calls[group];
    for (size_t i = 0; i < count; i++) {
        double value = x == NULL ? 1.0 : x(trace, members[i]);
        double duration_us = ns_to_us(trace_dur_ns(&trace->events, members[i]));
        b->weights[i] = isnan(value) ? 0.0 : value * duration_us;
    }
    return num_sum_pairwise(b->weights, count);
}

static struct kernel_row row_of(struct by_name *b, uint32_t group, struct names *names)
{
    const struct trace *trace = b->kernels->sel->trace;
    uint32_t name_flags = names_kernel_flags(names, b->keys.keys[group].id[0]);
    double total_us = pairwise_sum(b, group, NULL);
    bool has_weight = total_us != 0.0;
    struct kernel_row row = {
        .calls = b->calls[group],
        .total_ns = b->total_ns[group],
        .min_ns = INT64_MAX,
        .p50_ns = b->percentiles[group].p50,
        .median_ns = b->percentiles[group].median,
        .p95_ns = b->percentiles[group].p95,
        .p99_ns = b->percentiles[group].p99,
        .tensor_used = (name_flags & NAME_TENSOR_KERNEL) != 0,
        .blocks_per_sm = has_weight ? pairwise_sum(b, group, kernel_blocks_per_sm) / total_us : 0.0,
        .occupancy_pct =
            has_weight ? pairwise_sum(b, group, kernel_occupancy_pct) / total_us : 0.0};
    for (uint32_t i = b->first[group]; i < b->first[group + 1]; i++) {
        int64_t duration_ns = trace_dur_ns(&trace->events, b->members[i]);
        row.min_ns = i64_min(row.min_ns, duration_ns);
        row.max_ns = i64_max(row.max_ns, duration_ns);
    }
    return row;
}

/* The list of kernels on Tensor Cores counts too. False without memory. */
static bool read_class(const struct event_classes *sel, const char *name, struct kernel_class *out)
{
    if (!kernel_class_of(sel->kernel_rules, name, out)) {
        return false;
    }
    out->matrix_unit = tensor_core_listed_kernel(name) ? MATRIX_UNIT_USED : out->matrix_unit;
    return true;
}

static bool write_rows(struct trace_results *results,
                       struct texts *texts,
                       struct names *names,
                       struct by_name *b,
                       const uint32_t *order)
{
    uint32_t count = b->keys.count;
    struct kernel_row *rows = arena_calloc(&results->arena, count, sizeof *rows);
    b->weights = scratch_alloc(b->kernels->count, sizeof *b->weights);
    if (rows == NULL || b->weights == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct kernel_class class;
        rows[i] = row_of(b, order[i], names);
        rows[i].name = texts_copy(texts, b->keys.keys[order[i]].id[0]);
        if (rows[i].name == NULL || !read_class(b->kernels->sel, rows[i].name, &class)) {
            return false;
        }
        rows[i].class = class.name;
        rows[i].communication_kind = class.communication_kind;
        rows[i].matrix_unit = (uint32_t) class.matrix_unit;
    }
    results->kernels = rows;
    results->kernel_count = count;
    return true;
}

/* Share of the rows' time that is in Tensor Core kernels [TB-12c] [TB-12.2].
 */
static double pie_share(const struct trace_results *results, double *weights)
{
    size_t used = 0;
    for (size_t i = 0; i < results->kernel_count; i++) {
        const struct kernel_row *row = &results->kernels[i];
        if (row->tensor_used) {
            weights[used++] = ns_to_us(row->total_ns);
        }
    }
    double used_us = num_sum_pairwise(weights, used);
    for (size_t i = 0; i < results->kernel_count; i++) {
        weights[i] = ns_to_us(results->kernels[i].total_ns);
    }
    double total_us = num_sum_pairwise(weights, results->kernel_count);
    return total_us == 0.0 ? 0.0 : used_us / total_us;
}

/* Only kernels with a valid device decide on the columns [TB-12.3]. */
static void find_columns(struct trace_results *results, const struct kernels *kernels)
{
    const struct trace *trace = kernels->sel->trace;
    for (uint32_t i = 0; i < kernels->count; i++) {
        uint32_t event = kernels->events[i];
        int64_t device = kernel_device(trace, event);
        if (device < 0 || device >= KERNEL_DEVICES) {
            continue;
        }
        results->has_blocks_per_sm |= kernel_blocks_per_sm(trace, event) > 0;
        results->has_occupancy |= kernel_occupancy_pct(trace, event) >= 0;
    }
}

bool kernels_run(struct trace_results *results,
                 struct texts *texts,
                 struct names *names,
                 const struct kernels *kernels)
{
    struct by_name b = {.kernels = kernels};
    key_map_init(&b.keys);
    bool ok = group_kernels(&b) && fill_members(&b) && add_percentiles(&b);
    uint32_t *order = ok ? order_groups(&b) : NULL;
    ok = order != NULL && write_rows(results, texts, names, &b, order);
    if (ok) {
        results->tensor_pie_used = pie_share(results, b.weights);
        find_columns(results, kernels);
    }
    scratch_free(order);
    key_map_free(&b.keys);
    SCRATCH_FREE(b.group, b.calls, b.total_ns, b.first, b.members, b.percentiles, b.weights);
    return ok;
}

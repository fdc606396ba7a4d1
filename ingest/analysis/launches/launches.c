#include "ingest/analysis/launches/launches.h"

#include "ingest/analysis/classify/times.h"
#include "ingest/analysis/kernels/kernels.h"
#include "ingest/analysis/util/percentiles.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/index/sort.h"

#include <math.h>
#include <string.h>

struct launch_sums {
    int64_t calls;
    int64_t total, min, max;  /* durations of times.h */
    double blocks, occupancy; /* value x microseconds */
    bool op_tensor_eligible;
};

/* A group's key: name, operator name, configuration. */
enum { KEY_NAME, KEY_OPERATOR, KEY_CONFIG };

struct launches {
    struct event_classes *sel;
    struct key_map configs; /* four text ids each */
    uint32_t *config_of;    /* by entry of trace.kernel_args */
    uint32_t no_config;     /* of kernels without arguments */
    uint32_t none_text;
    uint32_t zero_text;
    uint32_t empty_text;
    bool is_npu; /* has core, block dim and shapes */
    struct key_map keys;
    uint32_t *group_of_args;  /* by entry of trace.kernel_args: of the kernel seen last */
    struct launch_sums *sums; /* by group */
    size_t sums_cap;
    uint32_t *group; /* by kernel visit */
    size_t group_cap;
    int64_t *duration; /* by kernel visit */
    size_t duration_cap;
    size_t count;
};

/* `registers per thread` and `shared memory`: what Python takes for false prints as 0. */
static uint32_t number_text(const struct launches *g, uint32_t text)
{
    static const char *const FALSE_TEXTS[] = {"", "0", "0.0", "-0.0", "None", "False", "[]", "{}"};
    if (text == STRTAB_NONE) {
        return g->zero_text;
    }
    const char *value = names_text(&g->sel->names, text);
    for (size_t i = 0; i < sizeof FALSE_TEXTS / sizeof *FALSE_TEXTS; i++) {
        if (strcmp(value, FALSE_TEXTS[i]) == 0) {
            return g->zero_text;
        }
    }
    return text;
}

static uint32_t plain_text(const struct launches *g, uint32_t text)
{
    return text == STRTAB_NONE ? g->none_text : text;
}

static uint32_t config_of_args(struct launches *g, const struct kernel_args *args, uint32_t no_dim)
{
    if (g->sel->mlu) {
        uint32_t dim = args->dim == STRTAB_NONE ? no_dim : args->dim;
        const struct key key = {{plain_text(g, args->kernel_type), dim,
                                 plain_text(g, args->tasktopo),
                                 plain_text(g, args->tasktopo_node)}};
        return key_map_add(&g->configs, key);
    }
    if (g->is_npu) {
        const uint32_t said[4] = {args->grid, args->block, args->registers_per_thread,
                                  args->shared_memory};
        struct key key;
        for (size_t i = 0; i < 4; i++) {
            key.id[i] = said[i] == STRTAB_NONE ? g->empty_text : said[i];
        }
        return key_map_add(&g->configs, key);
    }
    const struct key key = {{plain_text(g, args->grid), plain_text(g, args->block),
                             number_text(g, args->registers_per_thread),
                             number_text(g, args->shared_memory)}};
    return key_map_add(&g->configs, key);
}

static bool read_configs(struct launches *g)
{
    const struct trace *trace = g->sel->trace;
    struct names *names = &g->sel->names;
    static const char NO_DIM[] = "[None, None, None]";
    const struct kernel_args no_args = trace_no_kernel_args();
    g->none_text = names_intern(names, "None", 4);
    g->zero_text = names_intern(names, "0", 1);
    g->empty_text = names_intern(names, "", 0);
    g->is_npu = strcmp(trace_device_word(trace, g->sel->mlu), "NPU") == 0;
    uint32_t no_dim = names_intern(names, NO_DIM, strlen(NO_DIM));
    g->config_of = scratch_alloc(trace->kernel_args_count, sizeof *g->config_of);
    g->group_of_args = scratch_none(trace->kernel_args_count);
    bool ok = g->group_of_args != NULL && g->none_text != STRTAB_NONE &&
              g->zero_text != STRTAB_NONE && g->empty_text != STRTAB_NONE &&
              no_dim != STRTAB_NONE && g->config_of != NULL;
    for (uint32_t i = 0; ok && i < trace->kernel_args_count; i++) {
        g->config_of[i] = config_of_args(g, &trace->kernel_args[i], no_dim);
        ok = g->config_of[i] != KEY_MAP_NONE;
    }
    g->no_config = ok ? config_of_args(g, &no_args, no_dim) : KEY_MAP_NONE;
    return ok && g->no_config != KEY_MAP_NONE;
}

static struct launch_sums new_sums(int64_t duration, uint32_t operator_flags)
{
    return (struct launch_sums){.min = duration,
                                .max = duration,
                                .op_tensor_eligible = (operator_flags & NAME_TENSOR_OPERATOR) != 0};
}

static double or_zero(double value)
{
    return isnan(value) ? 0.0 : value;
}

static bool keep_visit(struct launches *g, uint32_t group, int64_t duration)
{
    uint32_t *groups = scratch_grow(g->group, g->count, &g->group_cap, sizeof *groups);
    g->group = groups == NULL ? g->group : groups;
    int64_t *durations = scratch_grow(g->duration, g->count, &g->duration_cap, sizeof *durations);
    g->duration = durations == NULL ? g->duration : durations;
    if (groups == NULL || durations == NULL) {
        return false;
    }
    groups[g->count] = group;
    durations[g->count++] = duration;
    return true;
}

/* Mostly the group of the last kernel with these arguments: they tell the configuration. */
static uint32_t group_of(struct launches *g, uint32_t name, uint32_t operator_name, uint32_t args)
{
    if (args == TRACE_NO_ARGS) {
        return key_map_add(&g->keys, (struct key){{name, operator_name, g->no_config, 0}});
    }
    uint32_t group = g->group_of_args[args];
    const struct key *known = group == KEY_MAP_NONE ? NULL : &g->keys.keys[group];
    if (known == NULL || known->id[KEY_NAME] != name || known->id[KEY_OPERATOR] != operator_name) {
        const struct key key = {{name, operator_name, g->config_of[args], 0}};
        group = key_map_add(&g->keys, key);
        g->group_of_args[args] = group;
    }
    return group;
}

bool launches_add(struct launches *g,
                  uint32_t event,
                  uint32_t operator_name,
                  uint32_t operator_flags)
{
    const struct trace *trace = g->sel->trace;
    uint32_t known = g->keys.count;
    uint32_t group = group_of(g, g->sel->name[event], operator_name, trace->events.args[event]);
    if (group == KEY_MAP_NONE) {
        return false;
    }
    int64_t duration = times_duration(g->sel, event);
    if (group == known) {
        struct launch_sums *sums = scratch_grow(g->sums, known, &g->sums_cap, sizeof *sums);
        if (sums == NULL) {
            return false;
        }
        g->sums = sums;
        g->sums[group] = new_sums(duration, operator_flags);
    }
    struct launch_sums *sums = &g->sums[group];
    double weight = times_weight(g->sel, duration);
    sums->calls++;
    sums->total = saturating_add(sums->total, duration);
    sums->min = i64_min(sums->min, duration);
    sums->max = i64_max(sums->max, duration);
    sums->blocks += or_zero(kernel_blocks_per_sm(trace, event)) * weight;
    sums->occupancy += or_zero(kernel_occupancy_pct(trace, event)) * weight;
    return keep_visit(g, group, duration);
}

static struct percentiles *find_percentiles(const struct launches *g)
{
    struct percentiles *out = scratch_calloc(g->keys.count, sizeof *out);
    int64_t *calls = scratch_alloc(g->keys.count, sizeof *calls);
    bool ok = out != NULL && calls != NULL;
    if (ok) {
        for (uint32_t i = 0; i < g->keys.count; i++) {
            calls[i] = g->sums[i].calls;
        }
        ok = percentiles_by_group(g->duration, g->group, g->count, calls, g->keys.count, out);
    }
    scratch_free(calls);
    if (!ok) {
        scratch_free(out);
        out = NULL;
    }
    return out;
}

static int by_total(uint32_t a, uint32_t b, const void *ctx)
{
    const struct launch_sums *sums = ctx;
    return (sums[a].total < sums[b].total) - (sums[a].total > sums[b].total);
}

static bool write_row(struct kernel_launch_row *row,
                      struct launches *g,
                      struct texts *texts,
                      uint32_t group,
                      const struct percentiles *percentiles)
{
    const struct key *key = &g->keys.keys[group];
    const struct launch_sums *sums = &g->sums[group];
    uint32_t name_flags = names_kernel_flags(&g->sel->names, key->id[KEY_NAME]);
    double total = times_weight(g->sel, sums->total);
    *row = (struct kernel_launch_row){.name = texts_copy(texts, key->id[KEY_NAME]),
                                      .operator_name = texts_copy(texts, key->id[KEY_OPERATOR]),
                                      .calls = sums->calls,
                                      .total_ns = sums->total,
                                      .min_ns = sums->min,
                                      .max_ns = sums->max,
                                      .p50_ns = percentiles->p50,
                                      .p95_ns = percentiles->p95,
                                      .p99_ns = percentiles->p99,
                                      .tensor_used = (name_flags & NAME_TENSOR_KERNEL) != 0,
                                      .op_tensor_eligible = sums->op_tensor_eligible};
    if (sums->total != 0) {
        row->blocks_per_sm = sums->blocks / total;
        row->occupancy_pct = sums->occupancy / total;
    }
    bool ok = row->name != NULL && row->operator_name != NULL;
    for (size_t i = 0; i < 4; i++) {
        row->config[i] = texts_copy(texts, g->configs.keys[key->id[KEY_CONFIG]].id[i]);
        ok = ok && row->config[i] != NULL;
    }
    return ok;
}

static bool write_rows(struct trace_results *results, struct texts *texts, struct launches *g)
{
    uint32_t count = g->keys.count;
    struct kernel_launch_row *rows = arena_calloc(&results->arena, count, sizeof *rows);
    struct percentiles *percentiles = find_percentiles(g);
    uint32_t *order = scratch_alloc(count, sizeof *order);
    bool ok = rows != NULL && percentiles != NULL && order != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        order[i] = i;
    }
    ok = ok && sort_stable(order, count, by_total, g->sums);
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = write_row(&rows[i], g, texts, order[i], &percentiles[order[i]]);
    }
    results->kernel_launches = rows;
    results->kernel_launch_count = ok ? count : 0;
    SCRATCH_FREE(percentiles, order);
    return ok;
}

bool launches_run(struct trace_results *results,
                  struct texts *texts,
                  struct event_classes *sel,
                  bool (*feed)(struct launches *launches, void *context),
                  void *context)
{
    struct launches g = {.sel = sel};
    key_map_init(&g.configs);
    key_map_init(&g.keys);
    bool ok = read_configs(&g) && feed(&g, context) && write_rows(results, texts, &g);
    key_map_free(&g.configs);
    key_map_free(&g.keys);
    SCRATCH_FREE(g.config_of, g.group_of_args, g.sums, g.group, g.duration);
    return ok;
}

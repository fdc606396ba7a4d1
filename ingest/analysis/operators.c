#include "ingest/analysis/operators.h"

#include "ingest/analysis/key_map.h"
#include "ingest/analysis/percentiles.h"
#include "ingest/analysis/scratch.h"
#include "ingest/analysis/times.h"

/* Figures of a group of calls. */
struct sums {
    int64_t calls;
    /* ticks (times.h) */
    int64_t host_total, host_self;
    int64_t device_total, device_self;
    int64_t tc_total, tc_self;
    int64_t tensor_total, tensor_self;
    int64_t host_min, host_max;
    bool tc_eligible, tensor_eligible; /* of the first call */
};

/* Parts of a fine group's key. */
enum { KEY_NAME, KEY_SHAPE, KEY_STACK };

/* Calls grouped by name, shape and stack: every other grouping joins whole groups of this one, in
 * the order in which their first groups stand. */
struct calls {
    const struct op_tree *tree;
    struct key_map keys; /* of the fine groups */
    struct sums *sums;   /* by fine group */
    uint32_t sums_count;
    size_t sums_cap;
    uint32_t *group; /* fine group by call */
    int64_t *host;   /* duration by call, ticks */
    int64_t *device; /* device total by call */
    size_t count;
    uint32_t empty_shape; /* text ids for calls without arguments */
    uint32_t empty_stack;
};

static struct key key_of(const struct calls *c, uint32_t node)
{
    const struct trace *trace = c->tree->sel->trace;
    uint32_t args = trace->events.args[c->tree->nodes[node].event];
    struct key key = {{op_node_name(c->tree, node), c->empty_shape, c->empty_stack, 0}};
    if (args != TRACE_NO_ARGS) {
        key.id[KEY_SHAPE] = trace->op_args[args].shape;
        key.id[KEY_STACK] = trace->op_args[args].call_stack;
    }
    return key;
}

static void add_sums(struct sums *to, const struct sums *add)
{
    if (to->calls == 0) {
        *to = *add;
        return;
    }
    to->calls += add->calls;
    to->host_total = ns_add(to->host_total, add->host_total);
    to->host_self = ns_add(to->host_self, add->host_self);
    to->device_total = ns_add(to->device_total, add->device_total);
    to->device_self = ns_add(to->device_self, add->device_self);
    to->tc_total = ns_add(to->tc_total, add->tc_total);
    to->tc_self = ns_add(to->tc_self, add->tc_self);
    to->tensor_total = ns_add(to->tensor_total, add->tensor_total);
    to->tensor_self = ns_add(to->tensor_self, add->tensor_self);
    to->host_min = ns_min(to->host_min, add->host_min);
    to->host_max = ns_max(to->host_max, add->host_max);
}

static struct sums sums_of(const struct op_tree *tree, uint32_t node)
{
    struct op_launch_sums total = op_node_total(tree, node);
    struct op_launch_sums self = op_node_self(tree, node);
    int64_t duration = op_node_duration(tree, node);
    uint16_t flags = tree->nodes[node].flags;
    return (struct sums){.calls = 1,
                         .host_total = duration,
                         .host_self = op_node_host_self(tree, node),
                         .device_total = total.device,
                         .device_self = self.device,
                         .tc_total = total.tc,
                         .tc_self = self.tc,
                         .tensor_total = total.tensor,
                         .tensor_self = self.tensor,
                         .host_min = duration,
                         .host_max = duration,
                         .tc_eligible = (flags & OP_TC) != 0,
                         .tensor_eligible = (flags & OP_TENSOR) != 0};
}

static bool add_call(struct calls *c, uint32_t node)
{
    uint32_t group = key_map_add(&c->keys, key_of(c, node));
    if (group == KEY_MAP_NONE) {
        return false;
    }
    if (group == c->sums_count) {
        struct sums *sums = scratch_grow(c->sums, c->sums_count, &c->sums_cap, sizeof *sums);
        if (sums == NULL) {
            return false;
        }
        c->sums = sums;
        c->sums[c->sums_count++] = (struct sums){0};
    }
    struct sums call = sums_of(c->tree, node);
    add_sums(&c->sums[group], &call);
    c->group[c->count] = group;
    c->host[c->count] = call.host_total;
    c->device[c->count++] = call.device_total;
    return true;
}

static bool is_operator(const struct op_tree *tree, uint32_t visit)
{
    return (visit & VISIT_ROOT) == 0 && (tree->nodes[visit].flags & OP_REAL) != 0;
}

static bool collect_calls(struct calls *c, const struct visits *visits)
{
    struct names *names = &c->tree->sel->names;
    c->empty_shape = names_intern(names, "[]", 2);
    c->empty_stack = names_intern(names, "", 0);
    size_t count = 0;
    for (size_t i = 0; i < visits->count; i++) {
        count += is_operator(c->tree, visits->items[i]);
    }
    c->group = scratch_alloc(count, sizeof *c->group);
    c->host = scratch_alloc(count, sizeof *c->host);
    c->device = scratch_alloc(count, sizeof *c->device);
    bool ok = c->group != NULL && c->host != NULL && c->device != NULL &&
              c->empty_shape != STRTAB_NONE && c->empty_stack != STRTAB_NONE;
    for (size_t i = 0; ok && i < visits->count; i++) {
        ok = !is_operator(c->tree, visits->items[i]) || add_call(c, visits->items[i]);
    }
    return ok;
}

/* ---- coarser groupings ---- */

/* A grouping made of whole fine groups. */
struct grouping {
    uint32_t *coarse; /* by fine group; PERCENTILES_NO_GROUP: left out */
    struct key_map keys;
    uint32_t *first; /* first fine group, by coarse group */
    struct sums *sums;
    bool *has_stack;
    struct percentiles *host;
    struct percentiles *device;
};

static void free_grouping(struct grouping *g)
{
    key_map_free(&g->keys);
    scratch_free(g->coarse);
    scratch_free(g->first);
    scratch_free(g->sums);
    scratch_free(g->has_stack);
    scratch_free(g->host);
    scratch_free(g->device);
}

static bool by_shape(enum operator_group by)
{
    return by == OPERATOR_BY_NAME_SHAPE || by == OPERATOR_BY_NAME_SHAPE_STACK;
}

static bool by_stack(enum operator_group by)
{
    return by == OPERATOR_BY_NAME_STACK || by == OPERATOR_BY_NAME_SHAPE_STACK;
}

static bool
join_group(struct grouping *g, const struct calls *c, uint32_t fine, enum operator_group by)
{
    struct key key = c->keys.keys[fine];
    bool has_stack = names_len(&c->tree->sel->names, key.id[KEY_STACK]) != 0;
    g->coarse[fine] = PERCENTILES_NO_GROUP;
    if (by_stack(by) && !has_stack) {
        return true;
    }
    key.id[KEY_SHAPE] = by_shape(by) ? key.id[KEY_SHAPE] : 0;
    key.id[KEY_STACK] = by_stack(by) ? key.id[KEY_STACK] : 0;
    uint32_t known = g->keys.count;
    uint32_t coarse = key_map_add(&g->keys, key);
    if (coarse == KEY_MAP_NONE) {
        return false;
    }
    if (coarse == known) {
        g->first[coarse] = fine;
    }
    g->coarse[fine] = coarse;
    add_sums(&g->sums[coarse], &c->sums[fine]);
    g->has_stack[coarse] = g->has_stack[coarse] || has_stack;
    return true;
}

static bool join_groups(struct grouping *g, const struct calls *c, enum operator_group by)
{
    uint32_t fine_count = c->keys.count;
    *g = (struct grouping){0};
    key_map_init(&g->keys);
    g->coarse = scratch_alloc(fine_count, sizeof *g->coarse);
    g->first = scratch_alloc(fine_count, sizeof *g->first);
    g->sums = scratch_calloc(fine_count, sizeof *g->sums);
    g->has_stack = scratch_calloc(fine_count, sizeof *g->has_stack);
    bool ok = g->coarse != NULL && g->first != NULL && g->sums != NULL && g->has_stack != NULL;
    for (uint32_t fine = 0; ok && fine < fine_count; fine++) {
        ok = join_group(g, c, fine, by);
    }
    g->host = scratch_alloc(g->keys.count, sizeof *g->host);
    g->device = scratch_alloc(g->keys.count, sizeof *g->device);
    return ok && g->host != NULL && g->device != NULL;
}

struct sorted_values {
    struct percentile_items host;
    struct percentile_items device;
};

static bool add_percentiles(struct grouping *g, const struct sorted_values *values)
{
    int64_t *calls = scratch_alloc(g->keys.count, sizeof *calls);
    if (calls == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < g->keys.count; i++) {
        calls[i] = g->sums[i].calls;
    }
    bool ok = percentiles_by_group(&values->host, g->coarse, calls, g->keys.count, g->host) &&
              percentiles_by_group(&values->device, g->coarse, calls, g->keys.count, g->device);
    scratch_free(calls);
    return ok;
}

/* ---- rows ---- */

static bool copy_texts(struct operator_row *row,
                       struct texts *texts,
                       const struct key *key,
                       enum operator_group by)
{
    row->name = texts_copy(texts, key->id[KEY_NAME]);
    row->input_shape = by_shape(by) ? texts_copy(texts, key->id[KEY_SHAPE]) : NULL;
    row->call_stack = by_stack(by) ? texts_copy(texts, key->id[KEY_STACK]) : NULL;
    return row->name != NULL && (!by_shape(by) || row->input_shape != NULL) &&
           (!by_stack(by) || row->call_stack != NULL);
}

static struct operator_row row_of(const struct grouping *g, uint32_t i)
{
    const struct sums *sums = &g->sums[i];
    return (struct operator_row){.calls = sums->calls,
                                 .host_total_ns = sums->host_total,
                                 .host_self_ns = sums->host_self,
                                 .device_total_ns = sums->device_total,
                                 .device_self_ns = sums->device_self,
                                 .tc_total_ns = sums->tc_total,
                                 .tc_self_ns = sums->tc_self,
                                 .tensor_total_ns = sums->tensor_total,
                                 .tensor_self_ns = sums->tensor_self,
                                 .tc_eligible = sums->tc_eligible,
                                 .tensor_eligible = sums->tensor_eligible,
                                 .has_call_stack = g->has_stack[i],
                                 .host_min_ns = sums->host_min,
                                 .host_max_ns = sums->host_max,
                                 .host_p50_ns = g->host[i].p50,
                                 .host_p95_ns = g->host[i].p95,
                                 .host_p99_ns = g->host[i].p99,
                                 .device_p50_ns = g->device[i].p50,
                                 .device_p95_ns = g->device[i].p95,
                                 .device_p99_ns = g->device[i].p99};
}

static bool write_rows(struct trace_results *results,
                       struct texts *texts,
                       const struct calls *c,
                       const struct grouping *g,
                       enum operator_group by)
{
    struct operator_row *rows = arena_calloc(&results->arena, g->keys.count, sizeof *rows);
    if (rows == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < g->keys.count; i++) {
        rows[i] = row_of(g, i);
        if (!copy_texts(&rows[i], texts, &c->keys.keys[g->first[i]], by)) {
            return false;
        }
    }
    results->operators[by] = rows;
    results->operator_count[by] = g->keys.count;
    return true;
}

static bool run_groupings(struct trace_results *results, struct texts *texts, const struct calls *c)
{
    struct sorted_values values = {.host = {.values = NULL}};
    bool ok = percentile_items_sort(&values.host, c->host, c->group, c->count) &&
              percentile_items_sort(&values.device, c->device, c->group, c->count);
    for (int by = 0; ok && by < OPERATOR_GROUP_COUNT; by++) {
        struct grouping g;
        ok = join_groups(&g, c, (enum operator_group)by) && add_percentiles(&g, &values) &&
             write_rows(results, texts, c, &g, (enum operator_group)by);
        free_grouping(&g);
    }
    percentile_items_free(&values.host);
    percentile_items_free(&values.device);
    return ok;
}

bool operators_run(struct trace_results *results,
                   struct texts *texts,
                   const struct op_tree *tree,
                   const struct visits *visits)
{
    struct calls c = {.tree = tree};
    key_map_init(&c.keys);
    bool ok = collect_calls(&c, visits) && run_groupings(results, texts, &c);
    key_map_free(&c.keys);
    scratch_free(c.sums);
    scratch_free(c.group);
    scratch_free(c.host);
    scratch_free(c.device);
    return ok;
}

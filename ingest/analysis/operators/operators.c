#include "ingest/analysis/operators/operators.h"

#include "ingest/analysis/util/percentiles.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

#include <string.h>

/* Figures of a group of calls. */
struct sums {
    int64_t calls;
    /* durations of times.h */
    int64_t host_total, host_self;
    int64_t device_total, device_self;
    int64_t tensor_total, tensor_self;
    int64_t host_min, host_max;
    bool tensor_eligible; /* of the first call */
    bool is_framed;       /* some call is (operators.h) */
};

/* Parts of a fine group's key. */
enum { KEY_NAME, KEY_SHAPE, KEY_STACK };

#define NO_GROUP UINT32_MAX

/* Calls grouped by name, shape and stack: every other grouping joins whole groups of this one, in
 * the order in which their first groups stand. What is kept of each call lies name by name, so that
 * one name after the other can be sorted. */
struct calls {
    struct event_classes *sel;
    const struct operator_source *source;
    struct key_map keys; /* of the fine groups */
    struct sums *sums;   /* by fine group */
    uint32_t sums_count;
    size_t sums_cap;
    uint32_t *group_of_args; /* by entry of trace.op_args: of the call seen last, KEY_MAP_NONE */
    uint32_t *group;         /* fine group by place */
    int64_t *value;          /* by place: duration, later device total */
    uint32_t
        *next; /* place of the next call, by name id; when all have theirs: of the name's end */
    size_t name_count;
    uint32_t empty_shape; /* text ids for calls without arguments */
    uint32_t empty_stack;
};

/* Mostly the group of the last call with these arguments: they tell the shape, and the stack unless
 * the source does. */
static uint32_t group_of(struct calls *c, uint32_t event)
{
    const struct trace *trace = c->sel->trace;
    const uint32_t *stacks = c->source->stack;
    uint32_t args = trace->events.args[event];
    uint32_t name = c->sel->name[event];
    if (args == TRACE_NO_ARGS) {
        uint32_t stack = stacks == NULL ? c->empty_stack : stacks[event];
        return key_map_add(&c->keys, (struct key){{name, c->empty_shape, stack, 0}});
    }
    const struct op_args *texts = &trace->op_args[args];
    uint32_t stack = stacks == NULL ? texts->call_stack : stacks[event];
    uint32_t group = c->group_of_args[args];
    if (group == KEY_MAP_NONE || c->keys.keys[group].id[KEY_NAME] != name ||
        c->keys.keys[group].id[KEY_STACK] != stack) {
        group = key_map_add(&c->keys, (struct key){{name, texts->shape, stack, 0}});
        c->group_of_args[args] = group;
    }
    return group;
}

static void add_sums(struct sums *to, const struct sums *add)
{
    if (to->calls == 0) {
        *to = *add;
        return;
    }
    to->calls += add->calls;
    to->is_framed = to->is_framed || add->is_framed;
    to->host_total = saturating_add(to->host_total, add->host_total);
    to->host_self = saturating_add(to->host_self, add->host_self);
    to->device_total = saturating_add(to->device_total, add->device_total);
    to->device_self = saturating_add(to->device_self, add->device_self);
    to->tensor_total = saturating_add(to->tensor_total, add->tensor_total);
    to->tensor_self = saturating_add(to->tensor_self, add->tensor_self);
    to->host_min = i64_min(to->host_min, add->host_min);
    to->host_max = i64_max(to->host_max, add->host_max);
}

static uint32_t event_at(const struct calls *c, size_t at)
{
    return c->source->event(c->source->context, at);
}

static void add_figures(struct sums *sums, const struct operator_figures *call)
{
    if (sums->calls++ == 0) {
        sums->host_min = call->duration;
        sums->host_max = call->duration;
        sums->tensor_eligible = call->tensor_eligible;
    }
    sums->host_total = saturating_add(sums->host_total, call->duration);
    sums->host_self = saturating_add(sums->host_self, call->host_self);
    sums->host_min = i64_min(sums->host_min, call->duration);
    sums->host_max = i64_max(sums->host_max, call->duration);
    if (call->device_total == 0) {
        return;
    }
    sums->device_total = saturating_add(sums->device_total, call->device_total);
    sums->device_self = saturating_add(sums->device_self, call->device_self);
    sums->tensor_total = saturating_add(sums->tensor_total, call->tensor_total);
    sums->tensor_self = saturating_add(sums->tensor_self, call->tensor_self);
}

static bool add_call(struct calls *c, size_t at, uint32_t event)
{
    uint32_t group = group_of(c, event);
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
    struct operator_figures figures;
    uint32_t place = c->next[c->sel->name[event]]++;
    c->source->figures(c->source->context, at, &figures);
    add_figures(&c->sums[group], &figures);
    c->sums[group].is_framed =
        c->sums[group].is_framed || (c->source->is_framed != NULL && c->source->is_framed[event]);
    c->group[place] = group;
    c->value[place] = figures.duration;
    return true;
}

/* Room for all calls, and where those of each name begin. */
static bool place_names(struct calls *c)
{
    c->name_count = c->sel->names.flags_cap;
    c->next = scratch_calloc(c->name_count, sizeof *c->next);
    for (size_t i = 0; c->next != NULL && i < c->source->count; i++) {
        uint32_t event = event_at(c, i);
        if (event != OPERATOR_NO_CALL) {
            c->next[c->sel->name[event]]++;
        }
    }
    uint32_t count = c->next == NULL ? 0 : sort_places(c->next, c->name_count);
    c->group = scratch_alloc(count, sizeof *c->group);
    c->value = scratch_alloc(count, sizeof *c->value);
    return c->next != NULL && c->group != NULL && c->value != NULL;
}

static bool collect_calls(struct calls *c)
{
    struct names *names = &c->sel->names;
    c->empty_shape = names_intern(names, "[]", 2);
    c->empty_stack = names_intern(names, "", 0);
    c->group_of_args = scratch_none(c->sel->trace->op_args_count);
    bool ok = c->empty_shape != STRTAB_NONE && c->empty_stack != STRTAB_NONE &&
              c->group_of_args != NULL && place_names(c);
    for (size_t i = 0; ok && i < c->source->count; i++) {
        uint32_t event = event_at(c, i);
        ok = event == OPERATOR_NO_CALL || add_call(c, i, event);
    }
    return ok;
}

/* By name id, to be freed: no call has device time. NULL without memory. */
static bool *find_idle_names(const struct calls *c)
{
    bool *idle = scratch_alloc(c->name_count, sizeof *idle);
    if (idle == NULL) {
        return NULL;
    }
    memset(idle, true, c->name_count * sizeof *idle);
    for (uint32_t fine = 0; fine < c->sums_count; fine++) {
        uint32_t name = c->keys.keys[fine].id[KEY_NAME];
        idle[name] = idle[name] && c->sums[fine].device_total == 0;
    }
    return idle;
}

/* The calls as before, but with the other of their values. Idle names keep theirs. */
static void replace_by_device_totals(struct calls *c, const bool *idle)
{
    memmove(c->next + 1, c->next, (c->name_count - 1) * sizeof *c->next);
    c->next[0] = 0;
    for (size_t i = 0; i < c->source->count; i++) {
        uint32_t event = event_at(c, i);
        if (event == OPERATOR_NO_CALL) {
            continue;
        }
        uint32_t name = c->sel->name[event];
        uint32_t place = c->next[name]++;
        if (!idle[name]) {
            struct operator_figures figures;
            c->source->figures(c->source->context, i, &figures);
            c->value[place] = figures.device_total;
        }
    }
}

/* ---- coarser groupings ---- */

/* A grouping made of whole fine groups. */
struct grouping {
    uint32_t *coarse; /* by fine group; NO_GROUP: left out */
    struct key_map keys;
    uint32_t *first; /* first fine group, by coarse group */
    struct sums *sums;
    bool *has_stack;
    int64_t *calls; /* by coarse group, as are the rest */
    struct percentiles *host;
    struct percentiles *device;
};

static void free_grouping(struct grouping *g)
{
    key_map_free(&g->keys);
    SCRATCH_FREE(g->coarse, g->first, g->sums, g->has_stack, g->calls, g->host, g->device);
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
    bool has_stack = names_len(&c->sel->names, key.id[KEY_STACK]) != 0;
    g->coarse[fine] = NO_GROUP;
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
    g->has_stack[coarse] = g->has_stack[coarse] || has_stack || c->sums[fine].is_framed;
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
    g->calls = scratch_alloc(g->keys.count, sizeof *g->calls);
    g->host = scratch_calloc(g->keys.count, sizeof *g->host);
    g->device = scratch_calloc(g->keys.count, sizeof *g->device);
    ok = ok && g->calls != NULL && g->host != NULL && g->device != NULL;
    for (uint32_t i = 0; ok && i < g->keys.count; i++) {
        g->calls[i] = g->sums[i].calls;
    }
    return ok;
}

/* ---- percentiles: name by name, for no grouping joins calls of two names ---- */

struct walks {
    const struct grouping *groupings;
    struct percentile_walk by[OPERATOR_GROUP_COUNT];
};

/* A grouping that has one group for all calls of the name sees them at once. */
static bool
see_whole(struct walks *walks, int by, uint32_t fine, const int64_t *sorted, size_t count)
{
    uint32_t group = walks->groupings[by].coarse[fine];
    bool is_whole = group != NO_GROUP && (size_t)walks->by[by].calls[group] == count;
    if (is_whole) {
        percentile_walk_see_all(&walks->by[by], group, sorted);
    }
    return is_whole;
}

static void
see_parts(struct walks *walks, int by, const uint32_t *fines, const int64_t *sorted, size_t count)
{
    const uint32_t *coarse = walks->groupings[by].coarse;
    for (size_t i = 0; i < count; i++) {
        uint32_t group = coarse[fines[i]];
        if (group != NO_GROUP) {
            percentile_walk_see(&walks->by[by], group, sorted[i]);
        }
    }
}

/* In copies: the groups are asked for once more. */
static bool walk_name(struct walks *walks, const struct calls *c, uint32_t first, uint32_t end)
{
    size_t count = end - first;
    int64_t *values = scratch_alloc(count, sizeof *values);
    uint32_t *groups = scratch_alloc(count, sizeof *groups);
    bool ok = values != NULL && groups != NULL;
    if (ok) {
        memcpy(values, c->value + first, count * sizeof *values);
        memcpy(groups, c->group + first, count * sizeof *groups);
        ok = sort_pairs(values, groups, count);
    }
    for (int by = 0; ok && by < OPERATOR_GROUP_COUNT; by++) {
        bool has_groups = walks->groupings[by].keys.count != 0;
        if (has_groups && !see_whole(walks, by, groups[0], values, count)) {
            see_parts(walks, by, groups, values, count);
        }
    }
    SCRATCH_FREE(values, groups);
    return ok;
}

/* Names that are passed over have percentiles of 0. */
static bool walk_names(struct walks *walks, const struct calls *c, const bool *passes_over)
{
    bool ok = true;
    uint32_t first = 0;
    for (size_t name = 0; ok && name < c->name_count; name++) {
        uint32_t end = c->next[name];
        bool passes = first == end || (passes_over != NULL && passes_over[name]);
        ok = passes || walk_name(walks, c, first, end);
        first = end;
    }
    return ok;
}

/* `launches_nothing`: names without device time, where the values are device totals. */
static bool
find_percentiles(struct grouping *groupings, const struct calls *c, const bool *launches_nothing)
{
    bool of_device = launches_nothing != NULL;
    struct walks walks = {.groupings = groupings};
    bool ok = true;
    for (int by = 0; by < OPERATOR_GROUP_COUNT; by++) {
        const struct grouping *g = &groupings[by];
        ok = percentile_walk_init(&walks.by[by], g->calls, g->keys.count) && ok;
    }
    ok = ok && walk_names(&walks, c, launches_nothing);
    for (int by = 0; by < OPERATOR_GROUP_COUNT; by++) {
        if (ok) {
            struct grouping *g = &groupings[by];
            percentile_walk_finish(&walks.by[by], of_device ? g->device : g->host);
        }
        percentile_walk_free(&walks.by[by]);
    }
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
                                 .tensor_total_ns = sums->tensor_total,
                                 .tensor_self_ns = sums->tensor_self,
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

static bool add_percentiles(struct grouping *groupings, struct calls *c)
{
    bool ok = find_percentiles(groupings, c, NULL);
    bool *idle = ok ? find_idle_names(c) : NULL;
    ok = ok && idle != NULL;
    if (ok) {
        replace_by_device_totals(c, idle);
        ok = find_percentiles(groupings, c, idle);
    }
    scratch_free(idle);
    return ok;
}

static bool run_groupings(struct trace_results *results, struct texts *texts, struct calls *c)
{
    struct grouping groupings[OPERATOR_GROUP_COUNT] = {{.coarse = NULL}};
    bool ok = true;
    for (int by = 0; ok && by < OPERATOR_GROUP_COUNT; by++) {
        ok = (c->source->groups >> by & 1) == 0 ||
             join_groups(&groupings[by], c, (enum operator_group)by);
    }
    ok = ok && add_percentiles(groupings, c);
    for (int by = 0; by < OPERATOR_GROUP_COUNT; by++) {
        ok = ok && write_rows(results, texts, c, &groupings[by], (enum operator_group)by);
        free_grouping(&groupings[by]);
    }
    return ok;
}

bool operators_run(struct trace_results *results,
                   struct texts *texts,
                   struct event_classes *sel,
                   const struct operator_source *source)
{
    struct calls c = {.sel = sel, .source = source};
    key_map_init(&c.keys);
    bool ok = collect_calls(&c) && run_groupings(results, texts, &c);
    key_map_free(&c.keys);
    SCRATCH_FREE(c.sums, c.group_of_args, c.group, c.value, c.next);
    return ok;
}

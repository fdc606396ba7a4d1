#include "ingest/analysis/efficiency/counted_calls.h"

#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/index/index.h"
#include "ingest/index/sort.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#define NONE UINT32_MAX

/* Operators and calls of all threads: thread by thread, each in order of start, the longer first,
 * then in file order, so that a parent stands before its children. Rows are places in this order.
 */
struct forest {
    const struct causes *causes;
    uint32_t *event;
    uint32_t *parent;     /* NONE */
    uint32_t *end;        /* behind the last row of its subtree */
    uint32_t *first_work; /* [count + 1]: of its own work; that of a subtree goes on to its end's */
    uint32_t *work;       /* device events by the row of their call */
    uint32_t *formula;    /* of `formulas`; NONE: none, or no work */
    uint8_t *is_below;    /* an operator with work and a formula lies below */
    uint32_t count;
};

/* Each rule with each distinct set of inputs once. */
struct computed {
    struct id_map by_key;
    struct formula *items;
    bool *holds;
    size_t count, cap, holds_cap;
    const struct formula_rule **rule; /* by string id of a name, once asked for */
    uint8_t *is_asked;
};

static int64_t end_of(const struct trace *trace, uint32_t event)
{
    return saturating_add(trace->events.ts_ns[event], trace_dur_ns(&trace->events, event));
}

static bool is_counted(const struct causes *causes, uint32_t event)
{
    return causes_is_operator(causes, event) || causes_is_call(causes, event);
}

/* ---- the forest ---- */

static bool order_events(struct forest *forest)
{
    const struct trace *trace = forest->causes->trace;
    uint32_t events = trace->events.count;
    int64_t *key = scratch_alloc(events, sizeof *key);
    forest->event = scratch_alloc(events, sizeof *forest->event);
    bool ok = key != NULL && forest->event != NULL;
    for (uint32_t i = 0; ok && i < events; i++) {
        if (is_counted(forest->causes, i)) {
            forest->event[forest->count++] = i;
            key[i] = -trace_dur_ns(&trace->events, i);
        }
    }
    ok = ok && sort_by_key(forest->event, forest->count, key) &&
         sort_by_key(forest->event, forest->count, trace->events.ts_ns);
    for (uint32_t i = 0; ok && i < forest->count; i++) {
        key[forest->event[i]] = trace_event_track(&trace->events, forest->event[i]);
    }
    ok = ok && sort_by_key(forest->event, forest->count, key);
    scratch_free(key);
    return ok;
}

static bool contains(const struct trace *trace, uint32_t outer, uint32_t inner)
{
    int64_t outer_end_ns = end_of(trace, outer);
    return trace_event_track(&trace->events, outer) == trace_event_track(&trace->events, inner) &&
           outer_end_ns > trace->events.ts_ns[inner] && outer_end_ns >= end_of(trace, inner);
}

static bool nest_events(struct forest *forest)
{
    const struct trace *trace = forest->causes->trace;
    uint32_t count = forest->count;
    uint32_t top = NONE;
    forest->parent = scratch_alloc(count, sizeof *forest->parent);
    forest->end = scratch_calloc(count, sizeof *forest->end);
    if (forest->parent == NULL || forest->end == NULL) {
        return false;
    }
    /* The parents of a row are the stack below it. */
    for (uint32_t i = 0; i < count; i++) {
        while (top != NONE && !contains(trace, forest->event[top], forest->event[i])) {
            top = forest->parent[top];
        }
        forest->parent[i] = top;
        top = i;
    }
    for (uint32_t i = count; i > 0; i--) {
        uint32_t parent = forest->parent[i - 1];
        forest->end[i - 1] = forest->end[i - 1] > i ? forest->end[i - 1] : i;
        if (parent != NONE && forest->end[parent] < forest->end[i - 1]) {
            forest->end[parent] = forest->end[i - 1];
        }
    }
    return true;
}

/* ---- work ---- */

/* Another recorder may know whose the work is where the thread of the call does not show it. To be
 * freed; NULL without memory. */
static uint32_t *find_launchers(const struct causes *causes)
{
    const struct trace *trace = causes->trace;
    struct trace_index index;
    uint32_t *launcher = scratch_none(trace->events.count);
    bool is_named = trace->recorded != NULL && trace->recorded->recorder != NULL;
    bool ok = launcher != NULL && (!is_named || index_build(&index, trace));
    for (uint32_t i = 0; ok && i < trace->events.count; i++) {
        if (causes->role[i] == CAUSES_DEVICE) {
            launcher[i] = is_named && index_is_device_work(index_class(&index, i))
                              ? index_launcher(&index, i)
                              : causes->launch[i];
        }
    }
    if (launcher != NULL && is_named) {
        index_free(&index);
    }
    if (!ok) {
        scratch_free(launcher);
    }
    return ok ? launcher : NULL;
}

static bool list_work(struct forest *forest)
{
    const struct causes *causes = forest->causes;
    uint32_t events = causes->trace->events.count;
    uint32_t *row = scratch_none(events);
    uint32_t *launcher = find_launchers(causes);
    forest->first_work = scratch_calloc((size_t)forest->count + 1, sizeof *forest->first_work);
    bool ok = row != NULL && launcher != NULL && forest->first_work != NULL;
    for (uint32_t i = 0; ok && i < forest->count; i++) {
        row[forest->event[i]] = i;
    }
    for (uint32_t i = 0; ok && i < events; i++) {
        launcher[i] = launcher[i] == NONE ? NONE : row[launcher[i]];
        if (launcher[i] != NONE) {
            forest->first_work[launcher[i]]++;
        }
    }
    uint32_t total = ok ? sort_places(forest->first_work, (size_t)forest->count + 1) : 0;
    forest->work = scratch_alloc(total, sizeof *forest->work);
    ok = ok && forest->work != NULL;
    for (uint32_t i = 0; ok && i < events; i++) {
        if (launcher[i] != NONE) {
            forest->work[forest->first_work[launcher[i]]++] = i;
        }
    }
    /* Each place has moved to where the next row's work begins. */
    for (uint32_t i = forest->count; ok && i > 0; i--) {
        forest->first_work[i] = forest->first_work[i - 1];
    }
    if (ok) {
        forest->first_work[0] = 0;
    }
    SCRATCH_FREE(row, launcher);
    return ok;
}

static bool has_work(const struct forest *forest, uint32_t row)
{
    return forest->first_work[row] < forest->first_work[forest->end[row]];
}

/* ---- formulas ---- */

static const struct formula_rule *
rule_of(struct computed *computed, const struct trace *trace, uint32_t name)
{
    if (computed->is_asked[name] == 0) {
        computed->is_asked[name] = 1;
        computed->rule[name] = formula_find(strtab_text(trace->strings, name));
    }
    return computed->rule[name];
}

static const char *json_of(const struct trace *trace, uint32_t text)
{
    return text == STRTAB_NONE ? NULL : strtab_text(trace->strings, text);
}

/* Computes a formula that was not met before. */
static bool compute(struct computed *computed,
                    const struct trace *trace,
                    const struct formula_rule *rule,
                    uint32_t args)
{
    struct op_inputs inputs;
    struct formula *items =
        scratch_grow(computed->items, computed->count, &computed->cap, sizeof *items);
    computed->items = items == NULL ? computed->items : items;
    bool *holds =
        scratch_grow(computed->holds, computed->count, &computed->holds_cap, sizeof *holds);
    computed->holds = holds == NULL ? computed->holds : holds;
    if (items == NULL || holds == NULL) {
        return false;
    }
    bool has_args = args != TRACE_NO_ARGS;
    const struct op_args *texts = has_args ? &trace->op_args[args] : NULL;
    op_inputs_read(has_args ? json_of(trace, texts->dims_json) : NULL,
                   has_args ? json_of(trace, texts->types_json) : NULL,
                   has_args ? json_of(trace, texts->concrete_json) : NULL, &inputs);
    holds[computed->count] = formula_compute(rule, &inputs, &items[computed->count]);
    computed->count++;
    return true;
}

/* *formula: NONE where its inputs do not satisfy it. */
static bool find_formula(struct computed *computed,
                         const struct trace *trace,
                         uint32_t event,
                         uint32_t *formula)
{
    uint32_t name = trace->events.name[event];
    uint32_t args = trace->events.args[event];
    bool has_args = trace_has_op_args(trace_kind(&trace->events, event));
    const struct formula_rule *rule = rule_of(computed, trace, name);
    *formula = NONE;
    if (rule == NULL || !has_args) {
        return true;
    }
    struct id_slot *slot = id_map_add(&computed->by_key, (int64_t)((uint64_t)name << 32 | args));
    if (slot == NULL) {
        return false;
    }
    if (slot->value == ID_MAP_NONE) {
        slot->value = (uint32_t)computed->count;
        if (!compute(computed, trace, rule, args)) {
            return false;
        }
    }
    *formula = computed->holds[slot->value] ? slot->value : NONE;
    return true;
}

static bool find_formulas(struct forest *forest, struct computed *computed)
{
    const struct trace *trace = forest->causes->trace;
    uint32_t names = strtab_count(trace->strings);
    forest->formula = scratch_none(forest->count);
    forest->is_below = scratch_calloc(forest->count, sizeof *forest->is_below);
    computed->rule = scratch_alloc(names, sizeof(const struct formula_rule *));
    computed->is_asked = scratch_calloc(names, sizeof *computed->is_asked);
    bool ok = forest->formula != NULL && forest->is_below != NULL && computed->rule != NULL &&
              computed->is_asked != NULL;
    for (uint32_t i = forest->count; ok && i > 0; i--) {
        uint32_t row = i - 1;
        uint32_t event = forest->event[row];
        uint32_t parent = forest->parent[row];
        if (!has_work(forest, row)) {
            continue;
        }
        if (causes_is_operator(forest->causes, event)) {
            ok = find_formula(computed, trace, event, &forest->formula[row]);
        }
        if (parent != NONE && (forest->formula[row] != NONE || forest->is_below[row] != 0)) {
            forest->is_below[parent] = 1;
        }
    }
    return ok;
}

/* ---- time of work ---- */

/* Length of the union; `bounds` has room for 2 * count. */
static int64_t
union_ns(const struct trace *trace, const uint32_t *work, size_t count, int64_t *bounds)
{
    int64_t total_ns = 0;
    int64_t reach_ns = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        bounds[2 * i] = trace->events.ts_ns[work[i]];
        bounds[2 * i + 1] = end_of(trace, work[i]);
    }
    if (count > 1) {
        qsort(bounds, count, 2 * sizeof *bounds, order_i64_at);
    }
    for (size_t i = 0; i < count; i++) {
        int64_t start_ns = i64_max(bounds[2 * i], reach_ns);
        if (bounds[2 * i + 1] > start_ns) {
            total_ns = saturating_add(total_ns, saturating_sub(bounds[2 * i + 1], start_ns));
            reach_ns = bounds[2 * i + 1];
        }
    }
    return total_ns;
}

static bool says_tf32(const char *name)
{
    for (; *name != '\0'; name++) {
        if (tolower((unsigned char)name[0]) == 't' && tolower((unsigned char)name[1]) == 'f' &&
            name[2] == '3' && name[3] == '2') {
            return true;
        }
    }
    return false;
}

/* ---- the calls ---- */

struct taking {
    struct counted_calls *calls;
    const struct forest *forest;
    const struct computed *computed;
    uint8_t *tf32; /* by string id: 0 not asked, 1 no, 2 yes */
    int64_t *bounds;
};

static bool uses_tf32(struct taking *taking, const uint32_t *work, size_t count)
{
    const struct trace *trace = taking->forest->causes->trace;
    for (size_t i = 0; i < count; i++) {
        uint32_t name = trace->events.name[work[i]];
        if (taking->tf32[name] == 0) {
            taking->tf32[name] = says_tf32(strtab_text(trace->strings, name)) ? 2 : 1;
        }
        if (taking->tf32[name] == 2) {
            return true;
        }
    }
    return false;
}

static void take(struct taking *taking, uint32_t row)
{
    const struct forest *forest = taking->forest;
    struct counted_call *call = &taking->calls->items[taking->calls->count++];
    uint32_t formula = forest->formula[row];
    *call = (struct counted_call){.event = forest->event[row],
                                  .has_formula = formula != NONE,
                                  .first_work = forest->first_work[row],
                                  .end_work = forest->first_work[forest->end[row]]};
    size_t count = call->end_work - call->first_work;
    const uint32_t *work = forest->work + call->first_work;
    if (formula != NONE) {
        call->formula = taking->computed->items[formula];
    }
    call->time_ns = union_ns(forest->causes->trace, work, count, taking->bounds);
    call->uses_tf32 = uses_tf32(taking, work, count);
}

/* Whether it has work of its own, or a call right below it has. */
static bool launches_itself(const struct forest *forest, uint32_t row)
{
    if (forest->first_work[row] < forest->first_work[row + 1]) {
        return true;
    }
    for (uint32_t i = row + 1; i < forest->end[row]; i = forest->end[i]) {
        if (causes_is_call(forest->causes, forest->event[i]) && has_work(forest, i)) {
            return true;
        }
    }
    return false;
}

static void take_all(struct taking *taking)
{
    const struct forest *forest = taking->forest;
    for (uint32_t i = 0; i < forest->count;) {
        if (!has_work(forest, i)) {
            i = forest->end[i];
            continue;
        }
        bool is_taken = causes_is_call(forest->causes, forest->event[i]) ||
                        forest->formula[i] != NONE ||
                        (forest->is_below[i] == 0 && launches_itself(forest, i));
        if (is_taken) {
            take(taking, i);
        }
        i = is_taken ? forest->end[i] : i + 1;
    }
}

ORDER_BY(compare_events, struct counted_call, ORDER_UP(event))

static bool find_calls(struct counted_calls *calls,
                       const struct forest *forest,
                       const struct computed *computed)
{
    uint32_t work = forest->first_work[forest->count];
    struct taking taking = {.calls = calls, .forest = forest, .computed = computed};
    calls->items = scratch_alloc(work, sizeof *calls->items);
    taking.tf32 = scratch_calloc(strtab_count(forest->causes->trace->strings), sizeof *taking.tf32);
    taking.bounds = scratch_alloc(work, 2 * sizeof *taking.bounds);
    bool ok = calls->items != NULL && taking.tf32 != NULL && taking.bounds != NULL;
    if (ok) {
        take_all(&taking);
        qsort(calls->items, calls->count, sizeof *calls->items, compare_events);
    }
    SCRATCH_FREE(taking.tf32, taking.bounds);
    return ok;
}

bool counted_calls_find(struct counted_calls *calls, const struct causes *causes)
{
    struct forest forest = {.causes = causes};
    struct computed computed = {.count = 0};
    *calls = (struct counted_calls){.count = 0};
    id_map_init(&computed.by_key);
    bool ok = order_events(&forest) && nest_events(&forest) && list_work(&forest) &&
              find_formulas(&forest, &computed) && find_calls(calls, &forest, &computed);
    calls->work = forest.work;
    SCRATCH_FREE(forest.event, forest.parent, forest.end, forest.first_work, forest.formula,
                 forest.is_below);
    id_map_free(&computed.by_key);
    SCRATCH_FREE(computed.items, computed.holds, computed.rule, computed.is_asked);
    return ok;
}

void counted_calls_free(struct counted_calls *calls)
{
    SCRATCH_FREE(calls->items, calls->work);
    *calls = (struct counted_calls){.count = 0};
}

/* ---- what it could take ---- */

enum formula_precision counted_call_precision(const struct formula *formula, bool uses_tf32)
{
    bool is_tf32 =
        formula->precision == FORMULA_FP32 && formula->unit == FORMULA_MATRIX && uses_tf32;
    return is_tf32 ? FORMULA_TF32 : formula->precision;
}

double counted_call_roofline(const struct formula *formula,
                             enum formula_precision precision,
                             const struct device_peaks *peaks,
                             bool *is_compute_bound)
{
    if (peaks == NULL || precision == FORMULA_NO_PRECISION || formula->bytes == WIDE_NONE) {
        return (double)NAN;
    }
    double compute = (double)formula->flops / peaks->peak[formula->unit][precision];
    double memory = (double)formula->bytes / peaks->bandwidth_bytes_per_second;
    *is_compute_bound = compute >= memory;
    return isnan(compute) || isnan(memory) ? (double)NAN : 1e9 * fmax(compute, memory);
}

#include "ingest/analysis/efficiency/efficiency.h"

#include "ingest/analysis/efficiency/call_places.h"
#include "ingest/analysis/efficiency/counted_calls.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"

#include <math.h>
#include <string.h>

#define NONE UINT32_MAX
#define STEP "ProfilerStep#"

/* Values that the calls of a group may share, as numbers: string ids, places, words. */
enum shared {
    SHARED_NAME,
    SHARED_DIMS,
    SHARED_TYPES,
    SHARED_STRIDES,
    SHARED_CONCRETE,
    SHARED_MODULE,
    SHARED_STEP,
    SHARED_UNIT,
    SHARED_PRECISION,
    SHARED_BOUND,
    SHARED_COUNT
};

struct rate {
    double sum;
    int64_t count;
};

struct group {
    wide_int flops, bytes; /* of one call; WIDE_NONE: they differ, or none */
    wide_int total_flops, total_bytes, matrix_flops; /* WIDE_NONE: none known */
    struct rate flops_rate, bytes_rate;
    int64_t calls, time_ns;
    double roofline_ns;            /* NaN: one is not known */
    double mfu, step_mfu;          /* over the devices' time; over the step's */
    uint32_t shared[SHARED_COUNT]; /* NONE: none, or they differ */
    bool differs[SHARED_COUNT];
    bool flops_differ, bytes_differ;
    bool uses_tf32;
};

struct analysis {
    const struct trace *trace;
    enum efficiency_group by;
    const struct device_peaks *peaks; /* NULL: none */
    struct causes causes;
    struct counted_calls calls;
    struct call_places places;
    uint32_t *group_of; /* by call */
    struct group *groups;
    uint32_t group_count;
    int64_t span_ns; /* from the first device work to the end of the last */
    int64_t device_count;
};

/* ---- groups ---- */

static const struct op_args *args_of(const struct analysis *a, const struct counted_call *call)
{
    const struct trace_events *events = &a->trace->events;
    uint32_t args = events->args[call->event];
    bool has_args =
        trace_has_op_args(trace_kind(events, call->event)) && args < a->trace->op_args_count;
    return has_args ? &a->trace->op_args[args] : NULL;
}

static struct key inputs_of(const struct analysis *a, const struct counted_call *call)
{
    const struct op_args *args = args_of(a, call);
    struct key key = {{NONE, NONE, NONE, NONE}};
    if (args != NULL) {
        key = (struct key){
            {args->dims_json, args->types_json, args->strides_json, args->concrete_json}};
    }
    return key;
}

/* The number of the group that a call belongs to; NONE without memory. */
static uint32_t
find_group(const struct analysis *a, uint32_t call, struct key_map *inputs, struct key_map *groups)
{
    const struct counted_call *it = &a->calls.items[call];
    uint32_t name = a->trace->events.name[it->event];
    struct key key = {{name}};
    if (a->by == EFFICIENCY_BY_SHAPE) {
        key.id[1] = key_map_add(inputs, inputs_of(a, it));
        if (key.id[1] == KEY_MAP_NONE) {
            return NONE;
        }
    } else if (a->by == EFFICIENCY_BY_MODULE) {
        key.id[0] = a->places.module[call];
    } else if (a->by == EFFICIENCY_BY_STEP) {
        key.id[0] = a->places.step[call];
    }
    return key_map_add(groups, key);
}

static bool find_groups(struct analysis *a)
{
    struct key_map inputs;
    struct key_map groups;
    bool ok = true;
    key_map_init(&inputs);
    key_map_init(&groups);
    a->group_of = scratch_alloc(a->calls.count, sizeof *a->group_of);
    for (uint32_t i = 0; a->group_of != NULL && ok && i < a->calls.count; i++) {
        a->group_of[i] = find_group(a, i, &inputs, &groups);
        ok = a->group_of[i] != NONE;
    }
    a->group_count = groups.count;
    a->groups = scratch_calloc(groups.count, sizeof *a->groups);
    ok = ok && a->group_of != NULL && a->groups != NULL;
    for (uint32_t i = 0; ok && i < a->calls.count; i++) {
        struct group *group = &a->groups[a->group_of[i]];
        group->uses_tf32 = group->uses_tf32 || a->calls.items[i].uses_tf32;
    }
    key_map_free(&inputs);
    key_map_free(&groups);
    return ok;
}

/* ---- sums ---- */

static void share(struct group *group, enum shared which, uint32_t value)
{
    if (group->calls == 0) {
        group->shared[which] = value;
    } else if (group->shared[which] != value) {
        group->differs[which] = true;
    }
}

static void share_wide(struct group *group, wide_int *shared, bool *differ, wide_int value)
{
    if (group->calls == 0) {
        *shared = value;
    } else if (*shared != value) {
        *differ = true;
    }
}

/* What exceeds 128 bits stays at the bound. */
static void add_wide(wide_int *sum, wide_int value)
{
    wide_int before = *sum == WIDE_NONE ? 0 : *sum;
    if (value != WIDE_NONE && !wide_add(before, value, sum)) {
        *sum = WIDE_MAX;
    }
}

static void add_rate(struct rate *rate, wide_int value, int64_t time_ns)
{
    if (value != WIDE_NONE && time_ns > 0) {
        rate->sum += (double)value / (double)time_ns * 1e9;
        rate->count++;
    }
}

/* Of the FLOPs of a call on matrix units; NaN where the peak or the time is not known. */
static double mfu_of(const struct analysis *a,
                     const struct formula *formula,
                     enum formula_precision precision,
                     int64_t wall_ns)
{
    if (precision == FORMULA_NO_PRECISION || wall_ns <= 0) {
        return (double)NAN;
    }
    double peak = a->peaks->peak[FORMULA_MATRIX][precision];
    return (double)formula->flops / peak / ((double)wall_ns / 1e9) / (double)a->device_count;
}

static void add_shared(const struct analysis *a, uint32_t number, struct group *group)
{
    const struct counted_call *call = &a->calls.items[number];
    struct key inputs = inputs_of(a, call);
    share(group, SHARED_NAME, a->trace->events.name[call->event]);
    for (size_t i = 0; i < 4; i++) {
        share(group, (enum shared)(SHARED_DIMS + i), inputs.id[i]);
    }
    share(group, SHARED_MODULE, a->places.module[number]);
    share(group, SHARED_STEP, a->places.step[number]);
}

static void add_work(const struct analysis *a, const struct counted_call *call, struct group *group)
{
    const struct formula *formula = &call->formula;
    bool has = call->has_formula;
    bool is_compute = false;
    wide_int flops = has ? formula->flops : WIDE_NONE;
    wide_int bytes = has ? formula->bytes : WIDE_NONE;
    enum formula_precision precision =
        has ? counted_call_precision(formula, group->uses_tf32) : FORMULA_NO_PRECISION;
    double roofline_ns =
        has ? counted_call_roofline(formula, precision, a->peaks, &is_compute) : (double)NAN;
    share_wide(group, &group->flops, &group->flops_differ, flops);
    share_wide(group, &group->bytes, &group->bytes_differ, bytes);
    share(group, SHARED_UNIT, has ? (uint32_t)formula->unit : NONE);
    share(group, SHARED_PRECISION, (uint32_t)precision);
    share(group, SHARED_BOUND, isnan(roofline_ns) ? NONE : (is_compute ? 1 : 0));
    add_wide(&group->total_flops, flops);
    add_wide(&group->total_bytes, bytes);
    add_rate(&group->flops_rate, flops, call->time_ns);
    add_rate(&group->bytes_rate, bytes, call->time_ns);
    group->roofline_ns += roofline_ns;
    group->time_ns = saturating_add(group->time_ns, call->time_ns);
    if (has && formula->unit == FORMULA_MATRIX) {
        uint32_t step = group->shared[SHARED_STEP];
        int64_t step_ns = step == NONE ? a->span_ns
                                       : saturating_sub(a->places.steps[step].end_ns,
                                                        a->places.steps[step].start_ns);
        add_wide(&group->matrix_flops, flops);
        group->mfu += a->peaks == NULL ? (double)NAN : mfu_of(a, formula, precision, a->span_ns);
        group->step_mfu += a->peaks == NULL ? (double)NAN : mfu_of(a, formula, precision, step_ns);
    }
}

static void sum_groups(struct analysis *a)
{
    for (uint32_t i = 0; i < a->group_count; i++) {
        a->groups[i].total_flops = WIDE_NONE;
        a->groups[i].total_bytes = WIDE_NONE;
        a->groups[i].mfu = a->peaks == NULL ? (double)NAN : 0;
        a->groups[i].step_mfu = a->groups[i].mfu;
    }
    for (uint32_t i = 0; i < a->calls.count; i++) {
        struct group *group = &a->groups[a->group_of[i]];
        add_shared(a, i, group);
        add_work(a, &a->calls.items[i], group);
        group->calls++;
    }
}

/* ---- rows ---- */

static uint32_t shared(const struct group *group, enum shared which)
{
    return group->differs[which] ? NONE : group->shared[which];
}

static bool copy_text(struct arena *arena, const char *text, const char **out)
{
    *out = text == NULL ? NULL : arena_strdup(arena, text);
    return text == NULL || *out != NULL;
}

/* NULL of a NONE. */
static const char *text_of(const struct analysis *a, uint32_t id)
{
    return id == NONE ? NULL : strtab_text(a->trace->strings, id);
}

/* A list that an answer can copy, else NULL. */
static const char *list_of(const struct analysis *a, uint32_t id)
{
    const char *text = text_of(a, id);
    return text != NULL && *text == '[' && op_inputs_is_json(text) ? text : NULL;
}

static const char *step_of(const struct analysis *a, uint32_t step)
{
    if (step == NONE) {
        return NULL;
    }
    const char *name = text_of(a, a->trace->events.name[a->places.steps[step].event]);
    return strncmp(name, STEP, sizeof STEP - 1) == 0 ? name + sizeof STEP - 1 : name;
}

static bool write_texts(const struct analysis *a,
                        const struct group *group,
                        struct arena *arena,
                        struct efficiency_row *row)
{
    uint32_t unit = shared(group, SHARED_UNIT);
    uint32_t precision = shared(group, SHARED_PRECISION);
    uint32_t bound = shared(group, SHARED_BOUND);
    row->unit = unit == NONE ? NULL : formula_unit_text((enum formula_unit)unit);
    row->precision =
        precision == NONE ? NULL : formula_precision_text((enum formula_precision)precision);
    row->bound = bound == NONE ? NULL : (bound == 1 ? "compute" : "memory");
    return copy_text(arena, text_of(a, shared(group, SHARED_NAME)), &row->name) &&
           copy_text(arena, list_of(a, shared(group, SHARED_DIMS)), &row->dims) &&
           copy_text(arena, list_of(a, shared(group, SHARED_TYPES)), &row->types) &&
           copy_text(arena, list_of(a, shared(group, SHARED_STRIDES)), &row->strides) &&
           copy_text(arena, list_of(a, shared(group, SHARED_CONCRETE)), &row->concrete) &&
           copy_text(arena, text_of(a, shared(group, SHARED_MODULE)), &row->module) &&
           copy_text(arena, step_of(a, shared(group, SHARED_STEP)), &row->step);
}

static double ratio(double part, double whole)
{
    return whole == 0 ? (double)NAN : part / whole;
}

static double known(wide_int value)
{
    return value == WIDE_NONE ? (double)NAN : (double)value;
}

static double mean_rate(struct rate rate)
{
    return rate.count == 0 ? (double)NAN : rate.sum / (double)rate.count;
}

static void
write_figures(const struct analysis *a, const struct group *group, struct efficiency_row *row)
{
    double time_ns = (double)group->time_ns;
    double flops = known(group->total_flops);
    double bytes = known(group->total_bytes);
    row->calls = group->calls;
    row->flops = group->flops_differ ? WIDE_NONE : group->flops;
    row->bytes = group->bytes_differ ? WIDE_NONE : group->bytes;
    row->total_flops = group->total_flops;
    row->total_bytes = group->total_bytes;
    row->time_ns = group->time_ns;
    row->mean_ns = time_ns / (double)group->calls;
    row->intensity = ratio(flops, bytes);
    row->flops_per_second = ratio(flops * 1e9, time_ns);
    row->bytes_per_second = ratio(bytes * 1e9, time_ns);
    row->flops_per_second_mean = mean_rate(group->flops_rate);
    row->bytes_per_second_mean = mean_rate(group->bytes_rate);
    row->roofline_ns = group->roofline_ns;
    row->roofline_ratio = ratio(group->roofline_ns, time_ns);
    row->headroom_ns =
        isnan(group->roofline_ns) ? (double)NAN : fmax(0, time_ns - group->roofline_ns);
    row->matrix_flops = group->matrix_flops;
    row->mfu = a->by == EFFICIENCY_BY_STEP ? group->step_mfu : group->mfu;
}

static bool write_rows(const struct analysis *a, struct arena *arena, struct efficiency *out)
{
    out->rows = arena_calloc(arena, (size_t)a->group_count + 1, sizeof *out->rows);
    bool ok = out->rows != NULL;
    for (uint32_t i = 0; ok && i < a->group_count; i++) {
        const struct group *group = &a->groups[i];
        ok = write_texts(a, group, arena, &out->rows[i]);
        write_figures(a, group, &out->rows[i]);
        out->calls += group->calls;
        out->time_ns = saturating_add(out->time_ns, group->time_ns);
        out->mfu += group->mfu;
        add_wide(&out->flops, group->total_flops);
        add_wide(&out->bytes, group->total_bytes);
        add_wide(&out->matrix_flops, group->matrix_flops);
    }
    out->count = ok ? a->group_count : 0;
    out->mfu = a->peaks == NULL ? (double)NAN : out->mfu;
    return ok;
}

/* ---- all of it ---- */

static void measure_devices(struct analysis *a, struct efficiency *out)
{
    const struct trace_events *events = &a->trace->events;
    int64_t first_ns = INT64_MAX;
    int64_t last_ns = INT64_MIN;
    for (uint32_t i = 0; i < a->causes.device_count; i++) {
        uint32_t event = a->causes.by_stream[i];
        int64_t dur_ns = trace_dur_ns(events, event);
        first_ns = i64_min(first_ns, events->ts_ns[event]);
        last_ns = i64_max(last_ns, saturating_add(events->ts_ns[event], dur_ns));
        out->outside_events++;
        out->outside_time_ns = saturating_add(out->outside_time_ns, dur_ns);
    }
    for (uint32_t i = 0; i < a->calls.count; i++) {
        const struct counted_call *call = &a->calls.items[i];
        out->outside_events -= call->end_work - call->first_work;
        for (uint32_t at = call->first_work; at < call->end_work; at++) {
            int64_t dur_ns = trace_dur_ns(events, a->calls.work[at]);
            out->outside_time_ns = saturating_sub(out->outside_time_ns, dur_ns);
        }
    }
    for (uint32_t i = 0; i < a->causes.stream_count; i++) {
        bool is_first = i == 0 || a->causes.streams[i].device != a->causes.streams[i - 1].device;
        a->device_count += is_first ? 1 : 0;
    }
    a->span_ns = a->causes.device_count == 0 ? 0 : saturating_sub(last_ns, first_ns);
    for (uint32_t i = 0; i < a->calls.count; i++) {
        out->modelled_time_ns = saturating_add(
            out->modelled_time_ns, a->calls.items[i].has_formula ? a->calls.items[i].time_ns : 0);
    }
}

bool efficiency_analyse(const struct trace *trace,
                        enum efficiency_group by,
                        const struct device_peaks_list *own,
                        struct arena *arena,
                        struct efficiency *out)
{
    struct analysis a = {.trace = trace, .by = by, .peaks = device_peaks_find(trace, own)};
    *out = (struct efficiency){.count = 0};
    bool ok = causes_build(&a.causes, trace, CAUSES_KEEP_LAST_STEP) &&
              counted_calls_find(&a.calls, &a.causes) &&
              call_places_find(&a.places, &a.causes, &a.calls);
    if (ok) {
        measure_devices(&a, out);
        out->device = a.peaks == NULL ? out->device : *a.peaks;
    }
    ok = ok && find_groups(&a);
    if (ok) {
        sum_groups(&a);
    }
    ok = ok && write_rows(&a, arena, out);
    call_places_free(&a.places);
    counted_calls_free(&a.calls);
    causes_free(&a.causes);
    SCRATCH_FREE(a.group_of, a.groups);
    return ok;
}

/* ---- the rows as a table ---- */

#define TABLE_DEF "ingest/model/tables/operators/efficiency.def"
#define TABLE_ROW struct efficiency_row
#include "ingest/model/tables/describe.h"

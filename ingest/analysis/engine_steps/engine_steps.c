#include "ingest/analysis/engine_steps/engine_steps.h"

#include "ingest/analysis/kernel_classes/class_sums.h"
#include "ingest/analysis/kernel_classes/work_classes.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/index/index.h"
#include "ingest/index/sort.h"

struct analysis {
    const struct trace_index *index;
    const struct capture *captures;
    size_t capture_count;
    const struct engine_attention *attention;
    struct arena *arena;
    struct engine_steps *out;
    struct work_classes classes;
    struct index_step *steps; /* as the index has them: of equal starts the longer first */
    uint32_t count;
    uint32_t *order;          /* row → step */
    uint32_t *row_of;         /* step → row */
    struct class_sums by_row; /* and class */
    struct class_sums by_phase;
    uint32_t *attention_ops; /* operators of attention, in order of start */
    size_t attention_count;
};

/* ---- rows ---- */

static bool order_rows(struct analysis *a)
{
    int64_t *start_ns = scratch_alloc(a->count, sizeof *start_ns);
    int64_t *event = scratch_alloc(a->count, sizeof *event);
    a->order = scratch_alloc(a->count, sizeof *a->order);
    a->row_of = scratch_alloc(a->count, sizeof *a->row_of);
    bool ok = start_ns != NULL && event != NULL && a->order != NULL && a->row_of != NULL;
    if (ok) {
        for (uint32_t i = 0; i < a->count; i++) {
            start_ns[i] = a->steps[i].start_ns;
            event[i] = a->steps[i].event;
            a->order[i] = i;
        }
        ok = sort_by_key(a->order, a->count, event) && sort_by_key(a->order, a->count, start_ns);
    }
    for (uint32_t row = 0; ok && row < a->count; row++) {
        a->row_of[a->order[row]] = row;
    }
    SCRATCH_FREE(start_ns, event);
    return ok;
}

/* What the host did. */
static bool write_rows(struct analysis *a, int64_t zero_ns)
{
    const struct trace *trace = a->index->trace;
    int64_t last_end_ns = ENGINE_UNKNOWN;
    a->out->rows = arena_calloc(a->arena, (size_t)a->count + 1, sizeof *a->out->rows);
    if (a->out->rows == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        const struct index_step *step = &a->steps[a->order[i]];
        struct engine_step *row = &a->out->rows[i];
        const char *name = strtab_text(trace->strings, trace->events.name[step->event]);
        row->annotation = arena_strdup(a->arena, name);
        if (row->annotation == NULL || !index_engine_step(a->index, step->event, &row->said)) {
            return false;
        }
        row->start_ns = saturating_sub(step->start_ns, zero_ns);
        row->duration_ns = step->end_ns - step->start_ns;
        row->host_gap_ns = last_end_ns == ENGINE_UNKNOWN
                               ? ENGINE_UNKNOWN
                               : saturating_sub(step->start_ns, last_end_ns);
        row->device_start_ns = ENGINE_UNKNOWN;
        row->device_end_ns = ENGINE_UNKNOWN;
        row->device_gap_ns = ENGINE_UNKNOWN;
        last_end_ns = i64_max(step->end_ns, last_end_ns);
    }
    a->out->count = a->count;
    return true;
}

/* ---- device work ---- */

/* Work that was launched, in order of start, without waits; to be freed. NULL without memory. */
static uint32_t *list_work(const struct analysis *a, size_t *count)
{
    const struct trace_index *index = a->index;
    uint32_t *work = scratch_alloc(index->launched_count, sizeof *work);
    *count = 0;
    for (uint32_t i = 0; work != NULL && i < index->launched_count; i++) {
        uint32_t event = index->launched[i];
        if (!a->classes.names[work_classes_name(&a->classes, index, event)].is_sync) {
            work[(*count)++] = event;
        }
    }
    if (work != NULL && !sort_by_key(work, *count, index->trace->events.ts_ns)) {
        scratch_free(work);
        return NULL;
    }
    return work;
}

/* Work comes in order of start, so that the union of a row grows at its end. */
static bool add_work(struct analysis *a, uint32_t row_number, uint32_t event)
{
    const struct trace_events *events = &a->index->trace->events;
    const struct work_name *name =
        &a->classes.names[work_classes_name(&a->classes, a->index, event)];
    struct engine_step *row = &a->out->rows[row_number];
    int64_t start_ns = events->ts_ns[event];
    int64_t dur_ns = trace_dur_ns(events, event);
    int64_t end_ns = start_ns + dur_ns;
    bool is_first = row->device_events++ == 0;
    int64_t begin_ns = is_first || start_ns > row->device_end_ns ? start_ns : row->device_end_ns;
    row->device_start_ns = is_first ? start_ns : row->device_start_ns;
    row->device_busy_ns += end_ns > begin_ns ? end_ns - begin_ns : 0;
    row->device_end_ns = is_first ? end_ns : i64_max(end_ns, row->device_end_ns);
    row->device_ns = saturating_add(row->device_ns, dur_ns);
    return class_sums_add(&a->by_row, row_number, name->class_number, name->class.name, dur_ns) &&
           class_sums_add(&a->by_phase, row->said.phase, name->class_number, name->class.name,
                          dur_ns);
}

static bool add_all_work(struct analysis *a)
{
    struct step_map map;
    size_t count = 0;
    uint32_t *work = list_work(a, &count);
    bool ok = step_map_build(&map, a->steps, a->count) && work != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        uint32_t call = a->index->launch[work[i]];
        uint32_t step = step_map_find(&map, a->index->trace->events.ts_ns[call]);
        ok = step == INDEX_NONE || add_work(a, a->row_of[step], work[i]);
    }
    step_map_free(&map);
    scratch_free(work);
    return ok;
}

static void measure_gaps(struct analysis *a, int64_t zero_ns)
{
    int64_t last_end_ns = ENGINE_UNKNOWN;
    for (uint32_t i = 0; i < a->count; i++) {
        struct engine_step *row = &a->out->rows[i];
        if (row->device_events == 0) {
            continue;
        }
        if (last_end_ns != ENGINE_UNKNOWN) {
            row->device_gap_ns = saturating_sub(row->device_start_ns, last_end_ns);
        }
        last_end_ns = i64_max(row->device_end_ns, last_end_ns);
        row->device_start_ns = saturating_sub(row->device_start_ns, zero_ns);
        row->device_end_ns = saturating_sub(row->device_end_ns, zero_ns);
    }
}

static bool copy_classes(struct arena *arena,
                         const struct class_sums *sums,
                         size_t first,
                         size_t end,
                         struct engine_classes *out)
{
    out->items = arena_calloc(arena, end - first, sizeof *out->items);
    for (size_t i = first; out->items != NULL && i < end; i++) {
        out->items[out->count++] =
            (struct engine_class){sums->items[i].class, sums->items[i].device_ns};
    }
    return out->items != NULL;
}

static bool write_row_classes(struct analysis *a)
{
    bool ok = true;
    class_sums_sort(&a->by_row);
    for (size_t first = 0; ok && first < a->by_row.count;) {
        size_t end = class_sums_end(&a->by_row, first);
        struct engine_step *row = &a->out->rows[a->by_row.items[first].row];
        ok = copy_classes(a->arena, &a->by_row, first, end, &row->classes);
        first = end;
    }
    return ok;
}

/* ---- phases ---- */

static struct engine_phase_total *find_phase(struct engine_steps *out, enum engine_phase phase)
{
    for (size_t i = 0; i < out->phase_count; i++) {
        if (out->phases[i].phase == phase) {
            return &out->phases[i];
        }
    }
    out->phases[out->phase_count] = (struct engine_phase_total){.phase = phase};
    return &out->phases[out->phase_count++];
}

static void add_to_phase(struct engine_phase_total *total, const struct engine_step *row)
{
    bool is_known = total->tokens != ENGINE_UNKNOWN && row->said.tokens != ENGINE_UNKNOWN;
    total->steps++;
    total->requests = saturating_add(total->requests, row->said.requests);
    total->duration_ns = saturating_add(total->duration_ns, row->duration_ns);
    total->device_ns = saturating_add(total->device_ns, row->device_ns);
    total->tokens = is_known ? saturating_add(total->tokens, row->said.tokens) : ENGINE_UNKNOWN;
}

static enum engine engine_of_most(const struct engine_steps *out)
{
    int64_t steps[ENGINE_COUNT] = {0};
    for (size_t i = 0; i < out->count; i++) {
        steps[out->rows[i].said.engine]++;
    }
    /* Of equal ones that which comes first. */
    enum engine best = out->rows[0].said.engine;
    for (size_t i = 1; i < out->count; i++) {
        enum engine engine = out->rows[i].said.engine;
        best = steps[engine] > steps[best] ? engine : best;
    }
    return best;
}

static bool write_phases(struct analysis *a)
{
    struct engine_steps *out = a->out;
    bool ok = true;
    for (size_t i = 0; i < out->count; i++) {
        add_to_phase(find_phase(out, out->rows[i].said.phase), &out->rows[i]);
    }
    class_sums_sort(&a->by_phase);
    for (size_t first = 0; ok && first < a->by_phase.count;) {
        size_t end = class_sums_end(&a->by_phase, first);
        struct engine_phase_total *total =
            find_phase(out, (enum engine_phase)a->by_phase.items[first].row);
        ok = copy_classes(a->arena, &a->by_phase, first, end, &total->classes);
        first = end;
    }
    out->engine = out->count == 0 ? ENGINE_VLLM : engine_of_most(out);
    return ok;
}

/* ---- attention ---- */

static bool list_attention(struct analysis *a)
{
    const struct trace_events *events = &a->index->trace->events;
    int64_t heads = 0;
    int64_t head_dim = 0;
    a->attention_ops = scratch_alloc(a->index->class_count[INDEX_OPERATOR], sizeof(uint32_t));
    for (uint32_t i = 0; a->attention_ops != NULL && i < events->count; i++) {
        if (capture_attention(a->index, i, &heads, &head_dim)) {
            a->attention_ops[a->attention_count++] = i;
        }
    }
    return a->attention_ops != NULL &&
           sort_by_key(a->attention_ops, a->attention_count, events->ts_ns);
}

/* The first operator of attention that starts in a step. False: there is none. */
static bool
attention_in(const struct analysis *a, const struct index_step *step, struct engine_attention *out)
{
    const int64_t *ts_ns = a->index->trace->events.ts_ns;
    size_t low = 0;
    ORDER_SEARCH(low, a->attention_count, at, ts_ns[a->attention_ops[at]] < step->start_ns);
    if (low == a->attention_count || ts_ns[a->attention_ops[low]] >= step->end_ns ||
        !capture_attention(a->index, a->attention_ops[low], &out->heads, &out->head_dim_qk)) {
        return false;
    }
    out->head_dim_v = out->head_dim_qk;
    return true;
}

static bool attention_of(const struct analysis *a, uint32_t row, struct engine_attention *out)
{
    if (a->attention->heads > 0) {
        *out = *a->attention;
        return true;
    }
    if (attention_in(a, &a->steps[a->order[row]], out)) {
        return true;
    }
    const struct capture *capture =
        capture_choose(a->captures, a->capture_count, a->out->rows[row].said.tokens);
    if (capture == NULL || capture->heads == 0) {
        return false;
    }
    *out = (struct engine_attention){capture->heads, capture->head_dim, capture->head_dim};
    return true;
}

/* `b` is not negative. What is beyond 64 bits is not known. */
static int64_t times(int64_t a, int64_t b)
{
    if (a == ENGINE_UNKNOWN || (b > 0 && (a > INT64_MAX / b || a < -(INT64_MAX / b)))) {
        return ENGINE_UNKNOWN;
    }
    return a * b;
}

static void count_flops(struct analysis *a)
{
    for (uint32_t i = 0; i < a->count; i++) {
        struct engine_step *row = &a->out->rows[i];
        struct engine_attention shape;
        row->attention_flops_per_layer = ENGINE_UNKNOWN;
        if (row->said.is_detailed && attention_of(a, i, &shape)) {
            int64_t dims = saturating_add(shape.head_dim_qk, shape.head_dim_v);
            row->attention_flops_per_layer =
                times(times(row->said.attention_pairs, shape.heads), dims);
        }
    }
}

/* ---- all ---- */

static bool analyse(struct analysis *a, int64_t zero_ns, const struct kernel_rules *own)
{
    bool ok = index_engine_steps(a->index, &a->steps, &a->count) &&
              work_classes_build(&a->classes, a->index, own) && order_rows(a) &&
              write_rows(a, zero_ns) && add_all_work(a) && list_attention(a);
    if (ok) {
        measure_gaps(a, zero_ns);
        count_flops(a);
    }
    return ok && write_row_classes(a) && write_phases(a);
}

bool engine_steps_analyse(const struct trace *trace,
                          int64_t zero_ns,
                          const struct kernel_rules *own,
                          const struct capture *captures,
                          size_t capture_count,
                          const struct engine_attention *attention,
                          struct arena *arena,
                          struct engine_steps *out)
{
    struct trace_index index;
    struct analysis a = {.index = &index,
                         .captures = captures,
                         .capture_count = capture_count,
                         .attention = attention,
                         .arena = arena,
                         .out = out};
    *out = (struct engine_steps){.count = 0};
    class_sums_init(&a.by_row);
    class_sums_init(&a.by_phase);
    bool ok = index_build(&index, trace) && analyse(&a, zero_ns, own);
    index_free(&index);
    work_classes_free(&a.classes);
    class_sums_free(&a.by_row);
    class_sums_free(&a.by_phase);
    SCRATCH_FREE(a.steps, a.order, a.row_of, a.attention_ops);
    return ok;
}

/* ---- the rows as a table ---- */

static const char *word_of_engine(int value)
{
    return engine_text((enum engine)value);
}
#define IS_ENGINE .kind = TABLE_WORD, .word = word_of_engine, .last = ENGINE_COUNT - 1

static const char *word_of_phase(int value)
{
    return engine_phase_text((enum engine_phase)value);
}
#define IS_PHASE .kind = TABLE_WORD, .word = word_of_phase, .last = ENGINE_PHASE_COUNT - 1

#define TABLE_DEF "ingest/model/tables/causes/engine_step.def"
#define TABLE_ROW struct engine_step
#include "ingest/model/tables/describe.h"

#include "ingest/analysis/device_time/device_time.h"

#include "ingest/analysis/device_time/intervals.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/index/index.h"
#include "ingest/index/sort.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* What the category of an event says of its class, before the name does. */
enum said { SAID_NOTHING, SAID_COPY, SAID_SET, SAID_COUNT };

enum group { GROUP_COMPUTATION, GROUP_COMMUNICATION, GROUP_COPY, GROUP_COUNT };

struct work {
    int64_t start_ns, end_ns;
    uint32_t kernel; /* row */
    bool is_launched, is_in_step;
};

struct analysis {
    const struct trace_index *index;
    const int64_t *device; /* NULL: all */
    struct arena *arena;
    struct device_time *out;
    /* Rows of `kernels` by what the category said and the name. */
    uint32_t *row_of[SAID_COUNT];
    struct device_time_kernel *kernels; /* in order of their first event */
    size_t kernel_count, kernel_cap;
    uint32_t *class_of; /* by row; NONE: no work */
    uint32_t *kind_of;  /* by row; NONE: no communication */
    uint32_t *events;   /* the work, in order of start */
    size_t count;
    struct work *works;
    struct intervals groups[GROUP_COUNT]; /* of the block under way */
    struct intervals rest[2];
};

/* ---- rows ---- */

static enum said said_of(enum index_class class)
{
    return class == INDEX_MEMCPY ? SAID_COPY : class == INDEX_MEMSET ? SAID_SET : SAID_NOTHING;
}

static bool read_class(enum said said, const char *name, struct kernel_class *out)
{
    static const struct kernel_class of_categories[] = {
        [SAID_COPY] = {KERNEL_CLASS_MEMCPY, NULL, MATRIX_UNIT_UNUSED},
        [SAID_SET] = {KERNEL_CLASS_MEMSET, NULL, MATRIX_UNIT_UNUSED},
    };
    if (said != SAID_NOTHING) {
        *out = of_categories[said];
        return true;
    }
    return kernel_class_of(name, out);
}

/* A row of that name and class that another category made. */
static uint32_t find_twin(const struct analysis *run, uint32_t name, const char *class)
{
    for (int said = 0; said < SAID_COUNT; said++) {
        uint32_t row = run->row_of[said][name];
        if (row != NONE && strcmp(run->kernels[row].class.name, class) == 0) {
            return row;
        }
    }
    return NONE;
}

static bool add_row(struct analysis *run, uint32_t name, const struct kernel_class *class)
{
    struct device_time_kernel *grown =
        scratch_grow(run->kernels, run->kernel_count, &run->kernel_cap, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    run->kernels = grown;
    const char *text = strtab_text(run->index->trace->strings, name);
    const char *kept = arena_strndup(run->arena, text, strlen(text));
    if (kept == NULL) {
        return false;
    }
    grown[run->kernel_count++] = (struct device_time_kernel){.name = kept, .class = *class};
    return true;
}

static bool find_row(struct analysis *run, uint32_t event, uint32_t *row)
{
    enum said said = said_of(index_class(run->index, event));
    uint32_t name = run->index->trace->events.name[event];
    uint32_t *slot = &run->row_of[said][name];
    struct kernel_class class;
    if (*slot == NONE) {
        if (!read_class(said, strtab_text(run->index->trace->strings, name), &class)) {
            return false;
        }
        uint32_t twin = find_twin(run, name, class.name);
        if (twin == NONE && !add_row(run, name, &class)) {
            return false;
        }
        *slot = twin == NONE ? (uint32_t)run->kernel_count - 1 : twin;
    }
    *row = *slot;
    return true;
}

static bool is_counted(const struct analysis *run, uint32_t event)
{
    enum index_class class = index_class(run->index, event);
    return class >= INDEX_KERNEL && class <= INDEX_DEVICE_WAIT &&
           (run->device == NULL || index_device(run->index->trace, event) == *run->device);
}

static bool is_sync(const struct device_time_kernel *kernel)
{
    return strcmp(kernel->class.name, KERNEL_CLASS_SYNC) == 0;
}

static bool list_events(struct analysis *run)
{
    const struct trace_events *events = &run->index->trace->events;
    run->events = scratch_alloc(run->index->device_count, sizeof *run->events);
    if (run->events == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < events->count; i++) {
        uint32_t row = 0;
        if (!is_counted(run, i)) {
            continue;
        }
        if (!find_row(run, i, &row)) {
            return false;
        }
        struct device_time_kernel *kernel = &run->kernels[row];
        kernel->events++;
        kernel->device_ns = saturating_add(kernel->device_ns, trace_dur_ns(events, i));
        if (!is_sync(kernel)) {
            run->events[run->count++] = i;
        }
    }
    return sort_by_key(run->events, run->count, events->ts_ns);
}

/* ---- classes ---- */

static uint32_t find_class(struct device_time_class *classes, size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++) {
        if (strcmp(classes[i].name, name) == 0) {
            return (uint32_t)i;
        }
    }
    classes[*count].name = name;
    return (uint32_t)(*count)++;
}

static bool list_classes(struct analysis *run)
{
    struct device_time *out = run->out;
    size_t rows = run->kernel_count;
    out->classes = arena_calloc(run->arena, rows + 1, sizeof *out->classes);
    out->kinds = arena_calloc(run->arena, rows + 1, sizeof *out->kinds);
    run->class_of = scratch_none(rows);
    run->kind_of = scratch_none(rows);
    if (out->classes == NULL || out->kinds == NULL || run->class_of == NULL ||
        run->kind_of == NULL) {
        return false;
    }
    for (size_t i = 0; i < rows; i++) {
        const struct device_time_kernel *kernel = &run->kernels[i];
        if (is_sync(kernel)) {
            continue;
        }
        run->class_of[i] = find_class(out->classes, &out->class_count, kernel->class.name);
        if (kernel->class.communication_kind != NULL) {
            run->kind_of[i] =
                find_class(out->kinds, &out->kind_count, kernel->class.communication_kind);
        }
        out->device_ns = saturating_add(out->device_ns, kernel->device_ns);
        if (kernel->class.matrix_unit == MATRIX_UNIT_USED) {
            out->matrix_unit_ns = saturating_add(out->matrix_unit_ns, kernel->device_ns);
        }
    }
    return true;
}

/* `end_ns` is where the union of the class ends so far. */
static void add_to_class(struct device_time_class *class, int64_t *end_ns, const struct work *work)
{
    bool is_apart = class->events == 0 || work->start_ns > *end_ns;
    int64_t begin_ns = is_apart ? work->start_ns : *end_ns;
    class->events++;
    class->device_ns = saturating_add(class->device_ns, work->end_ns - work->start_ns);
    if (work->end_ns > begin_ns) {
        class->busy_ns += work->end_ns - begin_ns;
    }
    *end_ns = is_apart || work->end_ns > *end_ns ? work->end_ns : *end_ns;
}

static bool measure_classes(struct analysis *run)
{
    struct device_time *out = run->out;
    int64_t *class_end_ns = scratch_calloc(out->class_count, sizeof *class_end_ns);
    int64_t *kind_end_ns = scratch_calloc(out->kind_count, sizeof *kind_end_ns);
    bool ok = class_end_ns != NULL && kind_end_ns != NULL;
    for (size_t i = 0; ok && i < run->count; i++) {
        const struct work *work = &run->works[i];
        uint32_t class = run->class_of[work->kernel];
        uint32_t kind = run->kind_of[work->kernel];
        add_to_class(&out->classes[class], &class_end_ns[class], work);
        if (kind != NONE) {
            add_to_class(&out->kinds[kind], &kind_end_ns[kind], work);
        }
    }
    scratch_free(class_end_ns);
    scratch_free(kind_end_ns);
    return ok;
}

/* ---- blocks ---- */

static struct work read_work(struct analysis *run, uint32_t event)
{
    const struct trace_index *index = run->index;
    const struct trace_events *events = &index->trace->events;
    uint32_t call = index->launch[event];
    struct work work = {.start_ns = events->ts_ns[event], .is_launched = call != INDEX_NONE};
    work.end_ns = work.start_ns + trace_dur_ns(events, event);
    work.is_in_step = work.is_launched && index->step[call] != INDEX_NONE;
    work.kernel = run->row_of[said_of(index_class(index, event))][events->name[event]];
    return work;
}

static bool read_works(struct analysis *run)
{
    run->works = scratch_alloc(run->count, sizeof *run->works);
    for (size_t i = 0; run->works != NULL && i < run->count; i++) {
        run->works[i] = read_work(run, run->events[i]);
    }
    return run->works != NULL;
}

static enum group group_of(const struct analysis *run, const struct work *work)
{
    const char *class = run->kernels[work->kernel].class.name;
    return strcmp(class, KERNEL_CLASS_COMMUNICATION) == 0 ? GROUP_COMMUNICATION
           : strcmp(class, KERNEL_CLASS_MEMCPY) == 0      ? GROUP_COPY
                                                          : GROUP_COMPUTATION;
}

/* Measures what was added to the groups since the last block. */
static void end_block(struct analysis *run, struct device_time_block *block)
{
    const struct intervals *computation = &run->groups[GROUP_COMPUTATION];
    const struct intervals *communication = &run->groups[GROUP_COMMUNICATION];
    const struct intervals *copies = &run->groups[GROUP_COPY];
    block->is_there = true;
    block->computation_ns = intervals_length(computation);
    block->communication_ns = intervals_length(communication);
    block->memcpy_ns = intervals_length(copies);
    intervals_subtract(&run->rest[0], communication, computation);
    block->exposed_communication_ns = intervals_length(&run->rest[0]);
    intervals_subtract(&run->rest[0], copies, computation);
    intervals_subtract(&run->rest[1], &run->rest[0], communication);
    block->exposed_memcpy_ns = intervals_length(&run->rest[1]);
    block->busy_ns =
        block->computation_ns + block->exposed_communication_ns + block->exposed_memcpy_ns;
    for (int group = 0; group < GROUP_COUNT; group++) {
        run->groups[group].count = 0;
    }
}

static void measure_all(struct analysis *run,
                        const struct work *works,
                        size_t count,
                        bool launched_only,
                        struct device_time_block *block)
{
    for (size_t i = 0; i < count; i++) {
        const struct work *work = &works[i];
        if (launched_only && !work->is_launched) {
            continue;
        }
        bool is_first = block->events++ == 0;
        block->start_ns = is_first ? work->start_ns : block->start_ns;
        block->end_ns = is_first || work->end_ns > block->end_ns ? work->end_ns : block->end_ns;
        intervals_add(&run->groups[group_of(run, work)], work->start_ns, work->end_ns);
    }
    if (block->events > 0) {
        end_block(run, block);
    }
}

/* The window of the steps ends with the work that was launched in them [DEV-2e]. */
static void measure_steps(struct analysis *run,
                          const struct work *works,
                          size_t count,
                          struct device_time_block *block)
{
    const struct trace_index *index = run->index;
    if (index->step_count == 0 || count == 0) {
        return;
    }
    block->start_ns = index->steps[0].start_ns;
    block->end_ns = index->steps[0].end_ns;
    for (uint32_t i = 1; i < index->step_count; i++) {
        int64_t end_ns = index->steps[i].end_ns;
        block->end_ns = end_ns > block->end_ns ? end_ns : block->end_ns;
    }
    for (size_t i = 0; i < count; i++) {
        bool is_later = works[i].is_in_step && works[i].end_ns > block->end_ns;
        block->end_ns = is_later ? works[i].end_ns : block->end_ns;
    }
    for (size_t i = 0; i < count && works[i].start_ns <= block->end_ns; i++) {
        const struct work *work = &works[i];
        if (work->end_ns < block->start_ns) {
            continue;
        }
        block->events++;
        intervals_add(&run->groups[group_of(run, work)],
                      work->start_ns > block->start_ns ? work->start_ns : block->start_ns,
                      work->end_ns < block->end_ns ? work->end_ns : block->end_ns);
    }
    end_block(run, block);
}

static void measure(struct analysis *run,
                    const struct work *works,
                    size_t count,
                    struct device_time_blocks *blocks)
{
    measure_all(run, works, count, false, &blocks->window);
    measure_all(run, works, count, true, &blocks->launched);
    measure_steps(run, works, count, &blocks->steps);
}

static bool make_room(struct analysis *run)
{
    bool ok = true;
    for (int group = 0; group < GROUP_COUNT; group++) {
        ok = intervals_init(&run->groups[group], run->count) && ok;
    }
    /* A difference has at most a piece more for each interval that is taken away. */
    for (int i = 0; i < 2; i++) {
        ok = intervals_init(&run->rest[i], 2 * run->count) && ok;
    }
    return ok;
}

/* ---- devices ---- */

/* Device numbers beside the events: a number that is missing sorts last. */
static bool list_device_numbers(const struct analysis *run, int64_t **numbers)
{
    *numbers = scratch_alloc(run->count, sizeof **numbers);
    for (size_t i = 0; *numbers != NULL && i < run->count; i++) {
        int64_t device = index_device(run->index->trace, run->events[i]);
        (*numbers)[i] = device == TRACE_NO_ID ? INT64_MAX : device;
    }
    return *numbers != NULL;
}

static bool measure_devices(struct analysis *run, const int64_t *numbers)
{
    struct device_time *out = run->out;
    size_t device_count = 0;
    for (size_t i = 0; i < run->count; i++) {
        device_count += i == 0 || numbers[i] != numbers[i - 1];
    }
    out->devices = arena_calloc(run->arena, device_count + 1, sizeof *out->devices);
    if (out->devices == NULL || !read_works(run)) {
        return false;
    }
    for (size_t first = 0; first < run->count;) {
        size_t end = first + 1;
        while (end < run->count && numbers[end] == numbers[first]) {
            end++;
        }
        struct device_time_device *device = &out->devices[out->device_count++];
        device->device = numbers[first] == INT64_MAX ? TRACE_NO_ID : numbers[first];
        measure(run, run->works + first, end - first, &device->blocks);
        first = end;
    }
    return true;
}

/* The sort is stable, so that the work of a device stays in order of start. */
static bool split_devices(struct analysis *run)
{
    int64_t *numbers = NULL;
    scratch_free(run->works);
    run->works = NULL;
    bool ok = list_device_numbers(run, &numbers) && sort_pairs(numbers, run->events, run->count) &&
              measure_devices(run, numbers);
    scratch_free(numbers);
    return ok;
}

/* ---- order ---- */

static int by_size(int64_t a_ns, const char *a, int64_t b_ns, const char *b)
{
    return a_ns != b_ns ? (a_ns < b_ns) - (a_ns > b_ns) : strcmp(a, b);
}

static int compare_classes(const void *left, const void *right)
{
    const struct device_time_class *a = left;
    const struct device_time_class *b = right;
    return by_size(a->device_ns, a->name, b->device_ns, b->name);
}

static int compare_kernels(const void *left, const void *right)
{
    const struct device_time_kernel *a = left;
    const struct device_time_kernel *b = right;
    int order = by_size(a->device_ns, a->name, b->device_ns, b->name);
    return order != 0 ? order : strcmp(a->class.name, b->class.name);
}

static bool put_in_order(struct analysis *run)
{
    struct device_time *out = run->out;
    qsort(out->classes, out->class_count, sizeof *out->classes, compare_classes);
    qsort(out->kinds, out->kind_count, sizeof *out->kinds, compare_classes);
    out->kernels = arena_calloc(run->arena, run->kernel_count + 1, sizeof *out->kernels);
    if (out->kernels == NULL) {
        return false;
    }
    out->kernel_count = run->kernel_count;
    if (run->kernel_count > 0) {
        memcpy(out->kernels, run->kernels, run->kernel_count * sizeof *out->kernels);
    }
    qsort(out->kernels, out->kernel_count, sizeof *out->kernels, compare_kernels);
    return true;
}

/* ---- all ---- */

static bool begin(struct analysis *run)
{
    bool ok = true;
    for (int said = 0; said < SAID_COUNT; said++) {
        run->row_of[said] = scratch_none(strtab_count(run->index->trace->strings));
        ok = run->row_of[said] != NULL && ok;
    }
    return ok;
}

static void end(struct analysis *run)
{
    for (int said = 0; said < SAID_COUNT; said++) {
        scratch_free(run->row_of[said]);
    }
    for (int group = 0; group < GROUP_COUNT; group++) {
        intervals_free(&run->groups[group]);
    }
    intervals_free(&run->rest[0]);
    intervals_free(&run->rest[1]);
    scratch_free(run->kernels);
    scratch_free(run->class_of);
    scratch_free(run->kind_of);
    scratch_free(run->events);
    scratch_free(run->works);
}

static bool analyse(struct analysis *run)
{
    bool ok = begin(run) && list_events(run) && list_classes(run) && read_works(run) &&
              measure_classes(run) && make_room(run);
    if (ok) {
        measure(run, run->works, run->count, &run->out->blocks);
    }
    ok = ok && split_devices(run) && put_in_order(run);
    end(run);
    return ok;
}

static void shift_block(struct device_time_block *block, int64_t zero_ns)
{
    block->start_ns = saturating_sub(block->start_ns, zero_ns);
    block->end_ns = saturating_sub(block->end_ns, zero_ns);
}

static void shift(struct device_time_blocks *blocks, int64_t zero_ns)
{
    shift_block(&blocks->window, zero_ns);
    shift_block(&blocks->launched, zero_ns);
    shift_block(&blocks->steps, zero_ns);
}

bool device_time_analyse(const struct trace *trace,
                         int64_t zero_ns,
                         const int64_t *device,
                         struct arena *arena,
                         struct device_time *out)
{
    struct trace_index index;
    struct analysis run = {.index = &index, .device = device, .arena = arena, .out = out};
    *out = (struct device_time){.device_ns = 0};
    bool ok = index_build(&index, trace) && analyse(&run);
    index_free(&index);
    shift(&out->blocks, zero_ns);
    for (size_t i = 0; i < out->device_count; i++) {
        shift(&out->devices[i].blocks, zero_ns);
    }
    return ok;
}

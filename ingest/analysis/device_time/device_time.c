#include "ingest/analysis/device_time/device_time.h"

#include "ingest/analysis/device_time/intervals.h"
#include "ingest/analysis/kernel_classes/work_classes.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"
#include "ingest/base/saturating.h"
#include "ingest/index/index.h"
#include "ingest/index/sort.h"

#include <stdlib.h>
#include <string.h>

enum group { GROUP_COMPUTATION, GROUP_COMMUNICATION, GROUP_COPY, GROUP_COUNT };

struct work {
    int64_t start_ns, end_ns;
    uint32_t name; /* place in the classes' names */
    bool is_launched, is_in_step;
};

struct analysis {
    const struct trace_index *index;
    const int64_t *device; /* NULL: all */
    struct arena *arena;
    struct device_time *out;
    struct work_classes classes;
    struct device_time_kernel *kernels; /* by name; those of the device asked for have events */
    uint32_t *events;                   /* the work, in order of start */
    size_t count;
    struct work *works;
    struct intervals groups[GROUP_COUNT]; /* of the block under way */
    struct intervals rest[2];
};

static bool is_counted(const struct analysis *run, uint32_t event)
{
    return work_classes_has(run->index, event) &&
           (run->device == NULL || index_device(run->index->trace, event) == *run->device);
}

static bool list_events(struct analysis *run)
{
    const struct trace_events *events = &run->index->trace->events;
    run->events = scratch_alloc(run->index->device_count, sizeof *run->events);
    run->kernels = scratch_calloc(run->classes.name_count, sizeof *run->kernels);
    if (run->events == NULL || run->kernels == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < events->count; i++) {
        if (!is_counted(run, i)) {
            continue;
        }
        uint32_t name = work_classes_name(&run->classes, run->index, i);
        struct device_time_kernel *kernel = &run->kernels[name];
        kernel->events++;
        kernel->device_ns = saturating_add(kernel->device_ns, trace_dur_ns(events, i));
        if (!run->classes.names[name].is_sync) {
            run->events[run->count++] = i;
        }
    }
    return sort_by_key(run->events, run->count, events->ts_ns);
}

/* ---- classes ---- */

static struct device_time_class *
name_classes(const struct analysis *run, const char **names, size_t count)
{
    struct device_time_class *classes = arena_calloc(run->arena, count + 1, sizeof *classes);
    for (size_t i = 0; classes != NULL && i < count; i++) {
        classes[i].name = names[i];
    }
    return classes;
}

static bool list_classes(struct analysis *run)
{
    struct device_time *out = run->out;
    const struct work_classes *classes = &run->classes;
    out->classes = name_classes(run, classes->classes, classes->class_count);
    out->kinds = name_classes(run, classes->kinds, classes->kind_count);
    if (out->classes == NULL || out->kinds == NULL) {
        return false;
    }
    out->class_count = classes->class_count;
    out->kind_count = classes->kind_count;
    for (size_t i = 0; i < classes->name_count; i++) {
        const struct work_name *name = &classes->names[i];
        int64_t device_ns = name->is_sync ? 0 : run->kernels[i].device_ns;
        out->device_ns = saturating_add(out->device_ns, device_ns);
        if (name->class.matrix_unit == MATRIX_UNIT_USED) {
            out->matrix_unit_ns = saturating_add(out->matrix_unit_ns, device_ns);
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
        uint32_t class = run->classes.names[work->name].class_number;
        uint32_t kind = run->classes.names[work->name].kind_number;
        add_to_class(&out->classes[class], &class_end_ns[class], work);
        if (kind != WORK_CLASSES_NONE) {
            add_to_class(&out->kinds[kind], &kind_end_ns[kind], work);
        }
    }
    SCRATCH_FREE(class_end_ns, kind_end_ns);
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
    work.name = work_classes_name(&run->classes, index, event);
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
    const char *class = run->classes.names[work->name].class.name;
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
        for (size_t i = first; i < end; i++) {
            int64_t dur_ns = run->works[i].end_ns - run->works[i].start_ns;
            device->device_ns = saturating_add(device->device_ns, dur_ns);
        }
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

ORDER_BY(compare_classes,
         struct device_time_class,
         ORDER_KEY(by_size(a->device_ns, a->name, b->device_ns, b->name)))

ORDER_BY(compare_kernels,
         struct device_time_kernel,
         ORDER_KEY(by_size(a->device_ns, a->name, b->device_ns, b->name)),
         ORDER_TEXT(class.name))

/* Drops those without an event: of other devices, or waits alone. */
static size_t drop_empty(struct device_time_class *classes, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (classes[i].events > 0) {
            classes[kept++] = classes[i];
        }
    }
    return kept;
}

static bool list_kernels(struct analysis *run)
{
    struct device_time *out = run->out;
    const struct work_classes *classes = &run->classes;
    out->kernels = arena_calloc(run->arena, classes->name_count + 1, sizeof *out->kernels);
    for (size_t i = 0; out->kernels != NULL && i < classes->name_count; i++) {
        struct device_time_kernel *kernel = &out->kernels[out->kernel_count];
        if (run->kernels[i].events == 0) {
            continue;
        }
        const char *name = strtab_text(run->index->trace->strings, classes->names[i].text);
        *kernel = run->kernels[i];
        kernel->class = classes->names[i].class;
        kernel->name = arena_strdup(run->arena, name);
        if (kernel->name == NULL) {
            return false;
        }
        out->kernel_count++;
    }
    return out->kernels != NULL;
}

static bool put_in_order(struct analysis *run)
{
    struct device_time *out = run->out;
    out->class_count = drop_empty(out->classes, out->class_count);
    out->kind_count = drop_empty(out->kinds, out->kind_count);
    if (!list_kernels(run)) {
        return false;
    }
    qsort(out->classes, out->class_count, sizeof *out->classes, compare_classes);
    qsort(out->kinds, out->kind_count, sizeof *out->kinds, compare_classes);
    qsort(out->kernels, out->kernel_count, sizeof *out->kernels, compare_kernels);
    return true;
}

/* ---- all ---- */

static void end(struct analysis *run)
{
    work_classes_free(&run->classes);
    for (int group = 0; group < GROUP_COUNT; group++) {
        intervals_free(&run->groups[group]);
    }
    intervals_free(&run->rest[0]);
    intervals_free(&run->rest[1]);
    SCRATCH_FREE(run->kernels, run->events, run->works);
}

static bool analyse(struct analysis *run, const struct kernel_rules *own)
{
    bool ok = work_classes_build(&run->classes, run->index, own) && list_events(run) &&
              list_classes(run) && read_works(run) && measure_classes(run) && make_room(run);
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
                         const struct kernel_rules *own,
                         const int64_t *device,
                         struct arena *arena,
                         struct device_time *out)
{
    struct trace_index index;
    struct analysis run = {.index = &index, .device = device, .arena = arena, .out = out};
    *out = (struct device_time){.device_ns = 0};
    bool ok = index_build(&index, trace) && analyse(&run, own);
    index_free(&index);
    shift(&out->blocks, zero_ns);
    for (size_t i = 0; i < out->device_count; i++) {
        shift(&out->devices[i].blocks, zero_ns);
    }
    return ok;
}

/* ---- the rows as a table ---- */

#define TABLE_DEF "ingest/model/tables/kernels/device_time_kernel.def"
#define TABLE_ROW struct device_time_kernel
#include "ingest/model/tables/describe.h"

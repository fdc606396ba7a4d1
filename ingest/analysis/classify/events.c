#include "ingest/analysis/classify/events.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/index/sort.h"

#include <string.h>

/* Ticks of rounded times, and sums of them, must fit 64 bits. */
#define ROUNDED_SPAN_NS INT64_C(100000000000000)
#define PL_PROFILE_PREFIX "[pl][profile]"
#define PL_MODULE_PREFIX "[pl][module]"

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static enum event_type lightning_type(const struct event_classes *sel, uint32_t event)
{
    const char *name = names_text(&sel->names, sel->name[event]);
    if (begins(name, PL_PROFILE_PREFIX)) {
        return TYPE_PL_PROFILE;
    }
    return begins(name, PL_MODULE_PREFIX) ? TYPE_PL_MODULE : TYPE_OPERATOR;
}

/* What the name says: operators and annotations can both be steps. */
static enum event_type host_type(struct event_classes *sel,
                                 uint32_t event,
                                 enum event_type plain,
                                 struct warnings *warnings)
{
    uint32_t flags = names_flags(&sel->names, sel->name[event]);
    if (flags & NAME_STEP_NUMBERED) {
        return TYPE_PROFILER_STEP;
    }
    if (flags & NAME_STEP) {
        warning_add(warnings, WARN_STEP_NAME, WARNING_NO_OFFSET);
    }
    return plain == TYPE_OPERATOR && sel->lightning ? lightning_type(sel, event) : plain;
}

static enum event_type python_function_type(const struct event_classes *sel, uint8_t flags)
{
    if (sel->lightning) {
        return TYPE_NONE;
    }
    return flags & EVENT_MODULE ? TYPE_MODULE : TYPE_PYTHON_FUNCTION;
}

/* Before names are asked. */
static enum event_type type_of_class(const struct event_classes *sel,
                                     const struct event_class *event_class)
{
    enum event_kind kind = (enum event_kind)event_class->kind;
    bool is_instant_memory = kind == EVENT_MEMORY && event_class->phase == 'i';
    if ((event_class->phase != 'X' && !is_instant_memory) ||
        (event_class->flags & (EVENT_NO_TS | EVENT_NO_NAME)) != 0) {
        return TYPE_NONE;
    }
    switch (kind) {
    case EVENT_OPERATOR:
        return TYPE_OPERATOR;
    case EVENT_USER_ANNOTATION:
    case EVENT_GPU_USER_ANNOTATION:
        return TYPE_USER_ANNOTATION;
    case EVENT_PYTHON:
        return TYPE_PYTHON;
    case EVENT_PYTHON_FUNCTION:
        return python_function_type(sel, event_class->flags);
    case EVENT_RUNTIME:
        return TYPE_RUNTIME;
    case EVENT_KERNEL:
        return TYPE_KERNEL;
    case EVENT_MEMCPY:
        return TYPE_MEMCPY;
    case EVENT_MEMSET:
        return TYPE_MEMSET;
    case EVENT_TRACE_SPAN:
        return TYPE_TRACE_SPAN;
    case EVENT_MEMORY:
        return TYPE_MEMORY;
    case EVENT_OTHER:
    case EVENT_DRIVER:
    case EVENT_DEVICE_ROW:
    case EVENT_FLOW_FWDBWD:
    case EVENT_FLOW:
        break;
    }
    return TYPE_NONE;
}

/* Lightning's names without their prefix; of a module, what follows its type. A name without a type
 * stays whole [TB-3d]. */
static bool strip_lightning_name(struct event_classes *sel, uint32_t event)
{
    const char *name = names_text(&sel->names, sel->own_name[event]);
    bool is_module = sel->type[event] == TYPE_PL_MODULE;
    name += strlen(is_module ? PL_MODULE_PREFIX : PL_PROFILE_PREFIX);
    const char *after_type = is_module ? strstr(name, ": ") : NULL;
    name = after_type == NULL ? name : after_type + 2;
    sel->own_name[event] = names_intern(&sel->names, name, strlen(name));
    return sel->own_name[event] != STRTAB_NONE;
}

/* *type: that of the class, then that of the event. */
static bool
ask_name(struct event_classes *sel, uint32_t event, uint8_t *type, struct warnings *warnings)
{
    enum event_type plain = (enum event_type)(*type);
    if (plain == TYPE_OPERATOR || plain == TYPE_USER_ANNOTATION) {
        *type = (uint8_t)host_type(sel, event, plain, warnings);
    }
    sel->type[event] = *type;
    bool is_lightning = *type == TYPE_PL_MODULE || *type == TYPE_PL_PROFILE;
    return !is_lightning || strip_lightning_name(sel, event);
}

/* What the index knows better than the category. */
static enum event_type our_type(const struct trace_index *index, uint32_t event, uint8_t type)
{
    switch (index_class(index, event)) {
    case INDEX_DEVICE_ROW:
        return TYPE_KERNEL;
    case INDEX_DRIVER_CALL:
        return TYPE_RUNTIME;
    case INDEX_MODULE:
    case INDEX_FUNCTION: /* in Lightning's traces too */
        return type == TYPE_NONE ? TYPE_PYTHON_FUNCTION : (enum event_type)type;
    case INDEX_DEVICE_WAIT:
        return TYPE_NONE;
    case INDEX_DEVICE_ANNOTATION:
        return type == TYPE_NONE ? TYPE_NONE : TYPE_DEVICE_ANNOTATION;
    default:
        return (enum event_type)type;
    }
}

static bool classify(struct event_classes *sel,
                     const struct trace_index *index,
                     const uint8_t *by_class,
                     struct warnings *warnings)
{
    const struct trace_events *events = &sel->trace->events;
    sel->last_ns = INT64_MIN;
    for (uint32_t i = 0; i < events->count; i++) {
        uint8_t type = by_class[trace_index(&events->class, i)];
        type = index == NULL ? type : (uint8_t)our_type(index, i, type);
        sel->type[i] = type;
        if (type == TYPE_NONE) {
            continue;
        }
        uint32_t name_flags = names_flags(&sel->names, sel->name[i]);
        bool asks_name = sel->lightning || (name_flags & NAME_STEP) != 0;
        if (KS_UNLIKELY(asks_name)) {
            if (!ask_name(sel, i, &type, warnings)) {
                return false;
            }
            name_flags = names_flags(&sel->names, sel->name[i]);
        }
        /* What users call their modules tells nothing. */
        sel->seen_names |= type == TYPE_PL_MODULE ? 0 : name_flags;
        sel->type_count[type]++;
        sel->last_ns =
            i64_max(sel->last_ns, saturating_add(events->ts_ns[i], trace_dur_ns(events, i)));
    }
    return true;
}

static enum event_list list_of_type(enum event_type type)
{
    switch (type) {
    case TYPE_RUNTIME:
        return LIST_RUNTIME;
    case TYPE_KERNEL:
    case TYPE_MEMCPY:
    case TYPE_MEMSET:
        return LIST_DEVICE;
    case TYPE_MEMORY:
        return LIST_MEMORY;
    case TYPE_TRACE_SPAN:
        return LIST_SPAN;
    default:
        return LIST_HOST;
    }
}

/* Types alternate: what is not kept goes where the next one will stand too, without a branch. */
static inline void
list_event(struct event_classes *sel, uint32_t *next, const uint8_t *list_of, uint32_t event)
{
    uint8_t list = list_of[sel->type[event]];
    sel->listed[next[list]] = event;
    next[list] += list != LIST_COUNT;
}

/* By the index in order of time, but for memory records, which it has not; else in that of the
 * file. */
static void fill_lists(struct event_classes *sel, const struct trace_index *index)
{
    uint8_t list_of[TYPE_COUNT] = {LIST_COUNT};
    uint32_t next[LIST_COUNT + 1] = {0};
    for (int type = TYPE_NONE + 1; type < TYPE_COUNT; type++) {
        list_of[type] = (uint8_t)list_of_type((enum event_type)type);
        next[list_of[type]] += sel->type_count[type];
    }
    for (int list = 0; list < LIST_COUNT; list++) {
        sel->lists[list].count = next[list];
    }
    (void)sort_places(next, LIST_COUNT + 1);
    for (int list = 0; list < LIST_COUNT; list++) {
        sel->lists[list].items = sel->listed + next[list];
    }
    if (index == NULL) {
        for (uint32_t i = 0; i < sel->trace->events.count; i++) {
            list_event(sel, next, list_of, i);
        }
        return;
    }
    list_of[TYPE_MEMORY] = LIST_COUNT;
    for (uint32_t i = 0; i < index->count; i++) {
        list_event(sel, next, list_of, index->in_time[i]);
    }
    uint32_t memory_end = next[LIST_MEMORY] + sel->type_count[TYPE_MEMORY];
    for (uint32_t i = 0; next[LIST_MEMORY] < memory_end; i++) {
        sel->listed[next[LIST_MEMORY]] = i;
        next[LIST_MEMORY] += sel->type[i] == TYPE_MEMORY;
    }
}

static bool list_events(struct event_classes *sel, const struct trace_index *index)
{
    const int64_t *ts_ns = sel->trace->events.ts_ns;
    size_t kept = 0;
    for (int type = TYPE_NONE + 1; type < TYPE_COUNT; type++) {
        kept += sel->type_count[type];
    }
    sel->listed = scratch_alloc(kept + 1, sizeof *sel->listed);
    if (sel->listed == NULL) {
        return false;
    }
    fill_lists(sel, index);
    sel->first_ns = INT64_MAX;
    uint32_t *items = sel->listed;
    for (int list = 0; list < LIST_COUNT; list++) {
        uint32_t count = sel->lists[list].count;
        bool is_sorted = index != NULL && list != LIST_MEMORY;
        if (!is_sorted && !sort_by_key(items, count, ts_ns)) {
            return false;
        }
        sel->first_ns = count == 0 ? sel->first_ns : i64_min(sel->first_ns, ts_ns[items[0]]);
        items += count;
    }
    sel->first_ns = kept == 0 ? 0 : sel->first_ns;
    sel->last_ns = kept == 0 ? 0 : sel->last_ns;
    return true;
}

static bool
find_types(struct event_classes *sel, const struct trace_index *index, struct warnings *warnings)
{
    const struct trace_events *events = &sel->trace->events;
    uint8_t *by_class = scratch_alloc(events->class_count, sizeof *by_class);
    bool ok = by_class != NULL;
    for (uint32_t i = 0; ok && i < events->class_count; i++) {
        by_class[i] = (uint8_t)type_of_class(sel, &events->classes[i]);
    }
    ok = ok && classify(sel, index, by_class, warnings);
    scratch_free(by_class);
    return ok;
}

/* Kernels' names, by the rules of our figures. */
static bool read_kernel_names(struct event_classes *sel)
{
    const struct events_in_time work = sel->lists[LIST_DEVICE];
    bool ok = true;
    for (uint32_t i = 0; ok && i < work.count; i++) {
        uint32_t event = work.items[i];
        ok = sel->type[event] != TYPE_KERNEL ||
             names_read_kernel(&sel->names, sel->name[event], sel->kernel_rules);
    }
    return ok;
}

static bool has_mlu(const struct trace *trace)
{
    return trace->device_count > 0 && (trace->devices[0].has & DEVICE_HAS_NAME) != 0 &&
           begins(trace->devices[0].name, "MLU");
}

bool classify_can_round(const struct event_classes *sel)
{
    return sel->trace->decimal_times &&
           saturating_sub(sel->last_ns, sel->first_ns) < ROUNDED_SPAN_NS;
}

bool classify_events(struct event_classes *sel,
                     const struct trace *trace,
                     const struct trace_index *index,
                     const struct kernel_rules *own,
                     bool rounded,
                     struct warnings *warnings)
{
    uint32_t count = trace->events.count;
    *sel = (struct event_classes){
        .trace = trace, .name = trace->events.name, .rounded = rounded, .kernel_rules = own};
    sel->lightning = trace->framework != NULL && strcmp(trace->framework, "pytorch-lightning") == 0;
    sel->mlu = has_mlu(trace);
    sel->type = scratch_alloc(count, sizeof *sel->type);
    if (sel->type == NULL || !names_init(&sel->names, trace->strings)) {
        return false;
    }
    sel->is_ours = index != NULL;
    sel->names.only_listed = index == NULL;
    if (sel->lightning) {
        sel->own_name = scratch_calloc(count, sizeof *sel->own_name);
        if (sel->own_name == NULL) {
            return false;
        }
        memcpy(sel->own_name, trace->events.name, count * sizeof *sel->own_name);
        sel->name = sel->own_name;
    }
    return find_types(sel, index, warnings) && list_events(sel, index) &&
           (index == NULL || read_kernel_names(sel));
}

void classify_free(struct event_classes *sel)
{
    names_free(&sel->names);
    scratch_free(sel->type);
    scratch_free(sel->listed);
    scratch_free(sel->own_name);
    *sel = (struct event_classes){0};
}

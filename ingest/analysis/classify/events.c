#include "ingest/analysis/classify/events.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/affix.h"
#include "ingest/index/sort.h"

#include <string.h>

/* Lightning's names without their prefix, `[pl][profile]`; of a module, what follows its type. A
 * name without a type stays whole [TB-3d]. */
static bool strip_lightning_name(struct event_classes *sel, uint32_t event)
{
    const char *name = names_text(&sel->names, sel->own_name[event]);
    bool is_module = sel->class[event] == INDEX_MODULE;
    name += strlen(is_module ? INDEX_PL_MODULE : INDEX_PL_PROFILE);
    const char *after_type = is_module ? strstr(name, ": ") : NULL;
    name = after_type == NULL ? name : after_type + 2;
    sel->own_name[event] = names_intern(&sel->names, name, strlen(name));
    return sel->own_name[event] != STRTAB_NONE;
}

/* Operators and annotations can both be steps. */
static bool
ask_name(struct event_classes *sel, uint32_t event, uint32_t flags, struct warnings *warnings)
{
    uint8_t *class = &sel->class[event];
    bool can_be_step = *class == INDEX_OPERATOR || *class == INDEX_ANNOTATION;
    if (can_be_step && (flags & NAME_STEP_NUMBERED) != 0) {
        *class = INDEX_STEP;
    } else if (can_be_step && (flags & NAME_STEP) != 0) {
        warning_add(warnings, WARN_STEP_NAME, WARNING_NO_OFFSET);
    }
    bool is_lightning = sel->lightning && (*class == INDEX_MODULE || *class == INDEX_PROFILE);
    return !is_lightning || strip_lightning_name(sel, event);
}

static bool ask_names(struct event_classes *sel, struct warnings *warnings)
{
    const struct trace_events *events = &sel->trace->events;
    sel->last_ns = INT64_MIN;
    for (uint32_t i = 0; i < events->count; i++) {
        if (sel->class[i] == INDEX_OTHER) {
            continue;
        }
        uint32_t flags = names_flags(&sel->names, sel->name[i]);
        if (KS_UNLIKELY(sel->lightning || (flags & NAME_STEP) != 0)) {
            if (!ask_name(sel, i, flags, warnings)) {
                return false;
            }
            flags = names_flags(&sel->names, sel->name[i]);
        }
        /* What users call their modules tells nothing. */
        bool is_own = sel->lightning && sel->class[i] == INDEX_MODULE;
        sel->seen_names |= is_own ? 0 : flags;
        sel->class_count[sel->class[i]]++;
        sel->last_ns =
            i64_max(sel->last_ns, saturating_add(events->ts_ns[i], trace_dur_ns(events, i)));
    }
    return true;
}

static enum event_list list_of_class(enum index_class class)
{
    switch (class) {
    case INDEX_RUNTIME_CALL:
    case INDEX_DRIVER_CALL:
        return LIST_RUNTIME;
    case INDEX_KERNEL:
    case INDEX_MEMCPY:
    case INDEX_MEMSET:
        return LIST_DEVICE;
    case INDEX_MEMORY:
        return LIST_MEMORY;
    case INDEX_SPAN:
        return LIST_SPAN;
    default:
        return LIST_HOST;
    }
}

/* Classes alternate: what is not kept goes where the next one will stand too, without a branch. */
static inline void
list_event(struct event_classes *sel, uint32_t *next, const uint8_t *list_of, uint32_t event)
{
    uint8_t list = list_of[sel->class[event]];
    sel->listed[next[list]] = event;
    next[list] += list != LIST_COUNT;
}

/* By the index in order of time, but for memory records, which it has not; else in that of the
 * file. */
static void fill_lists(struct event_classes *sel, const struct trace_index *index)
{
    uint8_t list_of[INDEX_CLASS_COUNT] = {LIST_COUNT};
    uint32_t next[LIST_COUNT + 1] = {0};
    for (int class = INDEX_OTHER + 1; class < INDEX_CLASS_COUNT; class ++) {
        list_of[class] = (uint8_t)list_of_class((enum index_class) class);
        next[list_of[class]] += sel->class_count[class];
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
    list_of[INDEX_MEMORY] = LIST_COUNT;
    for (uint32_t i = 0; i < index->count; i++) {
        list_event(sel, next, list_of, index->in_time[i]);
    }
    uint32_t memory_end = next[LIST_MEMORY] + sel->class_count[INDEX_MEMORY];
    for (uint32_t i = 0; next[LIST_MEMORY] < memory_end; i++) {
        sel->listed[next[LIST_MEMORY]] = i;
        next[LIST_MEMORY] += sel->class[i] == INDEX_MEMORY;
    }
}

static bool list_events(struct event_classes *sel, const struct trace_index *index)
{
    const int64_t *ts_ns = sel->trace->events.ts_ns;
    size_t kept = 0;
    for (int class = INDEX_OTHER + 1; class < INDEX_CLASS_COUNT; class ++) {
        kept += sel->class_count[class];
    }
    sel->listed = scratch_alloc(kept + 1, sizeof *sel->listed);
    if (sel->listed == NULL) {
        return false;
    }
    fill_lists(sel, index);
    sel->listed_count = kept;
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
    sel->zero_ns = sel->first_ns;
    return true;
}

/* Kernels' names, by the rules of our figures. */
static bool read_kernel_names(struct event_classes *sel)
{
    const struct events_in_time work = sel->lists[LIST_DEVICE];
    bool ok = true;
    for (uint32_t i = 0; ok && i < work.count; i++) {
        uint32_t event = work.items[i];
        ok = sel->class[event] != INDEX_KERNEL ||
             names_read_kernel(&sel->names, sel->name[event], sel->kernel_rules);
    }
    return ok;
}

static bool has_mlu(const struct trace *trace)
{
    return trace->device_count > 0 && (trace->devices[0].has & DEVICE_HAS_NAME) != 0 &&
           text_begins(trace->devices[0].name, "MLU");
}

bool classify_begin(struct event_classes *sel, const struct trace *trace)
{
    uint32_t count = trace->events.count;
    *sel = (struct event_classes){.trace = trace, .name = trace->events.name};
    sel->lightning = trace->framework != NULL && strcmp(trace->framework, "pytorch-lightning") == 0;
    sel->mlu = has_mlu(trace);
    sel->class = scratch_alloc(count, sizeof *sel->class);
    if (sel->class == NULL || !names_init(&sel->names, trace->strings)) {
        return false;
    }
    if (sel->lightning) {
        sel->own_name = scratch_calloc(count, sizeof *sel->own_name);
        if (sel->own_name == NULL) {
            return false;
        }
        memcpy(sel->own_name, trace->events.name, count * sizeof *sel->own_name);
        sel->name = sel->own_name;
    }
    return true;
}

bool classify_finish(struct event_classes *sel,
                     const struct trace_index *index,
                     struct warnings *warnings)
{
    return ask_names(sel, warnings) && list_events(sel, index);
}

static bool has_nameless(const struct trace_events *events)
{
    bool found = false;
    for (uint32_t i = 0; i < events->class_count; i++) {
        found = found || (events->classes[i].flags & EVENT_NO_NAME) != 0;
    }
    return found;
}

bool classify_events(struct event_classes *sel,
                     const struct trace_index *index,
                     const struct kernel_rules *own,
                     struct warnings *warnings)
{
    uint8_t kept[INDEX_CLASS_COUNT];
    const struct trace_events *events = &index->trace->events;
    for (int class = 0; class < INDEX_CLASS_COUNT; class ++) {
        kept[class] = (uint8_t) class;
    }
    kept[INDEX_STEP] = INDEX_ANNOTATION;
    kept[INDEX_DEVICE_ROW] = INDEX_KERNEL;
    kept[INDEX_UNKNOWN] = INDEX_OTHER;
    kept[INDEX_DEVICE_WAIT] = INDEX_OTHER;
    if (!classify_begin(sel, index->trace)) {
        return false;
    }
    sel->kernel_rules = own;
    sel->is_ours = true;
    bool asks_event = sel->lightning || has_nameless(events);
    for (uint32_t i = 0; i < events->count; i++) {
        sel->class[i] = kept[index->class[i]];
        if (KS_UNLIKELY(asks_event)) {
            bool is_python = trace_kind(events, i) == EVENT_PYTHON_FUNCTION;
            bool is_frame = sel->lightning && is_python && sel->class[i] == INDEX_MODULE;
            bool is_named = (trace_flags(events, i) & EVENT_NO_NAME) == 0;
            sel->class[i] = is_frame ? INDEX_FUNCTION : sel->class[i];
            sel->class[i] = is_named ? sel->class[i] : INDEX_OTHER;
        }
    }
    return classify_finish(sel, index, warnings) && read_kernel_names(sel);
}

void classify_free(struct event_classes *sel)
{
    names_free(&sel->names);
    SCRATCH_FREE(sel->class, sel->listed, sel->own_name);
    *sel = (struct event_classes){0};
}

#include "ingest/analysis/select.h"

#include "ingest/analysis/ns.h"
#include "ingest/analysis/scratch.h"
#include "ingest/analysis/sort.h"

/* Ticks of rounded times, and sums of them, must fit 64 bits. */
#define ROUNDED_SPAN_NS INT64_C(100000000000000)
#define PL_PROFILE_PREFIX "[pl][profile]"
#define PL_MODULE_PREFIX "[pl][module]"

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static enum event_type lightning_type(const struct selection *sel, uint32_t event)
{
    const char *name = names_text(&sel->names, sel->name[event]);
    if (begins(name, PL_PROFILE_PREFIX)) {
        return TYPE_PL_PROFILE;
    }
    return begins(name, PL_MODULE_PREFIX) ? TYPE_PL_MODULE : TYPE_OPERATOR;
}

/* Operators and annotations; both can be steps. */
static enum event_type
host_type(struct selection *sel, uint32_t event, enum event_type plain, struct warnings *warnings)
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

static enum event_type python_function_type(const struct selection *sel, uint8_t flags)
{
    if (sel->lightning) {
        return TYPE_NONE;
    }
    return flags & EVENT_MODULE ? TYPE_MODULE : TYPE_PYTHON_FUNCTION;
}

static enum event_type type_of(struct selection *sel, uint32_t event, struct warnings *warnings)
{
    const struct trace_events *events = &sel->trace->events;
    uint8_t flags = trace_flags(events, event);
    char phase = trace_phase(events, event);
    enum event_kind kind = trace_kind(events, event);
    bool is_instant_memory = kind == EVENT_MEMORY && phase == 'i';
    if ((phase != 'X' && !is_instant_memory) || (flags & (EVENT_NO_TS | EVENT_NO_NAME)) != 0) {
        return TYPE_NONE;
    }
    switch (kind) {
    case EVENT_OPERATOR:
        return host_type(sel, event, TYPE_OPERATOR, warnings);
    case EVENT_USER_ANNOTATION:
    case EVENT_GPU_USER_ANNOTATION:
        return host_type(sel, event, TYPE_USER_ANNOTATION, warnings);
    case EVENT_PYTHON:
        return TYPE_PYTHON;
    case EVENT_PYTHON_FUNCTION:
        return python_function_type(sel, flags);
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
    case EVENT_FLOW_FWDBWD:
    case EVENT_FLOW:
        break;
    }
    return TYPE_NONE;
}

/* Lightning's names without their prefix; of a module, what follows its type (section 3). A name
 * without a type stays whole (section 21). */
static bool strip_lightning_name(struct selection *sel, uint32_t event)
{
    const char *name = names_text(&sel->names, sel->own_name[event]);
    bool is_module = sel->type[event] == TYPE_PL_MODULE;
    name += strlen(is_module ? PL_MODULE_PREFIX : PL_PROFILE_PREFIX);
    const char *after_type = is_module ? strstr(name, ": ") : NULL;
    name = after_type == NULL ? name : after_type + 2;
    sel->own_name[event] = names_intern(&sel->names, name, strlen(name));
    return sel->own_name[event] != STRTAB_NONE;
}

static bool classify(struct selection *sel, struct warnings *warnings)
{
    const struct trace *trace = sel->trace;
    for (uint32_t i = 0; i < trace->events.count; i++) {
        enum event_type type = type_of(sel, i, warnings);
        sel->type[i] = (uint8_t)type;
        sel->type_count[type]++;
        if (type == TYPE_NONE) {
            continue;
        }
        bool is_lightning = type == TYPE_PL_MODULE || type == TYPE_PL_PROFILE;
        if (is_lightning && !strip_lightning_name(sel, i)) {
            return false;
        }
        /* What users call their modules tells nothing. */
        uint32_t name_flags = names_flags(&sel->names, sel->name[i]);
        sel->seen_names |= type == TYPE_PL_MODULE ? 0 : name_flags;
    }
    return true;
}

static bool order_events(struct selection *sel)
{
    const struct trace *trace = sel->trace;
    uint32_t kept = trace->events.count - sel->type_count[TYPE_NONE];
    sel->order = scratch_alloc(kept, sizeof *sel->order);
    if (sel->order == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < trace->events.count; i++) {
        if (sel->type[i] != TYPE_NONE) {
            int64_t end_ns = ns_add(trace->events.ts_ns[i], trace_dur_ns(&trace->events, i));
            sel->last_ns = sel->order_count == 0 ? end_ns : ns_max(sel->last_ns, end_ns);
            sel->order[sel->order_count++] = i;
        }
    }
    if (!sort_by_key(sel->order, sel->order_count, trace->events.ts_ns)) {
        return false;
    }
    sel->first_ns = sel->order_count == 0 ? 0 : trace->events.ts_ns[sel->order[0]];
    return true;
}

static bool has_mlu(const struct trace *trace)
{
    return trace->device_count > 0 && (trace->devices[0].has & DEVICE_HAS_NAME) != 0 &&
           begins(trace->devices[0].name, "MLU");
}

bool select_can_round(const struct selection *sel)
{
    return sel->trace->decimal_times && ns_sub(sel->last_ns, sel->first_ns) < ROUNDED_SPAN_NS;
}

bool select_events(struct selection *sel,
                   const struct trace *trace,
                   bool rounded,
                   struct warnings *warnings)
{
    uint32_t count = trace->events.count;
    *sel = (struct selection){.trace = trace, .name = trace->events.name, .rounded = rounded};
    sel->lightning = trace->framework != NULL && strcmp(trace->framework, "pytorch-lightning") == 0;
    sel->mlu = has_mlu(trace);
    sel->type = scratch_alloc(count, sizeof *sel->type);
    if (sel->type == NULL || !names_init(&sel->names, trace->strings)) {
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
    return classify(sel, warnings) && order_events(sel);
}

void select_free(struct selection *sel)
{
    names_free(&sel->names);
    scratch_free(sel->type);
    scratch_free(sel->order);
    scratch_free(sel->own_name);
    *sel = (struct selection){0};
}

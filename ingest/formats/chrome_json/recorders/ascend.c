#include "ingest/formats/chrome_json/recorders/ascend.h"

#include "ingest/base/containers/key_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/text/affix.h"
#include "ingest/formats/chrome_json/recorders/flow_links.h"

#include <string.h>

enum place { PLACE_NONE, PLACE_DEVICE, PLACE_CANN, PLACE_COLLECTIVES, PLACE_OVERLAP };

struct ascend {
    struct trace *trace;
    uint8_t *place;        /* by string id of a process: enum place */
    bool *is_group;        /* by track: a group of collectives */
    struct key_map starts; /* track and time of device work that an operator launched */
    uint16_t kernel, communication, copy, other, call, step, result, host; /* categories */
    int64_t device;
    int64_t linked;
};

static const char *text_at(const struct trace *trace, uint32_t id)
{
    const char *text = strtab_text(trace->strings, id);
    return text == NULL ? "" : text;
}

/* ---- processes and threads ---- */

static enum place place_of(const char *process)
{
    static const struct {
        const char *name;
        enum place place;
    } places[] = {
        {"Ascend Hardware", PLACE_DEVICE},   {"CANN", PLACE_CANN},
        {"HCCL", PLACE_COLLECTIVES},         {"Communication", PLACE_COLLECTIVES},
        {"Overlap Analysis", PLACE_OVERLAP},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (strcmp(process, places[i].name) == 0) {
            return places[i].place;
        }
    }
    return PLACE_NONE;
}

static bool names_ascend(const struct trace *trace)
{
    uint32_t process_name = strtab_find(trace->strings, "process_name", strlen("process_name"));
    for (uint32_t i = 0; i < trace->label_count; i++) {
        enum place place = trace->labels[i].kind_name == process_name
                               ? place_of(text_at(trace, trace->labels[i].label))
                               : PLACE_NONE;
        if (place == PLACE_DEVICE || place == PLACE_CANN) {
            return true;
        }
    }
    return false;
}

/* What was said of it as a task. */
static struct kernel_args task_args(const struct trace *trace, uint32_t event)
{
    uint32_t index = trace->events.args[event];
    return index < trace->kernel_args_count ? trace->kernel_args[index] : trace_no_kernel_args();
}

/* Of an event whose process has no name, as where the file breaks off before the names: device work
 * has a type of task, a call of CANN begins a flow to it. */
static enum place place_by_event(const struct trace *trace, uint32_t event)
{
    const struct trace_events *events = &trace->events;
    const char *category = text_at(trace, trace->categories[trace_category(events, event)]);
    if (trace_phase(events, event) == 's') {
        return strcmp(category, "HostToDevice") == 0 ? PLACE_CANN : PLACE_NONE;
    }
    bool is_task = trace_phase(events, event) == 'X' &&
                   (trace_flags(events, event) & EVENT_NO_CATEGORY) != 0 &&
                   task_args(trace, event).kernel_type != STRTAB_NONE;
    return is_task ? PLACE_DEVICE : PLACE_NONE;
}

/* Whether the file has lost all its names of processes and is Ascend's by its events. */
static bool lost_names(const struct trace *trace)
{
    uint32_t process_name = strtab_find(trace->strings, "process_name", strlen("process_name"));
    for (uint32_t i = 0; i < trace->label_count; i++) {
        if (trace->labels[i].kind_name == process_name) {
            return false;
        }
    }
    for (uint32_t i = 0; i < trace->events.count; i++) {
        if (place_by_event(trace, i) == PLACE_DEVICE) {
            return true;
        }
    }
    return false;
}

static void find_places_by_events(struct ascend *a)
{
    const struct trace *trace = a->trace;
    for (uint32_t i = 0; i < trace->events.count; i++) {
        enum place place = place_by_event(trace, i);
        if (place != PLACE_NONE) {
            uint32_t track = trace_event_track(&trace->events, i);
            a->place[trace->tracks[track].pid_text] = (uint8_t)place;
        }
    }
}

static bool find_places(struct ascend *a)
{
    const struct trace *trace = a->trace;
    uint32_t process_name = strtab_find(trace->strings, "process_name", strlen("process_name"));
    uint32_t thread_name = strtab_find(trace->strings, "thread_name", strlen("thread_name"));
    a->place = scratch_calloc(strtab_count(trace->strings), sizeof *a->place);
    a->is_group = scratch_calloc(trace->track_count, sizeof *a->is_group);
    if (a->place == NULL || a->is_group == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < trace->label_count; i++) {
        const struct trace_label *label = &trace->labels[i];
        const char *text = text_at(trace, label->label);
        if (label->kind_name == process_name) {
            a->place[trace->tracks[label->track].pid_text] = (uint8_t)place_of(text);
        } else if (label->kind_name == thread_name) {
            a->is_group[label->track] = strncmp(text, "Group", strlen("Group")) == 0;
        }
    }
    return true;
}

static struct key start_of(uint32_t track, int64_t ts_ns)
{
    return (struct key){{track, (uint32_t)ts_ns, (uint32_t)((uint64_t)ts_ns >> 32), 0}};
}

/* Ends of flows from an operator stand where the work that it launched starts. */
static bool find_starts(struct ascend *a)
{
    const struct trace *trace = a->trace;
    const struct trace_events *events = &trace->events;
    bool ok = true;
    for (uint32_t i = 0; ok && i < events->count; i++) {
        const char *category = text_at(trace, trace->categories[trace_category(events, i)]);
        if (trace_phase(events, i) == 'f' && strcmp(category, "async_npu") == 0) {
            const struct key key = start_of(trace_event_track(events, i), events->ts_ns[i]);
            ok = key_map_add(&a->starts, key) != KEY_MAP_NONE;
        }
    }
    return ok;
}

static bool add_categories(struct ascend *a)
{
    struct {
        uint16_t *category;
        const char *text;
    } const wanted[] = {
        {&a->kernel, "kernel"},          {&a->communication, "communication"},
        {&a->copy, "gpu_memcpy"},        {&a->other, "device_other"},
        {&a->call, "cuda_runtime"},      {&a->step, "user_annotation"},
        {&a->result, "recorder_result"}, {&a->host, "host"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        uint32_t category = trace_add_category(a->trace, wanted[i].text, strlen(wanted[i].text));
        if (category == UINT32_MAX) {
            return false;
        }
        *wanted[i].category = (uint16_t)category;
    }
    return true;
}

/* ---- events ---- */

static enum event_kind kind_of_task(const char *type)
{
    static const char *const kernels[] = {
        "AI_CORE",       "AI_VECTOR_CORE", "AI_CPU",       "AICPU",          "AIC",
        "AIV",           "MIX_AIC",        "MIX_AIV",      "DSA_SQE",        "FFTS_PLUS",
        "KERNEL_AICORE", "KERNEL_AIVEC",   "KERNEL_AICPU", "KERNEL_MIX_AIC", "KERNEL_MIX_AIV"};
    static const char *const copies[] = {"SDMA_SQE", "PCIE_DMA_SQE", "MEMCPY_ASYNC"};
    if (TEXT_IS_ONE_OF(type, kernels)) {
        return EVENT_KERNEL;
    }
    return TEXT_IS_ONE_OF(type, copies) ? EVENT_MEMCPY : EVENT_OTHER;
}

static bool set_class(struct ascend *a, uint32_t event, enum event_kind kind, uint16_t category)
{
    struct event_class class = *trace_event_class(&a->trace->events, event);
    class.category = category;
    class.kind = (uint8_t)kind;
    class.flags = (uint8_t)(class.flags & ~EVENT_NO_CATEGORY);
    return trace_set_class(a->trace, event, class);
}

static bool
set_device_work(struct ascend *a, uint32_t event, enum event_kind kind, uint16_t category)
{
    struct trace *trace = a->trace;
    uint32_t track = trace_event_track(&trace->events, event);
    const struct key start = start_of(track, trace->events.ts_ns[event]);
    const struct trace_track *place = &trace->tracks[track];
    struct kernel_args args = task_args(trace, event);
    args.kernel_type = STRTAB_NONE;
    args.device = a->device;
    args.stream = place->tid_int_valid ? place->tid_int : TRACE_NO_ID;
    uint32_t index = trace_add_kernel_args(trace, &args);
    a->linked += key_map_find(&a->starts, start) != KEY_MAP_NONE;
    trace->events.args[event] = index;
    return index != UINT32_MAX && set_class(a, event, kind, category);
}

static bool set_task(struct ascend *a, uint32_t event)
{
    enum event_kind kind = kind_of_task(text_at(a->trace, task_args(a->trace, event).kernel_type));
    if (kind != EVENT_OTHER) {
        return set_device_work(a, event, kind, kind == EVENT_KERNEL ? a->kernel : a->copy);
    }
    return set_class(a, event, EVENT_OTHER, a->other);
}

/* The names of PyTorch's categories say nothing here [FMT-1.2a]. */
static bool set_other(struct ascend *a, uint32_t event)
{
    const struct trace_events *events = &a->trace->events;
    if (trace_kind(events, event) == EVENT_OTHER) {
        return true;
    }
    events->args[event] = TRACE_NO_ARGS;
    return set_class(a, event, EVENT_OTHER, a->host);
}

/* An event by where it stands. */
static bool set_placed(struct ascend *a, uint32_t event)
{
    struct trace_events *events = &a->trace->events;
    uint32_t track = trace_event_track(events, event);
    switch ((enum place)a->place[a->trace->tracks[track].pid_text]) {
    case PLACE_CANN:
        events->args[event] = TRACE_NO_ARGS;
        return set_class(a, event, EVENT_RUNTIME, a->call);
    case PLACE_DEVICE:
        return set_task(a, event);
    case PLACE_COLLECTIVES:
        return a->is_group[track] ? set_device_work(a, event, EVENT_KERNEL, a->communication)
                                  : set_class(a, event, EVENT_OTHER, a->other);
    case PLACE_OVERLAP:
        return set_class(a, event, EVENT_OTHER, a->result);
    default:
        return set_other(a, event);
    }
}

/* Of those that the table says are the host's, wherever they stand. */
static bool is_of_host(const char *category)
{
    static const char *const categories[] = {"enqueue", "dequeue", "python_function"};
    return TEXT_IS_ONE_OF(category, categories);
}

static bool set_event(struct ascend *a, uint32_t event)
{
    const struct trace_events *events = &a->trace->events;
    const char *name = text_at(a->trace, events->name[event]);
    if (trace_phase(events, event) != 'X') {
        return true;
    }
    if (trace_kind(events, event) == EVENT_OPERATOR) {
        bool is_step = strncmp(name, "ProfilerStep#", strlen("ProfilerStep#")) == 0;
        return !is_step || set_class(a, event, EVENT_USER_ANNOTATION, a->step);
    }
    const char *category = text_at(a->trace, a->trace->categories[trace_category(events, event)]);
    return is_of_host(category) || set_placed(a, event);
}

/* ---- the whole ---- */

static bool tell_recorder(struct ascend *a)
{
    struct recorded *recorded = arena_calloc(&a->trace->arena, 1, sizeof *recorded);
    if (recorded == NULL) {
        return false;
    }
    if (a->trace->recorded != NULL) {
        *recorded = *a->trace->recorded;
    }
    recorded->recorder = ASCEND_RECORDER;
    recorded->linked = a->linked;
    a->trace->recorded = recorded;
    a->trace->warnings.by_code[WARN_NO_CATEGORY] = (struct warning_count){.count = 0};
    return true;
}

/* Which operator and which call launched device work [FMT-1.2b]. */
static bool link_work(struct trace *trace)
{
    static const struct flow_links of_operators = {"async_npu", EVENT_OPERATOR,
                                                   trace_set_external_id};
    static const struct flow_links of_calls = {"HostToDevice", EVENT_RUNTIME,
                                               trace_set_correlation};
    return flow_links_set(trace, &of_operators) && flow_links_set(trace, &of_calls);
}

bool ascend_settle(struct trace *trace)
{
    struct ascend a = {.trace = trace};
    bool is_nameless = lost_names(trace);
    if (!is_nameless && !names_ascend(trace)) {
        return true;
    }
    a.device = trace->distributed_rank == TRACE_NO_ID ? 0 : trace->distributed_rank;
    key_map_init(&a.starts);
    bool ok = find_places(&a) && find_starts(&a) && add_categories(&a);
    if (ok && is_nameless) {
        find_places_by_events(&a);
    }
    for (uint32_t i = 0; ok && i < trace->events.count; i++) {
        ok = set_event(&a, i);
    }
    ok = ok && link_work(trace) && tell_recorder(&a);
    key_map_free(&a.starts);
    SCRATCH_FREE(a.place, a.is_group);
    return ok;
}

#include "ingest/formats/chrome_json/recorders/autograd.h"

#include "ingest/base/text/affix.h"
#include "ingest/formats/chrome_json/recorders/flow_links.h"

#include <string.h>

#define HOST_PROCESS "CPU functions"
#define DEVICE_PROCESS "CUDA functions"

struct autograd {
    struct trace *trace;
    const struct op_args *no_args;
    uint32_t host, device;           /* names of the processes; STRTAB_NONE: none is called so */
    uint16_t operator, step, kernel; /* categories */
    uint64_t placed;
};

static bool add_categories(struct autograd *a)
{
    const struct {
        const char *name;
        uint16_t *category;
    } wanted[] = {{"cpu_op", &a->operator}, {"user_annotation", &a->step}, {"kernel", &a->kernel}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        uint32_t category = trace_add_category(a->trace, wanted[i].name, strlen(wanted[i].name));
        if (category == UINT32_MAX) {
            return false;
        }
        *wanted[i].category = (uint16_t)category;
    }
    return true;
}

/* Device events stand on a thread whose number is the device's. */
static uint32_t add_kernel_args(struct autograd *a, const struct trace_track *track)
{
    struct kernel_args args = trace_no_kernel_args();
    args.device = track->tid_int_valid ? track->tid_int : TRACE_NO_ID;
    return trace_add_kernel_args(a->trace, &args);
}

static bool place(struct autograd *a, uint32_t event, const struct trace_track *track)
{
    struct event_class class = *trace_event_class(&a->trace->events, event);
    bool is_kernel = track->pid_text == a->device;
    const char *name = strtab_text(a->trace->strings, a->trace->events.name[event]);
    bool is_step = !is_kernel && name != NULL && text_begins(name, "ProfilerStep#");
    class.category = is_kernel ? a->kernel : is_step ? a->step : a->operator;
    class.kind = is_kernel ? EVENT_KERNEL : is_step ? EVENT_USER_ANNOTATION : EVENT_OPERATOR;
    class.flags = (uint8_t)(class.flags & ~EVENT_NO_CATEGORY);
    uint32_t args = is_kernel ? add_kernel_args(a, track) : trace_add_op_args(a->trace, a->no_args);
    a->trace->events.args[event] = args;
    a->placed++;
    return args != UINT32_MAX && trace_set_class(a->trace, event, class);
}

bool autograd_settle(struct trace *trace, const struct op_args *no_args)
{
    const struct trace_events *events = &trace->events;
    struct warning_count *warned = &trace->warnings.by_code[WARN_NO_CATEGORY];
    struct autograd a = {.trace = trace,
                         .no_args = no_args,
                         .host = strtab_find(trace->strings, HOST_PROCESS, strlen(HOST_PROCESS)),
                         .device =
                             strtab_find(trace->strings, DEVICE_PROCESS, strlen(DEVICE_PROCESS))};
    if (warned->count == 0 || (a.host == STRTAB_NONE && a.device == STRTAB_NONE)) {
        return true;
    }
    bool ok = add_categories(&a);
    for (uint32_t i = 0; ok && i < events->count; i++) {
        const struct trace_track *track = &trace->tracks[trace_event_track(events, i)];
        bool is_known = track->pid_text != STRTAB_NONE &&
                        (track->pid_text == a.host || track->pid_text == a.device);
        bool is_bare =
            trace_phase(events, i) == 'X' && (trace_flags(events, i) & EVENT_NO_CATEGORY) != 0;
        ok = !is_known || !is_bare || place(&a, i, track);
    }
    /* An arrow begins where the operator does, and ends where the kernel does. */
    static const struct flow_links arrows = {"cpu_to_cuda", EVENT_OPERATOR, trace_set_external_id};
    ok = ok && flow_links_set(trace, &arrows);
    if (ok && a.placed >= warned->count) {
        *warned = (struct warning_count){.count = 0};
    }
    return ok;
}

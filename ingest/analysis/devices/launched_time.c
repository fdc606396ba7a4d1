#include "ingest/analysis/classify/times.h"
#include "ingest/analysis/devices/devices.h"

void launched_time_add(struct launched_time *launched,
                       struct event_classes *sel,
                       bool is_bottom_eligible,
                       uint32_t kernel_event)
{
    int64_t duration = times_duration(sel, kernel_event);
    launched->has_kernels = true;
    launched->total = saturating_add(launched->total, duration);
    if (is_bottom_eligible) {
        launched->bottom_eligible = saturating_add(launched->bottom_eligible, duration);
    }
    int64_t id = kernel_counts_for(sel, kernel_event);
    if (id < 0 || id >= KERNEL_DEVICES) {
        return;
    }
    uint32_t name_flags = names_kernel_flags(&sel->names, sel->name[kernel_event]);
    launched->device[id] = saturating_add(launched->device[id], duration);
    if (name_flags & NAME_TENSOR_KERNEL) {
        launched->device_tensor[id] = saturating_add(launched->device_tensor[id], duration);
    }
}

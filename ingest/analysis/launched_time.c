#include "ingest/analysis/devices.h"
#include "ingest/analysis/times.h"

struct summing {
    struct launched_time *launched;
    const struct op_tree *tree;
    bool is_bottom_eligible;
};

static bool see_kernel(void *ctx, uint32_t event, uint32_t owner)
{
    struct summing *s = ctx;
    struct selection *sel = s->tree->sel;
    struct launched_time *launched = s->launched;
    int64_t duration = times_duration(sel, event);
    (void)owner;
    launched->has_kernels = true;
    launched->total = ns_add(launched->total, duration);
    if (s->is_bottom_eligible) {
        launched->bottom_eligible = ns_add(launched->bottom_eligible, duration);
    }
    int64_t id = kernel_device(sel->trace, event);
    if (id < 0 || id >= KERNEL_DEVICES) {
        return true;
    }
    uint32_t name_flags = names_kernel_flags(&sel->names, sel->name[event]);
    launched->device[id] = ns_add(launched->device[id], duration);
    if (name_flags & NAME_TC_KERNEL) {
        launched->device_tc[id] = ns_add(launched->device_tc[id], duration);
    }
    if (name_flags & NAME_TENSOR_KERNEL) {
        launched->device_tensor[id] = ns_add(launched->device_tensor[id], duration);
    }
    return true;
}

bool launched_time_sum(struct launched_time *launched,
                       const struct op_tree *tree,
                       const struct visits *visits)
{
    *launched = (struct launched_time){0};
    struct summing s = {.launched = launched, .tree = tree};
    for (size_t i = 0; i < visits->count; i++) {
        uint32_t visit = visits->items[i];
        if (visit & VISIT_ROOT) {
            continue;
        }
        uint16_t flags = tree->nodes[visit].flags;
        if (flags & OP_REAL) {
            s.is_bottom_eligible = (flags & OP_TC) != 0 && (flags & OP_ELIGIBLE_BELOW) == 0;
            if (!visits_kernels(tree, visit, see_kernel, &s)) {
                return false;
            }
        }
    }
    return true;
}

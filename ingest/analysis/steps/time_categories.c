#include "ingest/analysis/classify/tb_clock.h"
#include "ingest/analysis/steps/steps.h"

static inline bool add_event(struct ranges *list, const struct event_classes *sel, uint32_t event)
{
    int64_t start = tb_clock_start(sel, event);
    return ranges_merge(list, start, tb_clock_end(sel, event));
}

/* TIME_CATEGORY_COUNT: none. An annotation of the device is no work of the host, and stands beside
 * the work that it names. */
static enum time_category
role_of_host(const struct event_classes *sel, const bool *communicates, uint32_t event)
{
    enum event_type type = (enum event_type)sel->type[event];
    bool loads = (sel->names.flags[sel->name[event]] & NAME_LOADER) != 0;
    if (type != TYPE_OPERATOR && type != TYPE_USER_ANNOTATION && type != TYPE_PYTHON) {
        return TIME_CATEGORY_COUNT;
    }
    if (loads && type != TYPE_PYTHON) {
        return TIME_DATALOADER;
    }
    return communicates != NULL && communicates[event] ? TIME_COMMUNICATION : TIME_CPU_EXEC;
}

static bool
add_host(struct time_ranges *roles, const struct event_classes *sel, const bool *communicates)
{
    const struct events_in_time host = sel->lists[LIST_HOST];
    bool ok = true;
    for (uint32_t i = 0; ok && i < host.count; i++) {
        enum time_category role = role_of_host(sel, communicates, host.items[i]);
        ok = role == TIME_CATEGORY_COUNT || add_event(&roles->by_role[role], sel, host.items[i]);
    }
    return ok;
}

static bool add_runtimes(struct time_ranges *roles, const struct event_classes *sel)
{
    const struct events_in_time runtimes = sel->lists[LIST_RUNTIME];
    struct ranges *list = &roles->by_role[TIME_RUNTIME];
    bool ok = ranges_reserve(list, runtimes.count);
    for (uint32_t i = 0; ok && i < runtimes.count; i++) {
        ok = add_event(list, sel, runtimes.items[i]);
    }
    return ok;
}

static enum time_category
role_of_device(const struct event_classes *sel, const bool *communicates, uint32_t event)
{
    enum event_type type = (enum event_type)sel->type[event];
    if (type == TYPE_MEMSET) {
        return TIME_MEMSET;
    }
    enum time_category role = type == TYPE_KERNEL ? TIME_KERNEL : TIME_MEMCPY;
    return communicates != NULL && communicates[event] ? TIME_COMMUNICATION : role;
}

/* Of device and host together, each of which is in order. */
static bool join_communication(struct time_ranges *roles, const struct ranges *of_device)
{
    struct ranges of_host = roles->by_role[TIME_COMMUNICATION];
    bool ok = ranges_unite(&roles->by_role[TIME_COMMUNICATION], &of_host, of_device);
    ranges_free(&of_host);
    return ok;
}

static bool
add_devices(struct time_ranges *roles, const struct event_classes *sel, const bool *communicates)
{
    const struct events_in_time work = sel->lists[LIST_DEVICE];
    struct ranges *by_role = roles->by_role;
    struct ranges communication = {0};
    bool ok = ranges_reserve(&by_role[TIME_KERNEL], sel->type_count[TYPE_KERNEL]) &&
              ranges_reserve(&by_role[TIME_MEMCPY], sel->type_count[TYPE_MEMCPY]) &&
              ranges_reserve(&by_role[TIME_MEMSET], sel->type_count[TYPE_MEMSET]);
    for (uint32_t i = 0; ok && i < work.count; i++) {
        enum time_category role = role_of_device(sel, communicates, work.items[i]);
        struct ranges *list = role == TIME_COMMUNICATION ? &communication : &by_role[role];
        ok = add_event(list, sel, work.items[i]);
    }
    ok = ok && (communication.count == 0 || join_communication(roles, &communication));
    ranges_free(&communication);
    return ok;
}

bool time_ranges_collect(struct time_ranges *roles,
                         const struct event_classes *sel,
                         const bool *communicates)
{
    *roles = (struct time_ranges){0};
    return add_host(roles, sel, communicates) && add_runtimes(roles, sel) &&
           add_devices(roles, sel, communicates);
}

void time_ranges_free(struct time_ranges *roles)
{
    for (int role = 0; role < TIME_CATEGORY_COUNT; role++) {
        ranges_free(&roles->by_role[role]);
    }
}

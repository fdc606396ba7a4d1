#include "ingest/analysis/classify/times.h"
#include "ingest/analysis/steps/steps.h"
#include "ingest/base/memory/scratch.h"

static uint8_t category_of_host(const struct event_classes *sel, uint32_t event, uint8_t plain)
{
    enum index_class type = (enum index_class)sel->class[event];
    uint32_t flags = sel->names.flags[sel->name[event]];
    bool loads = (flags & NAME_LOADER) != 0;
    switch (type) {
    case INDEX_OPERATOR:
    case INDEX_ANNOTATION:
        if (loads) {
            return TIME_DATALOADER;
        }
        break;
    case INDEX_PYTHON:
        break;
    case INDEX_DEVICE_ANNOTATION:
        flags |= (flags & NAME_OUR_COLLECTIVE) != 0 ? NAME_COLLECTIVE : 0;
        break;
    default:
        return plain;
    }
    return (flags & NAME_COLLECTIVE) != 0 ? TIME_COMMUNICATION : plain;
}

uint8_t *time_categories_find(const struct event_classes *sel)
{
    static const uint8_t plain[INDEX_CLASS_COUNT] = {
        [INDEX_OTHER] = TIME_OTHER,
        [INDEX_MEMORY] = TIME_OTHER,
        [INDEX_UNKNOWN] = TIME_OTHER,
        [INDEX_OPERATOR] = TIME_CPU_EXEC,
        [INDEX_PYTHON] = TIME_CPU_EXEC,
        [INDEX_STEP] = TIME_OTHER,
        [INDEX_ANNOTATION] = TIME_CPU_EXEC,
        [INDEX_MODULE] = TIME_CPU_EXEC,
        [INDEX_FUNCTION] = TIME_CPU_EXEC,
        [INDEX_PROFILE] = TIME_OTHER,
        [INDEX_SPAN] = TIME_OTHER,
        [INDEX_RUNTIME_CALL] = TIME_RUNTIME,
        [INDEX_DRIVER_CALL] = TIME_RUNTIME,
        [INDEX_KERNEL] = TIME_KERNEL,
        [INDEX_MEMCPY] = TIME_MEMCPY,
        [INDEX_MEMSET] = TIME_MEMSET,
        [INDEX_DEVICE_ROW] = TIME_KERNEL,
        [INDEX_DEVICE_WAIT] = TIME_OTHER,
        [INDEX_DEVICE_ANNOTATION] = TIME_OTHER,
    };
    uint32_t count = sel->trace->events.count;
    const uint8_t *type = sel->class;
    uint8_t *categories = scratch_alloc(count, sizeof *categories);
    for (uint32_t i = 0; categories != NULL && i < count; i++) {
        categories[i] = plain[type[i]];
    }
    const uint32_t telling = NAME_LOADER | NAME_COLLECTIVE | NAME_OUR_COLLECTIVE;
    const struct events_in_time host = sel->lists[LIST_HOST];
    bool asks_names = categories != NULL && (sel->seen_names & telling) != 0;
    for (uint32_t i = 0; asks_names && i < host.count; i++) {
        uint32_t event = host.items[i];
        if (KS_UNLIKELY((sel->names.flags[sel->name[event]] & telling) != 0)) {
            categories[event] = category_of_host(sel, event, categories[event]);
        }
    }
    return categories;
}

/* ---- ranges ---- */

/* Modules, steps, Python functions, spans and annotations of the device stand beside what they
 * hold. */
static const bool is_counted[INDEX_CLASS_COUNT] = {
    [INDEX_OPERATOR] = true,     [INDEX_ANNOTATION] = true,  [INDEX_PYTHON] = true,
    [INDEX_RUNTIME_CALL] = true, [INDEX_DRIVER_CALL] = true, [INDEX_KERNEL] = true,
    [INDEX_MEMCPY] = true,       [INDEX_MEMSET] = true,
};

/* Of host and device together, each of which is in order. */
static bool join_communication(struct time_ranges *roles, const struct ranges *of_device)
{
    struct ranges of_host = roles->by_role[TIME_COMMUNICATION];
    bool ok = ranges_unite(&roles->by_role[TIME_COMMUNICATION], &of_host, of_device);
    ranges_free(&of_host);
    return ok;
}

bool time_ranges_collect(struct time_ranges *roles,
                         const struct event_classes *sel,
                         const uint8_t *categories,
                         bool host_communicates)
{
    static const enum event_list LISTS[] = {LIST_HOST, LIST_RUNTIME, LIST_DEVICE};
    struct ranges of_device = {0};
    bool ok = true;
    *roles = (struct time_ranges){0};
    for (size_t k = 0; k < sizeof LISTS / sizeof *LISTS; k++) {
        const struct events_in_time list = sel->lists[LISTS[k]];
        bool is_device = LISTS[k] == LIST_DEVICE;
        for (uint32_t i = 0; ok && i < list.count; i++) {
            uint32_t event = list.items[i];
            if (!is_counted[sel->class[event]]) {
                continue;
            }
            bool communicates = categories[event] == TIME_COMMUNICATION;
            bool is_work = communicates && !is_device && !host_communicates;
            struct ranges *into = &roles->by_role[is_work ? TIME_CPU_EXEC : categories[event]];
            into = communicates && is_device ? &of_device : into;
            int64_t start = times_start(sel, event);
            ok = ranges_merge(into, start, times_end(sel, event));
        }
    }
    ok = ok && (of_device.count == 0 || join_communication(roles, &of_device));
    ranges_free(&of_device);
    return ok;
}

void time_ranges_free(struct time_ranges *roles)
{
    for (int role = 0; role < TIME_CATEGORY_COUNT; role++) {
        ranges_free(&roles->by_role[role]);
    }
}

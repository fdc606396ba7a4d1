#include "ingest/analysis/scratch.h"
#include "ingest/analysis/steps.h"
#include "ingest/analysis/times.h"

/* What tells collectives. */
struct rule {
    const struct comms *comms;
    const bool *communicates; /* by event; NULL: `comms` tells */
    bool finds_any;           /* device work of collectives */
};

static bool communicates(const struct rule *rule, const struct selection *sel, uint32_t event)
{
    if (rule->communicates != NULL) {
        return rule->communicates[event];
    }
    return comm_has_device_event(rule->comms, sel, event);
}

#define TYPES_WITH_ROLE                                                                   \
    (SELECT_TYPES_DEVICE | 1U << TYPE_RUNTIME | 1U << TYPE_OPERATOR | 1U << TYPE_PYTHON | \
     1U << TYPE_USER_ANNOTATION)
/* Of those, before names and rules are asked. */
static const uint8_t PLAIN_ROLE[TYPE_COUNT] = {
    [TYPE_OPERATOR] = ROLE_CPU_EXEC,
    [TYPE_PYTHON] = ROLE_CPU_EXEC,
    [TYPE_USER_ANNOTATION] = ROLE_CPU_EXEC,
    [TYPE_RUNTIME] = ROLE_RUNTIME,
    [TYPE_KERNEL] = ROLE_KERNEL,
    [TYPE_MEMCPY] = ROLE_MEMCPY,
    [TYPE_MEMSET] = ROLE_MEMSET,
};

static enum role host_role(enum event_type type, uint32_t name_flags)
{
    if ((name_flags & NAME_LOADER) != 0 && type != TYPE_PYTHON) {
        return ROLE_DATALOADER;
    }
    return name_flags & NAME_COLLECTIVE ? ROLE_COMMUNICATION : ROLE_CPU_EXEC;
}

static enum role role_of(const struct selection *sel, const struct rule *rule, uint32_t event)
{
    enum event_type type = (enum event_type)sel->type[event];
    enum role role = (enum role)PLAIN_ROLE[type];
    uint32_t name_flags = sel->names.flags[sel->name[event]];
    bool is_plain = (name_flags & (NAME_LOADER | NAME_COLLECTIVE)) == 0 && !rule->finds_any;
    if (KS_LIKELY(is_plain)) {
        return role;
    }
    if (role == ROLE_CPU_EXEC) {
        return host_role(type, name_flags);
    }
    bool can_communicate = role == ROLE_KERNEL || role == ROLE_MEMCPY;
    return can_communicate && communicates(rule, sel, event) ? ROLE_COMMUNICATION : role;
}

/* For what seldom merges. */
static bool reserve(struct roles *roles, const uint32_t type_count[TYPE_COUNT])
{
    struct ranges *by_role = roles->by_role;
    return ranges_reserve(&by_role[ROLE_KERNEL], type_count[TYPE_KERNEL]) &&
           ranges_reserve(&by_role[ROLE_MEMCPY], type_count[TYPE_MEMCPY]) &&
           ranges_reserve(&by_role[ROLE_MEMSET], type_count[TYPE_MEMSET]) &&
           ranges_reserve(&by_role[ROLE_RUNTIME], type_count[TYPE_RUNTIME]);
}

bool roles_collect(struct roles *roles,
                   const struct selection *sel,
                   const struct comms *comms,
                   const bool *by_our_rule)
{
    const struct rule rule = {comms, by_our_rule,
                              by_our_rule != NULL || comms->by_external_id.count != 0};
    *roles = (struct roles){0};
    if (!reserve(roles, sel->type_count)) {
        return false;
    }
    uint32_t count;
    uint32_t *events = select_of_types(sel, TYPES_WITH_ROLE, &count);
    bool ok = events != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        struct ranges *list = &roles->by_role[role_of(sel, &rule, events[i])];
        ok = ranges_merge(list, times_start(sel, events[i]), times_end(sel, events[i]));
    }
    scratch_free(events);
    return ok;
}

void roles_free(struct roles *roles)
{
    for (int role = 0; role < ROLE_COUNT; role++) {
        ranges_free(&roles->by_role[role]);
    }
}

#include "ingest/analysis/steps.h"
#include "ingest/analysis/times.h"

static enum role host_role(uint32_t name_flags, bool may_load)
{
    if (may_load && (name_flags & NAME_LOADER) != 0) {
        return ROLE_DATALOADER;
    }
    return name_flags & NAME_COLLECTIVE ? ROLE_COMMUNICATION : ROLE_CPU_EXEC;
}

/* What tells collectives. */
struct rule {
    const struct comms *comms;
    const bool *communicates; /* by event; NULL: `comms` tells */
};

static bool communicates(const struct rule *rule, const struct selection *sel, uint32_t event)
{
    if (rule->communicates != NULL) {
        return rule->communicates[event];
    }
    return rule->comms->by_external_id.count != 0 && comm_has_device_event(rule->comms, sel, event);
}

/* ROLE_COUNT: none. */
static enum role role_of(const struct selection *sel, const struct rule *rule, uint32_t event)
{
    switch ((enum event_type)sel->type[event]) {
    case TYPE_KERNEL:
        return communicates(rule, sel, event) ? ROLE_COMMUNICATION : ROLE_KERNEL;
    case TYPE_MEMCPY:
        return communicates(rule, sel, event) ? ROLE_COMMUNICATION : ROLE_MEMCPY;
    case TYPE_MEMSET:
        return ROLE_MEMSET;
    case TYPE_RUNTIME:
        return ROLE_RUNTIME;
    case TYPE_OPERATOR:
    case TYPE_USER_ANNOTATION:
        return host_role(sel->names.flags[sel->name[event]], true);
    case TYPE_PYTHON:
        return host_role(sel->names.flags[sel->name[event]], false);
    case TYPE_NONE:
    case TYPE_PROFILER_STEP:
    case TYPE_MODULE:
    case TYPE_PL_MODULE:
    case TYPE_PL_PROFILE:
    case TYPE_PYTHON_FUNCTION:
    case TYPE_TRACE_SPAN:
    case TYPE_MEMORY:
    case TYPE_COUNT:
        break;
    }
    return ROLE_COUNT;
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
    const struct rule rule = {comms, by_our_rule};
    *roles = (struct roles){0};
    if (!reserve(roles, sel->type_count)) {
        return false;
    }
    for (uint32_t i = 0; i < sel->order_count; i++) {
        uint32_t event = sel->order[i];
        enum role role = role_of(sel, &rule, event);
        if (role == ROLE_COUNT) {
            continue;
        }
        int64_t start = times_start(sel, event);
        if (!ranges_merge(&roles->by_role[role], start, times_end(sel, event))) {
            return false;
        }
    }
    return true;
}

void roles_free(struct roles *roles)
{
    for (int role = 0; role < ROLE_COUNT; role++) {
        ranges_free(&roles->by_role[role]);
    }
}

#include "ingest/formats/rocprof/values.h"

#include "ingest/formats/relay/relay.h"

int64_t rocprof_number(const struct json_value *object, const char *name, int64_t none)
{
    struct json_value value;
    return json_walk_find(object, name, &value) ? json_walk_int(&value, none) : none;
}

/* {"name": {"member": 7}} */
int64_t rocprof_inner_number(const struct json_value *object, const char *name, const char *member)
{
    struct json_value inner;
    return json_walk_find(object, name, &inner) ? rocprof_number(&inner, member, RELAY_NONE)
                                                : RELAY_NONE;
}

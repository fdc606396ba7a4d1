#include "ingest/formats/rocprof/values.h"

#include "ingest/formats/relay/relay.h"

/* The member of an object; false: it has none. */
bool rocprof_find(const struct json_value *object, const char *name, struct json_value *out)
{
    struct json_walk walk = json_walk_of(object);
    struct json_value key;
    if (object->kind != JSON_KIND_OBJECT || !json_walk_enter(&walk, '{')) {
        return false;
    }
    while (json_walk_key(&walk, &key)) {
        if (json_walk_text_is(&key, name)) {
            return json_walk_value(&walk, out);
        }
        if (!json_walk_skip(&walk)) {
            return false;
        }
    }
    return false;
}

int64_t rocprof_number(const struct json_value *object, const char *name, int64_t none)
{
    struct json_value value;
    return rocprof_find(object, name, &value) ? json_walk_int(&value, none) : none;
}

/* {"name": {"member": 7}} */
int64_t rocprof_inner_number(const struct json_value *object, const char *name, const char *member)
{
    struct json_value inner;
    return rocprof_find(object, name, &inner) ? rocprof_number(&inner, member, RELAY_NONE)
                                              : RELAY_NONE;
}

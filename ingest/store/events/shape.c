#include "ingest/store/events/shape.h"

#include <string.h>

static const char *const field_keys[EVENT_FIELD_COUNT] = {
    [EVENT_NAME] = "name", [EVENT_CATEGORY] = "cat", [EVENT_PHASE] = "ph", [EVENT_PID] = "pid",
    [EVENT_TID] = "tid",   [EVENT_TS] = "ts",        [EVENT_DUR] = "dur",
};

enum event_field event_field_of(const char *key, size_t len)
{
    if (len >= 2 && key[0] == '"') {
        key++;
        len -= 2;
    }
    int field = 0;
    while (field < EVENT_FIELD_COUNT &&
           (strlen(field_keys[field]) != len || memcmp(field_keys[field], key, len) != 0)) {
        field++;
    }
    return (enum event_field)field;
}

uint32_t event_slot_values(enum event_slot_kind kind)
{
    return kind == EVENT_SLOT_DECIMAL ? 2 : 1;
}

void event_shape_init(struct event_shape *shape,
                      const struct event_template *template,
                      const char *const *keys)
{
    *shape = (struct event_shape){.is_whole = false};
    for (int field = 0; field < EVENT_FIELD_COUNT; field++) {
        shape->value[field] = EVENT_NO_VALUE;
    }
    uint32_t value = 0;
    for (uint32_t i = 0; i < template->slot_count; i++) {
        const struct event_slot *slot = &template->slots[i];
        if (slot->key == EVENT_KEY_NONE) {
            shape->is_whole = true;
        } else if (!slot->in_args) {
            enum event_field field = event_field_of(keys[i], strlen(keys[i]));
            if (field < EVENT_FIELD_COUNT) {
                shape->value[field] = value;
                shape->kind[field] = slot->kind;
            }
        }
        value += event_slot_values((enum event_slot_kind)slot->kind);
    }
}

bool event_slot_is_searched(const struct event_slot *slot, const char *key)
{
    if (slot->key == EVENT_KEY_NONE || slot->in_args) {
        return true;
    }
    enum event_field field = event_field_of(key, strlen(key));
    return field == EVENT_NAME || field == EVENT_CATEGORY;
}

#include "ingest/formats/rocprof/counters.h"

#include "ingest/base/memory/scratch.h"
#include "ingest/formats/json/text.h"
#include "ingest/formats/rocprof/values.h"

/* A dispatch has what fits into one pass of the hardware, or a few. */
#define COUNTERS_MAX 128

struct counted {
    uint32_t name; /* string id */
    double value;
};

bool rocprof_counters_init(struct rocprof_counters *counters)
{
    *counters = (struct rocprof_counters){.count = 0};
    return relay_metrics_init(&counters->metrics);
}

void rocprof_counters_free(struct rocprof_counters *counters)
{
    id_map_free(&counters->names);
    id_map_free(&counters->by_dispatch);
    id_map_free(&counters->dispatches);
    scratch_free(counters->records);
    relay_metrics_free(&counters->metrics);
}

static int64_t dispatch_of(const struct json_value *info)
{
    return rocprof_number(info, "dispatch_id", RELAY_NONE);
}

bool rocprof_counters_note(struct rocprof_counters *counters, const struct json_value *record)
{
    struct json_value dispatch;
    struct json_value info;
    struct json_value values;
    if (!json_walk_find(record, "dispatch_data", &dispatch) ||
        !json_walk_find(&dispatch, "dispatch_info", &info) ||
        !json_walk_find(record, "records", &values)) {
        return true;
    }
    struct json_value *grown =
        scratch_grow(counters->records, counters->count, &counters->cap, sizeof *grown);
    struct id_slot *slot =
        grown == NULL ? NULL : id_map_add(&counters->by_dispatch, dispatch_of(&info));
    counters->records = grown == NULL ? counters->records : grown;
    if (slot == NULL) {
        return false;
    }
    slot->value = (uint32_t)counters->count;
    grown[counters->count++] = values;
    return true;
}

bool rocprof_counters_note_dispatch(struct rocprof_counters *counters,
                                    const struct json_value *info)
{
    return id_map_add(&counters->dispatches, dispatch_of(info)) != NULL;
}

bool rocprof_counters_take(struct rocprof_counters *counters, const struct json_value *info)
{
    bool is_known = id_map_find(&counters->dispatches, dispatch_of(info)) != NULL;
    return !is_known && rocprof_counters_note_dispatch(counters, info);
}

static void add_value(const struct rocprof_counters *counters,
                      const struct json_value *record,
                      struct counted *list,
                      size_t *count)
{
    struct json_value text;
    double value;
    const struct id_slot *name =
        id_map_find(&counters->names, rocprof_inner_number(record, "counter_id", "handle"));
    if (name == NULL || !json_walk_find(record, "value", &text) ||
        !json_text_double(&text, &value)) {
        return;
    }
    for (size_t i = 0; i < *count; i++) {
        if (list[i].name == name->value) {
            list[i].value += value;
            return;
        }
    }
    if (*count < COUNTERS_MAX) {
        list[(*count)++] = (struct counted){.name = name->value, .value = value};
    }
}

void rocprof_counters_write(struct rocprof_counters *counters,
                            const struct strtab *texts,
                            struct relay *relay,
                            const struct relay_event *event,
                            const struct json_value *info)
{
    struct counted list[COUNTERS_MAX];
    struct json_value record;
    size_t count = 0;
    const struct id_slot *slot =
        counters->count == 0 ? NULL : id_map_find(&counters->by_dispatch, dispatch_of(info));
    if (slot == NULL) {
        return;
    }
    struct json_walk walk = json_walk_of(&counters->records[slot->value]);
    if (json_walk_enter(&walk, '[')) {
        while (json_walk_item(&walk) && json_walk_value(&walk, &record)) {
            add_value(counters, &record, list, &count);
        }
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = strtab_text(texts, list[i].name);
        jw_key_double(&relay->args, name, list[i].value);
        relay_metrics_add(&counters->metrics, event->name, event->name_len, name, list[i].value,
                          event->dur_ns);
    }
}

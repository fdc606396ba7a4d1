#include "ingest/analysis/devices/gpus.h"

#include "ingest/analysis/devices/devices.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <stdlib.h>

/* The first entry of the properties with each id: the value is its index. */
static bool index_properties(struct id_map *by_id, const struct trace *trace)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < trace->device_count; i++) {
        const struct device_properties *entry = &trace->devices[i];
        if ((entry->has & DEVICE_HAS_ID) != 0) {
            struct id_slot *slot = id_map_add(by_id, entry->id);
            ok = slot != NULL;
            if (ok && slot->value == ID_MAP_NONE) {
                slot->value = i;
            }
        }
    }
    return ok;
}

/* The properties of a device, once: its row is written with them. NULL: none, or given before. */
static const struct device_properties *
take_properties(const struct id_map *by_id, const struct trace *trace, int64_t id)
{
    struct id_slot *slot = id_map_find(by_id, id);
    if (slot == NULL || slot->value == ID_MAP_NONE) {
        return NULL;
    }
    const struct device_properties *found = &trace->devices[slot->value];
    slot->value = ID_MAP_NONE;
    return found;
}

static bool write_row(struct gpu_row *row,
                      struct arena *arena,
                      int64_t id,
                      const struct device_properties *from)
{
    bool has_memory = (from->has & DEVICE_HAS_TOTAL_MEMORY) != 0;
    *row = (struct gpu_row){.id = id,
                            .memory_bytes = has_memory ? from->total_memory_bytes : INT64_MIN};
    return device_says(from, arena, &row->name, &row->capability);
}

ORDER_BY(compare_rows, struct gpu_row, ORDER_UP(id))

bool gpus_run(struct trace_results *results, const struct event_classes *sel)
{
    const struct trace *trace = sel->trace;
    results->device_property_count = trace->device_count;
    bool *works = scratch_calloc(trace->track_count, sizeof *works);
    results->gpus =
        arena_calloc(&results->arena, (size_t)trace->device_count + 1, sizeof *results->gpus);
    struct id_map by_id;
    id_map_init(&by_id);
    bool ok = works != NULL && results->gpus != NULL && index_properties(&by_id, trace);
    const struct events_in_time work = sel->lists[LIST_DEVICE];
    for (uint32_t i = 0; ok && i < work.count; i++) {
        works[trace_event_track(&trace->events, work.items[i])] = true;
    }
    for (uint32_t t = 0; ok && trace->device_count > 0 && t < trace->track_count; t++) {
        const struct trace_track *track = &trace->tracks[t];
        const struct device_properties *from =
            works[t] && track->pid_is_int ? take_properties(&by_id, trace, track->pid_int) : NULL;
        if (from != NULL) {
            ok = write_row(&results->gpus[results->gpu_count++], &results->arena, track->pid_int,
                           from);
        }
    }
    if (ok) {
        qsort(results->gpus, results->gpu_count, sizeof *results->gpus, compare_rows);
    }
    id_map_free(&by_id);
    scratch_free(works);
    return ok;
}

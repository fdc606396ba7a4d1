#include "ingest/analysis/overview/memory_peaks.h"

#include "ingest/base/containers/id_map.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/saturating.h"

/* By device id, in the order of their first record. */
struct peaks {
    struct id_map by_id;
    struct peak {
        int64_t device, bytes;
    } * items;
    size_t cap;
};

static bool add_peak(struct peaks *peaks, const struct memory_args *record)
{
    uint32_t known = peaks->by_id.count;
    const struct id_slot *slot = id_map_add(&peaks->by_id, record->device_id);
    if (slot == NULL) {
        return false;
    }
    if (slot->index == known) {
        struct peak *grown = scratch_grow(peaks->items, known, &peaks->cap, sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        peaks->items = grown;
        grown[known] = (struct peak){record->device_id, 0};
    }
    struct peak *peak = &peaks->items[slot->index];
    peak->bytes = i64_max(peak->bytes, record->total_allocated_bytes);
    return true;
}

static bool find_peaks(struct peaks *peaks, const struct event_classes *sel)
{
    const uint32_t wanted = MEMORY_HAS_ALLOCATED | MEMORY_HAS_DEVICE_ID;
    const struct events_in_time records = sel->lists[LIST_MEMORY];
    for (uint32_t i = 0; i < records.count; i++) {
        uint32_t args = sel->trace->events.args[records.items[i]];
        if (args == TRACE_NO_ARGS) {
            continue;
        }
        const struct memory_args *record = &sel->trace->memory_args[args];
        if ((record->has & wanted) == wanted && !add_peak(peaks, record)) {
            return false;
        }
    }
    return true;
}

/* deviceProperties[id] as Python counts: negative from the end [TB-9.2]. */
static const struct device_properties *properties_at(const struct trace *trace, int64_t id)
{
    int64_t at = id < 0 ? id + trace->device_count : id;
    return at >= 0 && at < trace->device_count ? &trace->devices[at] : NULL;
}

static void
choose(const struct peaks *peaks, const struct trace *trace, double share, struct memory_peak *out)
{
    for (uint32_t i = 0; i < peaks->by_id.count && out->capacity_bytes == 0; i++) {
        const struct device_properties *device = properties_at(trace, peaks->items[i].device);
        if (device == NULL || (device->has & DEVICE_HAS_TOTAL_MEMORY) == 0) {
            continue;
        }
        double capacity = (double)device->total_memory_bytes;
        double peak = (double)peaks->items[i].bytes;
        if (peak > share * capacity) {
            *out = (struct memory_peak){peaks->items[i].device, peak, capacity};
        }
    }
}

bool memory_peaks_find_full(const struct event_classes *sel, double share, struct memory_peak *out)
{
    struct peaks peaks = {.cap = 0};
    *out = (struct memory_peak){.capacity_bytes = 0};
    id_map_init(&peaks.by_id);
    bool ok = sel->trace->device_count == 0 || find_peaks(&peaks, sel);
    if (ok) {
        choose(&peaks, sel->trace, share, out);
    }
    id_map_free(&peaks.by_id);
    scratch_free(peaks.items);
    return ok;
}

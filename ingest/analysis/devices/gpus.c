#include "ingest/analysis/devices/gpus.h"

#include "ingest/base/memory/scratch.h"

#include <string.h>

/* The first entry of the properties with this id, if a device of that number did work. */
static const struct device_properties *find_properties(const struct trace *trace, int64_t id)
{
    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct device_properties *entry = &trace->devices[i];
        if ((entry->has & DEVICE_HAS_ID) != 0 && entry->id == id) {
            return entry;
        }
    }
    return NULL;
}

static bool write_row(struct gpu_row *row,
                      struct arena *arena,
                      int64_t id,
                      const struct device_properties *from)
{
    *row = (struct gpu_row){.id = id};
    if ((from->has & DEVICE_HAS_TOTAL_MEMORY) != 0) {
        row->memory_bytes = from->total_memory_bytes;
        row->has |= DEVICE_SUM_HAS_MEMORY;
    }
    if ((from->has & DEVICE_HAS_COMPUTE_MAJOR) != 0 &&
        (from->has & DEVICE_HAS_COMPUTE_MINOR) != 0) {
        row->compute_major = from->compute_major;
        row->compute_minor = from->compute_minor;
        row->has |= DEVICE_SUM_HAS_CAPABILITY;
    }
    if ((from->has & DEVICE_HAS_NAME) == 0) {
        return true;
    }
    row->name = arena_strndup(arena, from->name, strlen(from->name));
    return row->name != NULL;
}

static int compare_rows(const void *left, const void *right)
{
    const struct gpu_row *a = left;
    const struct gpu_row *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

static bool is_known(const struct trace_results *results, int64_t id)
{
    for (size_t i = 0; i < results->gpu_count; i++) {
        if (results->gpus[i].id == id) {
            return true;
        }
    }
    return false;
}

bool gpus_run(struct trace_results *results, const struct selection *sel)
{
    const struct trace *trace = sel->trace;
    results->device_property_count = trace->device_count;
    bool *works = scratch_calloc(trace->track_count, sizeof *works);
    results->gpus =
        arena_calloc(&results->arena, (size_t)trace->device_count + 1, sizeof *results->gpus);
    bool ok = works != NULL && results->gpus != NULL;
    const struct events_in_time work = sel->lists[LIST_DEVICE];
    for (uint32_t i = 0; ok && i < work.count; i++) {
        works[trace_event_track(&trace->events, work.items[i])] = true;
    }
    for (uint32_t t = 0; ok && trace->device_count > 0 && t < trace->track_count; t++) {
        const struct trace_track *track = &trace->tracks[t];
        const struct device_properties *from =
            works[t] && track->pid_is_int ? find_properties(trace, track->pid_int) : NULL;
        if (from != NULL && !is_known(results, track->pid_int)) {
            ok = write_row(&results->gpus[results->gpu_count++], &results->arena, track->pid_int,
                           from);
        }
    }
    if (ok) {
        qsort(results->gpus, results->gpu_count, sizeof *results->gpus, compare_rows);
    }
    scratch_free(works);
    return ok;
}

#include "ingest/analysis/cycles/rows/hardware.h"

#include "ingest/base/memory/scratch.h"

#include <string.h>

static const char *host_text(const struct cycle_hardware *hardware, uint32_t host)
{
    return host == CYCLE_NONE ? NULL : strtab_text(hardware->events->hosts, host);
}

/* The entry of a process in the file, ID_MAP_NONE for none; the last one counts. */
static uint32_t
process_entry(const struct cycle_hardware *hardware, uint32_t host, uint32_t process)
{
    const struct hardware *file = hardware->file;
    const char *text = host_text(hardware, host);
    for (size_t i = file->process_count; text != NULL && i > 0; i--) {
        const struct hardware_process *entry = &file->processes[i - 1];
        if (entry->pid == hardware->events->pid[process] && strcmp(entry->host, text) == 0) {
            return (uint32_t)(i - 1);
        }
    }
    return ID_MAP_NONE;
}

/* Looked up once a process, and again where its host changes. */
struct process_memo {
    uint32_t host;
    uint32_t entry;
};

static bool map_devices(struct cycle_hardware *hardware, struct process_memo *memos)
{
    const struct cycle_events *events = hardware->events;
    for (uint32_t at = 0; at < events->count; at++) {
        int64_t device;
        if (events->class[at] != CYCLE_CLASS_GPU || !cycle_device_argument(events, at, &device)) {
            continue;
        }
        struct process_memo *memo = &memos[cycle_process(events, at)];
        uint32_t host = cycle_host(events, at);
        if (memo->host != host) {
            *memo = (struct process_memo){host,
                                          process_entry(hardware, host, cycle_process(events, at))};
        }
        if (memo->entry == ID_MAP_NONE) {
            continue;
        }
        struct id_slot *slot = id_map_add(&hardware->devices, device);
        if (slot == NULL) {
            return false;
        }
        slot->value = memo->entry;
    }
    return true;
}

bool cycle_hardware_init(struct cycle_hardware *hardware,
                         const struct cycle_events *events,
                         const struct hardware *file)
{
    *hardware = (struct cycle_hardware){.file = file, .events = events, .known_host = CYCLE_NONE};
    id_map_init(&hardware->devices);
    if (file == NULL) {
        return true;
    }
    struct process_memo *memos = scratch_calloc(events->process_count, sizeof *memos);
    bool ok = memos != NULL;
    for (uint32_t i = 0; ok && i < events->process_count; i++) {
        memos[i] = (struct process_memo){CYCLE_NONE, ID_MAP_NONE};
    }
    ok = ok && map_devices(hardware, memos);
    scratch_free(memos);
    return ok;
}

void cycle_hardware_free(struct cycle_hardware *hardware)
{
    id_map_free(&hardware->devices);
    *hardware = (struct cycle_hardware){.file = NULL};
}

bool cycle_hardware_device(const struct cycle_hardware *hardware, int64_t device, int64_t *physical)
{
    const struct id_slot *slot = id_map_find(&hardware->devices, device);
    *physical = slot == NULL ? device : hardware->file->processes[slot->value].gpu_index;
    return slot != NULL;
}

const struct hardware_host *cycle_hardware_host(struct cycle_hardware *hardware, uint32_t host)
{
    const char *text = host_text(hardware, host);
    if (hardware->file == NULL || text == NULL) {
        return NULL;
    }
    if (hardware->known_host != host) {
        hardware->known_host = host;
        hardware->host = NULL;
        for (size_t i = 0; i < hardware->file->host_count && hardware->host == NULL; i++) {
            const struct hardware_host *entry = &hardware->file->hosts[i];
            hardware->host = strcmp(entry->name, text) == 0 ? entry : NULL;
        }
    }
    return hardware->host;
}

double cycle_hardware_memory(const struct cycle_hardware *hardware, uint32_t host, int64_t physical)
{
    const char *text = host_text(hardware, host);
    for (size_t i = 0; hardware->file != NULL && text != NULL && i < hardware->file->gpu_count;
         i++) {
        const struct hardware_gpu *gpu = &hardware->file->gpus[i];
        if (gpu->index == physical && strcmp(gpu->host, text) == 0) {
            return gpu->memory_bytes;
        }
    }
    return 0.0;
}

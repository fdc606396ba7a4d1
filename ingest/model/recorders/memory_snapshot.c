#include "ingest/model/recorders/memory_snapshot.h"

#include <stdlib.h>

const char *snapshot_state_name(enum snapshot_state state)
{
    static const char *const names[] = {
        [SNAPSHOT_INACTIVE] = "inactive",
        [SNAPSHOT_ALLOCATED] = "active_allocated",
        [SNAPSHOT_PENDING_FREE] = "active_pending_free",
        [SNAPSHOT_AWAITING_FREE] = "active_awaiting_free",
        [SNAPSHOT_STATE_OTHER] = NULL,
    };
    return names[state];
}

void memory_snapshot_destroy(struct memory_snapshot *snapshot)
{
    if (snapshot == NULL) {
        return;
    }
    for (size_t i = 0; i < snapshot->device_count; i++) {
        free(snapshot->devices[i].segments);
        free(snapshot->devices[i].blocks);
        free(snapshot->devices[i].events);
    }
    free(snapshot->devices);
    free(snapshot->settings);
    strtab_destroy(snapshot->texts);
    free(snapshot);
}

/* What the texts of pid and tid say [CMP-10.loading.1] [CMP-10a.loading]. */
#ifndef KS_ANALYSIS_CYCLES_TRACKS_H
#define KS_ANALYSIS_CYCLES_TRACKS_H

#include "ingest/analysis/cycles/events.h"
#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fills track, pid, process_count and thread_count; hosts go into events->hosts. False without
 * memory. */
bool cycle_tracks_read(struct cycle_events *events) KS_MUST_USE;

/* The stretch of `text` that is a host name: letters, digits, `_`, `.` and `-` up to the end or up
 * to the `(digits)` that end it. 0 when there is none. */
size_t cycle_host_in_pid(const char *text, size_t len, size_t *begin);
/* The digits behind the first `word` that digits follow, -1 when there are none. */
int64_t cycle_number_behind(const char *text, const char *word);

#endif

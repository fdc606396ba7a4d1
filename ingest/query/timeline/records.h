/* Finds the calls that have a number of RecordFunction, as execution traces name them [FMT-9.4]. */
#ifndef KS_QUERY_TIMELINE_RECORDS_H
#define KS_QUERY_TIMELINE_RECORDS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/timeline.h"
#include "ingest/query/timeline/query.h"
#include "ingest/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "Record function id" of an event's JSON; 0: none. */
uint64_t record_id_of(const char *event_json);

/* out[i]: the call with ids[i] (.event TIMELINE_NO_EVENT where the trace has none), its place,
 * without category. A search of the events an id. */
bool record_events_find(struct store_snapshot *snapshot,
                        struct arena *arena,
                        int64_t trace_id,
                        const struct timeline *timeline,
                        const uint64_t *ids,
                        size_t count,
                        struct timeline_partner *out,
                        struct err *err) KS_MUST_USE;

#endif

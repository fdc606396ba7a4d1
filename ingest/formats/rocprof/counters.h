/* Counters that rocprofv3 --pmc collected at dispatches of kernels [FMT-3.1e]:
 *
 *     callback_records.counter_collection[] {dispatch_data {dispatch_info {dispatch_id}},
 *                                            records [{counter_id {handle}, value}]}
 *     counters[] {id {handle}, name} */
#ifndef KS_FORMATS_ROCPROF_COUNTERS_H
#define KS_FORMATS_ROCPROF_COUNTERS_H

#include "ingest/base/attr.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/text/strtab.h"
#include "ingest/formats/json/walk.h"
#include "ingest/formats/relay/relay.h"

#include <stdbool.h>
#include <stddef.h>

struct rocprof_counters {
    struct id_map names;        /* handle -> string id */
    struct id_map by_dispatch;  /* dispatch id -> place in `records` */
    struct json_value *records; /* lists of values */
    size_t count, cap;
    struct id_map dispatches; /* that have a record of their own, or had it from here */
    struct relay_metrics metrics;
};

bool rocprof_counters_init(struct rocprof_counters *counters) KS_MUST_USE;
void rocprof_counters_free(struct rocprof_counters *counters);
/* A record of the collection, and the `dispatch_info` of one of dispatches. False without memory.
 */
bool rocprof_counters_note(struct rocprof_counters *counters,
                           const struct json_value *record) KS_MUST_USE;
bool rocprof_counters_note_dispatch(struct rocprof_counters *counters,
                                    const struct json_value *info) KS_MUST_USE;
/* Whether a dispatch is still to be relayed. */
bool rocprof_counters_take(struct rocprof_counters *counters, const struct json_value *info);
/* Arguments of the event at hand: each counter's sum over its instances. */
void rocprof_counters_write(struct rocprof_counters *counters,
                            const struct strtab *texts,
                            struct relay *relay,
                            const struct relay_event *event,
                            const struct json_value *info);

#endif

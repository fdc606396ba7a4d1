/* Ties work of a device to the event that launched it, by the flow between them: it begins within
 * that event, on its thread, and ends where the work starts. The index knows no flows: both of its
 * ends get one id. */
#ifndef KS_FORMATS_CHROME_JSON_RECORDERS_FLOW_LINKS_H
#define KS_FORMATS_CHROME_JSON_RECORDERS_FLOW_LINKS_H

#include "ingest/base/attr.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stdint.h>

struct flow_links {
    const char *category; /* of the flows */
    enum event_kind launcher;
    bool (*set)(struct trace *trace, uint32_t event, int64_t id); /* trace_set_external_id, ... */
};

/* Of several events in each other the innermost has launched the work. O(events log events). False
 * without memory. */
bool flow_links_set(struct trace *trace, const struct flow_links *flows) KS_MUST_USE;

#endif

/* Which events count for the plugin, and as what [TB-3]: by their categories. */
#ifndef KS_TB_PLUGIN_CLASSIFY_H
#define KS_TB_PLUGIN_CLASSIFY_H

#include "ingest/analysis/classify/events.h"
#include "ingest/base/attr.h"
#include "ingest/model/trace.h"
#include "ingest/model/warning.h"

#include <stdbool.h>

/* `clock`: tb_clock where tb_classify_needs_clock, otherwise NULL: nanoseconds. False without
 * memory; `sel` must be freed in either case. The trace must outlive it. */
bool tb_classify_events(struct event_classes *sel,
                        const struct trace *trace,
                        const struct event_clock *clock,
                        struct warnings *warnings) KS_MUST_USE;
/* See tb_clock_is_needed(). */
bool tb_classify_needs_clock(const struct event_classes *sel);

#endif

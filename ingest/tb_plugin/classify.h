/* Which events count for the plugin, and as what [TB-3]: by their categories. */
#ifndef KS_TB_PLUGIN_CLASSIFY_H
#define KS_TB_PLUGIN_CLASSIFY_H

#include "ingest/analysis/classify/events.h"
#include "ingest/base/attr.h"
#include "ingest/model/trace.h"
#include "ingest/model/warning.h"

#include <stdbool.h>

/* `rounded`: times are taken as doubles hold them (tb_classify_can_round). False without memory;
 * `sel` must be freed in either case. The trace must outlive it. */
bool tb_classify_events(struct event_classes *sel,
                        const struct trace *trace,
                        bool rounded,
                        struct warnings *warnings) KS_MUST_USE;
/* Whether doubles differ from the exact times, and their ticks fit 64 bits. */
bool tb_classify_can_round(const struct event_classes *sel);

#endif

/* The profiler steps by the plugin's rules: adjusted to the device work that they launched [TB-6].
 */
#ifndef KS_TB_PLUGIN_STEPS_STEPS_H
#define KS_TB_PLUGIN_STEPS_STEPS_H

#include "ingest/analysis/steps/steps.h"
#include "ingest/base/attr.h"
#include "ingest/tb_plugin/tree/launch_correlation.h"

#include <stdbool.h>

/* Never none: a trace without steps has one over its host events. False without memory; to be freed
 * with steps_free in either case. `links` with its devices. */
bool tb_steps_build(struct steps *steps,
                    const struct event_classes *sel,
                    const struct launch_correlation *links) KS_MUST_USE;

#endif

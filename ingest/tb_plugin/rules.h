/* An analysis by the rules of the deleted TensorBoard plugin: its attribution, its communication
 * rule, its call tree, and decimal times as its doubles had them (clock.h). */
#ifndef KS_TB_PLUGIN_RULES_H
#define KS_TB_PLUGIN_RULES_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/model/results/results.h"
#include "ingest/model/trace.h"

#include <stdbool.h>

/* As analysis_run does. `pack`: see analysis_wants, may be NULL. */
bool tb_plugin_analyse(const struct trace *trace,
                       result_log_encoder pack,
                       struct trace_results **out,
                       struct err *err) KS_MUST_USE;

#endif

/* The plugin's hierarchy of modules: of python_function events by their Python ids [TB-14a], of
 * Lightning's by their dotted names [TB-14c]. */
#ifndef KS_TB_PLUGIN_TABLES_MODULES_H
#define KS_TB_PLUGIN_TABLES_MODULES_H

#include "ingest/analysis/call_tree/rows.h"
#include "ingest/analysis/classify/events.h"
#include "ingest/base/attr.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>

/* Fills results.modules. False without memory. */
bool tb_modules_run(struct trace_results *results,
                    const struct event_classes *sel,
                    const struct call_rows *rows) KS_MUST_USE;

#endif

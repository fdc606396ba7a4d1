/* Operators and launches as the plugin's tree gives them: node by node in the order of the visits
 * (postorder.h), of which a node may have several. */
#ifndef KS_TB_PLUGIN_TABLES_VISIT_TABLES_H
#define KS_TB_PLUGIN_TABLES_VISIT_TABLES_H

#include "ingest/analysis/classify/texts.h"
#include "ingest/analysis/devices/devices.h"
#include "ingest/base/attr.h"
#include "ingest/model/results/results.h"
#include "ingest/tb_plugin/tree/postorder.h"

#include <stdbool.h>

/* Fills results.operators, kernel_launches and `launched`. A call's figures are those of its node:
 *
 *     host_total = duration          host_self = duration - children - own runtimes
 *     device_total = device work of the subtree, device_self = of the own runtimes (sums, overlap
 * not removed)
 *
 * False without memory. */
bool visit_tables_run(struct trace_results *results,
                      struct texts *texts,
                      const struct tb_tree *tree,
                      const struct postorder *postorder,
                      struct launched_time *launched) KS_MUST_USE;

#endif

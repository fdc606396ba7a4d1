/* An analysis under way, for those who have other rules than ours (ingest/tb_plugin): what one part
 * hands to the next, and the parts that rules replace. */
#ifndef KS_ANALYSIS_RULES_H
#define KS_ANALYSIS_RULES_H

#include "ingest/analysis/analysis.h"
#include "ingest/analysis/classify/events.h"
#include "ingest/analysis/classify/texts.h"
#include "ingest/analysis/collectives/collectives.h"
#include "ingest/analysis/devices/devices.h"
#include "ingest/analysis/kernels/kernels.h"
#include "ingest/analysis/modules/modules.h"
#include "ingest/analysis/relations/backward.h"
#include "ingest/analysis/relations/launch_correlation.h"
#include "ingest/analysis/relations/op_tree.h"
#include "ingest/analysis/relations/tb_collectives.h"
#include "ingest/analysis/steps/steps.h"
#include "ingest/base/attr.h"
#include "ingest/index/index.h"

#include <stdbool.h>

/* In the order in which they run. */
struct analysis {
    const struct trace *trace;
    const struct analysis_rules *rules;
    struct trace_results *results;
    const struct analysis_wants *wants;
    struct trace_index index; /* empty by other rules; free once there are operators */
    struct event_classes sel;
    struct launch_correlation links;
    struct tb_collectives comms;
    struct collectives ours; /* empty by other rules */
    struct time_ranges roles;
    struct steps steps;
    struct op_tree tree;
    struct backward backward; /* empty in our figures */
    struct kernels kernels;
    struct launched_time launched;
    struct texts texts;
};

/* Each fills what is named after it; false without memory. */
struct analysis_rules {
    bool (*choose_events)(struct analysis *run); /* sel, and the index of ours */
    bool (*find_steps)(struct analysis *run);
    bool (*run_operators)(struct analysis *run); /* texts, tree, launched; the tables of operators
                                                    and launches, the call tree and its logs */
    bool (*run_counters)(struct analysis *run);  /* the log of counters; NULL: there is none */
    enum modules_merge modules_merge;
};

/* analysis_run_with by other rules. */
bool analysis_by_rules(const struct trace *trace,
                       const struct analysis_wants *wants,
                       const struct analysis_rules *rules,
                       struct trace_results **out,
                       struct err *err) KS_MUST_USE;

/* ---- what rules call ---- */

/* Call tree, modules and memory log, from `tree` and `backward`. False without memory. */
bool analysis_call_tree(struct analysis *run) KS_MUST_USE;
/* Packs a log when packs are wanted; then its columns can go. */
bool analysis_pack_log(struct analysis *run, enum result_log log, const void *columns) KS_MUST_USE;
void analysis_drop_columns(struct analysis *run, enum result_log log);

#endif

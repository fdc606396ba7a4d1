/* Device work whose runtime call does not say which operator made it.
 *
 * The plugin knows the operator of a call by an external id that both carry. Some recorders write
 * none; those of PyTorch 1.13 to 2.0 write the correlation in its place. For the plugin such work
 * belongs to no operator (or all of it to the first node without an id [TB-5.7]), and its routes
 * keep that. Exact figures give a call without an id of its own to the innermost node of the
 * operator tree that encloses it on its thread:
 *
 *     aten::linear   |-----------------------------|
 *     aten::addmm        |------------------|
 *     launch                  |--|                       aten::addmm launched it
 *     launch                               |---|         aten::linear did
 *
 * Annotations of collectives (`nccl:all_reduce`) give it to the operator around them, as recorders
 * with ids do. Calls with an id are left to it. A trace in which every call that started device
 * work has an id of its own costs one look at these calls, and its figures are the plugin's. */
#ifndef KS_ANALYSIS_RELATIONS_ATTRIBUTION_H
#define KS_ANALYSIS_RELATIONS_ATTRIBUTION_H

#include "ingest/analysis/classify/events.h"
#include "ingest/analysis/relations/launch_correlation.h"
#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stdint.h>

struct op_tree;

struct attribution {
    bool *has_no_id; /* by runtime; NULL: figures by the plugin's rule */
    bool differs;    /* the plugin gives some call to another operator, or to none */
};

/* Which calls have no id of their own; none has one in a trace where all ids of calls that started
 * device work are their correlations. Nothing is found where all these calls have one. False
 * without memory; must be freed in either case. */
bool attribution_find(struct attribution *attribution,
                      const struct launch_correlation *links,
                      const struct event_classes *sel) KS_MUST_USE;
void attribution_free(struct attribution *attribution);

/* Gives the calls that have no id to the nodes of a tree that is nested; part of op_tree_build.
 * n log n in calls and nodes. False without memory. */
bool attribution_give(struct attribution *attribution, struct op_tree *tree) KS_MUST_USE;

#endif

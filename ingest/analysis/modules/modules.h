/* Modules: their hierarchy from python_function events by Python ids, or from the dotted names of
 * Lightning's, and their figures from the call tree [TB-14]: of all calls with a
 * module's name and id that are nodes of it. */
#ifndef KS_ANALYSIS_MODULES_MODULES_H
#define KS_ANALYSIS_MODULES_MODULES_H

#include "ingest/analysis/call_tree/rows.h"
#include "ingest/analysis/classify/events.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/call_tree.h"
#include "ingest/model/results/module_rows.h"

#include <stdbool.h>
#include <stddef.h>

/* Which siblings with the same name, module id and children are shown once. */
enum modules_merge {
    MODULES_MERGE_ALL,
    MODULES_MERGE_ROOTS /* only those without a parent [TB-14.3] */
};

/* `*out` lies in `arena`; none for a trace without modules. Of the tree only names and threads are
 * looked at, the rest is asked of its rows. False without memory. */
bool modules_run(struct module_row **out,
                 size_t *count,
                 struct arena *arena,
                 const struct event_classes *sel,
                 const struct call_tree *tree,
                 const struct call_rows *rows,
                 enum modules_merge merge) KS_MUST_USE;

#endif

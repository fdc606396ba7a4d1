/* Modules: what lies in what by the call tree, and their figures: of all calls with a module's name
 * and id that are nodes of it. */
#ifndef KS_ANALYSIS_MODULES_MODULES_H
#define KS_ANALYSIS_MODULES_MODULES_H

#include "ingest/analysis/call_tree/rows.h"
#include "ingest/base/attr.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/text/strtab.h"
#include "ingest/model/results/results.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODULE_NONE UINT32_MAX

/* ---- a hierarchy by other rules ---- */

struct module_member {
    uint32_t name; /* in module_forest.texts */
    int64_t module_id;
    uint32_t parent;    /* MODULE_NONE: none */
    uint32_t first_kid; /* in the order in which they were added */
    uint32_t last_kid;
    uint32_t next_kid; /* sibling */
    uint32_t shape;    /* equal for equal trees */
    uint32_t end;      /* behind the last row below it, where rows tell the hierarchy */
};

struct module_forest {
    struct strtab *texts;
    struct module_member *members;
    size_t member_cap;
    uint32_t count;
    uint32_t first_root, last_root;
    struct key_map shapes;
    bool keeps_siblings; /* of equal trees only roots are shown once [TB-14.3], else all */
};

/* False without memory; must be freed in either case. */
bool module_forest_init(struct module_forest *forest) KS_MUST_USE;
void module_forest_free(struct module_forest *forest);
/* Its number; MODULE_NONE without memory. Until the forest is written, parents may change. */
uint32_t module_forest_add(
    struct module_forest *forest, const char *name, size_t len, int64_t module_id, uint32_t parent);
/* The rows, as modules_run has them. False without memory. */
bool module_forest_write(struct module_forest *forest,
                         struct trace_results *results,
                         const struct call_rows *rows) KS_MUST_USE;

/* Fills results.modules from results.call_tree; none for a trace without modules. Of the tree only
 * names and threads are looked at, the rest is asked of its rows. False without memory. */
bool modules_run(struct trace_results *results, const struct call_rows *rows) KS_MUST_USE;

#endif

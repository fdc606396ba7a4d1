/* Runtime calls by external id: the list that an operator with that id owns [TB-4b] [TB-4d]. */
#ifndef KS_TB_PLUGIN_TREE_RUNTIME_LISTS_H
#define KS_TB_PLUGIN_TREE_RUNTIME_LISTS_H

#include "ingest/analysis/classify/events.h"
#include "ingest/base/attr.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/tb_plugin/tree/launch_correlation.h"

#include <stdbool.h>
#include <stdint.h>

#define RUNTIME_LIST_NONE UINT32_MAX

/* List i holds runtimes[first[i] .. first[i + 1]), runtime numbers of struct launch_correlation,
 * sorted by (start, -end); those that begin or end at time zero stand last [TB-5d]. */
struct runtime_lists {
    struct id_map by_external_id; /* value: number of the list */
    uint32_t *first;
    uint32_t *runtimes;
    uint32_t *list_of;  /* by runtime; NULL when the lists are closed */
    uint32_t *of_event; /* by event: the list that a node owns, RUNTIME_LIST_NONE; all of that until
                           the tree gives them out */
    uint32_t count;
    uint32_t zero_list; /* that of external id 0, or RUNTIME_LIST_NONE */
};

/* Calls that have no id lie in the list of TRACE_NO_ID. False without memory; must
 * be freed in either case. */
bool runtime_lists_build(struct runtime_lists *lists,
                         const struct launch_correlation *links,
                         const struct event_classes *sel) KS_MUST_USE;
void runtime_lists_free(struct runtime_lists *lists);
/* What only looks for lists and makes them goes: by_external_id and list_of. */
void runtime_lists_close(struct runtime_lists *lists);

#endif

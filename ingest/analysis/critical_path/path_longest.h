/* The longest path through the graph [CAU-3.4], and how long it would be with other weights
 * [CAU-3.6]. */
#ifndef KS_ANALYSIS_CRITICAL_PATH_PATH_LONGEST_H
#define KS_ANALYSIS_CRITICAL_PATH_PATH_LONGEST_H

#include "ingest/analysis/critical_path/path_graph.h"

struct path_longest {
    int64_t length_ns;
    uint32_t goal;   /* its last node; PATH_NONE without nodes */
    uint32_t *edge;  /* by node: the edge on which the longest path reaches it; PATH_NONE */
    uint32_t *order; /* nodes, each behind all that lead to it */
    uint32_t *first; /* by node: its first edge; one more entry */
    uint32_t dropped_edges;
};

/* Removes edges that run backwards in a cycle from the graph, and counts them. O(V + E). False
 * without memory; must be freed in either case. */
bool path_longest_find(struct path_longest *longest, struct path_graph *graph) KS_MUST_USE;
void path_longest_free(struct path_longest *longest);

/* The length with another weight for each edge. `reach_ns` has room for every node. O(V + E). */
int64_t path_longest_with(const struct path_longest *longest,
                          const struct path_graph *graph,
                          const int64_t *weights_ns,
                          int64_t *reach_ns);

/* Lengths that are found side by side. */
#define PATH_LANES 4
/* The length where edges weigh nothing, for each lane: lane i is without the edges whose `lane_of`
 * is `first_lane` + i. `reach_ns` has PATH_LANES entries a node, all 0. O(V + E). */
void path_longest_without(const struct path_longest *longest,
                          const struct path_graph *graph,
                          const uint8_t *lane_of,
                          uint32_t first_lane,
                          int64_t *reach_ns,
                          int64_t lengths_ns[PATH_LANES]);

#endif

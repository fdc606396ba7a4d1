/* The critical path: which events decided how long a trace took, what bounds it, and what it would
 * gain if one of them were faster [CAU-3]. */
#ifndef KS_ANALYSIS_CRITICAL_PATH_CRITICAL_PATH_H
#define KS_ANALYSIS_CRITICAL_PATH_CRITICAL_PATH_H

#include "ingest/analysis/critical_path/path_graph.h"
#include "ingest/analysis/efficiency/device_peaks.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/tables/table.h"

/* In the order of the answers. */
enum path_bound {
    PATH_BOUND_CPU,
    PATH_BOUND_DATA_LOADING,
    PATH_BOUND_COMPUTE,
    PATH_BOUND_COMMUNICATION,
    PATH_BOUND_KERNEL_KERNEL,
    PATH_BOUND_LAUNCH,
    PATH_BOUND_COUNT
};

/* "cpu_bound", … */
const char *path_bound_text(enum path_bound bound);

struct path_event_row {
#define TABLE_DEF "ingest/model/tables/causes/path_event.def"
#include "ingest/model/tables/struct.h"
};
extern const struct row_table table_path_event; /* of the rows */

struct path_edge_row {
#define TABLE_DEF "ingest/model/tables/causes/path_edge.def"
#include "ingest/model/tables/struct.h"
};
extern const struct row_table table_path_edge; /* of the rows */

/* The length if a name took no time at all. */
struct path_gain {
    const char *name;
    int64_t path_ns; /* what it has of the path */
    int64_t length_ns;
    int64_t saved_at_most_ns; /* what of it the devices let be saved [CAU-3.6c] */
};

/* What an edge of a name weighs instead: weight * numerator / denominator, rounded half to even; or
 * what device work would weigh if its call ran at its roofline [CAU-4.4]. */
struct path_scale {
    const char *name;
    uint64_t numerator, denominator; /* at most 10^10 and 10^9 */
    bool at_roofline; /* needs a model with operator_inputs (struct format_options) */
};

#define PATH_TOP_MAX 20
enum path_edges_shown { PATH_EDGES_OF_PATH, PATH_EDGES_ALL, PATH_EDGES_NONE };

struct path_request {
    struct path_options options;
    const struct path_scale *scales;
    size_t scale_count;
    const struct device_peaks_list *peaks; /* of one's own, for rooflines; NULL: none */
    size_t top;                            /* names in `gains`, at most PATH_TOP_MAX */
    enum path_edges_shown edges;
    size_t first_edge,
        edges_max; /* which of those edges get rows; edges_max 0: all from there on */
};

/* Whether inputs of operators are needed. */
bool path_asks_rooflines(const struct path_request *request);

struct critical_path {
    enum path_state state;    /* what follows is empty unless PATH_BUILT */
    int64_t start_ns, end_ns; /* the window */
    int64_t nodes;
    int64_t edges_by_type[PATH_EDGE_TYPE_COUNT];
    int64_t dropped_edges, unmatched_waits;
    int64_t length_ns;
    int64_t path_nodes, path_edges;
    int64_t path_edges_by_type[PATH_EDGE_TYPE_COUNT];
    int64_t bound_ns[PATH_BOUND_COUNT];
    struct path_event_row *events; /* of the path, in order of start */
    size_t event_count;
    int64_t edge_total;          /* edges asked for */
    struct path_edge_row *edges; /* a part of them, in order of their nodes */
    size_t edge_count;
    int64_t scaled_length_ns; /* with `scales`; length_ns without */
    struct path_gain *gains;  /* the names with the most of the path first, then by name */
    size_t gain_count;
};

/* Positions count from `zero_ns`; everything in *out lives in the arena. O(n log n + top (V + E)).
 * False without memory. */
bool critical_path_analyse(const struct trace *trace,
                           int64_t zero_ns,
                           const struct path_request *request,
                           struct arena *arena,
                           struct critical_path *out) KS_MUST_USE;

#endif

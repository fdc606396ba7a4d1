/* The graph of the critical path [CAU-3.2] [CAU-3.3]: a start and an end node for each event that
 * can delay others, and edges for what had to come first.
 *
 *     host thread   op start ─► call start ─► call end ─► op end
 *                                   └─ launch ─► kernel start ─► kernel end ─ kernel_kernel ─► next
 * kernel wait end ◄───────────── sync ──────────────────┘
 */
#ifndef KS_ANALYSIS_CRITICAL_PATH_PATH_GRAPH_H
#define KS_ANALYSIS_CRITICAL_PATH_PATH_GRAPH_H

#include "ingest/analysis/causes/causes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATH_NONE UINT32_MAX
/* A second thread is not worth less. */
#define PATH_NODES_FOR_A_THREAD 50000

enum path_edge_type {
    PATH_OPERATOR,
    PATH_DEPENDENCY,
    PATH_LAUNCH,
    PATH_KERNEL_KERNEL,
    PATH_SYNC,
    PATH_EDGE_TYPE_COUNT
};

/* "operator", … */
const char *path_edge_type_text(enum path_edge_type type);

struct path_node {
    int64_t ts_ns;
    uint32_t event;
    bool is_end;
};

struct path_edge {
    uint32_t from, to; /* nodes */
    int64_t weight_ns;
    uint32_t event; /* to which the weight is attributed; PATH_NONE */
    uint8_t type;   /* enum path_edge_type */
};

/* What a request asks for. Texts live as long as the graph. */
struct path_options {
    const char *annotation; /* "": the whole trace */
    uint64_t first_instance, last_instance;
    bool delays_only;           /* no launch edges of weight 0 */
    bool own_ends;              /* an end leaves its own event [CAU-3.3.2a] */
    const char *const *loading; /* parts of names that mean loading of data */
    size_t loading_count;
};

enum path_state {
    PATH_BUILT,
    PATH_NO_ANNOTATION, /* there is no such instance */
    PATH_TOO_MANY       /* so many edges as no profiler's trace has */
};

struct path_graph {
    const struct causes *causes;
    const struct path_options *options;
    enum path_state state;
    int64_t start_ns, end_ns; /* the window, in times of the trace */
    uint8_t *name_flags;      /* by name, enum path_name_flag; 0: not looked at */
    uint8_t *class_flags;     /* by class of events, enum path_class_flag */
    uint8_t *takes_part;      /* by event: it does in the window; while edges are made */
    int64_t *stream;          /* by event; -1: none */
    uint32_t *linked;        /* by event: the other side's event; PATH_NONE; while edges are made */
    struct path_node *nodes; /* in order of time, event, start before end */
    uint32_t node_count;
    uint32_t *first, *last;  /* by event: its start and its end node; PATH_NONE; likewise */
    struct path_edge *edges; /* in order of their nodes, each pair of nodes once */
    size_t edge_count, edge_cap;
    uint32_t unmatched_waits;
};

/* `graph->state` says whether it is complete. False without memory; must be freed in either case.
 * `causes` (with the last step kept) and `options` must outlive it. O(n log n). */
bool path_graph_build(struct path_graph *graph,
                      const struct causes *causes,
                      const struct path_options *options) KS_MUST_USE;
void path_graph_free(struct path_graph *graph);

/* What a name says. Names are few and events many: each is looked at once. */
enum path_name_flag {
    PATH_NAME_KNOWN = 1,
    PATH_NAME_LOADS = 2,    /* means loading of data */
    PATH_NAME_LOCKS = 4,    /* a call that takes the lock of the driver [CAU-3.3] */
    PATH_NAME_BLOCKS = 8,   /* a call that may wait for the device */
    PATH_NAME_WAITS = 16,   /* a stream that waits for an event */
    PATH_NAME_RECORDS = 32, /* a call that records an event */
    PATH_NAME_FORWARD = 64,
    PATH_NAME_AUTOGRAD = 128
};
/* For path_name_has. */
uint8_t path_look_at_name(const struct path_graph *graph, uint32_t name);

static inline bool
path_name_has(const struct path_graph *graph, uint32_t event, enum path_name_flag flag)
{
    uint32_t name = graph->causes->trace->events.name[event];
    unsigned flags = graph->name_flags[name];
    return ((flags != 0 ? flags : path_look_at_name(graph, name)) & (unsigned)flag) != 0;
}

/* What a category says, and whether its events take part in the analyses of causes. */
enum path_class_flag { PATH_CLASS_TAKES_PART = 1, PATH_CLASS_CUDA_CALL = 2, PATH_CLASS_SYNC = 4 };

static inline bool
path_class_has(const struct path_graph *graph, uint32_t event, enum path_class_flag flag)
{
    const struct trace_events *events = &graph->causes->trace->events;
    return (graph->class_flags[trace_index(&events->class, event)] & (unsigned)flag) != 0;
}

/* ---- for the parts of the builder ---- */

/* Adds an edge unless a node is PATH_NONE or both are one. weight_ns below 0: the time between the
 * nodes. A later edge between the same nodes replaces an earlier one. False without memory. */
bool path_graph_add(struct path_graph *graph,
                    uint32_t from,
                    uint32_t to,
                    enum path_edge_type type,
                    uint32_t event,
                    int64_t weight_ns) KS_MUST_USE;
#define PATH_BETWEEN INT64_C(-1)
bool path_graph_name_is(const struct path_graph *graph, uint32_t event, const char *name);
/* [CAU-3.3] rule 2: the nesting of host threads. */
bool path_add_nesting(struct path_graph *graph) KS_MUST_USE;
/* [CAU-3.3] rule 3: streams, launches, waits. */
bool path_add_device(struct path_graph *graph) KS_MUST_USE;

#endif

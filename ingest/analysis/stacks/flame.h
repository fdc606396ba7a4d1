/* A merged flame graph: the time of a trace by what was called from where, over all threads and
 * steps; of two traces side by side.
 *
 *     python     frames and modules, below them the operators (and calls or kernels) in each
 *     module     modules alone, below them the operators in each
 *     operator   operators alone
 *
 * Weighed by the host each event but the span of a recorder has the time that nothing inside it
 * covers (index.self_ns), and calls of the runtime are nodes; weighed by the device each piece of
 * device work stands below what launched it. What leaves the tree leaves its time to what is around
 * it, so that the root has all time. Backward operators stand below the frame of their forward
 * operator (call_paths.h). */
#ifndef KS_ANALYSIS_STACKS_FLAME_H
#define KS_ANALYSIS_STACKS_FLAME_H

#include "ingest/analysis/stacks/call_paths.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flame_by { FLAME_BY_PYTHON, FLAME_BY_MODULE, FLAME_BY_OPERATOR };
enum flame_weight { FLAME_HOST, FLAME_DEVICE };

struct flame_options {
    enum flame_by by;
    enum flame_weight weight;
    enum call_paths_modules modules;
    bool folds_libraries; /* frames of libraries are no nodes (python_frame.h) */
    int64_t step;         /* from 1, in order of start; 0: all time */
    uint64_t under;       /* the node whose subtree is asked for; FLAME_ROOT: all */
    uint32_t nodes_max;   /* the heaviest ones; the rest is in nodes FLAME_OTHER */
    uint32_t depth_max;   /* levels below the root of the answer */
};
#define FLAME_ROOT 0

enum flame_kind {
    FLAME_PYTHON, /* a function */
    FLAME_MODULE,
    FLAME_OPERATOR,
    FLAME_CALL, /* of the runtime or driver */
    FLAME_KERNEL,
    FLAME_UNLAUNCHED, /* device work whose launch was not recorded */
    FLAME_OTHER,      /* what the limits leave out of its parent */
    FLAME_TOP         /* the root */
};

#define FLAME_SIDES 2 /* the trace, and the one that it is compared with */
#define FLAME_NO_PARENT UINT32_MAX

struct flame_node {
    uint64_t id;     /* the same in every answer: of the names from the root to it */
    uint32_t parent; /* its place in the answer */
    uint32_t depth;
    const char *name; /* "" of the root and of FLAME_OTHER */
    enum flame_kind kind;
    bool is_library;
    int64_t total_ns[FLAME_SIDES], self_ns[FLAME_SIDES];
    int64_t calls[FLAME_SIDES];
};

struct flame_graph {
    struct flame_node *nodes; /* parents before children, the heavier child first */
    size_t count;
    size_t node_count; /* before the limits */
    int64_t steps[FLAME_SIDES];
};

struct flame; /* under way */

/* NULL without memory. */
struct flame *flame_create(const struct flame_options *options) KS_MUST_USE;
void flame_destroy(struct flame *flame); /* NULL is allowed */
/* Adds a trace to a side. O(n log n). False without memory. */
bool flame_add(struct flame *flame, const struct trace *trace, unsigned side) KS_MUST_USE;
/* Nodes and names live in the arena. `*found` false: there is no node `under`. */
bool flame_finish(struct flame *flame, struct arena *arena, struct flame_graph *out, bool *found)
    KS_MUST_USE;
/* The word of a kind: "python", "module", … */
const char *flame_kind_text(enum flame_kind kind);

#endif

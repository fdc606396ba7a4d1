/* What a trace of a graph's capture knows of the kernels that the graph launches later: the calls
 * that recorded them, and the operators around those [DEV-3]. It outlives its trace. */
#ifndef KS_ANALYSIS_CAPTURES_CAPTURE_H
#define KS_ANALYSIS_CAPTURES_CAPTURE_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/index/index.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAPTURE_NO_OPERATOR UINT32_MAX
#define CAPTURE_ROOTS_TRIED 64

enum capture_records { CAPTURE_COPY, CAPTURE_SET, CAPTURE_KERNEL };

/* A call that records work. */
struct capture_launch {
    enum capture_records records;
    const char *name;   /* of the call */
    const char *kernel; /* that it launches; NULL: the recorder does not say */
    const char *op;     /* operator around the call; NULL: none */
    uint32_t op_number; /* equal for calls of one operator event; CAPTURE_NO_OPERATOR */
    int64_t start_ns, end_ns;
};

/* One graph: what of launches[first] to launches[end - 1] ends by `limit_ns`. */
struct capture_root {
    size_t first, end;
    int64_t limit_ns;
};

struct capture {
    int64_t trace_id;
    struct capture_launch *launches; /* in order of start */
    size_t launch_count;
    struct capture_root *roots; /* in order of the calls that begin them */
    size_t root_count;
    size_t begin_count; /* calls that begin a capture; 0: the trace captured nothing */
    struct capture_root tried[CAPTURE_ROOTS_TRIED]; /* the first that differ in what they record */
    size_t tried_count;
    uint32_t op_count; /* above every op_number */
    int64_t *sizes;    /* n of the annotations `capture_<n>_<mode>` */
    size_t size_count;
    int64_t heads, head_dim; /* of the first operator of attention; 0: there is none */
};

/* Everything in *out lives in the arena; `trace_id` is the caller's. O(n log n). False without
 * memory. */
bool capture_read(const struct trace *trace, struct arena *arena, struct capture *out) KS_MUST_USE;

/* The next launch of a root from *at on, which begins with root->first; NULL at its end. */
const struct capture_launch *
capture_next(const struct capture *capture, const struct capture_root *root, size_t *at);

/* The one that knows graphs for steps of so many tokens (ENGINE_UNKNOWN: not known): the smallest
 * size that is enough; where none names sizes, the only one. NULL: none. */
const struct capture *capture_choose(const struct capture *captures, size_t count, int64_t tokens);

/* [tokens, heads, d] of an operator of attention, by its first shape with three numbers. False: the
 * event is none, or has no such shape. */
bool capture_attention(const struct trace_index *index,
                       uint32_t event,
                       int64_t *heads,
                       int64_t *head_dim) KS_MUST_USE;

#endif

/* Call stacks of traces whose Python frames are events of their own: of kernels by what launched
 * them, of operators by what called them. */
#ifndef KS_ANALYSIS_STACKS_STACKS_H
#define KS_ANALYSIS_STACKS_STACKS_H

#include "ingest/analysis/stacks/call_paths.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/results/results.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_rules;

/* A stack names so many frames, its innermost ones. */
#define STACK_FRAMES_MAX 128
/* All stacks of an answer together; what comes then names its innermost frame only. */
#define STACK_TEXTS_MAX_BYTES ((size_t)64 << 20)

/* The launches of a device function by an operator in a stack. */
struct kernel_stack {
#define TABLE_DEF "ingest/model/tables/kernels/kernel_stack.def"
#include "ingest/model/tables/struct.h"
};
extern const struct row_table table_kernel_stack;

struct kernel_stacks {
    struct kernel_stack *rows; /* in order of their first launch on each stream */
    size_t count;
    int64_t device_ns; /* of all device work, with a stack or without */
};

/* `name`: only the device work of that name; NULL: all. Rows and texts live in the arena. O(n log
 * n). False without memory. */
bool kernel_stacks_analyse(const struct trace *trace,
                           const char *name,
                           enum call_paths_modules modules,
                           struct arena *arena,
                           struct kernel_stacks *out) KS_MUST_USE;

/* stacks[i]: that of events[i], innermost frame first, separated by `;`, in the arena; NULL where
 * the event is INDEX_NONE or no frame is known. O(n log n). False without memory. */
bool event_stacks_find(const struct trace *trace,
                       const uint32_t *events,
                       size_t count,
                       struct arena *arena,
                       const char **stacks) KS_MUST_USE;

/* The rows of operators grouped as OPERATOR_BY_NAME_STACK and OPERATOR_BY_NAME_SHAPE_STACK
 * (operators.h), modules by type. `own` as for classify_events. An argument `Call stack` wins over
 * the frames around the operator. Fills results.operators of `by` alone. False without memory. */
bool operator_stacks_analyse(const struct trace *trace,
                             const struct kernel_rules *own,
                             enum operator_group by,
                             struct trace_results *results) KS_MUST_USE;

#endif

/* Who made what an operator reads, and who reads what it makes [FMT-9.4].
 *
 *     a node of an execution trace -> its tensors, each with the nodes at the other end
 *
 * A scan of the trace a question: O(tensors). Not thread-safe, reads only. */
#ifndef KS_ANALYSIS_EXECUTION_TRACE_TENSORS_H
#define KS_ANALYSIS_EXECUTION_TRACE_TENSORS_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/recorders/execution_trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Readers of a tensor that are told. */
#define TENSOR_READERS_MAX 8

struct tensor_use {
    const struct execution_tensor *tensor;
    uint32_t *nodes; /* of an input its writer, if one is known; of an output its readers */
    size_t node_count;
    bool more;       /* there are more readers */
    bool by_storage; /* they are those of another tensor of the same storage */
};

struct node_tensors {
    struct tensor_use *inputs, *outputs;
    size_t input_count, output_count;
};

/* False without memory. */
bool node_tensors_find(const struct execution_trace *trace,
                       uint32_t node,
                       struct arena *arena,
                       struct node_tensors *out) KS_MUST_USE;

#endif

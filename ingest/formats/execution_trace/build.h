/* From the texts of a node to the nodes and tensors of the model: what all forms of execution
 * traces share. */
#ifndef KS_FORMATS_EXECUTION_TRACE_BUILD_H
#define KS_FORMATS_EXECUTION_TRACE_BUILD_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/execution_trace/literal.h"
#include "ingest/model/recorders/execution_trace.h"

#include <stdbool.h>
#include <stddef.h>

/* Three lists of one length: an argument's value, its shape, its type. */
struct execution_io {
    struct literal values, shapes, types;
};

struct execution_input {
    uint64_t id, record_id, parent;
    const char *name; /* decoded; NULL: none */
    size_t name_len;
    bool has_id;
    struct execution_io inputs, outputs;
};

struct execution_build {
    struct execution_trace *trace;
    size_t node_cap, tensor_cap;
    size_t budget_bytes; /* 0: none */
};

bool execution_build_init(struct execution_build *build,
                          size_t budget_bytes,
                          struct err *err) KS_MUST_USE;
/* Adds a node; one without id or name is counted as skipped. ERR_NO_MEMORY; ERR_TOO_LARGE. */
bool execution_build_node(struct execution_build *build,
                          const struct execution_input *input,
                          struct err *err) KS_MUST_USE;
/* Gives the trace, with its nodes in order. ERR_BAD_INPUT: it has none. Call it once, or
 * execution_trace_destroy(build->trace). */
bool execution_build_end(struct execution_build *build,
                         struct execution_trace **out,
                         struct err *err) KS_MUST_USE;

#endif

/* An execution trace: the operators of one process in the order in which they began, without times,
 * and the tensors that each read and wrote [FMT-9]. Beside a trace of the profiler it says who made
 * what an operator reads. */
#ifndef KS_MODEL_EXECUTION_TRACE_H
#define KS_MODEL_EXECUTION_TRACE_H

#include "ingest/base/attr.h"
#include "ingest/base/text/strtab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A tensor as one operator saw it. */
struct execution_tensor {
    uint64_t id, storage; /* of the file; 0: not told */
    int64_t offset, elements, element_bytes;
    uint32_t position;            /* of the argument, from 0; those of a list share it */
    uint32_t type, shape, device; /* strings: "float", "[2, 3]"; STRTAB_NONE: not told */
};

#define EXECUTION_NO_NODE UINT32_MAX

struct execution_node {
    uint64_t id;
    uint64_t record_id; /* RecordFunction's number of the call ("rf_id"); 0: not told */
    uint64_t parent;    /* id of the node that it was called in */
    uint32_t
        caller;    /* its index; EXECUTION_NO_NODE where there is none, or it is the node itself */
    uint32_t name; /* string */
    uint32_t first_tensor; /* the inputs, then the outputs */
    uint32_t input_count, output_count;
};

struct execution_trace {
    struct strtab *texts;
    struct execution_node *nodes; /* by id: the order in which they began */
    struct execution_tensor *tensors;
    uint32_t node_count, tensor_count;
    uint32_t schema;  /* string; STRTAB_NONE: not told */
    uint32_t skipped; /* nodes that could not be read */
    bool is_cut;      /* the file breaks off, or is damaged from some place on */
    uint64_t cut_offset;
};

void execution_trace_destroy(struct execution_trace *trace); /* NULL is allowed */

#endif

/* Operations of a training job, as its scheduler logs them [RANK-4]. */
#ifndef KS_MODEL_OPERATIONS_H
#define KS_MODEL_OPERATIONS_H

#include <stdbool.h>
#include <stdint.h>

/* In order of their names. */
enum operation_type {
    OPERATION_BACKWARD_COMPUTE,
    OPERATION_BACKWARD_RECV,
    OPERATION_BACKWARD_SEND,
    OPERATION_EMBEDDING_GRADS,
    OPERATION_FORWARD_COMPUTE,
    OPERATION_FORWARD_RECV,
    OPERATION_FORWARD_SEND,
    OPERATION_GC,
    OPERATION_REDUCE_SCATTER,
    OPERATION_LAYERNORM_GRADS,
    OPERATION_OPTIMIZER,
    OPERATION_CLIP,
    OPERATION_ALL_GATHER,
    OPERATION_SEPARATE_GRADS,
    OPERATION_TYPE_COUNT
};

/* "backward-compute" */
const char *operation_type_name(enum operation_type type);

/* Numbers that do not apply are -1. */
struct operation {
    double start_s, duration_s;
    int64_t step, rank;
    int64_t seq_id;      /* among those of its type and rank in the step, by start */
    int64_t chunk;       /* of the model, in the stage */
    int64_t model_chunk; /* in the model */
    uint32_t dp_rank, stage;
    uint8_t type; /* enum operation_type */
};

struct operation_table {
    struct operation *items; /* in the order of the file */
    uint32_t count;
    bool is_annotated; /* told by annotations, which may leave out types [RANK-6c] */
};

#endif

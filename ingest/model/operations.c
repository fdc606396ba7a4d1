#include "ingest/model/operations.h"

static const char *const names[OPERATION_TYPE_COUNT] = {
    [OPERATION_BACKWARD_COMPUTE] = "backward-compute",
    [OPERATION_BACKWARD_RECV] = "backward-recv",
    [OPERATION_BACKWARD_SEND] = "backward-send",
    [OPERATION_EMBEDDING_GRADS] = "embedding-grads-all-reduce",
    [OPERATION_FORWARD_COMPUTE] = "forward-compute",
    [OPERATION_FORWARD_RECV] = "forward-recv",
    [OPERATION_FORWARD_SEND] = "forward-send",
    [OPERATION_GC] = "gc",
    [OPERATION_REDUCE_SCATTER] = "grads-reduce-scatter",
    [OPERATION_LAYERNORM_GRADS] = "layernorm-grads-all-reduce",
    [OPERATION_OPTIMIZER] = "optimizer",
    [OPERATION_CLIP] = "optimizer-clip-main-grad",
    [OPERATION_ALL_GATHER] = "params-all-gather",
    [OPERATION_SEPARATE_GRADS] = "separate-grads-all-reduce",
};

const char *operation_type_name(enum operation_type type)
{
    return names[type];
}

#include "ingest/analysis/execution_trace/tensors.h"

/* Calls are nested less deeply; a file may say that a call lies within itself. */
#define DEPTH_MAX 512

enum side { SIDE_INPUTS, SIDE_OUTPUTS };

static bool lies_within(const struct execution_trace *trace, uint32_t node, uint32_t outer)
{
    for (size_t depth = 0; depth < DEPTH_MAX && node != EXECUTION_NO_NODE; depth++) {
        node = trace->nodes[node].caller;
        if (node == outer) {
            return true;
        }
    }
    return false;
}

static bool
is_same(const struct execution_tensor *a, const struct execution_tensor *b, bool by_storage)
{
    return by_storage ? a->storage != 0 && a->storage == b->storage : a->id == b->id;
}

static bool has_tensor(const struct execution_trace *trace,
                       uint32_t node,
                       enum side side,
                       const struct execution_tensor *tensor,
                       bool by_storage)
{
    const struct execution_node *of = &trace->nodes[node];
    uint32_t first = of->first_tensor + (side == SIDE_OUTPUTS ? of->input_count : 0);
    uint32_t count = side == SIDE_OUTPUTS ? of->output_count : of->input_count;
    bool found = false;
    for (uint32_t i = 0; !found && i < count; i++) {
        found = is_same(&trace->tensors[first + i], tensor, by_storage);
    }
    return found;
}

/* The last node before `reader`, and not around it, that gives the tensor; of nodes in each other
 * that all give it the outermost. */
static uint32_t find_writer(const struct execution_trace *trace,
                            uint32_t reader,
                            const struct execution_tensor *tensor,
                            bool by_storage)
{
    uint32_t writer = EXECUTION_NO_NODE;
    for (uint32_t i = reader; writer == EXECUTION_NO_NODE && i-- > 0;) {
        if (has_tensor(trace, i, SIDE_OUTPUTS, tensor, by_storage) &&
            !lies_within(trace, reader, i)) {
            writer = i;
        }
    }
    uint32_t outer = writer;
    for (size_t depth = 0; depth < DEPTH_MAX && outer != EXECUTION_NO_NODE; depth++) {
        writer = outer;
        outer = trace->nodes[outer].caller;
        bool gives = outer != EXECUTION_NO_NODE && outer < reader &&
                     has_tensor(trace, outer, SIDE_OUTPUTS, tensor, by_storage) &&
                     !lies_within(trace, reader, outer);
        outer = gives ? outer : EXECUTION_NO_NODE;
    }
    return writer;
}

/* The nodes behind `writer`, and not within it, that take the tensor, until another one gives it
 * anew. Of nodes in each other the outermost. */
static void find_readers(const struct execution_trace *trace,
                         uint32_t writer,
                         struct tensor_use *use,
                         bool by_storage)
{
    for (uint32_t i = writer + 1; i < trace->node_count && !use->more; i++) {
        bool takes = has_tensor(trace, i, SIDE_INPUTS, use->tensor, by_storage);
        bool gives = has_tensor(trace, i, SIDE_OUTPUTS, use->tensor, by_storage);
        if ((!takes && !gives) || lies_within(trace, i, writer)) {
            continue;
        }
        bool is_inner = false;
        for (size_t k = 0; k < use->node_count; k++) {
            is_inner = is_inner || lies_within(trace, i, use->nodes[k]);
        }
        if (takes && !is_inner) {
            use->more = use->node_count == TENSOR_READERS_MAX;
            if (!use->more) {
                use->nodes[use->node_count++] = i;
                use->by_storage = by_storage;
            }
        }
        if (gives) {
            break;
        }
    }
}

static bool find_one(const struct execution_trace *trace,
                     uint32_t node,
                     enum side side,
                     struct arena *arena,
                     struct tensor_use *use)
{
    use->nodes =
        arena_calloc(arena, side == SIDE_INPUTS ? 1 : TENSOR_READERS_MAX, sizeof *use->nodes);
    if (use->nodes == NULL) {
        return false;
    }
    for (int by_storage = 0; by_storage <= 1 && use->node_count == 0; by_storage++) {
        if (side == SIDE_OUTPUTS) {
            find_readers(trace, node, use, by_storage == 1);
            continue;
        }
        uint32_t writer = find_writer(trace, node, use->tensor, by_storage == 1);
        if (writer != EXECUTION_NO_NODE) {
            use->nodes[use->node_count++] = writer;
            use->by_storage = by_storage == 1;
        }
    }
    return true;
}

static struct tensor_use *
find_side(const struct execution_trace *trace, uint32_t node, enum side side, struct arena *arena)
{
    const struct execution_node *of = &trace->nodes[node];
    uint32_t first = of->first_tensor + (side == SIDE_OUTPUTS ? of->input_count : 0);
    uint32_t count = side == SIDE_OUTPUTS ? of->output_count : of->input_count;
    struct tensor_use *uses = arena_calloc(arena, (size_t)count + 1, sizeof *uses);
    for (uint32_t i = 0; uses != NULL && i < count; i++) {
        uses[i].tensor = &trace->tensors[first + i];
        if (!find_one(trace, node, side, arena, &uses[i])) {
            return NULL;
        }
    }
    return uses;
}

bool node_tensors_find(const struct execution_trace *trace,
                       uint32_t node,
                       struct arena *arena,
                       struct node_tensors *out)
{
    *out = (struct node_tensors){.input_count = trace->nodes[node].input_count,
                                 .output_count = trace->nodes[node].output_count};
    out->inputs = find_side(trace, node, SIDE_INPUTS, arena);
    out->outputs = find_side(trace, node, SIDE_OUTPUTS, arena);
    return out->inputs != NULL && out->outputs != NULL;
}

#include "ingest/tb_plugin/tables/visit_tables.h"

#include "ingest/analysis/launches/launches.h"
#include "ingest/analysis/operators/operators.h"

#include <string.h>

#define ROOT_NAME "CallTreeRoot"

/* What sources and feeds are asked with. */
struct visiting {
    const struct tb_tree *tree;
    const struct postorder *postorder;
    struct launched_time *launched;
    struct launches *launches;
    uint32_t root_name;
    uint16_t node_flags; /* of the node that is visited; 0: a root */
};

/* ---- operators ---- */

static uint32_t operator_event(const void *context, size_t at)
{
    const struct visiting *v = context;
    uint32_t visit = v->postorder->items[at];
    bool is_operator =
        (visit & POSTORDER_ROOT) == 0 && (v->tree->ops.nodes[visit].flags & OP_REAL) != 0;
    return is_operator ? v->tree->ops.nodes[visit].event : OPERATOR_NO_CALL;
}

static void operator_figures(const void *context, size_t at, struct operator_figures *out)
{
    const struct visiting *v = context;
    const struct tb_tree *tree = v->tree;
    uint32_t node = v->postorder->items[at];
    const struct op_node *self = &tree->ops.nodes[node];
    *out = (struct operator_figures){.duration = op_node_duration(&tree->ops, node),
                                     .host_self = tree->ops.host_self[node],
                                     .tensor_eligible = (self->flags & TB_TENSOR) != 0};
    if (self->rank == tree->ops.nodes[self->end].rank) {
        return;
    }
    bool launches = (self->flags & OP_LAUNCHES) != 0;
    int64_t before = tree->tensor[self->rank];
    out->device_total = op_node_device_total(&tree->ops, node);
    out->device_self = op_node_device_self(&tree->ops, node);
    out->tensor_total = saturating_sub(tree->tensor[tree->ops.nodes[self->end].rank], before);
    out->tensor_self = saturating_sub(tree->tensor[self->rank + launches], before);
}

/* ---- launches ---- */

static bool see_kernel(void *context, uint32_t event, uint32_t owner)
{
    struct visiting *v = context;
    uint16_t flags = owner == OP_NO_NODE ? 0 : v->tree->ops.nodes[owner].flags;
    uint32_t name = owner == OP_NO_NODE ? v->root_name : op_node_name(&v->tree->ops, owner);
    uint32_t eligible = (flags & TB_TENSOR_NAME) != 0 ? NAME_TENSOR_OPERATOR : 0u;
    if ((v->node_flags & OP_REAL) != 0) {
        bool is_bottom =
            (v->node_flags & TB_TENSOR) != 0 && (v->node_flags & TB_ELIGIBLE_BELOW) == 0;
        launched_time_add(v->launched, v->tree->ops.sel, is_bottom, event);
    }
    return launches_add(v->launches, event, name, eligible);
}

static bool feed_kernels(struct launches *launches, void *context)
{
    struct visiting *v = context;
    bool ok = true;
    v->launches = launches;
    for (size_t i = 0; ok && i < v->postorder->count; i++) {
        uint32_t visit = v->postorder->items[i];
        bool is_root = (visit & POSTORDER_ROOT) != 0;
        v->node_flags = is_root ? 0 : v->tree->ops.nodes[visit].flags;
        bool may_launch = is_root || (v->node_flags & OP_LAUNCHES) != 0;
        ok = !may_launch || postorder_kernels(v->tree, visit, see_kernel, v);
    }
    return ok;
}

bool visit_tables_run(struct trace_results *results,
                      struct texts *texts,
                      const struct tb_tree *tree,
                      const struct postorder *postorder,
                      struct launched_time *launched)
{
    struct visiting v = {.tree = tree, .postorder = postorder, .launched = launched};
    const struct operator_source source = {.count = postorder->count,
                                           .event = operator_event,
                                           .figures = operator_figures,
                                           .context = &v,
                                           .groups = OPERATOR_ALL_GROUPS};
    *launched = (struct launched_time){0};
    v.root_name = names_intern(&tree->ops.sel->names, ROOT_NAME, strlen(ROOT_NAME));
    return v.root_name != STRTAB_NONE && operators_run(results, texts, tree->ops.sel, &source) &&
           launches_run(results, texts, tree->ops.sel, feed_kernels, &v);
}

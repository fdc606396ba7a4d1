/* Backward modules [TB-5k] [TB-5.2]: autograd's roots leave their threads and return below mirrors
 * of the modules whose forward operators they belong to.
 *
 * The tree's nodes stay where they are. Roots that leave carry TB_REMOVED; each mirror lists what
 * hangs below it; and a list of insertions says before which node of the main thread a mirror is to
 * be visited. */
#ifndef KS_TB_PLUGIN_TREE_BACKWARD_H
#define KS_TB_PLUGIN_TREE_BACKWARD_H

#include "ingest/base/attr.h"
#include "ingest/tb_plugin/tree/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In backward.refs: the rest is a mirror, else it is the root of a subtree of nodes. */
#define BACKWARD_REF_MIRROR (UINT32_C(1) << 31)

/* `<module>.backward` */
struct mirror {
    uint32_t module;  /* node */
    size_t first_ref; /* children, by (start, -end): refs[first_ref .. first_ref + ref_count) */
    size_t ref_count;
    int64_t start_key; /* of the first child .. end of the last; the module's without children:
                          times.h */
    int64_t end_key;
    bool has_eligible; /* an operator that may use Tensor Cores (plugin's lists) hangs below */
};

/* A mirror stands among the children of `parent` before node `before`; at their end when that is
 * parent's end. */
struct insertion {
    uint32_t parent; /* OP_NO_NODE: the root */
    uint32_t before;
    uint32_t mirror;
};

struct backward {
    struct mirror *mirrors;
    uint32_t mirror_count;
    uint32_t *refs;
    size_t ref_count;
    struct insertion *insertions; /* in the order in which a walk meets them */
    uint32_t insertion_count;
    uint32_t main_thread; /* where the insertions are; OP_NO_THREAD when nothing was changed */
};

/* False without memory; must be freed in either case. */
bool backward_build(struct backward *backward, struct op_tree *tree) KS_MUST_USE;
void backward_free(struct backward *backward);

#endif

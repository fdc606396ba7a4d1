/* The call tree by the plugin's rules: roots of backward operators stand below mirrors of the
 * modules whose forward operators they belong to [TB-5.2]. */
#ifndef KS_TB_PLUGIN_TREE_CALL_TREE_H
#define KS_TB_PLUGIN_TREE_CALL_TREE_H

#include "ingest/analysis/call_tree/call_tree.h"
#include "ingest/base/attr.h"
#include "ingest/tb_plugin/tree/backward.h"

#include <stdbool.h>
#include <stdint.h>

/* As call_tree_build does. *record_thread: by track, the thread in whose rows its memory records
 * are placed, CALL_NONE; to be freed with scratch_free. */
bool tb_call_tree_build(struct call_tree **out,
                        struct arena *arena,
                        struct call_rows *rows,
                        const struct op_tree *tree,
                        const struct backward *backward,
                        uint32_t **record_thread) KS_MUST_USE;

#endif

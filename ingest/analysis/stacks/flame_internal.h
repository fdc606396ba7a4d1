/* What flame.c tells flame_answer.c: the tree before its limits. */
#ifndef KS_ANALYSIS_STACKS_FLAME_INTERNAL_H
#define KS_ANALYSIS_STACKS_FLAME_INTERNAL_H

#include "ingest/analysis/stacks/flame.h"

/* Node 0 is the root; all others stand behind their parents. Texts are those of the flame. */
struct flame_raw_node {
    uint32_t parent;
    uint32_t text;               /* the id of the name */
    const char *name, *key_name; /* the latter without a line */
    enum flame_kind kind;
    int64_t self_ns[FLAME_SIDES];
    int64_t calls[FLAME_SIDES];
};

uint32_t flame_text_count(const struct flame *flame);
uint32_t flame_node_count(const struct flame *flame);
struct flame_raw_node flame_raw_node(const struct flame *flame, uint32_t node);
const struct flame_options *flame_options_of(const struct flame *flame);
int64_t flame_steps(const struct flame *flame, unsigned side);

#endif

/* Rows of a call tree being written; part of call_tree_build. Everything is written twice: once to
 * count the rows, while there are no columns, and once for good. */
#ifndef KS_ANALYSIS_CALL_TREE_WRITE_H
#define KS_ANALYSIS_CALL_TREE_WRITE_H

#include "ingest/analysis/call_tree.h"
#include "ingest/analysis/id_map.h"

struct call_writing {
    struct call_tree *out;
    struct arena *arena;
    struct arena *figures; /* of columns that place no node: see call_tree_build */
    struct selection *sel;
    struct call_tree_keys keys;
    bool counts_only;
    uint32_t next; /* row to be written */
    /* Interning: index into out->names by id of the trace's names. */
    struct id_map by_name;
    size_t name_cap;
    const char **names; /* out->names until their number is known */
};

/* A name of the trace, as an index into out->names. False without memory, as all of these. */
bool call_write_name(struct call_writing *w, uint32_t name, uint32_t *index) KS_MUST_USE;
/* A text that the trace need not have. */
bool call_write_text(struct call_writing *w, const char *text, size_t len, uint32_t *index)
    KS_MUST_USE;
/* The next row: time and texts of an event, no figures. */
bool call_write_event(struct call_writing *w, uint32_t event, uint8_t class) KS_MUST_USE;
/* The next row: the root of a thread; its bounds are the caller's work. */
bool call_write_root(struct call_writing *w, int64_t tid) KS_MUST_USE;
/* The times of a row to compare, where those of the tree are others. */
void call_write_keys(struct call_writing *w, uint32_t row, int64_t start_key, int64_t stop_key);
/* The thread of a root ends with the last row written. */
void call_write_thread(struct call_writing *w, int64_t tid, uint32_t root);
/* Columns for the rows that were counted. */
bool call_write_columns(struct call_writing *w) KS_MUST_USE;
bool call_write_names(struct call_writing *w) KS_MUST_USE;
/* The tree of Lightning's profile: that of the thread of its first event. */
bool call_write_profile(struct call_writing *w) KS_MUST_USE;

#endif

/* Rows of a call tree being written: parts of call_tree_build, for those who write other rows too.
 */
#ifndef KS_ANALYSIS_CALL_TREE_WRITE_H
#define KS_ANALYSIS_CALL_TREE_WRITE_H

#include "ingest/analysis/call_tree/call_tree.h"

struct call_writing {
    struct call_tree *out;
    struct arena *arena;
    struct call_rows *rows;
    struct event_classes *sel;
    size_t row_cap;
    size_t end_cap;
    uint32_t other_count;
    size_t other_cap;
    size_t thread_cap;
    struct call_thread *threads; /* out->threads and out->names until their number is known */
    uint32_t *names;             /* ids of the trace's names */
    size_t name_cap;
};

/* Opens a tree with room for the nodes of `tree` and `more_rows`, which may turn out to be more.
 * False without memory, as all of these; must be closed in either case. */
bool call_write_open(struct call_writing *w,
                     struct arena *arena,
                     struct call_rows *rows,
                     const struct op_tree *tree,
                     size_t more_rows) KS_MUST_USE;
/* Joins forward and backward, and frees what writing needed. `ok`: all is written. Answers `ok`, or
 * false without memory; *out is the tree, NULL then. */
bool call_write_close(struct call_writing *w, bool ok, struct call_tree **out) KS_MUST_USE;
/* A text, as an index into out->names. */
bool call_write_text(struct call_writing *w, const char *text, size_t len, uint32_t *index)
    KS_MUST_USE;
/* The next row, a node. */
bool call_write_node(struct call_writing *w, uint32_t node) KS_MUST_USE;
/* The next rows: nodes first .. end, which are whole subtrees. */
bool call_write_nodes(struct call_writing *w, uint32_t first, uint32_t end) KS_MUST_USE;
/* The next row, no node: time and texts of an event, no figures. */
bool call_write_event(struct call_writing *w, uint32_t event, uint8_t class) KS_MUST_USE;
/* The next row: the root of a thread; its bounds are the caller's work. */
bool call_write_root(struct call_writing *w, int64_t tid) KS_MUST_USE;
/* The same with the bounds of the thread. */
bool call_write_bounded_root(struct call_writing *w, const struct op_thread *thread) KS_MUST_USE;
/* That of a row which is no node. Valid until the next one. */
struct call_other *call_write_other(const struct call_writing *w, uint32_t row);
/* The thread of a root ends with the last row written. */
bool call_write_thread(struct call_writing *w, int64_t tid, uint32_t root) KS_MUST_USE;
/* Names and threads, when all rows are written. */
bool call_write_end(struct call_writing *w) KS_MUST_USE;
/* Labels of threads, once they are written; `thread_of`: by track, CALL_NONE. The last label of a
 * thread stays. */
bool call_write_labels(struct call_writing *w, const uint32_t *thread_of) KS_MUST_USE;
/* The tree of Lightning's profile: that of the thread of its first event. */
bool call_write_profile(struct call_writing *w) KS_MUST_USE;

#endif

/* The call tree of a trace as columns: what windows of memory, the tree view and the comparison by
 * tree are answered from. Built once at ingest, stored compressed, read back whole. At ingest of a
 * long trace it never lies in memory as columns: they are packed as they are read from a source.
 *
 * Each thread is a stretch of nodes in pre-order that begins with its root,
 * `CallTreeRoot`. In our figures every call of the file is a node, on its own thread, and threads
 * stand in order of their first event. In the annex's, mirrors of backward modules stand where
 * [TB-5.2] inserts them, what it removes is not there, and threads stand in its order. The tree of
 * Lightning's profile stands behind the others.
 *
 *     index    0      1      2      3      4        children of i: i + 1, then end[child], while
 *     tree     root   step   op    child   op       below end[i]
 *     end      5      5      4     4       5
 */
#ifndef KS_MODEL_RESULTS_CALL_TREE_H
#define KS_MODEL_RESULTS_CALL_TREE_H

#include "ingest/model/column_source.h"

#include <stdint.h>

#define CALL_NONE UINT32_MAX
#define CALL_NO_MODULE INT64_MIN

enum call_class {
    CALL_ROOT,
    CALL_PLAIN,
    CALL_LOADER,
    CALL_OPTIMIZER,
    CALL_STEP,
    CALL_MODULE,
    CALL_PL_MODULE,
    CALL_PL_PROFILE,
    CALL_BACKWARD, /* the mirror of a module */
    CALL_CLASS_COUNT
};

/* The type of the event, as trees print it. */
enum call_type {
    CALL_TYPE_OPERATOR,
    CALL_TYPE_PYTHON,
    CALL_TYPE_PROFILER_STEP,
    CALL_TYPE_MODULE,
    CALL_TYPE_PL_MODULE,
    CALL_TYPE_PL_PROFILE,
    CALL_TYPE_USER_ANNOTATION,
    CALL_TYPE_BACKWARD,
    CALL_TYPE_COUNT
};
const char *call_type_name(enum call_type type); /* "Operator", "user_annotation", ... */

enum call_flag {
    CALL_IS_REAL = 1,    /* "real operator" [TB-5i] */
    CALL_TID_IS_TEXT = 2 /* the raw tid was a JSON string */
};

struct call_thread {
    uint32_t first; /* its root */
    uint32_t end;
    int64_t tid;
    const char *label; /* thread_name; else a tid that is no number; else NULL */
};

/* The columns of struct call_tree, in the order in which they are stored. */
enum call_column {
    CALL_COLUMN_NAME,
    CALL_COLUMN_TID,
    CALL_COLUMN_CALL_STACK,
    CALL_COLUMN_END,
    CALL_COLUMN_PARTNER,
    CALL_COLUMN_CLASS,
    CALL_COLUMN_TYPE,
    CALL_COLUMN_FLAGS,
    CALL_COLUMN_START,
    CALL_COLUMN_STOP,
    CALL_COLUMN_HOST_SELF,
    CALL_COLUMN_DEVICE_TOTAL,
    CALL_COLUMN_DEVICE_SELF,
    CALL_COLUMN_MODULE_ID,
    CALL_COLUMN_COUNT
};

struct call_tree {
    uint32_t node_count;
    uint32_t name_count;
    uint32_t thread_count;
    uint32_t profile_thread; /* the tree of Lightning's profile, CALL_NONE when there is none */
    const char **names;      /* interned texts: names, tids, call stacks */
    struct call_thread *threads;
    struct column_source source; /* of enum call_column, until all are arrays */
    /* Columns, one row a node. */
    uint32_t *name;       /* index into names */
    uint32_t *tid;        /* the raw one of the event, as text: into names */
    uint32_t *call_stack; /* into names, CALL_NONE when there is none */
    uint32_t *end;        /* behind the last node of the subtree */
    uint32_t *partner;    /* node at the other end of a forward-backward flow, CALL_NONE. As built,
                             before it is stored, NULL where there are no such flows */
    uint8_t *class;       /* enum call_class */
    uint8_t *type;        /* enum call_type */
    uint8_t *flags;       /* enum call_flag */
    int64_t *start;       /* relative to the trace's start */
    int64_t *stop;        /* the same */
    int64_t *host_self;   /* may be negative in the annex's figures */
    int64_t *device_total;
    int64_t *device_self; /* of modules with what their direct operators started */
    int64_t *module_id;   /* of modules; CALL_NO_MODULE for the others. As built, before it is
                             stored, NULL where there are no modules */
};

#endif

/* The rows of a call tree (model/results/call_tree.h) while an ingest lasts: where each comes from,
 * not its columns, which are told of one row or read a stretch at a time. Eight bytes a row, twelve
 * where forward and backward are linked. */
#ifndef KS_ANALYSIS_CALL_TREE_ROWS_H
#define KS_ANALYSIS_CALL_TREE_ROWS_H

#include "ingest/analysis/classify/times.h"
#include "ingest/analysis/relations/op_tree.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/base/saturating.h"
#include "ingest/model/results/call_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In call_rows.from: the rest is an index into `others`, else it is a node. */
#define CALL_ROW_OTHER (UINT32_C(1) << 31)

/* A row that is no node of the operator tree: a root, a mirror, an event of Lightning's profile.
 * Columns as in struct call_tree; what it does not have is 0 there. */
struct call_other {
    uint32_t name;
    uint32_t tid;
    uint32_t call_stack;
    uint8_t class;
    uint8_t type;
    uint8_t flags;
    int64_t start;
    int64_t stop;
    int64_t start_key; /* times to compare, see times.h */
    int64_t stop_key;
    int64_t host_self;
    int64_t device_total;
};

/* Only read between call_tree_build and call_rows_free. */
struct call_rows {
    const struct op_tree *tree;
    uint32_t count;
    uint32_t *from;
    uint32_t *end;     /* behind the last row of the subtree */
    uint32_t *partner; /* NULL: nothing flows */
    struct call_other *others;
    uint32_t *name_index; /* by id of the trace's names: index into the names of the call tree,
                             CALL_NONE; of `name_cap` ids */
    size_t name_cap;
    bool has_stacks; /* some event has a call stack */
};

void call_rows_free(struct call_rows *rows);
/* Nobody asks for partners any more: their memory goes. */
void call_rows_drop_partners(struct call_rows *rows);
/* A column_source.read over struct call_rows. */
void call_rows_read(
    const void *rows, unsigned column, uint32_t first, uint32_t count, int64_t *out);
/* Fills the columns of a tree that has the rows for a source, in `arena`; then it needs them no
 * more. False without memory. */
bool call_rows_write(const struct call_rows *rows,
                     struct call_tree *tree,
                     struct arena *arena) KS_MUST_USE;

/* NULL for a node. */
static inline const struct call_other *call_row_other(const struct call_rows *rows, uint32_t row)
{
    uint32_t from = rows->from[row];
    return KS_UNLIKELY((from & CALL_ROW_OTHER) != 0) ? &rows->others[from & ~CALL_ROW_OTHER] : NULL;
}

static inline const struct op_node *call_row_node(const struct call_rows *rows, uint32_t row)
{
    return &rows->tree->nodes[rows->from[row]];
}

static inline int64_t call_row_start_key(const struct call_rows *rows, uint32_t row)
{
    const struct call_other *other = call_row_other(rows, row);
    return other != NULL ? other->start_key
                         : times_start_key(rows->tree->sel, call_row_node(rows, row)->event);
}

static inline int64_t call_row_stop_key(const struct call_rows *rows, uint32_t row)
{
    const struct call_other *other = call_row_other(rows, row);
    return other != NULL ? other->stop_key
                         : times_end_key(rows->tree->sel, call_row_node(rows, row)->event);
}

static inline bool call_row_is_real(const struct call_rows *rows, uint32_t row)
{
    return call_row_other(rows, row) == NULL && (call_row_node(rows, row)->flags & OP_REAL) != 0;
}

/* The type that /tree prints, and the id of the call stack, 0 when there is none, of an event. */
enum call_type call_row_type(const struct event_classes *sel, uint32_t event);
static inline uint32_t call_row_stack_name(const struct trace *trace, uint32_t event)
{
    uint32_t args = trace->events.args[event];
    bool has_args =
        args < trace->op_args_count && trace_has_op_args(trace_kind(&trace->events, event));
    return has_args ? trace->op_args[args].call_stack : 0;
}

/* The columns of one row. */
uint8_t call_row_class(const struct call_rows *rows, uint32_t row);
uint32_t call_row_name(const struct call_rows *rows, uint32_t row);
int64_t call_row_duration(const struct call_rows *rows, uint32_t row);
int64_t call_row_host_self(const struct call_rows *rows, uint32_t row);
int64_t call_row_device_total(const struct call_rows *rows, uint32_t row);
int64_t call_row_device_self(const struct call_rows *rows, uint32_t row);
int64_t call_row_module_id(const struct call_rows *rows, uint32_t row);

#endif

#include "ingest/analysis/call_tree/rows.h"

#include "ingest/base/memory/scratch.h"

/* ---- events ---- */

enum call_type call_row_type(const struct event_classes *sel, uint32_t event)
{
    static const uint8_t types[INDEX_CLASS_COUNT] = {
        [INDEX_PYTHON] = CALL_TYPE_PYTHON,
        [INDEX_STEP] = CALL_TYPE_PROFILER_STEP,
        [INDEX_MODULE] = CALL_TYPE_MODULE,
        [INDEX_PROFILE] = CALL_TYPE_PL_PROFILE,
        [INDEX_ANNOTATION] = CALL_TYPE_USER_ANNOTATION,
    };
    enum call_type type = (enum call_type)types[sel->class[event]];
    return type == CALL_TYPE_MODULE && sel->lightning ? CALL_TYPE_PL_MODULE : type;
}

/* ---- one row ---- */

static inline const struct event_classes *sel_of(const struct call_rows *rows)
{
    return rows->tree->sel;
}

static inline uint32_t event_of(const struct call_rows *rows, uint32_t row)
{
    return call_row_node(rows, row)->event;
}

static inline const struct trace_track *track_of(const struct call_rows *rows, uint32_t row)
{
    const struct trace *trace = sel_of(rows)->trace;
    return &trace->tracks[trace_event_track(&trace->events, event_of(rows, row))];
}

static inline int64_t name_of(const struct call_rows *rows, uint32_t row)
{
    return rows->name_index[sel_of(rows)->name[event_of(rows, row)]];
}

static inline int64_t tid_of(const struct call_rows *rows, uint32_t row)
{
    return rows->name_index[track_of(rows, row)->tid_text];
}

static inline int64_t some_call_stack_of(const struct call_rows *rows, uint32_t row)
{
    uint32_t name = call_row_stack_name(sel_of(rows)->trace, event_of(rows, row));
    return name == 0 ? CALL_NONE : rows->name_index[name];
}

static inline int64_t class_of(const struct call_rows *rows, uint32_t row)
{
    static const uint8_t classes[] = {
        [OP_PLAIN] = CALL_PLAIN, [OP_LOADER] = CALL_LOADER, [OP_OPTIMIZER] = CALL_OPTIMIZER,
        [OP_STEP] = CALL_STEP,   [OP_MODULE] = CALL_MODULE, [OP_PL_MODULE] = CALL_PL_MODULE,
    };
    return classes[call_row_node(rows, row)->class];
}

static inline int64_t type_of(const struct call_rows *rows, uint32_t row)
{
    return call_row_type(sel_of(rows), event_of(rows, row));
}

static inline int64_t flags_of(const struct call_rows *rows, uint32_t row)
{
    bool is_real = (call_row_node(rows, row)->flags & OP_REAL) != 0;
    return (is_real ? CALL_IS_REAL : 0) | (track_of(rows, row)->tid_is_text ? CALL_TID_IS_TEXT : 0);
}

static inline int64_t start_of(const struct call_rows *rows, uint32_t row)
{
    return times_position(sel_of(rows), times_start(sel_of(rows), event_of(rows, row)));
}

static inline int64_t stop_of(const struct call_rows *rows, uint32_t row)
{
    return times_position(sel_of(rows), times_end(sel_of(rows), event_of(rows, row)));
}

static inline int64_t host_self_of(const struct call_rows *rows, uint32_t row)
{
    return rows->tree->host_self[rows->from[row]];
}

static inline int64_t device_total_of(const struct call_rows *rows, uint32_t row)
{
    return op_node_device_total(rows->tree, rows->from[row]);
}

/* Modules count the work of their direct operators as their own [TB-5g] [TB-5.3]. */
static inline int64_t device_self_of(const struct call_rows *rows, uint32_t row)
{
    uint8_t class = call_row_node(rows, row)->class;
    int64_t sum = op_node_device_self(rows->tree, rows->from[row]);
    bool is_module = class == OP_MODULE || class == OP_PL_MODULE;
    uint32_t child = row + 1;
    for (; is_module && child < rows->end[row]; child = rows->end[child]) {
        if (call_row_is_real(rows, child)) {
            sum = saturating_add(sum, device_total_of(rows, child));
        }
    }
    return sum;
}

static inline int64_t some_module_id_of(const struct call_rows *rows, uint32_t row)
{
    const struct op_node *node = call_row_node(rows, row);
    if (node->class == OP_MODULE) {
        return (int64_t)sel_of(rows)->trace->events.args[node->event];
    }
    return node->class == OP_PL_MODULE ? 0 : CALL_NO_MODULE;
}

uint8_t call_row_class(const struct call_rows *rows, uint32_t row)
{
    const struct call_other *other = call_row_other(rows, row);
    return other != NULL ? other->class : (uint8_t)class_of(rows, row);
}

uint32_t call_row_name(const struct call_rows *rows, uint32_t row)
{
    const struct call_other *other = call_row_other(rows, row);
    return other != NULL ? other->name : (uint32_t)name_of(rows, row);
}

int64_t call_row_duration(const struct call_rows *rows, uint32_t row)
{
    const struct call_other *other = call_row_other(rows, row);
    return other != NULL ? saturating_sub(other->stop, other->start)
                         : saturating_sub(stop_of(rows, row), start_of(rows, row));
}

int64_t call_row_host_self(const struct call_rows *rows, uint32_t row)
{
    const struct call_other *other = call_row_other(rows, row);
    return other != NULL ? other->host_self : host_self_of(rows, row);
}

int64_t call_row_device_total(const struct call_rows *rows, uint32_t row)
{
    const struct call_other *other = call_row_other(rows, row);
    return other != NULL ? other->device_total : device_total_of(rows, row);
}

int64_t call_row_device_self(const struct call_rows *rows, uint32_t row)
{
    return call_row_other(rows, row) != NULL ? 0 : device_self_of(rows, row);
}

int64_t call_row_module_id(const struct call_rows *rows, uint32_t row)
{
    return call_row_other(rows, row) != NULL ? CALL_NO_MODULE : some_module_id_of(rows, row);
}

/* ---- a stretch of a column ---- */

struct stretch {
    const struct call_rows *rows;
    uint32_t first;
    uint32_t count;
    int64_t *out;
};

/* A loop a column, for the compiler to unfold what it reads. */
#define READ_COLUMN(column, of_other)                                           \
    static void read_##column(const struct stretch *s)                          \
    {                                                                           \
        for (uint32_t i = 0; i < s->count; i++) {                               \
            uint32_t row = s->first + i;                                        \
            const struct call_other *other = call_row_other(s->rows, row);      \
            s->out[i] = other != NULL ? (of_other) : column##_of(s->rows, row); \
        }                                                                       \
    }
READ_COLUMN(name, other->name)
READ_COLUMN(tid, other->tid)
READ_COLUMN(some_call_stack, other->call_stack)
READ_COLUMN(class, other->class)
READ_COLUMN(type, other->type)
READ_COLUMN(flags, other->flags)
READ_COLUMN(start, other->start)
READ_COLUMN(stop, other->stop)
READ_COLUMN(host_self, other->host_self)
READ_COLUMN(device_total, other->device_total)
READ_COLUMN(device_self, 0)
READ_COLUMN(some_module_id, CALL_NO_MODULE)
#undef READ_COLUMN

static void read_end(const struct stretch *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        s->out[i] = s->rows->end[s->first + i];
    }
}

static void read_partner(const struct stretch *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        s->out[i] = s->rows->partner == NULL ? CALL_NONE : s->rows->partner[s->first + i];
    }
}

static bool has_modules(const struct event_classes *sel)
{
    return sel->class_count[INDEX_MODULE] > 0;
}

static void fill(const struct stretch *s, int64_t value)
{
    for (uint32_t i = 0; i < s->count; i++) {
        s->out[i] = value;
    }
}

static void read_call_stack(const struct stretch *s)
{
    if (s->rows->has_stacks) {
        read_some_call_stack(s);
    } else {
        fill(s, CALL_NONE);
    }
}

static void read_module_id(const struct stretch *s)
{
    if (has_modules(sel_of(s->rows))) {
        read_some_module_id(s);
    } else {
        fill(s, CALL_NO_MODULE);
    }
}

void call_rows_read(const void *rows, unsigned column, uint32_t first, uint32_t count, int64_t *out)
{
    static void (*const readers[CALL_COLUMN_COUNT])(const struct stretch *) = {
        [CALL_COLUMN_NAME] = read_name,
        [CALL_COLUMN_TID] = read_tid,
        [CALL_COLUMN_CALL_STACK] = read_call_stack,
        [CALL_COLUMN_END] = read_end,
        [CALL_COLUMN_PARTNER] = read_partner,
        [CALL_COLUMN_CLASS] = read_class,
        [CALL_COLUMN_TYPE] = read_type,
        [CALL_COLUMN_FLAGS] = read_flags,
        [CALL_COLUMN_START] = read_start,
        [CALL_COLUMN_STOP] = read_stop,
        [CALL_COLUMN_HOST_SELF] = read_host_self,
        [CALL_COLUMN_DEVICE_TOTAL] = read_device_total,
        [CALL_COLUMN_DEVICE_SELF] = read_device_self,
        [CALL_COLUMN_MODULE_ID] = read_module_id,
    };
    const struct stretch stretch = {rows, first, count, out};
    readers[column](&stretch);
}

/* ---- whole columns ---- */

bool call_rows_write(const struct call_rows *rows, struct call_tree *tree, struct arena *arena)
{
    bool ok = true;
#define WRITE(kind, member, column) \
    ok = ok &&                      \
         (tree->member = column_source_##kind(&tree->source, column, rows->count, arena)) != NULL
    WRITE(u32, name, CALL_COLUMN_NAME);
    WRITE(u32, tid, CALL_COLUMN_TID);
    WRITE(u32, call_stack, CALL_COLUMN_CALL_STACK);
    WRITE(u32, end, CALL_COLUMN_END);
    WRITE(u8, class, CALL_COLUMN_CLASS);
    WRITE(u8, type, CALL_COLUMN_TYPE);
    WRITE(u8, flags, CALL_COLUMN_FLAGS);
    WRITE(i64, start, CALL_COLUMN_START);
    WRITE(i64, stop, CALL_COLUMN_STOP);
    WRITE(i64, host_self, CALL_COLUMN_HOST_SELF);
    WRITE(i64, device_total, CALL_COLUMN_DEVICE_TOTAL);
    WRITE(i64, device_self, CALL_COLUMN_DEVICE_SELF);
    if (rows->partner != NULL) {
        WRITE(u32, partner, CALL_COLUMN_PARTNER);
    }
    if (has_modules(rows->tree->sel)) {
        WRITE(i64, module_id, CALL_COLUMN_MODULE_ID);
    }
#undef WRITE
    tree->source = (struct column_source){.read = NULL};
    return ok;
}

void call_rows_drop_partners(struct call_rows *rows)
{
    scratch_free(rows->partner);
    rows->partner = NULL;
}

void call_rows_free(struct call_rows *rows)
{
    SCRATCH_FREE(rows->from, rows->end);
    call_rows_drop_partners(rows);
    SCRATCH_FREE(rows->others, rows->name_index);
    *rows = (struct call_rows){.tree = NULL};
}

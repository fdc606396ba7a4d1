#include "ingest/formats/chrome_json/build.h"
#include "ingest/formats/json/text.h"
#include "ingest/formats/json/walk.h"

#include <math.h>

/* Ids that are no integers are named by their text: far below any id that a profiler writes. */
#define TEXT_ID_BASE (-((int64_t)1 << 62))

/* The value of an argument, NULL when it is absent or null. */
static inline const struct json_value *arg_value(const struct kineto_event *event, enum arg arg)
{
    if (!kineto_event_has_arg(event, arg) || json_is_missing(&event->args[arg])) {
        return NULL;
    }
    return &event->args[arg];
}

static bool other_id(struct kineto_build *build, const struct json_value *value, int64_t *id)
{
    if (value->kind == JSON_KIND_TRUE || value->kind == JSON_KIND_FALSE) {
        *id = value->kind == JSON_KIND_TRUE;
        return true;
    }
    uint32_t text = kineto_lookup_text(&build->lookup, value);
    *id = TEXT_ID_BASE - (int64_t)text;
    return text != STRTAB_NONE;
}

/* Values that are true for Python's dict are ids: integers, and whatever else by its text. */
static inline bool id_of(struct kineto_build *build, const struct json_value *value, int64_t *id)
{
    if (value == NULL) {
        *id = TRACE_NO_ID;
        return true;
    }
    return (KS_LIKELY(json_text_int(value, id)) && *id > TEXT_ID_BASE) ||
           other_id(build, value, id);
}

static int64_t int_or_none(const struct json_value *value)
{
    int64_t number;
    return value != NULL && json_text_int(value, &number) ? number : TRACE_NO_ID;
}

/* The same of a number that may be written as a text. */
static int64_t int_or_text(const struct json_value *value)
{
    int64_t number;
    bool is_text = value != NULL && value->kind == JSON_KIND_STRING;
    if (is_text && json_text_parse_int(value->ptr, value->len, &number)) {
        return number;
    }
    return int_or_none(value);
}

static double double_or_nan(const struct json_value *value)
{
    double number;
    return value != NULL && json_text_double(value, &number) ? number : (double)NAN;
}

/* *text stays what it is when the argument is absent or null. */
static bool set_text(struct kineto_build *build, const struct json_value *value, uint32_t *text)
{
    if (value == NULL) {
        return true;
    }
    *text = kineto_lookup_text(&build->lookup, value);
    return *text != STRTAB_NONE;
}

static bool set_json(struct kineto_build *build, const struct json_value *value, uint32_t *text)
{
    if (value == NULL) {
        return true;
    }
    *text = kineto_lookup_json(&build->lookup, value);
    return *text != STRTAB_NONE;
}

/* --- operators --- */

/* A bare N/A is a text [TB-1]. */
static bool is_text(const struct json_value *value)
{
    return value->kind != JSON_KIND_NULL && (value->kind != JSON_KIND_BARE || *value->ptr == 'N');
}

/* `Input Dims` unless null; else whatever `Input dims` is, a null too [TB-3.1]. */
static bool set_shape(struct kineto_build *build, const struct kineto_event *event, uint32_t *shape)
{
    const struct json_value *dims = &event->args[ARG_INPUT_DIMS_UPPER];
    if (!kineto_event_has_arg(event, ARG_INPUT_DIMS_UPPER) || !is_text(dims)) {
        if (!kineto_event_has_arg(event, ARG_INPUT_DIMS_LOWER)) {
            return true;
        }
        dims = &event->args[ARG_INPUT_DIMS_LOWER];
    }
    *shape = kineto_lookup_text(&build->lookup, dims);
    return *shape != STRTAB_NONE;
}

/* Dimensions are what `Input Dims` says, a null too, else `Input dims`. */
static bool
set_inputs(struct kineto_build *build, const struct kineto_event *event, struct op_args *args)
{
    enum arg dims = kineto_event_has_arg(event, ARG_INPUT_DIMS_UPPER) ? ARG_INPUT_DIMS_UPPER
                                                                      : ARG_INPUT_DIMS_LOWER;
    return set_json(build, arg_value(event, dims), &args->dims_json) &&
           set_json(build, arg_value(event, ARG_INPUT_TYPE), &args->types_json) &&
           set_json(build, arg_value(event, ARG_INPUT_STRIDES), &args->strides_json) &&
           set_json(build, arg_value(event, ARG_CONCRETE_INPUTS), &args->concrete_json);
}

static bool
set_op_args(struct kineto_build *build, const struct kineto_event *event, uint32_t *entry)
{
    struct op_args args = build->no_op_args;
    bool good = set_shape(build, event, &args.shape) &&
                set_text(build, arg_value(event, ARG_CALL_STACK), &args.call_stack) &&
                set_text(build, arg_value(event, ARG_INPUT_TYPE), &args.input_types) &&
                (!build->wants_inputs || set_inputs(build, event, &args));
    *entry = good ? trace_add_op_args(build->trace, &args) : UINT32_MAX;
    return *entry != UINT32_MAX;
}

/* --- device activities --- */

/* `[16, 4, 4]`, None for missing ones. */
static bool set_dim(struct kineto_build *build, const struct kineto_event *event, uint32_t *text)
{
    static const enum arg dims[] = {ARG_DIMX, ARG_DIMY, ARG_DIMZ};
    bool any = false;
    struct buf *scratch = &build->lookup.scratch;
    buf_clear(scratch);
    for (size_t i = 0; i < 3; i++) {
        const struct json_value *value = arg_value(event, dims[i]);
        any = any || value != NULL;
        buf_puts(scratch, i == 0 ? "[" : ", ");
        if (value != NULL) {
            json_text_python(value, scratch, NULL);
        } else {
            buf_puts(scratch, "None");
        }
    }
    if (!any) {
        return true;
    }
    buf_putc(scratch, ']');
    *text = scratch->failed ? STRTAB_NONE
                            : strtab_intern(build->trace->strings, scratch->ptr, scratch->len);
    return *text != STRTAB_NONE;
}

/* "48", or "24, mix 48" where the vector cores beside have a count of their own. */
static bool
set_block_dim(struct kineto_build *build, const struct kineto_event *event, uint32_t *text)
{
    const struct json_value *blocks = arg_value(event, ARG_BLOCK_DIM);
    const struct json_value *mixed = arg_value(event, ARG_MIX_BLOCK_DIM);
    struct buf *scratch = &build->lookup.scratch;
    if (blocks == NULL) {
        return true;
    }
    buf_clear(scratch);
    json_text_python(blocks, scratch, NULL);
    if (mixed != NULL && json_walk_int(mixed, 0) != 0) {
        buf_puts(scratch, ", mix ");
        json_text_python(mixed, scratch, NULL);
    }
    *text = scratch->failed ? STRTAB_NONE
                            : strtab_intern(build->trace->strings, scratch->ptr, scratch->len);
    return *text != STRTAB_NONE;
}

/* How an NPU launches a kernel, in the places of grid, block, registers and memory. */
static bool set_core_args(struct kineto_build *build,
                          const struct kineto_event *event,
                          struct kernel_args *args)
{
    const uint64_t wanted = (uint64_t)1 << ARG_CORE | (uint64_t)1 << ARG_BLOCK_DIM |
                            (uint64_t)1 << ARG_INPUT_SHAPES | (uint64_t)1 << ARG_OUTPUT_SHAPES;
    return (event->has_args & wanted) == 0 ||
           (set_text(build, arg_value(event, ARG_CORE), &args->grid) &&
            set_block_dim(build, event, &args->block) &&
            set_text(build, arg_value(event, ARG_INPUT_SHAPES), &args->registers_per_thread) &&
            set_text(build, arg_value(event, ARG_OUTPUT_SHAPES), &args->shared_memory));
}

/* A task of an NPU: its type stands where a kernel's does until it is known what it is. */
static bool
set_task_args(struct kineto_build *build, const struct kineto_event *event, uint32_t *entry)
{
    struct kernel_args args = trace_no_kernel_args();
    bool good = set_text(build, arg_value(event, ARG_TASK_TYPE), &args.kernel_type) &&
                set_core_args(build, event, &args);
    *entry = good ? trace_add_kernel_args(build->trace, &args) : UINT32_MAX;
    return *entry != UINT32_MAX;
}

static bool
set_kernel_args(struct kineto_build *build, const struct kineto_event *event, uint32_t *entry)
{
    const uint64_t dims =
        (uint64_t)1 << ARG_DIMX | (uint64_t)1 << ARG_DIMY | (uint64_t)1 << ARG_DIMZ;
    struct kernel_args args = trace_no_kernel_args();
    args.device = int_or_none(arg_value(event, ARG_DEVICE));
    args.stream = int_or_text(arg_value(event, ARG_STREAM));
    args.size_bytes = int_or_none(arg_value(event, ARG_BYTES_LOWER));
    args.blocks_per_sm = double_or_nan(arg_value(event, ARG_BLOCKS_PER_SM));
    args.occupancy_pct = double_or_nan(arg_value(event, ARG_OCCUPANCY));
    bool good = set_text(build, arg_value(event, ARG_GRID), &args.grid) &&
                set_text(build, arg_value(event, ARG_BLOCK), &args.block) &&
                set_text(build, arg_value(event, ARG_REGISTERS), &args.registers_per_thread) &&
                set_text(build, arg_value(event, ARG_SHARED_MEMORY), &args.shared_memory) &&
                set_text(build, arg_value(event, ARG_KERNEL_TYPE), &args.kernel_type) &&
                set_text(build, arg_value(event, ARG_TASKTOPO), &args.tasktopo) &&
                set_text(build, arg_value(event, ARG_TASKTOPO_NODE), &args.tasktopo_node) &&
                set_core_args(build, event, &args);
    if (good && (event->has_args & dims) != 0) {
        good = set_dim(build, event, &args.dim);
    }
    *entry = good ? trace_add_kernel_args(build->trace, &args) : UINT32_MAX;
    return *entry != UINT32_MAX;
}

/* --- memory records --- */

/* Counts of bytes may be written as doubles; what is beyond 64 bits or no number is absent. */
static bool take_bits(const struct json_value *value, int64_t *bits)
{
    double number;
    if (value == NULL) {
        return false;
    }
    if (json_text_bits(value, bits)) {
        return true;
    }
    if (!json_text_double(value, &number) || !(fabs(number) < 0x1p63)) {
        return false;
    }
    *bits = (int64_t)number;
    return true;
}

static bool take_int32(const struct json_value *value, int32_t *number)
{
    int64_t wide;
    if (value == NULL || !json_text_int(value, &wide) || wide < INT32_MIN || wide > INT32_MAX) {
        return false;
    }
    *number = (int32_t)wide;
    return true;
}

static bool
set_memory_args(struct kineto_build *build, const struct kineto_event *event, uint32_t *entry)
{
    struct memory_args args = {0};
    unsigned has = 0;
    int32_t device_type;
    if (take_bits(arg_value(event, ARG_ADDR), &args.addr)) {
        has |= MEMORY_HAS_ADDR;
    }
    if (!take_bits(arg_value(event, ARG_BYTES_UPPER), &args.size_bytes)) {
        args.size_bytes = 0;
    }
    if (take_bits(arg_value(event, ARG_TOTAL_ALLOCATED), &args.total_allocated_bytes)) {
        has |= MEMORY_HAS_ALLOCATED;
    }
    if (take_bits(arg_value(event, ARG_TOTAL_RESERVED), &args.total_reserved_bytes)) {
        has |= MEMORY_HAS_RESERVED;
    }
    if (take_int32(arg_value(event, ARG_DEVICE_TYPE), &device_type)) {
        args.device_type = MEMORY_TYPE_OTHER;
        if (device_type >= INT16_MIN && device_type <= INT16_MAX) {
            args.device_type = (int16_t)device_type;
        }
        has |= MEMORY_HAS_DEVICE_TYPE;
    }
    if (take_int32(arg_value(event, ARG_DEVICE_ID), &args.device_id)) {
        has |= MEMORY_HAS_DEVICE_ID;
    }
    args.has = (uint16_t)has;
    *entry = trace_add_memory_args(build->trace, &args);
    return *entry != UINT32_MAX;
}

/* --- collectives --- */

/* Of the event that is about to be appended. */
static bool add_collective(struct kineto_build *build, const struct kineto_event *event)
{
    const struct json_value *name = arg_value(event, ARG_COLLECTIVE_NAME);
    const struct json_value *group = arg_value(event, ARG_GROUP_NAME);
    struct collective_args args = {
        .event = build->trace->events.count,
        .dtype = STRTAB_NONE,
        .group = STRTAB_NONE,
        .group_ranks = STRTAB_NONE,
        .in_split = STRTAB_NONE,
        .is_group_named = group != NULL,
        .sequence = int_or_none(arg_value(event, ARG_SEQUENCE)),
        .group_size = int_or_none(arg_value(event, ARG_GROUP_SIZE)),
        .in_count = int_or_none(arg_value(event, ARG_IN_COUNT)),
        .out_count = int_or_none(arg_value(event, ARG_OUT_COUNT)),
    };
    if (group == NULL) {
        group = arg_value(event, ARG_GROUP_ID);
    }
    return set_text(build, name, &args.name) &&
           set_text(build, arg_value(event, ARG_DTYPE), &args.dtype) &&
           set_text(build, group, &args.group) &&
           set_text(build, arg_value(event, ARG_GROUP_RANKS), &args.group_ranks) &&
           set_text(build, arg_value(event, ARG_IN_SPLIT), &args.in_split) &&
           trace_add_collective(build->trace, &args);
}

/* --- waits --- */

/* Of the event that is about to be appended. */
static bool
add_wait(struct kineto_build *build, const struct kineto_event *event, enum event_kind kind)
{
    struct wait_args args = {
        .event = build->trace->events.count,
        .stream = int_or_text(arg_value(event, ARG_STREAM)),
        .wait_stream = int_or_none(arg_value(event, ARG_WAIT_STREAM)),
        .wait_correlation = int_or_none(arg_value(event, ARG_WAIT_CORRELATION)),
    };
    bool is_record = args.stream >= 0 || args.wait_correlation >= 0;
    return !is_record || trace_has_kernel_args(kind) || trace_add_wait(build->trace, &args);
}

/* --- ids, Python modules, labels --- */

/* The values of which the ids of a row are made, NULL: there is none. */
struct id_values {
    const struct json_value *correlation;
    const struct json_value *external;
};

static struct id_values find_ids(const struct kineto_event *event, enum event_kind kind, char phase)
{
    if (kind == EVENT_PYTHON_FUNCTION) {
        return (struct id_values){.correlation = arg_value(event, ARG_PYTHON_ID),
                                  .external = arg_value(event, ARG_PYTHON_PARENT_ID)};
    }
    struct id_values ids = {.correlation = arg_value(event, ARG_CORRELATION),
                            .external = arg_value(event, ARG_EXTERNAL_ID_LOWER)};
    if (ids.external == NULL) {
        ids.external = arg_value(event, ARG_EXTERNAL_ID_UPPER);
    }
    if (ids.correlation == NULL && phase == 'X') {
        ids.correlation = arg_value(event, ARG_CONNECTION); /* Ascend [FMT-1.2] */
    }
    if (phase != 'X' && kineto_event_has(event, FIELD_ID) &&
        !json_is_missing(&event->fields[FIELD_ID])) {
        ids.correlation = &event->fields[FIELD_ID];
    }
    return ids;
}

static bool
set_ids(struct kineto_build *build, const struct kineto_event *event, struct trace_event *row)
{
    struct id_values ids = find_ids(event, row->kind, row->phase);
    return id_of(build, ids.external, &row->external_id) &&
           id_of(build, ids.correlation, &row->correlation);
}

static void set_module(const struct kineto_event *event, struct trace_event *row)
{
    if (kineto_event_has_arg(event, ARG_PYTHON_MODULE_ID)) {
        int64_t module = int_or_none(arg_value(event, ARG_PYTHON_MODULE_ID));
        row->flags |= EVENT_MODULE;
        row->args = module >= 0 && module < TRACE_NO_ARGS ? (uint32_t)module : TRACE_NO_ARGS;
    }
}

static enum kineto_use memory_use(const struct kineto_event *event, const struct json_value *value)
{
    if (value == &event->args[ARG_ADDR]) {
        return KINETO_USE_ADDR;
    }
    if (value == &event->args[ARG_BYTES_UPPER]) {
        return KINETO_USE_BYTES;
    }
    if (value == &event->args[ARG_TOTAL_ALLOCATED]) {
        return KINETO_USE_ALLOCATED;
    }
    return value == &event->args[ARG_TOTAL_RESERVED] ? KINETO_USE_RESERVED : KINETO_USE_NONE;
}

enum kineto_use kineto_build_use(const struct kineto_build *build,
                                 const struct kineto_event *event,
                                 uint32_t place,
                                 bool is_decimal)
{
    const struct trace_events *events = &build->trace->events;
    const struct event_class *class = trace_event_class(events, events->count - 1);
    const struct json_value *value = &event->values[place];
    struct id_values ids = find_ids(event, (enum event_kind) class->kind, (char)class->phase);
    enum kineto_use use = KINETO_USE_NONE;
    if (place == FIELD_TS || place == FIELD_DUR) {
        return place == FIELD_TS ? KINETO_USE_TS : KINETO_USE_DUR;
    }
    if (value == ids.correlation) {
        use = KINETO_USE_CORRELATION;
    } else if (value == ids.external) {
        use = KINETO_USE_EXTERNAL_ID;
    } else if (class->kind == EVENT_MEMORY) {
        use = memory_use(event, value);
    }
    return is_decimal && use != KINETO_USE_NONE ? KINETO_USES : use;
}

static bool add_label(struct kineto_build *build,
                      const struct kineto_event *event,
                      const struct trace_event *row)
{
    const struct json_value *value = arg_value(event, ARG_NAME);
    if (value == NULL) {
        value = arg_value(event, ARG_LABELS);
    }
    if (value == NULL) {
        value = arg_value(event, ARG_SORT_INDEX);
    }
    if (value == NULL) {
        return true;
    }
    struct trace_label label = {.kind_name = row->name,
                                .track = row->track,
                                .label = kineto_lookup_text(&build->lookup, value)};
    return label.label != STRTAB_NONE && trace_add_label(build->trace, &label);
}

bool kineto_build_args(struct kineto_build *build,
                       const struct kineto_event *event,
                       struct trace_event *row)
{
    bool good = set_ids(build, event, row);
    const uint64_t collective = (uint64_t)1 << ARG_COLLECTIVE_NAME | (uint64_t)1 << ARG_GROUP_NAME |
                                (uint64_t)1 << ARG_GROUP_SIZE | (uint64_t)1 << ARG_IN_COUNT |
                                (uint64_t)1 << ARG_OUT_COUNT;
    bool has_collective = row->phase == 'X' && (event->has_args & collective) != 0;
    if (!good || (KS_UNLIKELY(has_collective) && !add_collective(build, event)) ||
        (row->phase == 'X' && kineto_event_has_arg(event, ARG_STREAM) &&
         !add_wait(build, event, row->kind))) {
        return false;
    }
    switch (row->kind) {
    case EVENT_OPERATOR:
    case EVENT_PYTHON:
    case EVENT_USER_ANNOTATION:
    case EVENT_GPU_USER_ANNOTATION:
        return set_op_args(build, event, &row->args);
    case EVENT_KERNEL:
    case EVENT_MEMCPY:
    case EVENT_MEMSET:
    case EVENT_DEVICE_ROW:
        return set_kernel_args(build, event, &row->args);
    case EVENT_RUNTIME:
    case EVENT_DRIVER:
        return set_text(build, arg_value(event, ARG_KERNEL), &row->args);
    case EVENT_MEMORY:
        return set_memory_args(build, event, &row->args);
    case EVENT_PYTHON_FUNCTION:
        set_module(event, row);
        return true;
    default:
        if (row->phase == 'X' && kineto_event_has_arg(event, ARG_TASK_TYPE)) {
            return set_task_args(build, event, &row->args);
        }
        return row->phase != 'M' || add_label(build, event, row);
    }
}

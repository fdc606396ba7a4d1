#include "ingest/formats/event_log/event.h"

#include <string.h>

/* --- keys --- */

#define TRY(answer, text)                           \
    if (memcmp(key, text, sizeof(text) - 1) == 0) { \
        return answer;                              \
    }

static inline enum field field_of(const char *key, size_t len)
{
    switch (len) {
    case 2:
        TRY(FIELD_PH, "ph");
        TRY(FIELD_TS, "ts");
        TRY(FIELD_ID, "id");
        break;
    case 3:
        TRY(FIELD_CAT, "cat");
        TRY(FIELD_PID, "pid");
        TRY(FIELD_TID, "tid");
        TRY(FIELD_DUR, "dur");
        break;
    case 4:
        TRY(FIELD_NAME, "name");
        TRY(FIELD_ARGS, "args");
        break;
    default:
        break;
    }
    return FIELD_COUNT;
}

static enum arg long_arg_of(const char *key, size_t len)
{
    switch (len) {
    case 16:
        TRY(ARG_PYTHON_PARENT_ID, "Python parent id");
        TRY(ARG_PYTHON_MODULE_ID, "Python module id");
        TRY(ARG_GROUP_ID, "Process Group ID");
        TRY(ARG_CORE, "Accelerator Core");
        break;
    case 18:
        TRY(ARG_GROUP_NAME, "Process Group Name");
        break;
    case 19:
        TRY(ARG_GROUP_RANKS, "Process Group Ranks");
        break;
    case 20:
        TRY(ARG_REGISTERS, "registers per thread");
        break;
    case 25:
        TRY(ARG_OCCUPANCY, "est. achieved occupancy %");
        break;
    case 33:
        TRY(ARG_WAIT_CORRELATION, "wait_on_cuda_event_record_corr_id");
        break;
    default:
        break;
    }
    return ARG_COUNT;
}

static enum arg arg_of(const char *key, size_t len)
{
    switch (len) {
    case 3:
        TRY(ARG_SEQUENCE, "Seq");
        break;
    case 4:
        TRY(ARG_GRID, "grid");
        TRY(ARG_DIMX, "dimx");
        TRY(ARG_DIMY, "dimy");
        TRY(ARG_DIMZ, "dimz");
        TRY(ARG_NAME, "name");
        TRY(ARG_ADDR, "Addr");
        TRY(ARG_ARGS, "args");
        break;
    case 5:
        TRY(ARG_BLOCK, "block");
        TRY(ARG_BYTES_LOWER, "bytes");
        TRY(ARG_BYTES_UPPER, "Bytes");
        TRY(ARG_VALUE, "value");
        TRY(ARG_DTYPE, "dtype");
        break;
    case 6:
        TRY(ARG_DEVICE, "device");
        TRY(ARG_STREAM, "stream");
        TRY(ARG_LABELS, "labels");
        TRY(ARG_KERNEL, "kernel");
        break;
    case 8:
        TRY(ARG_TASKTOPO, "tasktopo");
        TRY(ARG_HOSTNAME, "hostname");
        break;
    case 9:
        TRY(ARG_PYTHON_ID, "Python id");
        TRY(ARG_DEVICE_ID, "Device Id");
        TRY(ARG_TASK_TYPE, "Task Type");
        TRY(ARG_BLOCK_DIM, "Block Dim");
        break;
    case 10:
        TRY(ARG_INPUT_DIMS_UPPER, "Input Dims");
        TRY(ARG_INPUT_DIMS_LOWER, "Input dims");
        TRY(ARG_INPUT_TYPE, "Input type");
        TRY(ARG_CALL_STACK, "Call stack");
        TRY(ARG_GROUP_SIZE, "Group size");
        TRY(ARG_SORT_INDEX, "sort_index");
        break;
    case 11:
        TRY(ARG_EXTERNAL_ID_UPPER, "External id");
        TRY(ARG_EXTERNAL_ID_LOWER, "external id");
        TRY(ARG_CORRELATION, "correlation");
        TRY(ARG_KERNEL_TYPE, "kernel type");
        TRY(ARG_DEVICE_TYPE, "Device Type");
        break;
    case 12:
        TRY(ARG_INPUT_SHAPES, "Input Shapes");
        break;
    case 13:
        TRY(ARG_OUTPUT_SHAPES, "Output Shapes");
        TRY(ARG_MIX_BLOCK_DIM, "Mix Block Dim");
        TRY(ARG_INPUT_STRIDES, "Input Strides");
        TRY(ARG_TASKTOPO_NODE, "tasktopo_node");
        TRY(ARG_SHARED_MEMORY, "shared memory");
        TRY(ARG_BLOCKS_PER_SM, "blocks per SM");
        TRY(ARG_IN_COUNT, "In msg nelems");
        TRY(ARG_IN_SPLIT, "In split size");
        TRY(ARG_CONNECTION, "connection_id");
        break;
    case 14:
        TRY(ARG_TOTAL_RESERVED, "Total Reserved");
        TRY(ARG_OUT_COUNT, "Out msg nelems");
        TRY(ARG_WAIT_STREAM, "wait_on_stream");
        break;
    case 15:
        TRY(ARG_TOTAL_ALLOCATED, "Total Allocated");
        TRY(ARG_CONCRETE_INPUTS, "Concrete Inputs");
        TRY(ARG_COLLECTIVE_NAME, "Collective name");
        break;
    default:
        return long_arg_of(key, len);
    }
    return ARG_COUNT;
}

#undef TRY

enum field kineto_field_of(const char *key, size_t len)
{
    return field_of(key, len);
}

enum arg kineto_arg_of(const char *key, size_t len)
{
    return arg_of(key, len);
}

bool kineto_is_known_key(const char *key, size_t len)
{
    static const char *const others[] = {"s",
                                         "bp",
                                         "cbid",
                                         "queued",
                                         "context",
                                         "Ev Idx",
                                         "Device",
                                         "Trace name",
                                         "Fwd thread id",
                                         "warps per SM",
                                         "Trace iteration",
                                         "Sequence number",
                                         "Record function id",
                                         "Profiler Event Index"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strlen(others[i]) == len && memcmp(others[i], key, len) == 0) {
            return true;
        }
    }
    return field_of(key, len) != FIELD_COUNT || arg_of(key, len) != ARG_COUNT;
}

/* --- values --- */

static inline void note_duplicate(struct kineto_event *event, const char *at)
{
    if (event->duplicate_keys++ == 0) {
        event->first_duplicate = at;
    }
}

static inline void
set_field(struct kineto_event *event, enum field field, const struct json_value *value)
{
    uint32_t bit = 1U << field;
    if (KS_UNLIKELY((event->has_fields & bit) != 0)) {
        note_duplicate(event, value->ptr);
    }
    event->has_fields |= bit;
    event->fields[field] = *value;
}

static inline void set_arg(struct kineto_event *event, enum arg arg, const struct json_value *value)
{
    uint64_t bit = (uint64_t)1 << arg;
    if (KS_UNLIKELY((event->has_args & bit) != 0)) {
        note_duplicate(event, value->ptr);
    }
    event->has_args |= bit;
    event->args[arg] = *value;
}

void kineto_event_set(struct kineto_event *event, enum field field, const struct json_value *value)
{
    set_field(event, field, value);
}

void kineto_event_set_arg(struct kineto_event *event, enum arg arg, const struct json_value *value)
{
    set_arg(event, arg, value);
}

/* --- all members --- */

void kineto_members_clear(struct kineto_members *members, bool is_repaired)
{
    if (members != NULL) {
        members->top_count = 0;
        members->arg_count = 0;
        members->has_args = false;
        members->too_many = false;
        members->is_repaired = is_repaired;
    }
}

static inline void note_member(struct kineto_members *members,
                               struct kineto_member *list,
                               uint32_t *count,
                               const struct json_value *key,
                               const struct json_value *value)
{
    if (KS_UNLIKELY(*count == EVENT_KEYS_MAX)) {
        members->too_many = true;
        return;
    }
    struct kineto_member *member = &list[(*count)++];
    member->key = key->ptr;
    member->key_len = key->len;
    member->value = *value;
}

static inline void
note_top(struct kineto_event *event, const struct json_value *key, const struct json_value *value)
{
    struct kineto_members *members = event->members;
    if (members != NULL) {
        note_member(members, members->top, &members->top_count, key, value);
    }
}

static inline void
note_arg(struct kineto_event *event, const struct json_value *key, const struct json_value *value)
{
    struct kineto_members *members = event->members;
    if (members != NULL) {
        note_member(members, members->args, &members->arg_count, key, value);
    }
}

/* An `args` begins, which replaces one before it. */
static inline void note_args(struct kineto_event *event, bool is_object)
{
    if (event->members != NULL) {
        event->members->arg_count = 0;
        event->members->has_args = is_object;
    }
}

void kineto_event_note(struct kineto_event *event,
                       const struct json_value *key,
                       const struct json_value *value)
{
    if (field_of(key->ptr, key->len) == FIELD_ARGS) {
        note_args(event, false);
    }
    note_top(event, key, value);
}

void kineto_event_note_args(struct kineto_event *event)
{
    note_args(event, true);
}

void kineto_event_note_arg(struct kineto_event *event,
                           const struct json_value *key,
                           const struct json_value *value)
{
    note_arg(event, key, value);
}

/* --- proper JSON --- */

/* What stands between two members: `,` goes on, `}` sets *done. */
static inline enum json_status next_member(struct json_scan *scan, bool *done)
{
    if (!json_skip_space(scan)) {
        return JSON_MORE;
    }
    char c = *scan->at;
    if (c != ',' && c != '}') {
        return JSON_BAD;
    }
    *done = c == '}';
    scan->at++;
    return *done || json_skip_space(scan) ? JSON_OK : JSON_MORE;
}

/* The key at `at`; afterwards at the first byte of its value. */
static inline enum json_status member_key(struct json_scan *scan, struct json_value *key)
{
    if (KS_UNLIKELY(*scan->at != '"')) {
        return JSON_BAD;
    }
    enum json_status status = json_scan_string(scan, key);
    if (KS_UNLIKELY(status != JSON_OK)) {
        return status;
    }
    if (!json_skip_space(scan)) {
        return JSON_MORE;
    }
    if (KS_UNLIKELY(*scan->at != ':')) {
        return JSON_BAD;
    }
    scan->at++;
    return json_skip_space(scan) ? JSON_OK : JSON_MORE;
}

/* Behind an opening brace: *done for an empty object. */
static inline enum json_status object_begin(struct json_scan *scan, bool *done)
{
    scan->at++;
    if (!json_skip_space(scan)) {
        return JSON_MORE;
    }
    *done = *scan->at == '}';
    scan->at += *done;
    return JSON_OK;
}

static enum json_status scan_args(struct kineto_event *event, struct json_scan *scan)
{
    bool done;
    struct json_value key;
    struct json_value value;
    event->has_args = 0;
    enum json_status status = object_begin(scan, &done);
    while (status == JSON_OK && !done) {
        status = member_key(scan, &key);
        if (status != JSON_OK) {
            break;
        }
        status = json_scan_value(scan, &value);
        if (status != JSON_OK) {
            break;
        }
        enum arg arg = arg_of(key.ptr, key.len);
        if (arg != ARG_COUNT) {
            set_arg(event, arg, &value);
        }
        note_arg(event, &key, &value);
        status = next_member(scan, &done);
    }
    return status;
}

bool kineto_event_scan_args(struct kineto_event *event,
                            struct kineto_members *members,
                            const char *begin,
                            const char *end)
{
    struct json_scan scan = {.at = begin, .end = end};
    kineto_members_clear(members, false);
    event->members = members;
    note_args(event, true);
    event->has_args = 0;
    event->duplicate_keys = 0;
    return json_skip_space(&scan) && *scan.at == '{' && scan_args(event, &scan) == JSON_OK &&
           !json_skip_space(&scan);
}

static inline enum json_status scan_field(struct kineto_event *event, struct json_scan *scan)
{
    struct json_value key;
    struct json_value value;
    enum json_status status = member_key(scan, &key);
    if (status != JSON_OK) {
        return status;
    }
    enum field field = field_of(key.ptr, key.len);
    if (field == FIELD_ARGS && *scan->at == '{') {
        value = (struct json_value){.ptr = scan->at, .len = 1, .kind = JSON_KIND_OBJECT};
        set_field(event, field, &value);
        note_args(event, true);
        status = scan_args(event, scan);
        event->fields[field].len = (uint32_t)(scan->at - value.ptr);
        return status;
    }
    status = json_scan_value(scan, &value);
    if (status != JSON_OK) {
        return status;
    }
    if (field != FIELD_COUNT) {
        set_field(event, field, &value);
    }
    if (KS_UNLIKELY(field == FIELD_ARGS)) {
        event->has_args = 0;
        note_args(event, false);
    }
    note_top(event, &key, &value);
    return JSON_OK;
}

enum json_status kineto_event_scan(struct kineto_event *event,
                                   struct kineto_members *members,
                                   const char *begin,
                                   const char *end,
                                   const char **bad)
{
    struct json_scan scan = {.at = begin, .end = end};
    bool done;
    kineto_members_clear(members, false);
    event->members = members;
    event->begin = begin;
    event->has_args = 0;
    event->has_fields = 0;
    event->duplicate_keys = 0;
    enum json_status status = object_begin(&scan, &done);
    while (status == JSON_OK && !done) {
        status = scan_field(event, &scan);
        if (status == JSON_OK) {
            status = next_member(&scan, &done);
        }
    }
    event->end = scan.at;
    event->control_values = scan.control_values;
    event->first_control = scan.control;
    *bad = scan.at;
    return status;
}

enum json_status kineto_event_begins(const char *at, const char *end)
{
    struct json_scan scan = {.at = at, .end = end};
    struct json_value key;
    if (at >= end) {
        return JSON_MORE;
    }
    if (*at != '{') {
        return JSON_BAD;
    }
    scan.at++;
    if (!json_skip_space(&scan)) {
        return JSON_MORE;
    }
    enum json_status status = member_key(&scan, &key);
    if (status != JSON_OK) {
        return status;
    }
    bool is_flow_key = key.len <= 2 && kineto_is_known_key(key.ptr, key.len);
    return is_flow_key || field_of(key.ptr, key.len) != FIELD_COUNT ? JSON_OK : JSON_BAD;
}

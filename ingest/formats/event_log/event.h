/* One element of `traceEvents` as slices of its JSON text: which keys are known and where their
 * values lie.
 *
 *     {"ph": "X", "cat": "cpu_op", ..., "args": {"External id": 2, ...}}
 *              ^ fields[FIELD_PH]                              ^ args[ARG_EXTERNAL_ID_UPPER]
 *
 * Two ways lead here: kineto_event_scan reads proper JSON, kineto_event_repair what is left of it.
 */
#ifndef KS_FORMATS_EVENT_LOG_EVENT_H
#define KS_FORMATS_EVENT_LOG_EVENT_H

#include "ingest/base/attr.h"
#include "ingest/formats/json/scan.h"
#include "ingest/formats/json/text_stream.h"
#include "ingest/model/event_log.h"
#include "ingest/model/warning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Known keys of an event and of its `args`; the texts are in kineto_event.c. */
enum field {
    FIELD_PH,
    FIELD_TS,
    FIELD_ID,
    FIELD_CAT,
    FIELD_PID,
    FIELD_TID,
    FIELD_DUR,
    FIELD_NAME,
    FIELD_ARGS,
    FIELD_COUNT
};

enum arg {
    ARG_SEQUENCE,
    ARG_GRID,
    ARG_DIMX,
    ARG_DIMY,
    ARG_DIMZ,
    ARG_NAME,
    ARG_ADDR,
    ARG_ARGS,
    ARG_BLOCK,
    ARG_BYTES_LOWER,
    ARG_BYTES_UPPER,
    ARG_VALUE,
    ARG_DTYPE,
    ARG_DEVICE,
    ARG_STREAM,
    ARG_LABELS,
    ARG_KERNEL,
    ARG_TASKTOPO,
    ARG_HOSTNAME,
    ARG_PYTHON_ID,
    ARG_DEVICE_ID,
    ARG_TASK_TYPE,
    ARG_CONNECTION,
    ARG_INPUT_DIMS_UPPER,
    ARG_INPUT_DIMS_LOWER,
    ARG_INPUT_TYPE,
    ARG_CALL_STACK,
    ARG_GROUP_SIZE,
    ARG_SORT_INDEX,
    ARG_EXTERNAL_ID_UPPER,
    ARG_EXTERNAL_ID_LOWER,
    ARG_CORRELATION,
    ARG_KERNEL_TYPE,
    ARG_DEVICE_TYPE,
    ARG_TASKTOPO_NODE,
    ARG_SHARED_MEMORY,
    ARG_BLOCKS_PER_SM,
    ARG_IN_COUNT,
    ARG_TOTAL_RESERVED,
    ARG_WAIT_STREAM,
    ARG_OUT_COUNT,
    ARG_TOTAL_ALLOCATED,
    ARG_COLLECTIVE_NAME,
    ARG_PYTHON_PARENT_ID,
    ARG_PYTHON_MODULE_ID,
    ARG_GROUP_ID,
    ARG_GROUP_NAME,
    ARG_GROUP_RANKS,
    ARG_IN_SPLIT,
    ARG_REGISTERS,
    ARG_OCCUPANCY,
    ARG_WAIT_CORRELATION,
    ARG_INPUT_STRIDES,
    ARG_CONCRETE_INPUTS,
    ARG_CORE,
    ARG_BLOCK_DIM,
    ARG_MIX_BLOCK_DIM,
    ARG_INPUT_SHAPES,
    ARG_OUTPUT_SHAPES,
    ARG_COUNT
};

#define KINETO_VALUES (FIELD_COUNT + ARG_COUNT + 1)

/* A member of an event or of its `args`, whether its key is known or not. */
struct kineto_member {
    const char *key; /* without its quotes */
    uint32_t key_len;
    struct json_value value;
};

/* All members of an event in their order, repeated ones too; for those who keep the event as it was
 * written. */
struct kineto_members {
    uint32_t top_count; /* `args` is among them when it is no object */
    uint32_t arg_count; /* of the last `args` */
    bool has_args;      /* the last `args` is an object */
    bool too_many;      /* there are more than EVENT_KEYS_MAX on one level; the rest is not here */
    bool is_repaired;   /* they come from kineto_event_repair: values may be no proper JSON */
    struct kineto_member top[EVENT_KEYS_MAX];
    struct kineto_member args[EVENT_KEYS_MAX];
};

struct kineto_event {
    struct kineto_members *members; /* NULL: not wanted */
    const char *begin;              /* its opening brace */
    const char *end;                /* behind its closing brace */
    uint64_t has_args;              /* bit (1 << arg); null values count as there */
    uint32_t has_fields;
    uint32_t duplicate_keys; /* known keys that came again: the last value stands */
    const char *first_duplicate;
    uint32_t control_values; /* strings with raw control characters */
    const char *first_control;
    union {
        struct {
            struct json_value fields[FIELD_COUNT];
            struct json_value args[ARG_COUNT];
        };
        /* The same one behind the other; the last is for values that nobody asks for. */
        struct json_value values[KINETO_VALUES];
    };
};

static inline bool kineto_event_has(const struct kineto_event *event, enum field field)
{
    return (event->has_fields >> field & 1) != 0;
}

static inline bool kineto_event_has_arg(const struct kineto_event *event, enum arg arg)
{
    return (event->has_args >> arg & 1) != 0;
}

/* Reads the object at `begin`. `members` may be NULL. JSON_BAD: *bad is the offending byte. */
enum json_status kineto_event_scan(struct kineto_event *event,
                                   struct kineto_members *members,
                                   const char *begin,
                                   const char *end,
                                   const char **bad) KS_MUST_USE;

/* The same for an object that is damaged. On JSON_OK the repairs have been counted in
 * `warnings`. An object without `ph`, or that seems to be two, is JSON_BAD. */
enum json_status kineto_event_repair(struct kineto_event *event,
                                     struct kineto_members *members,
                                     const char *begin,
                                     const struct text_stream *stream,
                                     struct warnings *warnings) KS_MUST_USE;

/* The object [begin, end) as arguments: only `has_args`, `args` and `members` of the event are set.
 * False when that is no proper JSON object. What lies behind `end` must be readable as text_stream
 * says. */
bool kineto_event_scan_args(struct kineto_event *event,
                            struct kineto_members *members,
                            const char *begin,
                            const char *end) KS_MUST_USE;

/* Whether the text begins like an event: a brace and a key that events have. JSON_MORE: too short
 * to tell. */
enum json_status kineto_event_begins(const char *at, const char *end) KS_MUST_USE;

/* FIELD_COUNT and ARG_COUNT for other keys. */
enum field kineto_field_of(const char *key, size_t len);
enum arg kineto_arg_of(const char *key, size_t len);
/* Whether profilers write this key into events or their arguments. */
bool kineto_is_known_key(const char *key, size_t len);

/* Notes a value; the last one of equal keys stands. */
void kineto_event_set(struct kineto_event *event, enum field field, const struct json_value *value);
void kineto_event_set_arg(struct kineto_event *event, enum arg arg, const struct json_value *value);

/* `members` may be NULL. */
void kineto_members_clear(struct kineto_members *members, bool is_repaired);
/* Notes a member where all are wanted: `args` that is an object by kineto_event_note_args. */
void kineto_event_note(struct kineto_event *event,
                       const struct json_value *key,
                       const struct json_value *value);
void kineto_event_note_args(struct kineto_event *event);
void kineto_event_note_arg(struct kineto_event *event,
                           const struct json_value *key,
                           const struct json_value *value);

#endif

/* Where the values of a batch are, told by template: which events have it, and which of their
 * values are one throughout. The values stay where they are, since they are more than fits into the
 * fastest memory; a column is copied when it is its turn.
 *
 *     batch: ts 5, pid 7, ts 6, pid 7, ...  -->  rows 0, 2, ...; ts differs, pid does not */
#ifndef KS_STORE_EVENTS_COLUMNS_H
#define KS_STORE_EVENTS_COLUMNS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/event_log.h"
#include "ingest/store/events/shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum value_role { VALUE_NUMBER, VALUE_DECIMAL, VALUE_DIGITS, VALUE_TEXT };

/* What is known of a template of the log. */
struct event_plan {
    struct event_shape shape;
    uint32_t value_count;
    uint8_t *roles; /* enum value_role */
    bool *searched; /* whether a search looks at the value */
    uint32_t local; /* its number in this block, or NOT_IN_BLOCK */
};

/* One of the block's templates. */
struct local_template {
    uint32_t template;
    uint32_t event_count;
    uint32_t value_count;
    uint32_t time_at;     /* the number `ts` of an event's values, or EVENT_NO_VALUE */
    uint8_t time_kind;    /* enum event_slot_kind */
    uint32_t *rows;       /* where the values of each of its events begin in the batch */
    const int64_t *first; /* those of its first event */
    uint64_t *differ;     /* [value_count] the bits that are not the same in all events */
    int64_t *times;       /* [event_count] each `ts` as the difference to the one before in the file
                             that is written in the same way */
};

struct event_columns {
    struct arena arena; /* of the plans */
    struct event_plan *plans;
    uint32_t plan_count;
    uint32_t plan_cap;

    /* Of the batch at hand: */
    struct local_template *locals;
    uint32_t local_count;
    uint16_t *sequence; /* of each event, its place in locals */
    uint32_t *rows;     /* of one local template behind those of another; times likewise */
    int64_t *times;
    uint64_t *differ;
    size_t differ_cap;
    const int64_t *values; /* the batch's */
};

/* False without memory; event_columns_free is needed either way. */
bool event_columns_init(struct event_columns *all) KS_MUST_USE;
void event_columns_free(struct event_columns *all);
/* Of a batch (at least one event) of a log, the same log each time; the batch is needed as long as
 * its columns. ERR_INTERNAL (the batch does not fit its log), ERR_NO_MEMORY. */
bool event_columns_make(struct event_columns *all,
                        const struct event_log *log,
                        const struct event_batch *batch,
                        struct err *err) KS_MUST_USE;

static inline bool event_column_is_one(const struct local_template *local, uint32_t value)
{
    return local->differ[value] == 0;
}

static inline int64_t event_column_at(const struct event_columns *columns,
                                      const struct local_template *local,
                                      uint32_t value,
                                      uint32_t row)
{
    return columns->values[local->rows[row] + value];
}

/* A value of the first `count` events of a template. */
static inline void event_column_copy(const struct event_columns *columns,
                                     const struct local_template *local,
                                     uint32_t value,
                                     uint32_t count,
                                     int64_t *restrict out)
{
    const int64_t *values = columns->values + value;
    for (uint32_t row = 0; row < count; row++) {
        out[row] = values[local->rows[row]];
    }
}

static inline bool event_plan_has_number(const struct event_plan *plan, enum event_field field)
{
    return plan->shape.value[field] != EVENT_NO_VALUE && plan->shape.kind[field] != EVENT_SLOT_TEXT;
}

static inline const struct event_plan *event_plan_of(const struct event_columns *columns,
                                                     const struct local_template *local)
{
    return &columns->plans[local->template];
}

#endif

/* The values of a batch as columns: those of all events of a template one behind another, and told
 * which of them are one value throughout.
 *
 *     batch: ts 5, pid 7, ts 6, pid 7, ...  -->  ts: 5, 6, ...; pid: 7 */
#ifndef KS_STORE_EVENT_COLUMNS_H
#define KS_STORE_EVENT_COLUMNS_H

#include "ingest/base/arena.h"
#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/model/event_log.h"
#include "ingest/store/event_shape.h"

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

/* One value of all events of a template. */
struct value_column {
    int64_t *values; /* [event_count], or NULL: all are `first` */
    int64_t first;
};

/* One of the block's templates. */
struct local_template {
    uint32_t template;
    uint32_t event_count;
    uint32_t *rows; /* where the values of each of its events begin in the batch */
    struct value_column *columns;
    int64_t *next_time; /* of its numbers `ts`; NULL: it has none */
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
    uint32_t *rows;     /* of one local template behind those of another */
    struct value_column *columns;
    size_t column_cap;
    int64_t *values; /* of the columns */
    size_t value_cap;
};

/* False without memory; event_columns_free is needed either way. */
bool event_columns_init(struct event_columns *all) KS_MUST_USE;
void event_columns_free(struct event_columns *all);
/* Of a batch (at least one event) of a log, the same log each time. ERR_INTERNAL (the batch does
 * not fit its log), ERR_NO_MEMORY. */
bool event_columns_make(struct event_columns *all,
                        const struct event_log *log,
                        const struct event_batch *batch,
                        struct err *err) KS_MUST_USE;

static inline int64_t value_column_at(const struct value_column *column, uint32_t row)
{
    return column->values == NULL ? column->first : column->values[row];
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

/* Columns that are no arrays: a log that is stored at once needs to lie in memory neither as a
 * whole nor twice. */
#ifndef KS_MODEL_COLUMN_SOURCE_H
#define KS_MODEL_COLUMN_SOURCE_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"

#include <stdint.h>

/* `read` puts rows [first, first + count) of a column, a number that the log knows, into `out`.
 * It is asked for the columns that are NULL; when it is NULL itself, there are none such. */
struct column_source {
    void (*read)(
        const void *context, unsigned column, uint32_t first, uint32_t count, int64_t *out);
    const void *context;
};

/* The `count` rows of a column as an array in `arena`, of values that fit. NULL without memory. */
uint8_t *column_source_u8(const struct column_source *source,
                          unsigned column,
                          uint32_t count,
                          struct arena *arena) KS_MUST_USE;
uint32_t *column_source_u32(const struct column_source *source,
                            unsigned column,
                            uint32_t count,
                            struct arena *arena) KS_MUST_USE;
int64_t *column_source_i64(const struct column_source *source,
                           unsigned column,
                           uint32_t count,
                           struct arena *arena) KS_MUST_USE;

#endif

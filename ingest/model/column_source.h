/* Columns that are read in chunks instead of from arrays, so that a log that is stored at once is
 * never whole in memory, nor there twice. */
#ifndef KS_MODEL_COLUMN_SOURCE_H
#define KS_MODEL_COLUMN_SOURCE_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"

#include <stdint.h>

/* `read` copies rows [first, first + count) of a column, identified by a number of the log, into
 * `out`. It supplies the columns whose array pointer is NULL. If `read` is NULL, every column is an
 * array. */
struct column_source {
    void (*read)(
        const void *context, unsigned column, uint32_t first, uint32_t count, int64_t *out);
    const void *context;
};

/* Returns a column of `count` rows as an array in `arena`; its values must fit. NULL without
 * memory. */
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

/* Columns that are no arrays: a log that is stored at once needs to lie in memory neither as a
 * whole nor twice. */
#ifndef KS_MODEL_COLUMN_SOURCE_H
#define KS_MODEL_COLUMN_SOURCE_H

#include <stdint.h>

/* `read` puts rows [first, first + count) of a column, a number that the log knows, into `out`.
 * It is asked for the columns that are NULL; when it is NULL itself, there are none such. */
struct column_source {
    void (*read)(
        const void *context, unsigned column, uint32_t first, uint32_t count, int64_t *out);
    const void *context;
};

#endif

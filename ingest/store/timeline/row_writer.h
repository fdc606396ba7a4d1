/* Rows of a timeline on their way into the database: packed, then written in transactions of about
 * a megabyte. One thread at a time. */
#ifndef KS_STORE_TIMELINE_ROW_WRITER_H
#define KS_STORE_TIMELINE_ROW_WRITER_H

#include "ingest/base/attr.h"
#include "ingest/store/internal.h"
#include "ingest/store/timeline/blocks.h"

#include <stdbool.h>
#include <stdint.h>

/* One table is that of blocks, the other that of tracks and labels. */
struct timeline_row {
    const char *kind;
    bool is_block;
    bool is_packed; /* its bytes are stored as they come */
    uint32_t level;
    int64_t position; /* or the first label */
    uint32_t label_count;
    struct timeline_extent extent;
};

struct timeline_row_writer;

/* For the rows of one log. NULL without memory. */
struct timeline_row_writer *timeline_row_writer_create(struct store *store,
                                                       int64_t log_id) KS_MUST_USE;
/* Rows that are not yet written are lost. NULL is allowed. */
void timeline_row_writer_destroy(struct timeline_row_writer *row_writer);

int64_t timeline_row_writer_log(const struct timeline_row_writer *row_writer);
/* Packs what `columns` holds, which the caller then clears. */
bool timeline_row_writer_add(struct timeline_row_writer *row_writer,
                             const struct timeline_row *row,
                             struct column_writer *columns,
                             struct err *err) KS_MUST_USE;
/* Writes the rows that wait for a transaction. */
bool timeline_row_writer_finish(struct timeline_row_writer *row_writer,
                                struct err *err) KS_MUST_USE;

#endif

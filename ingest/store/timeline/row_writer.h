/* Packs the rows of a timeline and writes them in transactions of about a megabyte. One thread at a
 * time. */
#ifndef KS_STORE_TIMELINE_ROW_WRITER_H
#define KS_STORE_TIMELINE_ROW_WRITER_H

#include "ingest/base/attr.h"
#include "ingest/store/results_files.h"
#include "ingest/store/timeline/blocks.h"

#include <stdbool.h>
#include <stdint.h>

/* A row of the table of blocks, or of that of tracks and labels. */
struct timeline_row {
    const char *kind;
    bool is_block;
    bool is_packed; /* its bytes are stored unchanged */
    uint32_t level;
    int64_t position; /* or the first label */
    uint32_t label_count;
    struct timeline_extent extent;
};

struct timeline_row_writer;

/* Creates one for the rows of a file. NULL without memory. */
struct timeline_row_writer *timeline_row_writer_create(struct results_file *file) KS_MUST_USE;
/* Frees it; rows not yet written are lost. NULL is allowed. */
void timeline_row_writer_destroy(struct timeline_row_writer *row_writer);

const struct results_file *timeline_row_writer_file(const struct timeline_row_writer *row_writer);
/* Packs what `columns` holds; the caller then clears it. */
bool timeline_row_writer_add(struct timeline_row_writer *row_writer,
                             const struct timeline_row *row,
                             struct column_writer *columns,
                             struct err *err) KS_MUST_USE;
/* Writes the rows that wait. */
bool timeline_row_writer_finish(struct timeline_row_writer *row_writer,
                                struct err *err) KS_MUST_USE;

#endif

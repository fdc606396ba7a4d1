/* Rows of the declared result tables (model/tables), some thousands a block: column after column,
 * each text once a block. A table of a trace may have several groups, which are apart. */
#ifndef KS_STORE_RESULTS_ROW_BLOCKS_H
#define KS_STORE_RESULTS_ROW_BLOCKS_H

#include "ingest/base/memory/arena.h"
#include "ingest/model/tables/table.h"
#include "ingest/store/codec/column_codec.h"
#include "ingest/store/db/db.h"
#include "ingest/store/db/row_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- writing ---- */

struct row_packer {
    struct column_encoder enc;
    int64_t *values; /* of one column */
    uint32_t *ids;   /* of the texts of a block, text column after text column */
};

/* False without memory. */
bool row_packer_init(struct row_packer *packer) KS_MUST_USE;
void row_packer_free(struct row_packer *packer);
/* Writes an array of rows; a failure stays in the writer. */
void row_packer_write(struct row_packer *packer,
                      struct row_writer *writer,
                      const struct row_table *table,
                      int group,
                      const void *rows,
                      size_t count);

/* ---- reading ---- */

struct row_block {
    size_t first; /* position of its first row */
    size_t count;
    const char **texts; /* NULL until the block was loaded once */
    uint32_t text_count;
};

/* One group of a table of the trace of a file. Holds the rows of one block at a time. */
struct row_blocks {
    struct db *db;
    struct arena *arena; /* of the texts */
    const struct row_table *table;
    int group;
    size_t row_count;
    struct row_block *blocks; /* in the arena */
    size_t block_count;
    size_t loaded;       /* SIZE_MAX: none */
    unsigned char *rows; /* of the loaded block */
};

/* A trace without such rows has none. After false, too, call row_blocks_close. */
bool row_blocks_open(struct row_blocks *in,
                     struct db *db,
                     struct arena *arena,
                     const struct row_table *table,
                     int group,
                     struct err *err) KS_MUST_USE;
/* The row at a position below row_count, valid until the next call; its texts stay in the arena.
 * NULL: *err says why. Rows in order of position are cheap. */
const void *row_blocks_row(struct row_blocks *in, size_t position, struct err *err);
void row_blocks_close(struct row_blocks *in);

/* Reads all rows of group 0 into the arena. */
bool row_blocks_read(struct db *db,
                     struct arena *arena,
                     const struct row_table *table,
                     void **rows,
                     size_t *count,
                     struct err *err) KS_MUST_USE;

#endif

/* Columns that are large, packed a piece at a time and compressed as they come, so that they never
 * lie packed and uncompressed as a whole. The bytes are those of column_encode_finish. */
#ifndef KS_STORE_CODEC_COLUMN_PARTS_H
#define KS_STORE_CODEC_COLUMN_PARTS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/text/buf.h"
#include "ingest/store/codec/column_codec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values to be packed at a time. */
#define COLUMN_PART_VALUES ((uint32_t)4 << 10)

struct column_parts {
    struct column_encoder enc; /* what is not compressed yet; small things are put straight into it,
                         with column_parts_end_piece behind them */
    struct buf out;
    uint64_t raw_bytes; /* compressed */
    uint64_t last;      /* value of the column */
    /* Room for COLUMN_PART_VALUES, for callers to fill: too much for a stack. NULL: failed. */
    int64_t *values;
    bool failed;
};

void column_parts_init(struct column_parts *parts);
void column_parts_free(struct column_parts *parts);
void column_parts_end_piece(struct column_parts *parts);
/* The values that follow are those of another column. */
void column_parts_begin_column(struct column_parts *parts);
/* The next values of a column, which are changed; at most COLUMN_PART_VALUES. All calls for a
 * column together write what one column_encode_i64 or column_encode_u32 would. */
void column_parts_values(struct column_parts *parts, int64_t *values, uint32_t count);
void column_parts_bytes(struct column_parts *parts, const uint8_t *bytes, uint32_t count);
/* malloc'ed. ERR_NO_MEMORY, for all failures before too. */
bool column_parts_finish(struct column_parts *parts, void **bytes, size_t *len, struct err *err)
    KS_MUST_USE;

#endif

/* Columns that are large, packed a piece at a time and compressed as they come, so that they never
 * lie packed and uncompressed as a whole. The bytes are those of pack_finish. */
#ifndef KS_STORE_CODEC_PACK_PARTS_H
#define KS_STORE_CODEC_PACK_PARTS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/text/buf.h"
#include "ingest/store/codec/pack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values to be packed at a time. */
#define PACK_PART_VALUES ((uint32_t)4 << 10)

struct pack_parts {
    struct pack pack; /* what is not compressed yet; small things are put straight into it, with
                         pack_parts_end_piece behind them */
    struct buf out;
    uint64_t raw_bytes; /* compressed */
    uint64_t last;      /* value of the column */
    /* Room for PACK_PART_VALUES, for callers to fill: too much for a stack. NULL: failed. */
    int64_t *values;
    bool failed;
};

void pack_parts_init(struct pack_parts *parts);
void pack_parts_free(struct pack_parts *parts);
void pack_parts_end_piece(struct pack_parts *parts);
/* The values that follow are those of another column. */
void pack_parts_begin_column(struct pack_parts *parts);
/* The next values of a column, which are changed; at most PACK_PART_VALUES. All calls for a column
 * together write what one pack_i64 or pack_u32 would. */
void pack_parts_values(struct pack_parts *parts, int64_t *values, uint32_t count);
void pack_parts_bytes(struct pack_parts *parts, const uint8_t *bytes, uint32_t count);
/* malloc'ed. ERR_NO_MEMORY, for all failures before too. */
bool pack_parts_finish(struct pack_parts *parts, void **bytes, size_t *len, struct err *err)
    KS_MUST_USE;

#endif

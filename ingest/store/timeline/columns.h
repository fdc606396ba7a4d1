/* Columns of unsigned numbers as bytes, each number in as few bytes as it needs, and a zstd frame
 * around them. Numbers that zstd makes little of stand before the frame, as tiles of bits.
 *
 *     column: lengths of the numbers, 4 bits each, the first in the lower half of its byte;
 *             then the bytes of the numbers, lowest first
 *     even:   bytes of a number, one byte: 1, 2 or 4; then the numbers
 *     tile:   bits a number, one byte: 0 to 56, or 64; then the bits of 16 numbers (the last tile
 *             of a column may have fewer), lowest first, filled up to a byte
 *
 *     stored: the frame; or, where there are tiles, 1, their length (4 bytes, lowest first), their
 *             checksum (8), the tiles, the frame
 *
 * Made for speed: a column is checked once, then read without a branch a number. */
#ifndef KS_STORE_TIMELINE_COLUMNS_H
#define KS_STORE_TIMELINE_COLUMNS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/text/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Not thread-safe. Used again and again: memory is taken once. */
struct column_writer {
    struct buf raw;
    struct buf tiles;
    struct ZSTD_CCtx_s *zstd;
};

void column_writer_init(struct column_writer *writer);
void column_writer_free(struct column_writer *writer);
void column_writer_clear(struct column_writer *writer);
void column_put(struct column_writer *writer, const uint64_t *values, size_t count);
/* The same of numbers that are told as they are found: at most one column at a time, column_two for
 * each pair and, of an odd count, for the last number and 0. `control` NULL: no memory, and nothing
 * is to be told. By value, so that a pen can stay in registers. */
struct column_pen {
    unsigned char *control;
    unsigned char *at;
};
struct column_pen column_begin(struct column_writer *writer, size_t count) KS_MUST_USE;
static inline void column_two(struct column_pen *pen, uint64_t low, uint64_t high);
void column_end(struct column_writer *writer, struct column_pen pen);
/* Numbers all of which have the length of the largest one: 1, 2 or 4 bytes. */
void column_put_even(struct column_writer *writer, const uint32_t *values, size_t count);
void column_put_bytes(struct column_writer *writer, const void *bytes, size_t len);
/* The same as tiles, whose columns have an order of their own. */
void column_put_tiles(struct column_writer *writer, const uint64_t *values, size_t count);
/* Appends all of it to `out`. ERR_NO_MEMORY. */
bool column_writer_finish(struct column_writer *writer,
                          struct buf *out,
                          struct err *err) KS_MUST_USE;

/* The same way back; trusts nothing. What does not fit sets `failed`, once for all. */
struct column_reader {
    unsigned char *raw;
    size_t cap;
    size_t raw_max_bytes;
    const unsigned char *at;
    const unsigned char *end;
    const unsigned char *tiles_at;
    const unsigned char *tiles_end;
    bool failed;
    struct ZSTD_DCtx_s *zstd;
};

/* Frames that would be larger than raw_max_bytes are damaged. */
void column_reader_init(struct column_reader *reader, size_t raw_max_bytes);
void column_reader_free(struct column_reader *reader);
/* ERR_STORE, ERR_NO_MEMORY. */
bool column_reader_open(struct column_reader *reader,
                        const void *bytes,
                        size_t len,
                        struct err *err) KS_MUST_USE;
/* False (and `failed`) when there are not so many; then `values` is zeros. */
bool column_get(struct column_reader *reader, uint64_t *values, size_t count);
bool column_get_tiles(struct column_reader *reader, uint64_t *values, size_t count);
bool column_get_even(struct column_reader *reader, uint32_t *values, size_t count);
/* NULL (and `failed`) when there are fewer; valid until the next open. */
const char *column_get_bytes(struct column_reader *reader, size_t len);
/* Whether everything fitted and nothing is left. ERR_STORE. */
bool column_reader_finish(const struct column_reader *reader, struct err *err) KS_MUST_USE;

/* Bytes that a number needs, without a branch. */
static inline unsigned column_length(uint64_t value)
{
#if defined(__GNUC__)
    return (unsigned)(value > 0) + (63U ^ (unsigned)__builtin_clzll(value | 1)) / 8;
#else
    return (unsigned)(value > 0) + (value >> 8 != 0) + (value >> 16 != 0) + (value >> 24 != 0) +
           (value >> 32 != 0) + (value >> 40 != 0) + (value >> 48 != 0) + (value >> 56 != 0);
#endif
}

static inline void column_store(unsigned char *to, uint64_t value)
{
    for (unsigned i = 0; i < sizeof value; i++) {
        to[i] = (unsigned char)(value >> (8 * i));
    }
}

static inline void column_two(struct column_pen *pen, uint64_t low, uint64_t high)
{
    unsigned low_bytes = column_length(low);
    unsigned high_bytes = column_length(high);
    *pen->control++ = (unsigned char)(low_bytes | high_bytes << 4);
    column_store(pen->at, low);
    column_store(pen->at + low_bytes, high);
    pen->at += low_bytes + high_bytes;
}

/* Small numbers of either sign as small numbers: 0, -1, 1, -2 ... are 0, 1, 2, 3 ... */
static inline uint64_t column_fold(uint64_t difference)
{
    return (difference << 1) ^ (difference >> 63 != 0 ? UINT64_MAX : 0);
}

static inline uint64_t column_unfold(uint64_t value)
{
    return (value >> 1) ^ (uint64_t)(0 - (value & 1));
}

#endif

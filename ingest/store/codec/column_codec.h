/* Columns as bytes: delta-coded where neighbours are alike, then compressed with zstd. An encoder
 * collects its first failure and tells it once, at the end; so does a decoder, which trusts
 * nothing: what it cannot read is a failure, never a wrong place in memory. */
#ifndef KS_STORE_CODEC_COLUMN_CODEC_H
#define KS_STORE_CODEC_COLUMN_CODEC_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/base/text/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct column_encoder {
    struct buf raw;
    struct buf packed;              /* by column_encode_finish, until it is known how much it is */
    struct ZSTD_CCtx_s *compressor; /* made when it is needed first, used again by the next */
};

void column_encode_init(struct column_encoder *enc);
void column_encode_free(struct column_encoder *enc);
void column_encode_clear(struct column_encoder *enc); /* for the next one; keeps the memory */
void column_encode_number(struct column_encoder *enc, uint64_t value);
void column_encode_bytes(struct column_encoder *enc, const uint8_t *column, size_t count);
/* Each value as the difference to the one before. */
void column_encode_u32(struct column_encoder *enc, const uint32_t *column, size_t count);
void column_encode_i64(struct column_encoder *enc, const int64_t *column, size_t count);
/* Numbers of which the next says nothing about the one before: in the least bytes of one value,
 * a difference, or each value as it is. */
void column_encode_column(struct column_encoder *enc, const int64_t *column, size_t count);
/* NULL is kept. */
void column_encode_texts(struct column_encoder *enc, const char *const *texts, size_t count);
/* The compressor, set as packs are compressed; column_encode_finish does it itself. False without
 * memory.
 */
bool column_encode_make_compressor(struct column_encoder *enc) KS_MUST_USE;
/* Another ZSTD_cParameter of the compressor that was made. False when zstd refuses it. */
bool column_encode_set_parameter(struct column_encoder *enc, int parameter, int value) KS_MUST_USE;
/* Compressed, with a checksum, malloc'ed. ERR_NO_MEMORY. */
bool column_encode_finish(struct column_encoder *enc, void **bytes, size_t *len, struct err *err)
    KS_MUST_USE;

struct column_decoder {
    struct arena *arena;
    unsigned char *raw;
    const unsigned char *at;
    const unsigned char *end;
    bool failed;
};

/* Columns and texts go to the arena. ERR_STORE (not such bytes), ERR_NO_MEMORY. On false there is
 * nothing to finish. */
bool column_decode_init(struct column_decoder *dec,
                        struct arena *arena,
                        const void *bytes,
                        size_t len,
                        struct err *err) KS_MUST_USE;
uint64_t column_decode_number(struct column_decoder *dec);
bool column_decode_is_at_end(const struct column_decoder *dec); /* true after a failure */
/* A number below 2^32, as counts are; 0 after a failure. */
uint32_t column_decode_count(struct column_decoder *dec);
int64_t column_decode_signed(struct column_decoder *dec);
uint8_t *column_decode_bytes(struct column_decoder *dec, size_t count);
/* Every value is below `limit`, or UINT32_MAX where that is allowed. */
uint32_t *
column_decode_u32(struct column_decoder *dec, size_t count, uint32_t limit, bool allows_none);
int64_t *column_decode_i64(struct column_decoder *dec, size_t count);
/* What column_encode_column wrote. Where all values are one, *stride is 0 and there is only that
 * one, else 1: value i is at i * *stride. */
const int64_t *column_decode_column(struct column_decoder *dec, size_t count, unsigned *stride);
/* `len` bytes as they lie there, valid until column_decode_finish; NULL when there are fewer. */
const char *column_decode_peek(struct column_decoder *dec, size_t len);
const char **column_decode_texts(struct column_decoder *dec, size_t count);
/* Frees; ERR_STORE when something did not fit. */
bool column_decode_finish(struct column_decoder *dec, struct err *err) KS_MUST_USE;

#endif

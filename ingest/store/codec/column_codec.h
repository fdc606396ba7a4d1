/* Column codec: packs columns into bytes, as differences where neighbours are alike, then
 * compresses them with zstd. An encoder remembers its first failure and reports it at the end. So
 * does a decoder; it trusts no byte: damaged input is an error, never a wrong read. */
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
    struct buf packed;              /* used by column_encode_finish until the length is known */
    struct ZSTD_CCtx_s *compressor; /* created on first use, then reused */
};

void column_encode_init(struct column_encoder *enc);
void column_encode_free(struct column_encoder *enc);
void column_encode_clear(struct column_encoder *enc); /* for reuse; keeps the memory */
void column_encode_number(struct column_encoder *enc, uint64_t value);
void column_encode_bytes(struct column_encoder *enc, const uint8_t *column, size_t count);
/* Each value as the difference to the one before. */
void column_encode_u32(struct column_encoder *enc, const uint32_t *column, size_t count);
void column_encode_i64(struct column_encoder *enc, const int64_t *column, size_t count);
/* Numbers in any order: chooses the shortest of one value, differences, or plain values. */
void column_encode_column(struct column_encoder *enc, const int64_t *column, size_t count);
/* NULL stays NULL. */
void column_encode_texts(struct column_encoder *enc, const char *const *texts, size_t count);
/* Creates the compressor with the settings of packs; column_encode_finish does so itself. False
 * without memory. */
bool column_encode_make_compressor(struct column_encoder *enc) KS_MUST_USE;
/* Sets a ZSTD_cParameter of that compressor. False when zstd refuses it. */
bool column_encode_set_parameter(struct column_encoder *enc, int parameter, int value) KS_MUST_USE;
/* Compresses, with a checksum, into malloc'ed bytes. ERR_NO_MEMORY. */
bool column_encode_finish(struct column_encoder *enc, void **bytes, size_t *len, struct err *err)
    KS_MUST_USE;

struct column_decoder {
    struct arena *arena;
    unsigned char *raw;
    const unsigned char *at;
    const unsigned char *end;
    bool failed;
};

/* Decompresses; columns and texts go to the arena. ERR_STORE: damaged bytes; ERR_NO_MEMORY. On
 * false, do not call column_decode_finish. */
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
/* Requires every value to be below `limit`, or UINT32_MAX where `allows_none`. */
uint32_t *
column_decode_u32(struct column_decoder *dec, size_t count, uint32_t limit, bool allows_none);
int64_t *column_decode_i64(struct column_decoder *dec, size_t count);
/* Reads what column_encode_column wrote: value i is at i * *stride. *stride is 0 when all values
 * are equal, and only one is stored; else 1. */
const int64_t *column_decode_column(struct column_decoder *dec, size_t count, unsigned *stride);
/* The next `len` bytes in place, valid until column_decode_finish; NULL when there are fewer. */
const char *column_decode_peek(struct column_decoder *dec, size_t len);
const char **column_decode_texts(struct column_decoder *dec, size_t count);
/* Frees the unpacker. ERR_STORE when something was damaged. */
bool column_decode_finish(struct column_decoder *dec, struct err *err) KS_MUST_USE;

#endif

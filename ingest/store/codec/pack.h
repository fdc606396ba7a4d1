/* Columns as bytes: delta-coded where neighbours are alike, then compressed with zstd. A packer
 * collects its first failure and tells it once, at the end; so does an unpacker, which trusts
 * nothing: what it cannot read is a failure, never a wrong place in memory. */
#ifndef KS_STORE_CODEC_PACK_H
#define KS_STORE_CODEC_PACK_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/base/text/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pack {
    struct buf raw;
    struct buf packed;              /* by pack_finish, until it is known how much it is */
    struct ZSTD_CCtx_s *compressor; /* made when it is needed first, used again by the next */
};

void pack_init(struct pack *pack);
void pack_free(struct pack *pack);
void pack_clear(struct pack *pack); /* for the next one; keeps the memory */
void pack_number(struct pack *pack, uint64_t value);
void pack_bytes(struct pack *pack, const uint8_t *column, size_t count);
/* Each value as the difference to the one before. */
void pack_u32(struct pack *pack, const uint32_t *column, size_t count);
void pack_i64(struct pack *pack, const int64_t *column, size_t count);
/* Numbers of which the next says nothing about the one before: in the least bytes of one value,
 * a difference, or each value as it is. */
void pack_column(struct pack *pack, const int64_t *column, size_t count);
/* NULL is kept. */
void pack_texts(struct pack *pack, const char *const *texts, size_t count);
/* The compressor, set as packs are compressed; pack_finish does it itself. False without memory.
 */
bool pack_make_compressor(struct pack *pack) KS_MUST_USE;
/* Another ZSTD_cParameter of the compressor that was made. False when zstd refuses it. */
bool pack_set_parameter(struct pack *pack, int parameter, int value) KS_MUST_USE;
/* Compressed, with a checksum, malloc'ed. ERR_NO_MEMORY. */
bool pack_finish(struct pack *pack, void **bytes, size_t *len, struct err *err) KS_MUST_USE;

struct unpack {
    struct arena *arena;
    unsigned char *raw;
    const unsigned char *at;
    const unsigned char *end;
    bool failed;
};

/* Columns and texts go to the arena. ERR_STORE (not such bytes), ERR_NO_MEMORY. On false there is
 * nothing to finish. */
bool unpack_init(struct unpack *unpack,
                 struct arena *arena,
                 const void *bytes,
                 size_t len,
                 struct err *err) KS_MUST_USE;
uint64_t unpack_number(struct unpack *unpack);
bool unpack_is_at_end(const struct unpack *unpack); /* true after a failure */
/* A number below 2^32, as counts are; 0 after a failure. */
uint32_t unpack_count(struct unpack *unpack);
int64_t unpack_signed(struct unpack *unpack);
uint8_t *unpack_bytes(struct unpack *unpack, size_t count);
/* Every value is below `limit`, or UINT32_MAX where that is allowed. */
uint32_t *unpack_u32(struct unpack *unpack, size_t count, uint32_t limit, bool allows_none);
int64_t *unpack_i64(struct unpack *unpack, size_t count);
/* What pack_column wrote. Where all values are one, *stride is 0 and there is only that one, else
 * 1: value i is at i * *stride. */
const int64_t *unpack_column(struct unpack *unpack, size_t count, unsigned *stride);
/* `len` bytes as they lie there, valid until unpack_finish; NULL when there are fewer. */
const char *unpack_peek(struct unpack *unpack, size_t len);
const char **unpack_texts(struct unpack *unpack, size_t count);
/* Frees; ERR_STORE when something did not fit. */
bool unpack_finish(struct unpack *unpack, struct err *err) KS_MUST_USE;

#endif

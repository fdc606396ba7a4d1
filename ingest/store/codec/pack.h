/* Column codec: packs columns into bytes, as differences where neighbours are alike, then
 * compresses them with zstd. A packer remembers its first failure and reports it at the end. So
 * does an unpacker; it trusts no byte: damaged input is an error, never a wrong read. */
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
    struct buf packed;              /* used by pack_finish until the length is known */
    struct ZSTD_CCtx_s *compressor; /* created on first use, then reused */
};

void pack_init(struct pack *pack);
void pack_free(struct pack *pack);
void pack_clear(struct pack *pack); /* for reuse; keeps the memory */
void pack_number(struct pack *pack, uint64_t value);
void pack_bytes(struct pack *pack, const uint8_t *column, size_t count);
/* Each value as the difference to the one before. */
void pack_u32(struct pack *pack, const uint32_t *column, size_t count);
void pack_i64(struct pack *pack, const int64_t *column, size_t count);
/* Numbers in any order: chooses the shortest of one value, differences, or plain values. */
void pack_column(struct pack *pack, const int64_t *column, size_t count);
/* NULL stays NULL. */
void pack_texts(struct pack *pack, const char *const *texts, size_t count);
/* Creates the compressor with the settings of packs; pack_finish does so itself. False without
 * memory. */
bool pack_make_compressor(struct pack *pack) KS_MUST_USE;
/* Sets a ZSTD_cParameter of that compressor. False when zstd refuses it. */
bool pack_set_parameter(struct pack *pack, int parameter, int value) KS_MUST_USE;
/* Compresses, with a checksum, into malloc'ed bytes. ERR_NO_MEMORY. */
bool pack_finish(struct pack *pack, void **bytes, size_t *len, struct err *err) KS_MUST_USE;

struct unpack {
    struct arena *arena;
    unsigned char *raw;
    const unsigned char *at;
    const unsigned char *end;
    bool failed;
};

/* Decompresses; columns and texts go to the arena. ERR_STORE: damaged bytes; ERR_NO_MEMORY. On
 * false, do not call unpack_finish. */
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
/* Requires every value to be below `limit`, or UINT32_MAX where `allows_none`. */
uint32_t *unpack_u32(struct unpack *unpack, size_t count, uint32_t limit, bool allows_none);
int64_t *unpack_i64(struct unpack *unpack, size_t count);
/* Reads what pack_column wrote: value i is at i * *stride. *stride is 0 when all values are equal,
 * and only one is stored; else 1. */
const int64_t *unpack_column(struct unpack *unpack, size_t count, unsigned *stride);
/* The next `len` bytes in place, valid until unpack_finish; NULL when there are fewer. */
const char *unpack_peek(struct unpack *unpack, size_t len);
const char **unpack_texts(struct unpack *unpack, size_t count);
/* Frees the unpacker. ERR_STORE when something was damaged. */
bool unpack_finish(struct unpack *unpack, struct err *err) KS_MUST_USE;

#endif

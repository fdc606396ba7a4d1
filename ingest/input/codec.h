/* What the decoders of the containers share; only decode.c calls them. A decoder's fill works like
 * decode_fill, but leaves `produced_bytes`, and the error for damaged data, to decode_fill. */
#ifndef KS_INPUT_CODEC_H
#define KS_INPUT_CODEC_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/input/decode.h"

#include <stdbool.h>
#include <stddef.h>

struct gzip_state *gzip_create(void) KS_MUST_USE; /* NULL without memory */
void gzip_destroy(struct gzip_state *gzip);
bool gzip_fill(struct decode *decode, char *out, size_t cap, size_t *len, struct err *err)
    KS_MUST_USE;

struct zstd_state *zstd_create(void) KS_MUST_USE; /* NULL without memory */
void zstd_destroy(struct zstd_state *zstd);
bool zstd_fill(struct decode *decode, char *out, size_t cap, size_t *len, struct err *err)
    KS_MUST_USE;

/* Reads until the feed holds `want` bytes (at most 128 KiB) or the source has ended. */
bool feed_want(struct feed *feed, size_t want, struct err *err) KS_MUST_USE;

static inline const char *feed_ptr(const struct feed *feed)
{
    return feed->bytes + feed->at;
}

static inline size_t feed_left(const struct feed *feed)
{
    return feed->len - feed->at;
}

/* Records that the data ends here, cut or damaged, and why. */
void decode_cut(struct decode *decode, const char *why);

#endif

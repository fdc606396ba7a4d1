/* What the decoders of one container each share: they are called by decode.c only. A codec's fill
 * works as decode_fill, but leaves `produced_bytes` and the error for damage to it. */
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

/* Reads until `want` bytes (a few) wait in the feed or the source has ended. */
bool feed_want(struct feed *feed, size_t want, struct err *err) KS_MUST_USE;

static inline const char *feed_ptr(const struct feed *feed)
{
    return feed->bytes + feed->at;
}

static inline size_t feed_left(const struct feed *feed)
{
    return feed->len - feed->at;
}

/* The data ends here: cut or damaged, for the reason given. */
void decode_cut(struct decode *decode, const char *why);

#endif

#include "ingest/input/decode.h"

#include "ingest/input/codec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FEED_BYTES ((size_t)256 << 10)

bool decode_open(struct decode *decode, struct source *source, struct err *err)
{
    *decode = (struct decode){.feed = {.source = source}};
    if (source->container == INPUT_PLAIN) {
        return true;
    }
    decode->feed.bytes = malloc(FEED_BYTES);
    bool ready = decode->feed.bytes != NULL;
    if (ready && source->container == INPUT_GZIP) {
        decode->gzip = gzip_create();
        ready = decode->gzip != NULL;
    } else if (ready) {
        decode->zstd = zstd_create();
        ready = decode->zstd != NULL;
    }
    if (!ready) {
        decode_close(decode);
        return err_set(err, ERR_NO_MEMORY, "no memory to decompress");
    }
    return true;
}

void decode_close(struct decode *decode)
{
    gzip_destroy(decode->gzip);
    zstd_destroy(decode->zstd);
    free(decode->feed.bytes);
}

bool feed_want(struct feed *feed, size_t want, struct err *err)
{
    while (feed_left(feed) < want && !feed->ended) {
        if (feed->at != 0) {
            memmove(feed->bytes, feed_ptr(feed), feed_left(feed));
            feed->len = feed_left(feed);
            feed->at = 0;
        }
        size_t got = 0;
        if (!source_read(feed->source, feed->bytes + feed->len, FEED_BYTES - feed->len, &got,
                         err)) {
            return false;
        }
        feed->len += got;
        feed->ended = got == 0;
    }
    return true;
}

void decode_cut(struct decode *decode, const char *why)
{
    decode->ended = true;
    decode->cut = true;
    decode->why = why;
}

static bool plain_fill(struct decode *decode, char *out, size_t cap, size_t *len, struct err *err)
{
    while (*len < cap && !decode->ended) {
        size_t got = 0;
        if (!source_read(decode->feed.source, out + *len, cap - *len, &got, err)) {
            return false;
        }
        *len += got;
        decode->ended = got == 0;
    }
    return true;
}

static bool within_limits(const struct decode *decode, struct err *err)
{
    uint64_t max_bytes = atomic_load_explicit(&decode->max_bytes, memory_order_relaxed);
    uint64_t max_ratio = atomic_load_explicit(&decode->max_ratio, memory_order_relaxed);
    uint64_t read_bytes =
        atomic_load_explicit(&decode->feed.source->read_bytes, memory_order_relaxed);
    if (max_bytes != 0 && decode->produced_bytes > max_bytes) {
        return err_set(err, ERR_TOO_LARGE,
                       "decompressed it has more than %" PRIu64 " bytes (--max-decompressed)",
                       max_bytes);
    }
    return max_ratio == 0 || decode->produced_bytes <= INPUT_RATIO_FREE_BYTES ||
           decode->produced_bytes / max_ratio <= read_bytes ||
           err_set(err, ERR_TOO_LARGE,
                   "a compressed byte stands for more than %" PRIu64 " bytes (--max-ratio)",
                   max_ratio);
}

bool decode_fill(struct decode *decode, char *out, size_t cap, size_t *len, struct err *err)
{
    bool good;
    *len = 0;
    if (decode->gzip != NULL) {
        good = gzip_fill(decode, out, cap, len, err);
    } else if (decode->zstd != NULL) {
        good = zstd_fill(decode, out, cap, len, err);
    } else {
        good = plain_fill(decode, out, cap, len, err);
    }
    decode->produced_bytes += *len;
    bool is_compressed = decode->gzip != NULL || decode->zstd != NULL;
    if (good && is_compressed && !within_limits(decode, err)) {
        *len = 0;
        return false;
    }
    if (good && decode->cut && decode->produced_bytes == 0) {
        return err_set_at(err, ERR_BAD_INPUT, 0, "%s", decode->why);
    }
    return good;
}

/* zstd by libzstd: frame after frame. Its default limit on the window (128 MB) bounds the memory.
 */
#include "ingest/input/codec.h"

#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

struct zstd_state {
    ZSTD_DStream *stream;
    bool within_frame;
};

struct zstd_state *zstd_create(void)
{
    struct zstd_state *zstd = calloc(1, sizeof *zstd);
    if (zstd == NULL) {
        return NULL;
    }
    zstd->stream = ZSTD_createDStream();
    if (zstd->stream == NULL) {
        free(zstd);
        return NULL;
    }
    return zstd;
}

void zstd_destroy(struct zstd_state *zstd)
{
    if (zstd == NULL) {
        return;
    }
    (void)ZSTD_freeDStream(zstd->stream);
    free(zstd);
}

static const char *damage_text(size_t result)
{
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_checksum_wrong:
        return "damaged zstd data: the checksum does not match";
    case ZSTD_error_frameParameter_windowTooLarge:
        return "zstd data with a window above 128 MB; compress it without --long";
    case ZSTD_error_dictionary_wrong:
        return "zstd data that needs a dictionary";
    case ZSTD_error_memory_allocation:
        return "no memory to decompress zstd data";
    default:
        return "damaged zstd data";
    }
}

/* Between frames: does another one begin? */
static bool begin_frame(struct decode *decode, struct err *err)
{
    if (!feed_want(&decode->feed, ZSTD_MAGIC_BYTES, err)) {
        return false;
    }
    decode->zstd->within_frame = source_is_zstd(feed_ptr(&decode->feed), feed_left(&decode->feed));
    if (!decode->zstd->within_frame) {
        decode->ended = true;
        if (feed_left(&decode->feed) != 0) {
            decode->why = "bytes behind the last zstd frame were ignored";
        }
    }
    return true;
}

static size_t decompress_some(struct decode *decode, char *out, size_t cap)
{
    struct feed *feed = &decode->feed;
    ZSTD_inBuffer in = {.src = feed->bytes, .size = feed->len, .pos = feed->at};
    ZSTD_outBuffer room = {.dst = out, .size = cap, .pos = 0};
    size_t result = ZSTD_decompressStream(decode->zstd->stream, &room, &in);
    bool idle = room.pos == 0 && in.pos == feed->at;
    feed->at = in.pos;
    if (ZSTD_isError(result) != 0) {
        decode_cut(decode, damage_text(result));
    } else if (result == 0) {
        decode->zstd->within_frame = false;
    } else if (idle && feed->ended) {
        decode_cut(decode, "the zstd data breaks off");
    }
    return room.pos;
}

bool zstd_fill(struct decode *decode, char *out, size_t cap, size_t *len, struct err *err)
{
    while (*len < cap && !decode->ended) {
        if (!decode->zstd->within_frame) {
            if (!begin_frame(decode, err)) {
                return false;
            }
            continue;
        }
        if (!feed_want(&decode->feed, 1, err)) {
            return false;
        }
        *len += decompress_some(decode, out + *len, cap - *len);
    }
    return true;
}

/* zstd by libzstd: frame after frame. Its default limit on the window (128 MB) bounds the memory.
 */
#include "ingest/input/codec.h"

#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* Of the next block: libzstd asks for it together with a block. */
#define BLOCK_HEADER_BYTES 3

struct zstd_state {
    ZSTD_DStream *stream;
    bool within_frame;
    size_t wanted_bytes; /* of input, for the next step of libzstd */
    bool is_full;        /* there was no room left: some may wait inside */
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
        return "zstd data with a window above 128 MiB; compress it without --long";
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
    decode->zstd->wanted_bytes = ZSTD_initDStream(decode->zstd->stream);
    if (!decode->zstd->within_frame) {
        decode->ended = true;
        if (feed_left(&decode->feed) != 0) {
            decode->why = "bytes behind the last zstd frame were ignored";
        }
    }
    return true;
}

static size_t next_step(const struct zstd_state *zstd)
{
    if (zstd->is_full) {
        return 0;
    }
    return zstd->wanted_bytes - (zstd->wanted_bytes > BLOCK_HEADER_BYTES ? BLOCK_HEADER_BYTES : 0);
}

/* One step: a header, a block, a checksum, or what there was no room for. In a call that fails
 * libzstd drops what it gave in it, so that no step may come with one before it. */
static size_t decompress_some(struct decode *decode, char *out, size_t cap)
{
    struct feed *feed = &decode->feed;
    size_t given = next_step(decode->zstd);
    given = feed_left(feed) < given ? feed_left(feed) : given;
    ZSTD_inBuffer in = {.src = feed->bytes, .size = feed->at + given, .pos = feed->at};
    ZSTD_outBuffer room = {.dst = out, .size = cap, .pos = 0};
    size_t result = ZSTD_decompressStream(decode->zstd->stream, &room, &in);
    bool idle = !decode->zstd->is_full && room.pos == 0 && in.pos == feed->at;
    feed->at = in.pos;
    decode->zstd->wanted_bytes = result;
    decode->zstd->is_full = room.pos == cap;
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
        /* Of a raw block that came in pieces libzstd gives what stands before a fault, of a whole
         * one nothing: without the whole block, the size of the reads would decide. */
        size_t step = next_step(decode->zstd);
        step = step < ZSTD_BLOCKSIZE_MAX ? step : ZSTD_BLOCKSIZE_MAX;
        if (!feed_want(&decode->feed, step, err)) {
            return false;
        }
        *len += decompress_some(decode, out + *len, cap - *len);
    }
    return true;
}

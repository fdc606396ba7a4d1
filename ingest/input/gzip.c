/* gzip by ISA-L. Two weak points of its version 2.30 are met here:
 *
 * isal_inflate forgets the flags of a member's header when the input breaks off within it. So the
 * header is read by a call of its own.
 *
 * Its fast loop, when it meets damage, counts up to 258 bytes as written that it never wrote, and
 * leaves avail_in and avail_out wrong. So the state at the begin of what waits in the feed is kept,
 * and after damage all from there on is done again in steps of a few input bytes, which only the
 * careful loop serves. */
#include "ingest/input/codec.h"

#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>

#define OUT_MAX_BYTES ((size_t)1 << 30)
/* The fast loop wants 8 bytes of input to look at. */
#define CAREFUL_STEP_BYTES ((size_t)7)

enum gzip_stage {
    GZIP_BETWEEN, /* a member may begin */
    GZIP_HEADER,
    GZIP_DATA,
    GZIP_DRAIN, /* damaged: bytes decoded before the fault still wait in ISA-L's buffer */
};

struct gzip_state {
    struct inflate_state inflate;
    struct inflate_state before; /* `inflate` as it was, when has_before, */
    size_t before_at;            /* there in the feed, */
    uint64_t made_bytes;         /* so many bytes ago */
    uint64_t again_bytes;        /* to be made once more, and dropped */
    bool has_before;
    struct isal_gzip_header header;
    enum gzip_stage stage;
    bool careful;
    const char *damage;
};

struct gzip_state *gzip_create(void)
{
    return calloc(1, sizeof(struct gzip_state));
}

void gzip_destroy(struct gzip_state *gzip)
{
    free(gzip);
}

static const char *damage_text(int code)
{
    switch (code) {
    case ISAL_INVALID_BLOCK:
        return "damaged gzip data: a block has an invalid header";
    case ISAL_INVALID_SYMBOL:
        return "damaged gzip data: an invalid symbol";
    case ISAL_INVALID_LOOKBACK:
        return "damaged gzip data: a distance reaches before the beginning";
    case ISAL_INVALID_WRAPPER:
        return "damaged gzip data: a member has an invalid header";
    case ISAL_UNSUPPORTED_METHOD:
        return "gzip data with an unknown compression method";
    case ISAL_INCORRECT_CHECKSUM:
        return "damaged gzip data: the checksum does not match";
    default:
        return "damaged gzip data";
    }
}

static bool begin_member(struct decode *decode, struct err *err)
{
    struct gzip_state *gzip = decode->gzip;
    if (!feed_want(&decode->feed, GZIP_MAGIC_BYTES, err)) {
        return false;
    }
    if (!source_is_gzip(feed_ptr(&decode->feed), feed_left(&decode->feed))) {
        decode->ended = true;
        if (feed_left(&decode->feed) != 0) {
            decode->why = "bytes behind the last gzip member were ignored";
        }
        return true;
    }
    isal_inflate_init(&gzip->inflate);
    gzip->inflate.crc_flag = ISAL_GZIP_NO_HDR_VER;
    isal_gzip_header_init(&gzip->header);
    gzip->stage = GZIP_HEADER;
    gzip->careful = false;
    gzip->has_before = false;
    return true;
}

static void read_header(struct decode *decode)
{
    struct gzip_state *gzip = decode->gzip;
    struct feed *feed = &decode->feed;
    gzip->inflate.next_in = (uint8_t *)feed->bytes + feed->at;
    gzip->inflate.avail_in = (uint32_t)feed_left(feed);
    int code = isal_read_gzip_header(&gzip->inflate, &gzip->header);
    feed->at = feed->len - gzip->inflate.avail_in;
    if (code == ISAL_DECOMP_OK) {
        gzip->stage = GZIP_DATA;
    } else if (code != ISAL_END_INPUT) {
        decode_cut(decode, damage_text(code));
    } else if (feed->ended) {
        decode_cut(decode, "the gzip data breaks off");
    }
}

static void set_damaged(struct gzip_state *gzip, int code)
{
    gzip->damage = damage_text(code);
    gzip->stage = GZIP_DRAIN;
}

/* One call of isal_inflate. What it says of the buffers holds unless a fast call met damage. */
static int inflate_once(struct decode *decode, char *out, size_t cap, size_t *made)
{
    struct gzip_state *gzip = decode->gzip;
    struct feed *feed = &decode->feed;
    size_t give = feed_left(feed);
    if (gzip->careful && give > CAREFUL_STEP_BYTES) {
        give = CAREFUL_STEP_BYTES;
    }
    gzip->inflate.next_in = (uint8_t *)feed->bytes + feed->at;
    gzip->inflate.avail_in = (uint32_t)give;
    gzip->inflate.next_out = (uint8_t *)out;
    gzip->inflate.avail_out = (uint32_t)(cap < OUT_MAX_BYTES ? cap : OUT_MAX_BYTES);
    int code = isal_inflate(&gzip->inflate);
    feed->at += give - gzip->inflate.avail_in;
    *made = (size_t)(gzip->inflate.next_out - (uint8_t *)out);
    bool sound = code == ISAL_DECOMP_OK || code == ISAL_END_INPUT || code == ISAL_OUT_OVERFLOW;
    return sound ? ISAL_DECOMP_OK : code;
}

static void remember(struct gzip_state *gzip, const struct feed *feed)
{
    if (!gzip->careful && !gzip->has_before) {
        gzip->before = gzip->inflate;
        gzip->before_at = feed->at;
        gzip->made_bytes = 0;
        gzip->has_before = true;
    }
}

static void begin_again(struct gzip_state *gzip, struct feed *feed)
{
    gzip->inflate = gzip->before;
    feed->at = gzip->before_at;
    gzip->again_bytes = gzip->made_bytes;
    gzip->careful = true;
}

/* What is left when the bytes that were made before are dropped. */
static size_t drop_again(struct gzip_state *gzip, char *out, size_t made)
{
    size_t drop = made < gzip->again_bytes ? made : (size_t)gzip->again_bytes;
    gzip->again_bytes -= drop;
    if (drop > 0) {
        memmove(out, out + drop, made - drop);
    }
    return made - drop;
}

static size_t inflate_some(struct decode *decode, char *out, size_t cap)
{
    struct gzip_state *gzip = decode->gzip;
    struct feed *feed = &decode->feed;
    size_t at_before = feed->at;
    size_t made = 0;
    remember(gzip, feed);
    int code = inflate_once(decode, out, cap, &made);
    if (code != ISAL_DECOMP_OK && !gzip->careful) {
        begin_again(gzip, feed);
        return 0;
    }
    gzip->made_bytes += made;
    bool idle = made == 0 && feed->at == at_before;
    if (code != ISAL_DECOMP_OK) {
        set_damaged(gzip, code);
    } else if (gzip->inflate.block_state == ISAL_BLOCK_FINISH) {
        gzip->stage = GZIP_BETWEEN;
    } else if (idle && feed->ended) {
        decode_cut(decode, "the gzip data breaks off");
    } else if (idle && feed_left(feed) != 0) {
        set_damaged(gzip, ISAL_INVALID_BLOCK);
    }
    return drop_again(gzip, out, made);
}

static size_t drain(struct decode *decode, char *out, size_t cap)
{
    struct gzip_state *gzip = decode->gzip;
    struct inflate_state *inflate = &gzip->inflate;
    size_t left = (size_t)(inflate->tmp_out_valid - inflate->tmp_out_processed);
    size_t take = left < cap ? left : cap;
    memcpy(out, inflate->tmp_out_buffer + inflate->tmp_out_processed, take);
    inflate->tmp_out_processed += (int32_t)take;
    if (take == left) {
        decode_cut(decode, gzip->damage);
    }
    return drop_again(gzip, out, take);
}

bool gzip_fill(struct decode *decode, char *out, size_t cap, size_t *len, struct err *err)
{
    while (*len < cap && !decode->ended) {
        if (feed_left(&decode->feed) == 0) {
            decode->gzip->has_before = false;
        }
        if (!feed_want(&decode->feed, 1, err)) {
            return false;
        }
        switch (decode->gzip->stage) {
        case GZIP_BETWEEN:
            if (!begin_member(decode, err)) {
                return false;
            }
            break;
        case GZIP_HEADER:
            read_header(decode);
            break;
        case GZIP_DATA:
            *len += inflate_some(decode, out + *len, cap - *len);
            break;
        case GZIP_DRAIN:
            *len += drain(decode, out + *len, cap - *len);
            break;
        }
    }
    return true;
}

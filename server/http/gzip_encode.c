#include "server/http/gzip_encode.h"

#include <isa-l/igzip_lib.h>
#include <stdint.h>
#include <stdlib.h>

#define PACK_STEP_BYTES ((size_t)64 << 10)
#define PACK_INPUT_MAX_BYTES ((size_t)1 << 30)

struct gzip_encoder {
    struct isal_zstream stream;
    uint8_t *work;
};

struct gzip_encoder *gzip_encoder_create(enum gzip_level level)
{
    size_t work_bytes = level == GZIP_FAST ? ISAL_DEF_LVL1_DEFAULT : ISAL_DEF_LVL3_DEFAULT;
    struct gzip_encoder *encoder = malloc(sizeof *encoder);
    uint8_t *work = malloc(work_bytes);
    if (encoder == NULL || work == NULL) {
        free(encoder);
        free(work);
        return NULL;
    }
    encoder->work = work;
    isal_deflate_init(&encoder->stream);
    encoder->stream.level = (uint32_t)level;
    encoder->stream.level_buf = work;
    encoder->stream.level_buf_size = (uint32_t)work_bytes;
    encoder->stream.gzip_flag = IGZIP_GZIP;
    encoder->stream.avail_in = 0;
    return encoder;
}

void gzip_encoder_destroy(struct gzip_encoder *encoder)
{
    if (encoder != NULL) {
        free(encoder->work);
        free(encoder);
    }
}

/* Whether ISA-L has more to say about what it was given. */
static bool is_busy(const struct isal_zstream *stream, bool last)
{
    return last ? stream->internal_state.state != ZSTATE_END
                : stream->avail_in > 0 || stream->avail_out == 0;
}

bool gzip_encoder_put(
    struct gzip_encoder *encoder, const void *bytes, size_t len, bool last, struct buf *out)
{
    struct isal_zstream *stream = &encoder->stream;
    /* next_in is not const, but ISA-L does not write through it. */
    stream->next_in = (uint8_t *)(uintptr_t)bytes;
    size_t left = len;
    do {
        if (stream->avail_in == 0) {
            size_t piece = left < PACK_INPUT_MAX_BYTES ? left : PACK_INPUT_MAX_BYTES;
            stream->avail_in = (uint32_t)piece;
            left -= piece;
            stream->end_of_stream = last && left == 0;
        }
        char *room = buf_reserve(out, PACK_STEP_BYTES);
        if (room == NULL) {
            return false;
        }
        stream->next_out = (uint8_t *)room;
        stream->avail_out = (uint32_t)PACK_STEP_BYTES;
        if (isal_deflate(stream) != COMP_OK) {
            return false;
        }
        out->len += PACK_STEP_BYTES - stream->avail_out;
    } while (left > 0 || is_busy(stream, last));
    return true;
}

bool gzip_encode(const void *bytes, size_t len, enum gzip_level level, struct buf *out)
{
    struct gzip_encoder *encoder = gzip_encoder_create(level);
    bool ok = encoder != NULL && gzip_encoder_put(encoder, bytes, len, true, out);
    gzip_encoder_destroy(encoder);
    return ok;
}

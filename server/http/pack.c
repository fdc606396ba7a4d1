#include "server/http/pack.h"

#include <isa-l/igzip_lib.h>
#include <stdint.h>
#include <stdlib.h>

#define PACK_STEP_BYTES ((size_t)64 << 10)
#define PACK_INPUT_MAX_BYTES ((size_t)1 << 30)

struct pack_stream {
    struct isal_zstream stream;
    uint8_t *work;
};

struct pack_stream *pack_stream_create(enum pack_level level)
{
    size_t work_bytes = level == PACK_FAST ? ISAL_DEF_LVL1_DEFAULT : ISAL_DEF_LVL3_DEFAULT;
    struct pack_stream *pack = malloc(sizeof *pack);
    uint8_t *work = malloc(work_bytes);
    if (pack == NULL || work == NULL) {
        free(pack);
        free(work);
        return NULL;
    }
    pack->work = work;
    isal_deflate_init(&pack->stream);
    pack->stream.level = (uint32_t)level;
    pack->stream.level_buf = work;
    pack->stream.level_buf_size = (uint32_t)work_bytes;
    pack->stream.gzip_flag = IGZIP_GZIP;
    pack->stream.avail_in = 0;
    return pack;
}

void pack_stream_destroy(struct pack_stream *pack)
{
    if (pack != NULL) {
        free(pack->work);
        free(pack);
    }
}

/* Whether ISA-L has more to say about what it was given. */
static bool is_busy(const struct isal_zstream *stream, bool last)
{
    return last ? stream->internal_state.state != ZSTATE_END
                : stream->avail_in > 0 || stream->avail_out == 0;
}

bool pack_stream_put(
    struct pack_stream *pack, const void *bytes, size_t len, bool last, struct buf *out)
{
    struct isal_zstream *stream = &pack->stream;
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

bool pack_gzip(const void *bytes, size_t len, enum pack_level level, struct buf *out)
{
    struct pack_stream *pack = pack_stream_create(level);
    bool ok = pack != NULL && pack_stream_put(pack, bytes, len, true, out);
    pack_stream_destroy(pack);
    return ok;
}

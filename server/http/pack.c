#include "server/http/pack.h"

#include <isa-l/igzip_lib.h>
#include <stdint.h>
#include <stdlib.h>

#define PACK_STEP_BYTES ((size_t)64 << 10)
#define PACK_INPUT_MAX_BYTES ((size_t)1 << 30)

static bool run(struct isal_zstream *stream, const void *bytes, size_t len, struct buf *out)
{
    /* next_in is not const, but ISA-L does not write through it. */
    stream->next_in = (uint8_t *)(uintptr_t)bytes;
    size_t left = len;
    do {
        if (stream->avail_in == 0) {
            size_t piece = left < PACK_INPUT_MAX_BYTES ? left : PACK_INPUT_MAX_BYTES;
            stream->avail_in = (uint32_t)piece;
            left -= piece;
            stream->end_of_stream = left == 0;
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
    } while (stream->internal_state.state != ZSTATE_END);
    return true;
}

bool pack_gzip(const void *bytes, size_t len, enum pack_level level, struct buf *out)
{
    size_t work_bytes = level == PACK_FAST ? ISAL_DEF_LVL1_DEFAULT : ISAL_DEF_LVL3_DEFAULT;
    struct isal_zstream *stream = malloc(sizeof *stream);
    uint8_t *work = malloc(work_bytes);
    bool ok = stream != NULL && work != NULL;
    if (ok) {
        isal_deflate_init(stream);
        stream->level = (uint32_t)level;
        stream->level_buf = work;
        stream->level_buf_size = (uint32_t)work_bytes;
        stream->gzip_flag = IGZIP_GZIP;
        stream->avail_in = 0;
        ok = run(stream, bytes, len, out);
    }
    free(work);
    free(stream);
    return ok;
}

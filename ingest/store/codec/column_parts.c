#include "ingest/store/codec/column_parts.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define PART_BYTES ((size_t)256 << 10)
/* Columns repeat themselves nearby; zstd's own choice would hold 2 MB. */
#define PART_WINDOW_LOG 19

/* The head of a frame of zstd (RFC 8878, 3.1.1.1): how much it is, which readers ask for, is known
 * at the end only. Until then the frame stands as far behind the beginning as that takes. */
#define HEAD_BYTES 6    /* magic number, descriptor, window */
#define DESCRIPTOR_AT 4 /* its two highest bits: how long the field for the size is */
#define SIZE_IN_4 0x80  /* four bytes */
#define SIZE_BYTES 4
#define RAW_MAX_BYTES UINT32_MAX

void column_parts_init(struct column_parts *parts)
{
    *parts = (struct column_parts){.values = malloc(COLUMN_PART_VALUES * sizeof *parts->values)};
    parts->failed = parts->values == NULL;
    column_encode_init(&parts->enc);
    buf_init(&parts->out, ZSTD_compressBound(RAW_MAX_BYTES));
}

void column_parts_free(struct column_parts *parts)
{
    column_encode_free(&parts->enc);
    buf_free(&parts->out);
    free(parts->values);
}

/* 0 is zstd's own choice: steps that repeat earlier ones are found by a larger table only. */
static bool begin_frame(struct column_parts *parts)
{
    static const char no_size[SIZE_BYTES] = {0};
    buf_append(&parts->out, no_size, sizeof no_size);
    return column_encode_make_compressor(&parts->enc) &&
           column_encode_set_parameter(&parts->enc, ZSTD_c_windowLog, PART_WINDOW_LOG) &&
           column_encode_set_parameter(&parts->enc, ZSTD_c_hashLog, 0) &&
           column_encode_set_parameter(&parts->enc, ZSTD_c_minMatch, 0);
}

static void compress_part(struct column_parts *parts, ZSTD_EndDirective directive)
{
    struct buf *raw = &parts->enc.raw;
    ZSTD_inBuffer in = {.src = raw->ptr, .size = raw->len, .pos = 0};
    bool ok =
        !parts->failed && !raw->failed && (parts->enc.compressor != NULL || begin_frame(parts));
    size_t left = 1;
    while (ok && left != 0) {
        ZSTD_outBuffer room = {.dst = buf_room(&parts->out, ZSTD_CStreamOutSize()),
                               .size = ZSTD_CStreamOutSize(),
                               .pos = 0};
        left = room.dst == NULL
                   ? 0
                   : ZSTD_compressStream2(parts->enc.compressor, &room, &in, directive);
        ok = room.dst != NULL && !ZSTD_isError(left);
        if (ok) {
            buf_add(&parts->out, room.pos);
        }
        left = directive == ZSTD_e_continue ? in.size - in.pos : left;
    }
    parts->raw_bytes += raw->len;
    parts->failed = !ok;
    column_encode_clear(&parts->enc);
}

void column_parts_end_piece(struct column_parts *parts)
{
    if (parts->enc.raw.len >= PART_BYTES) {
        compress_part(parts, ZSTD_e_continue);
    }
}

void column_parts_begin_column(struct column_parts *parts)
{
    parts->last = 0;
}

/* Columns are often one value for long. */
static void put_no_differences(struct column_parts *parts, uint32_t count)
{
    static const uint8_t none[COLUMN_PART_VALUES] = {0};
    column_encode_bytes(&parts->enc, none, count);
}

/* An encoder begins with the difference to 0: all values move as far as the last one stood from it.
 */
void column_parts_values(struct column_parts *parts, int64_t *values, uint32_t count)
{
    uint64_t before = parts->last;
    uint64_t differ = 0;
    if (count == 0) {
        return;
    }
    parts->last = (uint64_t)values[count - 1];
    for (uint32_t i = 0; i < count; i++) {
        uint64_t moved = (uint64_t)values[i] - before;
        values[i] = (int64_t)moved;
        differ |= moved;
    }
    if (differ == 0) {
        put_no_differences(parts, count);
    } else {
        column_encode_i64(&parts->enc, values, count);
    }
    column_parts_end_piece(parts);
}

void column_parts_bytes(struct column_parts *parts, const uint8_t *bytes, uint32_t count)
{
    for (size_t at = 0; at < count; at += PART_BYTES) {
        column_encode_bytes(&parts->enc, bytes + at,
                            count - at < PART_BYTES ? count - at : PART_BYTES);
        column_parts_end_piece(parts);
    }
}

static void write_size(struct column_parts *parts)
{
    char *frame = parts->out.ptr;
    memmove(frame, frame + SIZE_BYTES, HEAD_BYTES);
    frame[DESCRIPTOR_AT] = (char)((unsigned char)frame[DESCRIPTOR_AT] | SIZE_IN_4);
    for (unsigned i = 0; i < SIZE_BYTES; i++) {
        frame[HEAD_BYTES + i] = (char)(unsigned char)(parts->raw_bytes >> (8 * i));
    }
}

bool column_parts_finish(struct column_parts *parts, void **bytes, size_t *len, struct err *err)
{
    if (parts->enc.compressor == NULL && !parts->failed) {
        return column_encode_finish(&parts->enc, bytes, len, err);
    }
    compress_part(parts, ZSTD_e_end);
    bool ok = !parts->failed && !parts->out.failed && parts->raw_bytes <= RAW_MAX_BYTES;
    if (ok) {
        write_size(parts);
    }
    *bytes = ok ? buf_take(&parts->out, len) : NULL;
    return *bytes != NULL || err_set(err, ERR_NO_MEMORY, "no memory to store %llu bytes of columns",
                                     (unsigned long long)parts->raw_bytes);
}

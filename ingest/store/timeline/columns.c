#include "ingest/store/timeline/columns.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define COLUMN_ZSTD_LEVEL 1
/* Blocks are small and their numbers short: a table that stays in the nearest cache and shorter
 * matches than the level has are both faster and denser. */
#define COLUMN_HASH_LOG 11
#define COLUMN_MIN_MATCH 5
/* A target length that leaves literals as they are: beside tiles a tenth more bytes take a fifth
 * less time. */
#define COLUMN_NO_LITERALS 1
#define RAW_MAX_BYTES ((size_t)1 << 30)
#define NUMBER_BYTES 8
/* Numbers are read eight bytes at a time, whatever their length. */
#define SLACK_BYTES NUMBER_BYTES
/* More than any column has: the length of a number that has an impossible length. */
#define LENGTH_BAD ((uint32_t)1 << 24)

#define TILE_NUMBERS ((size_t)16)
/* Wider numbers, behind up to 7 bits of the one before, would not fit into a word: they take all of
 * it. */
#define TILE_BITS 56u
#define WORD_BITS 64u
#define BYTE_BITS 8u
/* What begins with tiles: a mark that no frame begins with, their length, their checksum. */
#define TILES_MARK 1u
#define TILES_LENGTH_BYTES 4
#define TILES_HEAD_BYTES (1 + TILES_LENGTH_BYTES + NUMBER_BYTES)
#define CHECKSUM_FACTOR UINT64_C(0x9E3779B97F4A7C15)

/* ---- writing ---- */

void column_writer_init(struct column_writer *writer)
{
    *writer = (struct column_writer){.zstd = NULL};
    buf_init(&writer->raw, RAW_MAX_BYTES);
    buf_init(&writer->tiles, RAW_MAX_BYTES);
}

void column_writer_free(struct column_writer *writer)
{
    buf_free(&writer->raw);
    buf_free(&writer->tiles);
    (void)ZSTD_freeCCtx(writer->zstd);
    writer->zstd = NULL;
}

void column_writer_clear(struct column_writer *writer)
{
    buf_clear(&writer->raw);
    buf_clear(&writer->tiles);
}

/* Room for `len` bytes and a NUL, which buf_reserve would clear first. */
static char *room_of(struct buf *buf, size_t len)
{
    bool has_room = !buf->failed && buf->cap - buf->len > len;
    return has_room ? buf->ptr + buf->len : buf_reserve(buf, len);
}

struct column_pen column_begin(struct column_writer *writer, size_t count)
{
    size_t control_bytes = (count + 1) / 2;
    char *room = room_of(&writer->raw, control_bytes + count * NUMBER_BYTES + SLACK_BYTES);
    unsigned char *control = (unsigned char *)room;
    return (struct column_pen){control, control == NULL ? NULL : control + control_bytes};
}

void column_end(struct column_writer *writer, struct column_pen pen)
{
    writer->raw.len = (size_t)((char *)pen.at - writer->raw.ptr);
}

void column_put(struct column_writer *writer, const uint64_t *values, size_t count)
{
    struct column_pen pen = column_begin(writer, count);
    size_t paired = count - count % 2;
    if (pen.control == NULL) {
        return;
    }
    for (size_t i = 0; i < paired; i += 2) {
        column_two(&pen, values[i], values[i + 1]);
    }
    if (paired < count) {
        column_two(&pen, values[paired], 0);
    }
    column_end(writer, pen);
}

void column_put_even(struct column_writer *writer, const uint32_t *values, size_t count)
{
    uint32_t all = 0;
    for (size_t i = 0; i < count; i++) {
        all |= values[i];
    }
    size_t width = all <= UINT8_MAX ? 1 : (all <= UINT16_MAX ? 2 : 4);
    unsigned char *to = (unsigned char *)room_of(&writer->raw, 1 + count * width);
    if (to == NULL) {
        return;
    }
    *to++ = (unsigned char)width;
    for (size_t i = 0; i < count && width == 1; i++) {
        to[i] = (unsigned char)values[i];
    }
    for (size_t i = 0; i < count && width == 2; i++) {
        to[2 * i] = (unsigned char)values[i];
        to[2 * i + 1] = (unsigned char)(values[i] >> 8);
    }
    for (size_t i = 0; i < count && width == 4; i++) {
        for (size_t k = 0; k < 4; k++) {
            to[4 * i + k] = (unsigned char)(values[i] >> (8 * k));
        }
    }
    writer->raw.len += 1 + count * width;
}

void column_put_bytes(struct column_writer *writer, const void *bytes, size_t len)
{
    if (len > 0) {
        buf_append(&writer->raw, bytes, len);
    }
}

static unsigned tile_bits(const uint64_t *values, size_t count)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++) {
        all |= values[i];
    }
    unsigned bits = 0;
#if defined(__GNUC__)
    bits = all == 0 ? 0 : WORD_BITS - (unsigned)__builtin_clzll(all);
#else
    while (bits < WORD_BITS && all >> bits != 0) {
        bits++;
    }
#endif
    return bits <= TILE_BITS ? bits : WORD_BITS;
}

static unsigned char *
put_bits(unsigned char *at, const uint64_t *values, size_t count, unsigned bits)
{
    uint64_t word = 0;
    unsigned used = 0;
    for (size_t i = 0; i < count; i++) {
        word |= values[i] << used;
        used += bits;
        column_store(at, word);
        at += used / BYTE_BITS;
        word >>= used / BYTE_BITS * BYTE_BITS;
        used %= BYTE_BITS;
    }
    return at + (used > 0);
}

static unsigned char *put_words(unsigned char *at, const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        column_store(at, values[i]);
        at += NUMBER_BYTES;
    }
    return at;
}

void column_put_tiles(struct column_writer *writer, const uint64_t *values, size_t count)
{
    size_t most = (1 + TILE_NUMBERS * NUMBER_BYTES) * (count / TILE_NUMBERS + 1) + SLACK_BYTES;
    char *room = room_of(&writer->tiles, most);
    unsigned char *at = (unsigned char *)room;
    if (room == NULL) {
        return;
    }
    for (size_t i = 0; i < count; i += TILE_NUMBERS) {
        size_t here = count - i < TILE_NUMBERS ? count - i : TILE_NUMBERS;
        unsigned bits = tile_bits(values + i, here);
        *at++ = (unsigned char)bits;
        at = bits == WORD_BITS ? put_words(at, values + i, here)
                               : put_bits(at, values + i, here, bits);
    }
    writer->tiles.len += (size_t)((char *)at - room);
}

static uint64_t load_number(const unsigned char *from)
{
    return (uint64_t)from[0] | (uint64_t)from[1] << 8 | (uint64_t)from[2] << 16 |
           (uint64_t)from[3] << 24 | (uint64_t)from[4] << 32 | (uint64_t)from[5] << 40 |
           (uint64_t)from[6] << 48 | (uint64_t)from[7] << 56;
}

/* What is damaged in one word never goes unseen: each step can be turned back. */
static uint64_t checksum_of(const unsigned char *bytes, size_t len)
{
    uint64_t sum = len;
    size_t i = 0;
    for (; i + NUMBER_BYTES <= len; i += NUMBER_BYTES) {
        sum = (sum ^ load_number(bytes + i)) * CHECKSUM_FACTOR;
        sum ^= sum >> (WORD_BITS / 2);
    }
    for (; i < len; i++) {
        sum = (sum ^ bytes[i]) * CHECKSUM_FACTOR;
    }
    return sum;
}

/* The tiles in front of the frame, when there are any. */
static void append_tiles(const struct buf *tiles, struct buf *out)
{
    unsigned char head[TILES_HEAD_BYTES + SLACK_BYTES] = {TILES_MARK};
    if (tiles->len > 0) {
        column_store(head + 1, tiles->len);
        column_store(head + 1 + TILES_LENGTH_BYTES,
                     checksum_of((const unsigned char *)tiles->ptr, tiles->len));
        buf_append(out, head, TILES_HEAD_BYTES);
        buf_append(out, tiles->ptr, tiles->len);
    }
}

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_NO_MEMORY, "no memory for the columns of the timeline");
}

static struct ZSTD_CCtx_s *make_compressor(void)
{
    struct ZSTD_CCtx_s *zstd = ZSTD_createCCtx();
    if (zstd != NULL) {
        (void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, COLUMN_ZSTD_LEVEL);
        (void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_hashLog, COLUMN_HASH_LOG);
        (void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_minMatch, COLUMN_MIN_MATCH);
        (void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
    }
    return zstd;
}

bool column_writer_finish(struct column_writer *writer, struct buf *out, struct err *err)
{
    if (writer->zstd == NULL) {
        writer->zstd = make_compressor();
    }
    if (writer->zstd == NULL || writer->raw.failed || writer->tiles.failed) {
        return no_memory(err);
    }
    append_tiles(&writer->tiles, out);
    (void)ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_targetLength,
                                 writer->tiles.len > 0 ? COLUMN_NO_LITERALS : 0);
    size_t room = ZSTD_compressBound(writer->raw.len);
    char *to = room_of(out, room);
    if (to == NULL) {
        return no_memory(err);
    }
    size_t len = ZSTD_compress2(writer->zstd, to, room, writer->raw.ptr, writer->raw.len);
    if (ZSTD_isError(len)) {
        return no_memory(err);
    }
    out->len += len;
    out->ptr[out->len] = '\0';
    return true;
}

/* ---- reading ---- */

void column_reader_init(struct column_reader *reader, size_t raw_max_bytes)
{
    *reader = (struct column_reader){.raw_max_bytes = raw_max_bytes};
}

void column_reader_free(struct column_reader *reader)
{
    free(reader->raw);
    (void)ZSTD_freeDCtx(reader->zstd);
    *reader = (struct column_reader){.raw_max_bytes = reader->raw_max_bytes};
}

static bool damaged(struct err *err)
{
    return err_set(err, ERR_STORE, "the stored timeline is damaged");
}

static bool make_room(struct column_reader *reader, size_t size)
{
    if (reader->zstd == NULL) {
        reader->zstd = ZSTD_createDCtx();
    }
    if (reader->cap < size + SLACK_BYTES) {
        size_t cap = 2 * size + SLACK_BYTES;
        free(reader->raw);
        reader->raw = malloc(cap);
        reader->cap = reader->raw == NULL ? 0 : cap;
    }
    return reader->zstd != NULL && reader->raw != NULL;
}

/* What is stored: tiles, none perhaps, and the frame. */
struct parts {
    const unsigned char *tiles;
    size_t tiles_len;
    const unsigned char *frame;
    size_t frame_len;
};

/* False for tiles that are not what they were. */
static bool split(struct parts *parts, const unsigned char *bytes, size_t len)
{
    *parts = (struct parts){.tiles = bytes, .frame = bytes, .frame_len = len};
    if (len < TILES_HEAD_BYTES || bytes[0] != TILES_MARK) {
        return true;
    }
    const unsigned char *length = bytes + 1;
    const unsigned char *checksum = length + TILES_LENGTH_BYTES;
    parts->tiles = checksum + NUMBER_BYTES;
    parts->tiles_len = (size_t)(load_number(length) & UINT32_MAX);
    parts->frame_len = len - TILES_HEAD_BYTES;
    if (parts->tiles_len > parts->frame_len ||
        checksum_of(parts->tiles, parts->tiles_len) != load_number(checksum)) {
        return false;
    }
    parts->frame = parts->tiles + parts->tiles_len;
    parts->frame_len -= parts->tiles_len;
    return true;
}

bool column_reader_open(struct column_reader *reader,
                        const void *bytes,
                        size_t len,
                        struct err *err)
{
    struct parts parts;
    if (!split(&parts, bytes, len)) {
        return damaged(err);
    }
    unsigned long long size = ZSTD_getFrameContentSize(parts.frame, parts.frame_len);
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ||
        size > reader->raw_max_bytes || parts.tiles_len > reader->raw_max_bytes) {
        return damaged(err);
    }
    if (!make_room(reader, (size_t)size + SLACK_BYTES + parts.tiles_len)) {
        return no_memory(err);
    }
    size_t got =
        ZSTD_decompressDCtx(reader->zstd, reader->raw, (size_t)size, parts.frame, parts.frame_len);
    if (ZSTD_isError(got) || got != size) {
        return damaged(err);
    }
    unsigned char *tiles = reader->raw + size + SLACK_BYTES;
    memset(reader->raw + size, 0, SLACK_BYTES);
    memcpy(tiles, parts.tiles, parts.tiles_len);
    memset(tiles + parts.tiles_len, 0, SLACK_BYTES);
    reader->at = reader->raw;
    reader->end = reader->raw + size;
    reader->tiles_at = tiles;
    reader->tiles_end = tiles + parts.tiles_len;
    reader->failed = false;
    return true;
}

/* By length; the lengths above NUMBER_BYTES never come so far. */
static const uint64_t number_masks[16] = {
    0,
    UINT64_C(0xFF),
    UINT64_C(0xFFFF),
    UINT64_C(0xFFFFFF),
    UINT64_C(0xFFFFFFFF),
    UINT64_C(0xFFFFFFFFFF),
    UINT64_C(0xFFFFFFFFFFFF),
    UINT64_C(0xFFFFFFFFFFFFFF),
    UINT64_MAX,
};

/* Bytes of all numbers, LENGTH_BAD or more where a length is impossible. */
static size_t sum_lengths(const unsigned char *control, size_t count)
{
    uint32_t sum = 0;
    uint32_t bad = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t low = control[i] & 0x0Fu;
        uint32_t high = (uint32_t)control[i] >> 4;
        sum += low + high;
        bad |= (uint32_t)(low > NUMBER_BYTES) | (uint32_t)(high > NUMBER_BYTES);
    }
    return (size_t)sum + (size_t)bad * LENGTH_BAD;
}

bool column_get(struct column_reader *reader, uint64_t *values, size_t count)
{
    size_t control_bytes = (count + 1) / 2;
    size_t left = (size_t)(reader->end - reader->at);
    const unsigned char *control = reader->at;
    bool fits = !reader->failed && count < LENGTH_BAD && control_bytes <= left;
    size_t data_bytes = fits ? sum_lengths(control, control_bytes) : 0;
    if (!fits || data_bytes > left - control_bytes || data_bytes >= LENGTH_BAD) {
        reader->failed = true;
        memset(values, 0, count * sizeof *values);
        return false;
    }
    const unsigned char *at = control + control_bytes;
    reader->at = at + data_bytes;
    size_t pairs = count / 2;
    for (size_t i = 0; i < pairs; i++) {
        unsigned low = control[i] & 0x0Fu;
        unsigned high = (unsigned)control[i] >> 4;
        values[2 * i] = load_number(at) & number_masks[low];
        values[2 * i + 1] = load_number(at + low) & number_masks[high];
        at += low + high;
    }
    if (count % 2 != 0) {
        values[count - 1] = load_number(at) & number_masks[control[pairs] & 0x0Fu];
    }
    return true;
}

static void widen(const unsigned char *from, uint32_t *values, size_t count, size_t width)
{
    for (size_t i = 0; i < count && width == 1; i++) {
        values[i] = from[i];
    }
    for (size_t i = 0; i < count && width == 2; i++) {
        values[i] = (uint32_t)from[2 * i] | (uint32_t)from[2 * i + 1] << 8;
    }
    for (size_t i = 0; i < count && width == 4; i++) {
        values[i] = (uint32_t)from[4 * i] | (uint32_t)from[4 * i + 1] << 8 |
                    (uint32_t)from[4 * i + 2] << 16 | (uint32_t)from[4 * i + 3] << 24;
    }
}

bool column_get_even(struct column_reader *reader, uint32_t *values, size_t count)
{
    size_t left = (size_t)(reader->end - reader->at);
    size_t width = left == 0 ? 0 : *reader->at;
    bool is_width = width == 1 || width == 2 || width == 4;
    if (reader->failed || !is_width || count > (left - 1) / width) {
        reader->failed = true;
        memset(values, 0, count * sizeof *values);
        return false;
    }
    widen(reader->at + 1, values, count, width);
    reader->at += 1 + count * width;
    return true;
}

static void get_bits(const unsigned char *at, uint64_t *values, size_t count, unsigned bits)
{
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    for (size_t i = 0; i < count; i++) {
        size_t bit = i * bits;
        values[i] = load_number(at + bit / BYTE_BITS) >> bit % BYTE_BITS & mask;
    }
}

static void get_words(const unsigned char *at, uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = load_number(at + i * NUMBER_BYTES);
    }
}

bool column_get_tiles(struct column_reader *reader, uint64_t *values, size_t count)
{
    const unsigned char *at = reader->tiles_at;
    bool ok = !reader->failed;
    for (size_t i = 0; ok && i < count; i += TILE_NUMBERS) {
        size_t here = count - i < TILE_NUMBERS ? count - i : TILE_NUMBERS;
        size_t left = (size_t)(reader->tiles_end - at);
        unsigned bits = *at;
        size_t bytes = (here * bits + BYTE_BITS - 1) / BYTE_BITS;
        ok = bytes < left && (bits <= TILE_BITS || bits == WORD_BITS);
        if (ok && bits == WORD_BITS) {
            get_words(at + 1, values + i, here);
        } else if (ok) {
            get_bits(at + 1, values + i, here, bits);
        }
        at += ok ? 1 + bytes : 0;
    }
    reader->tiles_at = at;
    if (!ok) {
        reader->failed = true;
        memset(values, 0, count * sizeof *values);
    }
    return ok;
}

const char *column_get_bytes(struct column_reader *reader, size_t len)
{
    if (reader->failed || len > (size_t)(reader->end - reader->at)) {
        reader->failed = true;
        return NULL;
    }
    const char *bytes = (const char *)reader->at;
    reader->at += len;
    return bytes;
}

bool column_reader_finish(const struct column_reader *reader, struct err *err)
{
    bool all_read = reader->at == reader->end && reader->tiles_at == reader->tiles_end;
    return (!reader->failed && all_read) || damaged(err);
}

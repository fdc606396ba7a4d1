#include "ingest/store/codec/column_codec.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Of zstd, since packed columns are small already: its quickest level, and a table of what was
 * seen that takes a corner of the fastest memory, where by itself it would fill that. */
#define PACK_LEVEL 1
#define PACK_HASH_LOG 10
#define PACK_MIN_MATCH 6
#define RAW_MAX_BYTES ((size_t)4 << 30)
/* What a byte of a frame can stand for: a block takes four and gives 128 kB at most. */
#define FRAME_RATIO_MAX 32768u
#define VARINT_BYTES 10
/* Numbers that are packed at a time. */
#define TILE_NUMBERS ((size_t)256)
/* About so many values of a column tell which coding takes fewer bytes. */
#define LOOKED_AT 64

/* What stands before the numbers of column_encode_column. */
enum column_coding { COLUMN_ONE_VALUE, COLUMN_PLAIN, COLUMN_DELTA };

/* ---- packing ---- */

void column_encode_init(struct column_encoder *enc)
{
    *enc = (struct column_encoder){.compressor = NULL};
    buf_init(&enc->raw, RAW_MAX_BYTES);
    buf_init(&enc->packed, ZSTD_compressBound(RAW_MAX_BYTES));
}

void column_encode_free(struct column_encoder *enc)
{
    buf_free(&enc->raw);
    buf_free(&enc->packed);
    (void)ZSTD_freeCCtx(enc->compressor);
    enc->compressor = NULL;
}

void column_encode_clear(struct column_encoder *enc)
{
    buf_clear(&enc->raw);
}

/* The number at `at`, where there is room for VARINT_BYTES; gives the place behind it. */
static inline char *put_number(char *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (char)(unsigned char)(value | 0x80);
        value >>= 7;
    }
    *at++ = (char)value;
    return at;
}

void column_encode_number(struct column_encoder *enc, uint64_t value)
{
    char bytes[VARINT_BYTES];
    buf_append(&enc->raw, bytes, (size_t)(put_number(bytes, value) - bytes));
}

/* Small numbers of either sign become small ones: 0, -1, 1, -2 ... are 0, 1, 2, 3 ... */
static inline uint64_t zigzag(uint64_t value)
{
    return (value << 1) ^ (0 - (value >> 63));
}

void column_encode_bytes(struct column_encoder *enc, const uint8_t *column, size_t count)
{
    if (count > 0) {
        buf_append(&enc->raw, column, count);
    }
}

/* Below 2^7. */
static char *put_byte_tile(char *at, const uint64_t *codes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        at[i] = (char)codes[i];
    }
    return at + count;
}

/* Below 2^14. Writes a byte more. */
static char *put_short_tile(char *at, const uint64_t *codes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned code = (unsigned)codes[i];
        unsigned more = code >= 1 << 7;
        at[0] = (char)(code | more << 7);
        at[1] = (char)(code >> 7);
        at += 1 + more;
    }
    return at;
}

/* A number below 2^28 as it is packed, the first byte lowest: the seven bits of each byte apart,
 * and above them whether another one follows. */
static inline uint32_t spread(uint32_t value)
{
    uint32_t bytes = (value & 0x00003FFFU) | (value & 0x0FFFC000U) << 2;
    bytes = (bytes & 0x007F007FU) | (bytes & 0x3F803F80U) << 1;
    uint32_t behind = bytes >> 8;
    behind |= behind >> 8;
    behind |= behind >> 16;
    return bytes | ((behind + 0x7F7F7F7FU) & 0x80808080U);
}

static inline unsigned spread_length(uint32_t bytes)
{
    uint32_t followed = bytes >> 7 & 0x01010101U;
    followed += followed >> 8;
    followed += followed >> 16;
    return (followed & 7) + 1;
}

/* Below 2^28. Writes three bytes more. The lengths differ from one to the next: no branch may ask
 * for them, and what comes before them is done for several at a time. */
static char *put_spread_tile(char *at, const uint64_t *codes, size_t count)
{
    uint32_t bytes[TILE_NUMBERS];
    uint32_t lengths[TILE_NUMBERS];
    for (size_t i = 0; i < count; i++) {
        bytes[i] = spread((uint32_t)codes[i]);
        lengths[i] = spread_length(bytes[i]);
    }
    for (size_t i = 0; i < count; i++) {
        at[0] = (char)bytes[i];
        at[1] = (char)(bytes[i] >> 8);
        at[2] = (char)(bytes[i] >> 16);
        at[3] = (char)(bytes[i] >> 24);
        at += lengths[i];
    }
    return at;
}

static char *put_large_tile(char *at, const uint64_t *codes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        at = put_number(at, codes[i]);
    }
    return at;
}

/* At most TILE_NUMBERS; `any` has the bits of all of them. */
static void put_tile(struct column_encoder *enc, const uint64_t *codes, size_t count, uint64_t any)
{
    char *room = buf_room(&enc->raw, count * VARINT_BYTES);
    if (room == NULL) {
        return;
    }
    char *at = any < (uint64_t)1 << 7    ? put_byte_tile(room, codes, count)
               : any < (uint64_t)1 << 14 ? put_short_tile(room, codes, count)
               : any < (uint64_t)1 << 28 ? put_spread_tile(room, codes, count)
                                         : put_large_tile(room, codes, count);
    buf_add(&enc->raw, (size_t)(at - room));
}

static size_t tile_of(size_t left)
{
    return left < TILE_NUMBERS ? left : TILE_NUMBERS;
}

void column_encode_u32(struct column_encoder *enc, const uint32_t *column, size_t count)
{
    uint64_t codes[TILE_NUMBERS];
    uint64_t last = 0;
    for (size_t tile = 0; count > 0; column += tile, count -= tile) {
        tile = tile_of(count);
        uint64_t any = codes[0] = zigzag(column[0] - last);
        for (size_t i = 1; i < tile; i++) {
            codes[i] = zigzag((uint64_t)column[i] - column[i - 1]);
            any |= codes[i];
        }
        last = column[tile - 1];
        put_tile(enc, codes, tile, any);
    }
}

void column_encode_i64(struct column_encoder *enc, const int64_t *column, size_t count)
{
    uint64_t codes[TILE_NUMBERS];
    uint64_t last = 0;
    for (size_t tile = 0; count > 0; column += tile, count -= tile) {
        tile = tile_of(count);
        uint64_t any = codes[0] = zigzag((uint64_t)column[0] - last);
        for (size_t i = 1; i < tile; i++) {
            codes[i] = zigzag((uint64_t)column[i] - (uint64_t)column[i - 1]);
            any |= codes[i];
        }
        last = (uint64_t)column[tile - 1];
        put_tile(enc, codes, tile, any);
    }
}

static void encode_plain(struct column_encoder *enc, const int64_t *column, size_t count)
{
    uint64_t codes[TILE_NUMBERS];
    for (size_t tile = 0; count > 0; column += tile, count -= tile) {
        uint64_t any = 0;
        tile = tile_of(count);
        for (size_t i = 0; i < tile; i++) {
            codes[i] = zigzag((uint64_t)column[i]);
            any |= codes[i];
        }
        put_tile(enc, codes, tile, any);
    }
}

static bool are_all_equal(const int64_t *column, size_t count)
{
    int64_t differ = 0;
    for (size_t tile = 0; count > 0 && differ == 0; column += tile, count -= tile) {
        tile = tile_of(count);
        for (size_t i = 0; i < tile; i++) {
            differ |= column[i] ^ column[0];
        }
        differ |= count > tile ? column[tile] ^ column[0] : 0;
    }
    return differ == 0;
}

/* Bytes of a packed number below 2^28 beyond its first one. */
static inline unsigned more_bytes(uint64_t value)
{
    return (unsigned)(value >= (uint64_t)1 << 7) + (unsigned)(value >= (uint64_t)1 << 14) +
           (unsigned)(value >= (uint64_t)1 << 21);
}

/* Of a column whose values are not all equal. */
static enum column_coding choose_coding(const int64_t *column, size_t count)
{
    size_t plain_bytes = 0;
    size_t delta_bytes = 0;
    size_t step = count / LOOKED_AT | 1;
    for (size_t i = 1; i < count; i += step) {
        uint64_t value = (uint64_t)column[i];
        plain_bytes += more_bytes(zigzag(value));
        delta_bytes += more_bytes(zigzag(value - (uint64_t)column[i - 1]));
    }
    return delta_bytes < plain_bytes ? COLUMN_DELTA : COLUMN_PLAIN;
}

void column_encode_column(struct column_encoder *enc, const int64_t *column, size_t count)
{
    if (count == 0) {
        return;
    }
    if (are_all_equal(column, count)) {
        column_encode_number(enc, COLUMN_ONE_VALUE);
        column_encode_i64(enc, column, 1);
        return;
    }
    enum column_coding coding = choose_coding(column, count);
    column_encode_number(enc, coding);
    if (coding == COLUMN_DELTA) {
        column_encode_i64(enc, column, count);
    } else {
        encode_plain(enc, column, count);
    }
}

void column_encode_texts(struct column_encoder *enc, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t len = texts[i] == NULL ? 0 : strlen(texts[i]);
        column_encode_number(enc, texts[i] == NULL ? 0 : len + 1);
        if (len > 0) {
            buf_append(&enc->raw, texts[i], len);
        }
    }
}

bool column_encode_set_parameter(struct column_encoder *enc, int parameter, int value)
{
    return !ZSTD_isError(
        ZSTD_CCtx_setParameter(enc->compressor, (ZSTD_cParameter)parameter, value));
}

bool column_encode_make_compressor(struct column_encoder *enc)
{
    if (enc->compressor != NULL) {
        return true;
    }
    enc->compressor = ZSTD_createCCtx();
    bool is_set = enc->compressor != NULL &&
                  column_encode_set_parameter(enc, ZSTD_c_compressionLevel, PACK_LEVEL) &&
                  column_encode_set_parameter(enc, ZSTD_c_hashLog, PACK_HASH_LOG) &&
                  column_encode_set_parameter(enc, ZSTD_c_minMatch, PACK_MIN_MATCH) &&
                  column_encode_set_parameter(enc, ZSTD_c_checksumFlag, 1);
    if (!is_set) {
        (void)ZSTD_freeCCtx(enc->compressor);
        enc->compressor = NULL;
    }
    return is_set;
}

bool column_encode_finish(struct column_encoder *enc, void **bytes, size_t *len, struct err *err)
{
    size_t room = ZSTD_compressBound(enc->raw.len);
    buf_clear(&enc->packed);
    char *packed = enc->raw.failed || !column_encode_make_compressor(enc)
                       ? NULL
                       : buf_room(&enc->packed, room);
    *len = packed == NULL
               ? 0
               : ZSTD_compress2(enc->compressor, packed, room, enc->raw.ptr, enc->raw.len);
    if (ZSTD_isError(*len)) {
        *bytes = NULL;
        return err_set(err, ERR_NO_MEMORY, "columns cannot be compressed: %s",
                       ZSTD_getErrorName(*len));
    }
    *bytes = packed == NULL ? NULL : malloc(*len);
    if (*bytes == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to store %zu bytes of columns", enc->raw.len);
    }
    memcpy(*bytes, packed, *len);
    return true;
}

/* ---- unpacking ---- */

bool column_decode_init(
    struct column_decoder *dec, struct arena *arena, const void *bytes, size_t len, struct err *err)
{
    unsigned long long size = ZSTD_getFrameContentSize(bytes, len);
    *dec = (struct column_decoder){.arena = arena};
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ||
        size > RAW_MAX_BYTES || size / FRAME_RATIO_MAX > len) {
        return err_set(err, ERR_STORE, "stored columns are damaged");
    }
    dec->raw = malloc((size_t)size + 1);
    if (dec->raw == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for %llu bytes of columns", size);
    }
    size_t got = ZSTD_decompress(dec->raw, (size_t)size, bytes, len);
    if (ZSTD_isError(got) || got != size) {
        free(dec->raw);
        return err_set(err, ERR_STORE, "stored columns are damaged");
    }
    dec->at = dec->raw;
    dec->end = dec->raw + size;
    return true;
}

static inline uint64_t read_number(struct column_decoder *dec)
{
    if (KS_LIKELY(dec->at != dec->end && *dec->at < 0x80)) {
        return *dec->at++;
    }
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (dec->at == dec->end) {
            break;
        }
        unsigned char byte = *dec->at++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            return value;
        }
    }
    dec->failed = true;
    return 0;
}

static inline uint64_t read_signed(struct column_decoder *dec)
{
    uint64_t value = read_number(dec);
    return (value >> 1) ^ (0 - (value & 1));
}

uint64_t column_decode_number(struct column_decoder *dec)
{
    return read_number(dec);
}

bool column_decode_is_at_end(const struct column_decoder *dec)
{
    return dec->failed || dec->at == dec->end;
}

uint32_t column_decode_count(struct column_decoder *dec)
{
    uint64_t value = read_number(dec);
    if (value > UINT32_MAX) {
        dec->failed = true;
    }
    return dec->failed ? 0 : (uint32_t)value;
}

int64_t column_decode_signed(struct column_decoder *dec)
{
    uint64_t value = read_signed(dec);
    int64_t out;
    memcpy(&out, &value, sizeof out);
    return out;
}

/* Room for a column; a value takes at least a byte, so that no count is larger than what is left.
 */
static void *make_column(struct column_decoder *dec, size_t count, size_t size)
{
    if (dec->failed || count > (size_t)(dec->end - dec->at)) {
        dec->failed = true;
        return NULL;
    }
    void *column = arena_alloc(dec->arena, (count + 1) * size);
    dec->failed = column == NULL;
    return column;
}

/* The decoder stands in registers meanwhile. */
static void read_values(struct column_decoder *dec, int64_t *column, size_t count, bool are_steps)
{
    struct column_decoder in = *dec;
    uint64_t kept = are_steps ? UINT64_MAX : 0;
    uint64_t last = 0;
    for (size_t i = 0; i < count; i++) {
        last = (last & kept) + read_signed(&in);
        column[i] = (int64_t)last;
    }
    *dec = in;
}

uint8_t *column_decode_bytes(struct column_decoder *dec, size_t count)
{
    uint8_t *column = make_column(dec, count, sizeof *column);
    if (column != NULL && count > 0) {
        memcpy(column, dec->at, count);
        dec->at += count;
    }
    return column;
}

uint32_t *
column_decode_u32(struct column_decoder *dec, size_t count, uint32_t limit, bool allows_none)
{
    uint32_t *column = make_column(dec, count, sizeof *column);
    uint64_t last = 0;
    for (size_t i = 0; column != NULL && i < count; i++) {
        last += read_signed(dec);
        bool fits = last < limit || (allows_none && last == UINT32_MAX);
        dec->failed = dec->failed || !fits;
        column[i] = fits ? (uint32_t)last : 0;
    }
    return column;
}

int64_t *column_decode_i64(struct column_decoder *dec, size_t count)
{
    int64_t *column = make_column(dec, count, sizeof *column);
    if (column != NULL) {
        read_values(dec, column, count, true);
    }
    return column;
}

const int64_t *column_decode_column(struct column_decoder *dec, size_t count, unsigned *stride)
{
    uint32_t coding = count == 0 ? COLUMN_ONE_VALUE : column_decode_count(dec);
    *stride = coding == COLUMN_ONE_VALUE ? 0 : 1;
    if (coding != COLUMN_PLAIN) {
        dec->failed = dec->failed || coding > COLUMN_DELTA;
        size_t values = coding == COLUMN_DELTA ? count : 1;
        return column_decode_i64(dec, count == 0 ? 0 : values);
    }
    int64_t *column = make_column(dec, count, sizeof *column);
    if (column != NULL) {
        read_values(dec, column, count, false);
    }
    return column;
}

const char *column_decode_peek(struct column_decoder *dec, size_t len)
{
    if (dec->failed || len > (size_t)(dec->end - dec->at)) {
        dec->failed = true;
        return NULL;
    }
    const char *bytes = (const char *)dec->at;
    dec->at += len;
    return bytes;
}

static const char *decode_text(struct column_decoder *dec)
{
    uint64_t len = read_number(dec);
    if (len == 0 || dec->failed) {
        return NULL;
    }
    if (len - 1 > (uint64_t)(dec->end - dec->at)) {
        dec->failed = true;
        return NULL;
    }
    const char *text = arena_strndup(dec->arena, (const char *)dec->at, (size_t)(len - 1));
    dec->failed = text == NULL;
    dec->at += len - 1;
    return text;
}

const char **column_decode_texts(struct column_decoder *dec, size_t count)
{
    const char **texts = make_column(dec, count, sizeof *texts);
    for (size_t i = 0; texts != NULL && i < count; i++) {
        texts[i] = decode_text(dec);
    }
    return texts;
}

bool column_decode_finish(struct column_decoder *dec, struct err *err)
{
    bool ok = !dec->failed && dec->at == dec->end;
    free(dec->raw);
    return ok || err_set(err, ERR_STORE, "stored columns are damaged");
}

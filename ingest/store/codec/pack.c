#include "ingest/store/codec/pack.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Of zstd, since packed columns are small already: its quickest level, and a table of what was
 * seen that takes a corner of the fastest memory, where by itself it would fill that. */
#define PACK_LEVEL 1
#define PACK_HASH_LOG 10
#define PACK_MIN_MATCH 6
#define RAW_MAX_BYTES ((size_t)4 << 30)
#define VARINT_BYTES 10
/* Numbers that are packed at a time. */
#define TILE_NUMBERS ((size_t)256)
/* About so many values of a column tell which coding takes fewer bytes. */
#define LOOKED_AT 64

/* What stands before the numbers of pack_column. */
enum column_coding { COLUMN_ONE_VALUE, COLUMN_PLAIN, COLUMN_DELTA };

/* ---- packing ---- */

void pack_init(struct pack *pack)
{
    *pack = (struct pack){.compressor = NULL};
    buf_init(&pack->raw, RAW_MAX_BYTES);
    buf_init(&pack->packed, ZSTD_compressBound(RAW_MAX_BYTES));
}

void pack_free(struct pack *pack)
{
    buf_free(&pack->raw);
    buf_free(&pack->packed);
    (void)ZSTD_freeCCtx(pack->compressor);
    pack->compressor = NULL;
}

void pack_clear(struct pack *pack)
{
    buf_clear(&pack->raw);
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

void pack_number(struct pack *pack, uint64_t value)
{
    char bytes[VARINT_BYTES];
    buf_append(&pack->raw, bytes, (size_t)(put_number(bytes, value) - bytes));
}

/* Small numbers of either sign become small ones: 0, -1, 1, -2 ... are 0, 1, 2, 3 ... */
static inline uint64_t zigzag(uint64_t value)
{
    return (value << 1) ^ (0 - (value >> 63));
}

void pack_bytes(struct pack *pack, const uint8_t *column, size_t count)
{
    if (count > 0) {
        buf_append(&pack->raw, column, count);
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
static void put_tile(struct pack *pack, const uint64_t *codes, size_t count, uint64_t any)
{
    char *room = buf_room(&pack->raw, count * VARINT_BYTES);
    if (room == NULL) {
        return;
    }
    char *at = any < (uint64_t)1 << 7    ? put_byte_tile(room, codes, count)
               : any < (uint64_t)1 << 14 ? put_short_tile(room, codes, count)
               : any < (uint64_t)1 << 28 ? put_spread_tile(room, codes, count)
                                         : put_large_tile(room, codes, count);
    buf_add(&pack->raw, (size_t)(at - room));
}

static size_t tile_of(size_t left)
{
    return left < TILE_NUMBERS ? left : TILE_NUMBERS;
}

void pack_u32(struct pack *pack, const uint32_t *column, size_t count)
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
        put_tile(pack, codes, tile, any);
    }
}

void pack_i64(struct pack *pack, const int64_t *column, size_t count)
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
        put_tile(pack, codes, tile, any);
    }
}

static void pack_plain(struct pack *pack, const int64_t *column, size_t count)
{
    uint64_t codes[TILE_NUMBERS];
    for (size_t tile = 0; count > 0; column += tile, count -= tile) {
        uint64_t any = 0;
        tile = tile_of(count);
        for (size_t i = 0; i < tile; i++) {
            codes[i] = zigzag((uint64_t)column[i]);
            any |= codes[i];
        }
        put_tile(pack, codes, tile, any);
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

void pack_column(struct pack *pack, const int64_t *column, size_t count)
{
    if (count == 0) {
        return;
    }
    if (are_all_equal(column, count)) {
        pack_number(pack, COLUMN_ONE_VALUE);
        pack_i64(pack, column, 1);
        return;
    }
    enum column_coding coding = choose_coding(column, count);
    pack_number(pack, coding);
    if (coding == COLUMN_DELTA) {
        pack_i64(pack, column, count);
    } else {
        pack_plain(pack, column, count);
    }
}

void pack_texts(struct pack *pack, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t len = texts[i] == NULL ? 0 : strlen(texts[i]);
        pack_number(pack, texts[i] == NULL ? 0 : len + 1);
        if (len > 0) {
            buf_append(&pack->raw, texts[i], len);
        }
    }
}

bool pack_set_parameter(struct pack *pack, int parameter, int value)
{
    return !ZSTD_isError(
        ZSTD_CCtx_setParameter(pack->compressor, (ZSTD_cParameter)parameter, value));
}

bool pack_make_compressor(struct pack *pack)
{
    if (pack->compressor != NULL) {
        return true;
    }
    pack->compressor = ZSTD_createCCtx();
    bool is_set = pack->compressor != NULL &&
                  pack_set_parameter(pack, ZSTD_c_compressionLevel, PACK_LEVEL) &&
                  pack_set_parameter(pack, ZSTD_c_hashLog, PACK_HASH_LOG) &&
                  pack_set_parameter(pack, ZSTD_c_minMatch, PACK_MIN_MATCH) &&
                  pack_set_parameter(pack, ZSTD_c_checksumFlag, 1);
    if (!is_set) {
        (void)ZSTD_freeCCtx(pack->compressor);
        pack->compressor = NULL;
    }
    return is_set;
}

bool pack_finish(struct pack *pack, void **bytes, size_t *len, struct err *err)
{
    size_t room = ZSTD_compressBound(pack->raw.len);
    buf_clear(&pack->packed);
    char *packed =
        pack->raw.failed || !pack_make_compressor(pack) ? NULL : buf_room(&pack->packed, room);
    *len = packed == NULL
               ? 0
               : ZSTD_compress2(pack->compressor, packed, room, pack->raw.ptr, pack->raw.len);
    if (ZSTD_isError(*len)) {
        *bytes = NULL;
        return err_set(err, ERR_NO_MEMORY, "columns cannot be compressed: %s",
                       ZSTD_getErrorName(*len));
    }
    *bytes = packed == NULL ? NULL : malloc(*len);
    if (*bytes == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to store %zu bytes of columns",
                       pack->raw.len);
    }
    memcpy(*bytes, packed, *len);
    return true;
}

/* ---- unpacking ---- */

bool unpack_init(
    struct unpack *unpack, struct arena *arena, const void *bytes, size_t len, struct err *err)
{
    unsigned long long size = ZSTD_getFrameContentSize(bytes, len);
    *unpack = (struct unpack){.arena = arena};
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ||
        size > RAW_MAX_BYTES) {
        return err_set(err, ERR_STORE, "stored columns are damaged");
    }
    unpack->raw = malloc((size_t)size + 1);
    if (unpack->raw == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for %llu bytes of columns", size);
    }
    size_t got = ZSTD_decompress(unpack->raw, (size_t)size, bytes, len);
    if (ZSTD_isError(got) || got != size) {
        free(unpack->raw);
        return err_set(err, ERR_STORE, "stored columns are damaged");
    }
    unpack->at = unpack->raw;
    unpack->end = unpack->raw + size;
    return true;
}

static inline uint64_t read_number(struct unpack *unpack)
{
    if (KS_LIKELY(unpack->at != unpack->end && *unpack->at < 0x80)) {
        return *unpack->at++;
    }
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (unpack->at == unpack->end) {
            break;
        }
        unsigned char byte = *unpack->at++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) {
            return value;
        }
    }
    unpack->failed = true;
    return 0;
}

static inline uint64_t read_signed(struct unpack *unpack)
{
    uint64_t value = read_number(unpack);
    return (value >> 1) ^ (0 - (value & 1));
}

uint64_t unpack_number(struct unpack *unpack)
{
    return read_number(unpack);
}

bool unpack_is_at_end(const struct unpack *unpack)
{
    return unpack->failed || unpack->at == unpack->end;
}

uint32_t unpack_count(struct unpack *unpack)
{
    uint64_t value = read_number(unpack);
    if (value > UINT32_MAX) {
        unpack->failed = true;
    }
    return unpack->failed ? 0 : (uint32_t)value;
}

int64_t unpack_signed(struct unpack *unpack)
{
    uint64_t value = read_signed(unpack);
    int64_t out;
    memcpy(&out, &value, sizeof out);
    return out;
}

/* Room for a column; a value takes at least a byte, so that no count is larger than what is left.
 */
static void *make_column(struct unpack *unpack, size_t count, size_t size)
{
    if (unpack->failed || count > (size_t)(unpack->end - unpack->at)) {
        unpack->failed = true;
        return NULL;
    }
    void *column = arena_calloc(unpack->arena, count + 1, size);
    unpack->failed = column == NULL;
    return column;
}

uint8_t *unpack_bytes(struct unpack *unpack, size_t count)
{
    uint8_t *column = make_column(unpack, count, sizeof *column);
    if (column != NULL && count > 0) {
        memcpy(column, unpack->at, count);
        unpack->at += count;
    }
    return column;
}

uint32_t *unpack_u32(struct unpack *unpack, size_t count, uint32_t limit, bool allows_none)
{
    uint32_t *column = make_column(unpack, count, sizeof *column);
    uint64_t last = 0;
    for (size_t i = 0; column != NULL && i < count; i++) {
        last += read_signed(unpack);
        bool fits = last < limit || (allows_none && last == UINT32_MAX);
        unpack->failed = unpack->failed || !fits;
        column[i] = fits ? (uint32_t)last : 0;
    }
    return column;
}

int64_t *unpack_i64(struct unpack *unpack, size_t count)
{
    int64_t *column = make_column(unpack, count, sizeof *column);
    uint64_t last = 0;
    for (size_t i = 0; column != NULL && i < count; i++) {
        last += read_signed(unpack);
        memcpy(&column[i], &last, sizeof last);
    }
    return column;
}

const int64_t *unpack_column(struct unpack *unpack, size_t count, unsigned *stride)
{
    uint32_t coding = count == 0 ? COLUMN_ONE_VALUE : unpack_count(unpack);
    *stride = coding == COLUMN_ONE_VALUE ? 0 : 1;
    if (coding != COLUMN_PLAIN) {
        unpack->failed = unpack->failed || coding > COLUMN_DELTA;
        size_t values = coding == COLUMN_DELTA ? count : 1;
        return unpack_i64(unpack, count == 0 ? 0 : values);
    }
    int64_t *column = make_column(unpack, count, sizeof *column);
    for (size_t i = 0; column != NULL && i < count; i++) {
        uint64_t value = read_signed(unpack);
        memcpy(&column[i], &value, sizeof value);
    }
    return column;
}

const char *unpack_peek(struct unpack *unpack, size_t len)
{
    if (unpack->failed || len > (size_t)(unpack->end - unpack->at)) {
        unpack->failed = true;
        return NULL;
    }
    const char *bytes = (const char *)unpack->at;
    unpack->at += len;
    return bytes;
}

static const char *unpack_text(struct unpack *unpack)
{
    uint64_t len = read_number(unpack);
    if (len == 0 || unpack->failed) {
        return NULL;
    }
    if (len - 1 > (uint64_t)(unpack->end - unpack->at)) {
        unpack->failed = true;
        return NULL;
    }
    const char *text = arena_strndup(unpack->arena, (const char *)unpack->at, (size_t)(len - 1));
    unpack->failed = text == NULL;
    unpack->at += len - 1;
    return text;
}

const char **unpack_texts(struct unpack *unpack, size_t count)
{
    const char **texts = make_column(unpack, count, sizeof *texts);
    for (size_t i = 0; texts != NULL && i < count && !unpack->failed; i++) {
        texts[i] = unpack_text(unpack);
    }
    return texts;
}

bool unpack_finish(struct unpack *unpack, struct err *err)
{
    bool ok = !unpack->failed && unpack->at == unpack->end;
    free(unpack->raw);
    return ok || err_set(err, ERR_STORE, "stored columns are damaged");
}

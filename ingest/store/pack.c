#include "ingest/store/pack.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define PACK_LEVEL 3
#define RAW_MAX_BYTES ((size_t)4 << 30)
#define VARINT_BYTES 10

/* ---- packing ---- */

void pack_init(struct pack *pack)
{
    buf_init(&pack->raw, RAW_MAX_BYTES);
}

void pack_free(struct pack *pack)
{
    buf_free(&pack->raw);
}

void pack_number(struct pack *pack, uint64_t value)
{
    char bytes[VARINT_BYTES];
    size_t len = 0;
    while (value >= 0x80) {
        bytes[len++] = (char)(unsigned char)(value | 0x80);
        value >>= 7;
    }
    bytes[len++] = (char)value;
    buf_append(&pack->raw, bytes, len);
}

/* Small numbers of either sign become small ones: 0, -1, 1, -2 ... are 0, 1, 2, 3 ... */
static void pack_signed(struct pack *pack, uint64_t value)
{
    pack_number(pack, (value << 1) ^ (value >> 63 != 0 ? UINT64_MAX : 0));
}

void pack_bytes(struct pack *pack, const uint8_t *column, size_t count)
{
    if (count > 0) {
        buf_append(&pack->raw, column, count);
    }
}

void pack_u32(struct pack *pack, const uint32_t *column, size_t count)
{
    uint64_t last = 0;
    for (size_t i = 0; i < count; i++) {
        pack_signed(pack, column[i] - last);
        last = column[i];
    }
}

void pack_i64(struct pack *pack, const int64_t *column, size_t count)
{
    uint64_t last = 0;
    for (size_t i = 0; i < count; i++) {
        pack_signed(pack, (uint64_t)column[i] - last);
        last = (uint64_t)column[i];
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

bool pack_finish(struct pack *pack, void **bytes, size_t *len, struct err *err)
{
    size_t room = ZSTD_compressBound(pack->raw.len);
    *bytes = pack->raw.failed ? NULL : malloc(room);
    if (*bytes == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory to store %zu bytes of columns",
                       pack->raw.len);
    }
    *len = ZSTD_compress(*bytes, room, pack->raw.ptr, pack->raw.len, PACK_LEVEL);
    if (ZSTD_isError(*len)) {
        free(*bytes);
        return err_set(err, ERR_NO_MEMORY, "columns cannot be compressed: %s",
                       ZSTD_getErrorName(*len));
    }
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

static uint64_t unpack_number(struct unpack *unpack)
{
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

static uint64_t unpack_delta(struct unpack *unpack)
{
    uint64_t value = unpack_number(unpack);
    return (value >> 1) ^ ((value & 1) != 0 ? UINT64_MAX : 0);
}

uint32_t unpack_count(struct unpack *unpack)
{
    uint64_t value = unpack_number(unpack);
    if (value > UINT32_MAX) {
        unpack->failed = true;
    }
    return unpack->failed ? 0 : (uint32_t)value;
}

int64_t unpack_signed(struct unpack *unpack)
{
    uint64_t value = unpack_delta(unpack);
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
        last += unpack_delta(unpack);
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
        last += unpack_delta(unpack);
        memcpy(&column[i], &last, sizeof last);
    }
    return column;
}

static const char *unpack_text(struct unpack *unpack)
{
    uint64_t len = unpack_number(unpack);
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

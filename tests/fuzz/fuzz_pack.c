/* Packed columns. The first byte of an input chooses: the rest is what stands in the store (0), or
 * what stands in it when decompressed (1), read as the columns that the rest itself names; or
 * values that are packed and come back (2). */
#include "ingest/store/codec/pack.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define COLUMN_KINDS 5
#define COLUMNS_MAX 32

/* As the store reads: a count, then columns of that length, of kinds that the count decides. */
static void unpack_any(const void *bytes, size_t len)
{
    struct err err = ERR_INIT;
    struct arena arena;
    struct unpack unpack;
    /* What a frame says that it unpacks to is asked for at once. */
    unsigned long long size = ZSTD_getFrameContentSize(bytes, len);
    if (size > (1U << 20) && size < ZSTD_CONTENTSIZE_ERROR) {
        return;
    }
    arena_init(&arena, 0);
    if (unpack_init(&unpack, &arena, bytes, len, &err)) {
        for (unsigned i = 0; i < COLUMNS_MAX && !unpack.failed && unpack.at < unpack.end; i++) {
            uint32_t count = unpack_count(&unpack);
            switch (count % COLUMN_KINDS) {
            case 0:
                (void)unpack_bytes(&unpack, count);
                break;
            case 1:
                (void)unpack_u32(&unpack, count, count, true);
                break;
            case 2:
                (void)unpack_i64(&unpack, count);
                break;
            case 3:
                (void)unpack_texts(&unpack, count);
                break;
            default:
                (void)unpack_signed(&unpack);
                break;
            }
        }
        fuzz_require(unpack_finish(&unpack, &err) || err.msg[0] != '\0', "who refuses says why");
    }
    arena_free(&arena);
}

static void unpack_compressed(const uint8_t *bytes, size_t len)
{
    size_t room = ZSTD_compressBound(len);
    void *packed = malloc(room);
    fuzz_require(packed != NULL, "memory to compress");
    size_t packed_len = ZSTD_compress(packed, room, bytes, len, 1);
    fuzz_require(!ZSTD_isError(packed_len), "every input can be compressed");
    unpack_any(packed, packed_len);
    free(packed);
}

struct columns {
    const uint8_t *bytes;
    uint32_t *numbers;
    int64_t *times;
    const char *text;
    size_t count;
};

static void *pack_columns(const struct columns *columns, size_t *len)
{
    struct err err = ERR_INIT;
    struct pack pack;
    void *packed = NULL;
    const char *const texts[] = {columns->text, NULL, ""};
    pack_init(&pack);
    pack_number(&pack, columns->count);
    pack_bytes(&pack, columns->bytes, columns->count);
    pack_u32(&pack, columns->numbers, columns->count);
    pack_i64(&pack, columns->times, columns->count);
    pack_texts(&pack, texts, 3);
    fuzz_require(pack_finish(&pack, &packed, len, &err), "columns can be packed");
    pack_free(&pack);
    return packed;
}

static void check_columns(const struct columns *columns)
{
    struct err err = ERR_INIT;
    struct arena arena;
    struct unpack unpack;
    size_t len = 0;
    void *packed = pack_columns(columns, &len);
    arena_init(&arena, 0);
    fuzz_require(unpack_init(&unpack, &arena, packed, len, &err), "what was packed is unpacked");
    size_t count = unpack_count(&unpack);
    fuzz_require(count == columns->count, "with its count");
    const uint8_t *bytes = unpack_bytes(&unpack, count);
    const uint32_t *numbers = unpack_u32(&unpack, count, UINT32_MAX, true);
    const int64_t *times = unpack_i64(&unpack, count);
    const char **texts = unpack_texts(&unpack, 3);
    fuzz_require(unpack_finish(&unpack, &err), "to its end");
    fuzz_require(memcmp(bytes, columns->bytes, count) == 0 &&
                     memcmp(numbers, columns->numbers, count * sizeof *numbers) == 0 &&
                     memcmp(times, columns->times, count * sizeof *times) == 0 &&
                     strcmp(texts[0], columns->text) == 0 && texts[1] == NULL &&
                     texts[2][0] == '\0',
                 "and all values");
    arena_free(&arena);
    free(packed);
}

/* Columns whose values are the bytes of the input. */
static void pack_any(const uint8_t *bytes, size_t len)
{
    struct columns columns = {.bytes = bytes, .count = len / sizeof(int64_t)};
    char *text = fuzz_text(bytes, len);
    columns.text = text;
    columns.numbers = calloc(columns.count + 1, sizeof *columns.numbers);
    columns.times = calloc(columns.count + 1, sizeof *columns.times);
    fuzz_require(columns.numbers != NULL && columns.times != NULL, "memory for columns");
    if (columns.count > 0) {
        memcpy(columns.numbers, bytes, columns.count * sizeof *columns.numbers);
        memcpy(columns.times, bytes, columns.count * sizeof *columns.times);
        check_columns(&columns);
    }
    free(columns.numbers);
    free(columns.times);
    free(text);
}

int fuzz_one_input(const uint8_t *bytes, size_t len)
{
    if (len == 0) {
        return 0;
    }
    switch (bytes[0] % 3) {
    case 0:
        unpack_any(bytes + 1, len - 1);
        break;
    case 1:
        unpack_compressed(bytes + 1, len - 1);
        break;
    default:
        pack_any(bytes + 1, len - 1);
        break;
    }
    return 0;
}

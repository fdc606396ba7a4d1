/* Packed columns. The first byte of an input chooses: the rest is what stands in the store (0), or
 * what stands in it when decompressed (1), read as the columns that the rest itself names; or
 * values that are packed and come back (2). */
#include "ingest/store/codec/column_codec.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define COLUMN_KINDS 5
#define COLUMNS_MAX 32

/* As the store reads: a count, then columns of that length, of kinds that the count decides. */
static void decode_any(const void *bytes, size_t len)
{
    struct err err = ERR_INIT;
    struct arena arena;
    struct column_decoder dec;
    /* What a frame says that it unpacks to is asked for at once. */
    unsigned long long size = ZSTD_getFrameContentSize(bytes, len);
    if (size > (1U << 20) && size < ZSTD_CONTENTSIZE_ERROR) {
        return;
    }
    arena_init(&arena, 0);
    if (column_decode_init(&dec, &arena, bytes, len, &err)) {
        for (unsigned i = 0; i < COLUMNS_MAX && !dec.failed && dec.at < dec.end; i++) {
            uint32_t count = column_decode_count(&dec);
            switch (count % COLUMN_KINDS) {
            case 0:
                (void)column_decode_bytes(&dec, count);
                break;
            case 1:
                (void)column_decode_u32(&dec, count, count, true);
                break;
            case 2:
                (void)column_decode_i64(&dec, count);
                break;
            case 3:
                (void)column_decode_texts(&dec, count);
                break;
            default:
                (void)column_decode_signed(&dec);
                break;
            }
        }
        fuzz_require(column_decode_finish(&dec, &err) || err.msg[0] != '\0',
                     "who refuses says why");
    }
    arena_free(&arena);
}

static void decode_compressed(const uint8_t *bytes, size_t len)
{
    size_t room = ZSTD_compressBound(len);
    void *packed = malloc(room);
    fuzz_require(packed != NULL, "memory to compress");
    size_t packed_len = ZSTD_compress(packed, room, bytes, len, 1);
    fuzz_require(!ZSTD_isError(packed_len), "every input can be compressed");
    decode_any(packed, packed_len);
    free(packed);
}

struct columns {
    const uint8_t *bytes;
    uint32_t *numbers;
    int64_t *times;
    const char *text;
    size_t count;
};

static void *encode_columns(const struct columns *columns, size_t *len)
{
    struct err err = ERR_INIT;
    struct column_encoder enc;
    void *packed = NULL;
    const char *const texts[] = {columns->text, NULL, ""};
    column_encode_init(&enc);
    column_encode_number(&enc, columns->count);
    column_encode_bytes(&enc, columns->bytes, columns->count);
    column_encode_u32(&enc, columns->numbers, columns->count);
    column_encode_i64(&enc, columns->times, columns->count);
    column_encode_texts(&enc, texts, 3);
    fuzz_require(column_encode_finish(&enc, &packed, len, &err), "columns can be packed");
    column_encode_free(&enc);
    return packed;
}

static void check_columns(const struct columns *columns)
{
    struct err err = ERR_INIT;
    struct arena arena;
    struct column_decoder dec;
    size_t len = 0;
    void *packed = encode_columns(columns, &len);
    arena_init(&arena, 0);
    fuzz_require(column_decode_init(&dec, &arena, packed, len, &err),
                 "what was packed is unpacked");
    size_t count = column_decode_count(&dec);
    fuzz_require(count == columns->count, "with its count");
    const uint8_t *bytes = column_decode_bytes(&dec, count);
    const uint32_t *numbers = column_decode_u32(&dec, count, UINT32_MAX, true);
    const int64_t *times = column_decode_i64(&dec, count);
    const char **texts = column_decode_texts(&dec, 3);
    fuzz_require(column_decode_finish(&dec, &err), "to its end");
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
static void encode_any(const uint8_t *bytes, size_t len)
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
        decode_any(bytes + 1, len - 1);
        break;
    case 1:
        decode_compressed(bytes + 1, len - 1);
        break;
    default:
        encode_any(bytes + 1, len - 1);
        break;
    }
    return 0;
}

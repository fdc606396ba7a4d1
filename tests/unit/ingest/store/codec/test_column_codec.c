/* Columns as bytes, and back; what is damaged is refused, wherever it is damaged. */
#include "ingest/store/codec/column_codec.h"
#include "tests/unit/unit.h"

#include <string.h>

#define COUNT 6

static const uint8_t bytes[COUNT] = {0, 255, 7, 7, 7, 1};
static const uint32_t numbers[COUNT] = {5, 0, UINT32_MAX, 3, 3, 4};
static const int64_t times[COUNT] = {INT64_MAX, INT64_MIN, 0, -1, 1700000000000000000, 1};
static const char *const texts[COUNT] = {"", NULL, "aten::add", "\xC3\xA4", "", "x"};

static void *encode_all(size_t *len)
{
    struct err err = ERR_INIT;
    struct column_encoder enc;
    void *packed = NULL;
    column_encode_init(&enc);
    column_encode_number(&enc, COUNT);
    column_encode_bytes(&enc, bytes, COUNT);
    column_encode_u32(&enc, numbers, COUNT);
    column_encode_i64(&enc, times, COUNT);
    column_encode_texts(&enc, texts, COUNT);
    column_encode_i64(&enc, &times[1], 1);
    assert_true(column_encode_finish(&enc, &packed, len, &err));
    column_encode_free(&enc);
    return packed;
}

/* What one reading gives; `bad` when it told of damage. */
struct got {
    bool bad;
    uint32_t count;
    uint8_t *bytes;
    uint32_t *numbers;
    int64_t *times;
    const char **texts;
    int64_t last;
};

static struct got decode_all(struct arena *arena, const void *packed, size_t len)
{
    struct err err = ERR_INIT;
    struct column_decoder dec;
    struct got got = {.bad = true};
    if (!column_decode_init(&dec, arena, packed, len, &err)) {
        assert_int_equal(err.code, ERR_STORE);
        return got;
    }
    got.count = column_decode_count(&dec);
    got.bytes = column_decode_bytes(&dec, got.count);
    got.numbers = column_decode_u32(&dec, got.count, 6, true);
    got.times = column_decode_i64(&dec, got.count);
    got.texts = column_decode_texts(&dec, got.count);
    got.last = column_decode_signed(&dec);
    got.bad = !column_decode_finish(&dec, &err);
    return got;
}

static void columns_come_back(void **state)
{
    size_t len = 0;
    void *packed = encode_all(&len);
    struct arena arena;
    arena_init(&arena, 0);
    struct got got = decode_all(&arena, packed, len);
    assert_false(got.bad);
    assert_int_equal(got.count, COUNT);
    assert_memory_equal(got.bytes, bytes, sizeof bytes);
    assert_memory_equal(got.numbers, numbers, sizeof numbers);
    assert_memory_equal(got.times, times, sizeof times);
    for (size_t i = 0; i < COUNT; i++) {
        if (texts[i] == NULL) {
            assert_null(got.texts[i]);
        } else {
            assert_string_equal(got.texts[i], texts[i]);
        }
    }
    assert_true(got.last == INT64_MIN);
    arena_free(&arena);
    free(packed);
}

/* ---- long columns ---- */

#define LONG_COUNT ((size_t)200000)

struct long_columns {
    uint8_t *bytes;
    uint32_t *words;
    int64_t *times;
};

/* Columns that do not compress. */
static void make_long(struct long_columns *columns)
{
    uint64_t state = 88172645463325252U;
    columns->bytes = malloc(LONG_COUNT);
    columns->words = malloc(LONG_COUNT * sizeof *columns->words);
    columns->times = malloc(LONG_COUNT * sizeof *columns->times);
    for (size_t i = 0; i < LONG_COUNT; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        columns->bytes[i] = (uint8_t)state;
        columns->words[i] = (uint32_t)(state >> 8);
        columns->times[i] = (int64_t)state;
    }
}

static void write_long(struct column_encoder *enc, const struct long_columns *columns)
{
    column_encode_number(enc, LONG_COUNT);
    column_encode_texts(enc, texts, COUNT);
    column_encode_bytes(enc, columns->bytes, LONG_COUNT);
    column_encode_u32(enc, columns->words, LONG_COUNT);
    column_encode_column(enc, columns->times, LONG_COUNT);
    column_encode_i64(enc, columns->times, LONG_COUNT);
}

static void check_long(const void *packed, size_t len, const struct long_columns *columns)
{
    struct err err = ERR_INIT;
    struct column_decoder dec;
    struct arena arena;
    unsigned stride = 0;
    arena_init(&arena, 0);
    assert_true(column_decode_init(&dec, &arena, packed, len, &err));
    assert_int_equal(column_decode_count(&dec), LONG_COUNT);
    assert_non_null(column_decode_texts(&dec, COUNT));
    assert_memory_equal(column_decode_bytes(&dec, LONG_COUNT), columns->bytes, LONG_COUNT);
    assert_memory_equal(column_decode_u32(&dec, LONG_COUNT, UINT32_MAX, true), columns->words,
                        LONG_COUNT * sizeof *columns->words);
    assert_memory_equal(column_decode_column(&dec, LONG_COUNT, &stride), columns->times,
                        LONG_COUNT * sizeof *columns->times);
    assert_memory_equal(column_decode_i64(&dec, LONG_COUNT), columns->times,
                        LONG_COUNT * sizeof *columns->times);
    assert_true(column_decode_is_at_end(&dec));
    assert_true(column_decode_finish(&dec, &err));
    arena_free(&arena);
}

static void long_columns_come_back(void **state)
{
    struct err err = ERR_INIT;
    struct long_columns columns;
    struct column_encoder enc;
    void *packed = NULL;
    size_t len = 0;
    make_long(&columns);
    column_encode_init(&enc);
    write_long(&enc, &columns);
    assert_true(column_encode_finish(&enc, &packed, &len, &err));
    column_encode_free(&enc);
    check_long(packed, len, &columns);
    free(packed);
    free(columns.bytes);
    free(columns.words);
    free(columns.times);
}

/* ---- lengths of numbers ---- */

/* Some tiles of them, not whole ones. */
#define MIXED_COUNT ((size_t)700)
#define WORD_BITS_MAX 64

struct mixed_columns {
    int64_t numbers[MIXED_COUNT];
    uint32_t words[MIXED_COUNT];
};

/* Numbers of up to so many bits; with `step`, most near the one before. */
static void make_mixed(struct mixed_columns *columns, unsigned bits, bool step)
{
    uint64_t state = 2463534242U + bits;
    uint64_t mask = bits == WORD_BITS_MAX ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    for (size_t i = 0; i < MIXED_COUNT; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        uint64_t value = (state & mask) >> (i % 11 == 0 ? 0 : state >> 58);
        value = i % 3 == 0 ? 0 - value : value;
        value += step && i > 0 ? (uint64_t)columns->numbers[i - 1] : 0;
        memcpy(&columns->numbers[i], &value, sizeof value);
        columns->words[i] = (uint32_t)value;
    }
}

static void write_mixed(struct column_encoder *enc, const struct mixed_columns *columns)
{
    column_encode_i64(enc, columns->numbers, MIXED_COUNT);
    column_encode_column(enc, columns->numbers, MIXED_COUNT);
    column_encode_u32(enc, columns->words, MIXED_COUNT);
}

static void check_mixed(const void *packed, size_t len, const struct mixed_columns *columns)
{
    struct err err = ERR_INIT;
    struct column_decoder dec;
    struct arena arena;
    unsigned stride = 1;
    arena_init(&arena, 0);
    assert_true(column_decode_init(&dec, &arena, packed, len, &err));
    assert_memory_equal(column_decode_i64(&dec, MIXED_COUNT), columns->numbers,
                        sizeof columns->numbers);
    const int64_t *column = column_decode_column(&dec, MIXED_COUNT, &stride);
    for (size_t i = 0; i < MIXED_COUNT; i++) {
        assert_true(column[i * stride] == columns->numbers[i]);
    }
    assert_memory_equal(column_decode_u32(&dec, MIXED_COUNT, UINT32_MAX, true), columns->words,
                        sizeof columns->words);
    assert_true(column_decode_finish(&dec, &err));
    arena_free(&arena);
}

static void numbers_of_every_length_come_back(void **state)
{
    struct err err = ERR_INIT;
    for (unsigned bits = 0; bits <= WORD_BITS_MAX; bits++) {
        for (unsigned step = 0; step < 2; step++) {
            struct mixed_columns columns;
            struct column_encoder enc;
            void *packed = NULL;
            size_t len = 0;
            make_mixed(&columns, bits, step != 0);
            column_encode_init(&enc);
            write_mixed(&enc, &columns);
            assert_true(column_encode_finish(&enc, &packed, &len, &err));
            column_encode_free(&enc);
            check_mixed(packed, len, &columns);
            free(packed);
        }
    }
}

/* What other versions have written is what this one writes. */
static void numbers_have_their_bytes(void **state)
{
    static const int64_t column[] = {0, 8192, -1, 1 << 27, 63, -8192, 64, 1 << 20, 8191};
    static const char written[] =
        "\x01" /* each as it is */
        "\x00\x80\x80\x01\x01\x80\x80\x80\x80\x01\x7E\xFF\x7F\x80\x01\x80\x80\x80\x01\xFE\x7F";
    struct column_encoder enc;
    column_encode_init(&enc);
    column_encode_column(&enc, column, COUNT_OF(column));
    assert_int_equal(enc.raw.len, sizeof written - 1);
    assert_memory_equal(enc.raw.ptr, written, sizeof written - 1);
    column_encode_clear(&enc);
    column_encode_column(&enc, &column[4], 1);
    assert_int_equal(enc.raw.len, 2);
    assert_memory_equal(enc.raw.ptr, "\x00\x7E", 2);
    column_encode_free(&enc);
}

/* Whatever is near: many numbers at once are written as each one by itself. */
static void numbers_have_the_bytes_of_each_one(void **state)
{
    static const unsigned bits[] = {6, 7, 8, 13, 14, 15, 20, 21, 22, 27, 28, 29, 63};
    for (size_t b = 0; b < COUNT_OF(bits); b++) {
        int64_t column[WORD_BITS_MAX * 3 + 1];
        struct column_encoder together;
        struct column_encoder apart;
        size_t count = 0;
        for (unsigned bit = 0; bit < bits[b]; bit++) {
            column[count++] = (int64_t)1 << bit >> 1;
            column[count++] = -((int64_t)1 << bit >> 1);
            column[count++] = ((int64_t)1 << bit >> 1) - 1;
        }
        column_encode_init(&together);
        column_encode_init(&apart);
        column_encode_i64(&together, column, count);
        for (size_t i = 0; i < count; i++) {
            uint64_t delta = (uint64_t)column[i] - (i == 0 ? 0 : (uint64_t)column[i - 1]);
            column_encode_number(&apart, delta << 1 ^ (delta >> 63 != 0 ? UINT64_MAX : 0));
        }
        assert_int_equal(together.raw.len, apart.raw.len);
        assert_memory_equal(together.raw.ptr, apart.raw.ptr, apart.raw.len);
        column_encode_free(&together);
        column_encode_free(&apart);
    }
}

static void nothing_packs_too(void **state)
{
    struct err err = ERR_INIT;
    struct column_encoder enc;
    struct column_decoder dec;
    struct arena arena;
    void *packed = NULL;
    size_t len = 0;
    arena_init(&arena, 0);
    column_encode_init(&enc);
    column_encode_u32(&enc, NULL, 0);
    assert_true(column_encode_finish(&enc, &packed, &len, &err));
    column_encode_free(&enc);
    assert_true(column_decode_init(&dec, &arena, packed, len, &err));
    assert_non_null(column_decode_u32(&dec, 0, 0, false));
    assert_true(column_decode_finish(&dec, &err));
    arena_free(&arena);
    free(packed);
}

/* Every byte changed, every length cut: told, or read as something, never a wrong place in memory
 * (the sanitizers look on). */
static void damage_is_told(void **state)
{
    size_t len = 0;
    size_t told = 0;
    unsigned char *packed = encode_all(&len);
    for (size_t at = 0; at < len; at++) {
        for (unsigned flip = 1; flip < 256; flip <<= 1) {
            struct arena arena;
            arena_init(&arena, 0);
            packed[at] ^= (unsigned char)flip;
            told += decode_all(&arena, packed, len).bad;
            packed[at] ^= (unsigned char)flip;
            arena_free(&arena);
        }
        struct arena arena;
        arena_init(&arena, 0);
        assert_true(decode_all(&arena, packed, at).bad);
        arena_free(&arena);
    }
    assert_true(told > 0);
    free(packed);
}

/* Raw bytes behind the compression: `raw` as a pack. */
static struct column_decoder
open_raw(struct arena *arena, const unsigned char *raw, size_t raw_len, void **packed)
{
    struct err err = ERR_INIT;
    struct column_encoder enc;
    struct column_decoder dec;
    size_t len = 0;
    column_encode_init(&enc);
    column_encode_bytes(&enc, raw, raw_len);
    assert_true(column_encode_finish(&enc, packed, &len, &err));
    column_encode_free(&enc);
    assert_true(column_decode_init(&dec, arena, *packed, len, &err));
    return dec;
}

enum what { READ_COUNT, READ_BYTES, READ_U32, READ_NONE_U32, READ_I64, READ_TEXTS };

static void refuses_what_does_not_fit(void **state)
{
    static const struct {
        enum what what;
        size_t count;
        const char *raw;
        size_t len;
        bool good;
    } rows[] = {
        {READ_COUNT, 0, "\xFF\xFF\xFF\xFF\x0F", 5, true},  /* 2^32 - 1 */
        {READ_COUNT, 0, "\x80\x80\x80\x80\x10", 5, false}, /* 2^32 */
        {READ_COUNT, 0, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 10, false},
        {READ_COUNT, 0, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 11, false},
        {READ_COUNT, 0, "\x80", 1, false},     /* ends within the number */
        {READ_COUNT, 0, "\x01\x02", 2, false}, /* something is left */
        {READ_BYTES, 3, "abc", 3, true},
        {READ_BYTES, 4, "abc", 3, false},
        {READ_BYTES, SIZE_MAX, "abc", 3, false},
        {READ_U32, 1, "\x0A", 1, true},                      /* 5 < 6 */
        {READ_U32, 1, "\x0C", 1, false},                     /* 6 */
        {READ_U32, 1, "\x01", 1, false},                     /* -1: none is not allowed */
        {READ_NONE_U32, 1, "\xFE\xFF\xFF\xFF\x1F", 5, true}, /* UINT32_MAX */
        {READ_NONE_U32, 1, "\x0C", 1, false},
        {READ_U32, SIZE_MAX / 4, "\x0A", 1, false},
        {READ_I64, 2, "\x0A", 1, false},
        {READ_TEXTS, 1,
         "\x04"
         "abc",
         4, true},
        {READ_TEXTS, 1,
         "\x05"
         "abc",
         4, false},
        {READ_TEXTS, 1, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 10, false},
        {READ_TEXTS, 2, "\x00", 1, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err = ERR_INIT;
        struct arena arena;
        void *packed = NULL;
        arena_init(&arena, 0);
        struct column_decoder dec =
            open_raw(&arena, (const unsigned char *)rows[i].raw, rows[i].len, &packed);
        switch (rows[i].what) {
        case READ_COUNT:
            (void)column_decode_count(&dec);
            break;
        case READ_BYTES:
            (void)column_decode_bytes(&dec, rows[i].count);
            break;
        case READ_U32:
        case READ_NONE_U32:
            (void)column_decode_u32(&dec, rows[i].count, 6, rows[i].what == READ_NONE_U32);
            break;
        case READ_I64:
            (void)column_decode_i64(&dec, rows[i].count);
            break;
        case READ_TEXTS:
            (void)column_decode_texts(&dec, rows[i].count);
            break;
        }
        bool good = column_decode_finish(&dec, &err);
        if (good != rows[i].good) {
            print_message("row %zu\n", i);
        }
        assert_true(good == rows[i].good);
        assert_true(good || err.code == ERR_STORE);
        arena_free(&arena);
        free(packed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_come_back),
        cmocka_unit_test(long_columns_come_back),
        cmocka_unit_test(numbers_of_every_length_come_back),
        cmocka_unit_test(numbers_have_their_bytes),
        cmocka_unit_test(numbers_have_the_bytes_of_each_one),
        cmocka_unit_test(nothing_packs_too),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(refuses_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

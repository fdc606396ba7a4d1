/* Columns packed in parts are those of one piece, and what reads the one reads the other. */
#include "ingest/store/codec/column_parts.h"
#include "tests/unit/unit.h"

#include <string.h>

#define COUNT ((uint32_t)300000)
#define SMALL_COUNT ((uint32_t)1000)

struct columns {
    int64_t *far;  /* neighbours far apart, beyond 63 bits */
    int64_t *same; /* the same for long */
    uint8_t *bytes;
};

static void make(struct columns *columns)
{
    uint64_t state = 1;
    columns->far = malloc(COUNT * sizeof *columns->far);
    columns->same = malloc(COUNT * sizeof *columns->same);
    columns->bytes = malloc(COUNT);
    assert_true(columns->far != NULL && columns->same != NULL && columns->bytes != NULL);
    for (uint32_t i = 0; i < COUNT; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        memcpy(&columns->far[i], &state, sizeof state);
        columns->same[i] = i / 50000 % 2 == 0 ? UINT32_MAX : (int64_t)i % 3;
        columns->bytes[i] = (uint8_t)(state >> 60);
    }
}

static void drop(struct columns *columns)
{
    free(columns->far);
    free(columns->same);
    free(columns->bytes);
}

static void put(struct column_parts *parts, const int64_t *column, uint32_t count)
{
    int64_t some[COLUMN_PART_VALUES];
    column_parts_begin_column(parts);
    for (uint32_t at = 0; at < count; at += COLUMN_PART_VALUES) {
        uint32_t part = count - at < COLUMN_PART_VALUES ? count - at : COLUMN_PART_VALUES;
        memcpy(some, column + at, part * sizeof *some);
        column_parts_values(parts, some, part);
    }
}

static void encode_all(const struct columns *columns, uint32_t count, void **bytes, size_t *len)
{
    struct err err = ERR_INIT;
    struct column_parts parts;
    column_parts_init(&parts);
    column_encode_number(&parts.enc, count);
    put(&parts, columns->far, count);
    put(&parts, columns->same, count);
    column_parts_bytes(&parts, columns->bytes, count);
    put(&parts, columns->far, 0);
    assert_true(column_parts_finish(&parts, bytes, len, &err));
    column_parts_free(&parts);
}

static void check(const struct columns *columns, uint32_t count, const void *bytes, size_t len)
{
    struct err err = ERR_INIT;
    struct column_decoder dec;
    struct arena arena;
    arena_init(&arena, 0);
    assert_true(column_decode_init(&dec, &arena, bytes, len, &err));
    assert_int_equal(column_decode_count(&dec), count);
    assert_memory_equal(column_decode_i64(&dec, count), columns->far, count * sizeof *columns->far);
    assert_memory_equal(column_decode_i64(&dec, count), columns->same,
                        count * sizeof *columns->same);
    assert_memory_equal(column_decode_bytes(&dec, count), columns->bytes, count);
    assert_true(column_decode_finish(&dec, &err));
    arena_free(&arena);
}

static void long_columns_come_back(void **state)
{
    struct columns columns;
    void *bytes = NULL;
    size_t len = 0;
    make(&columns);
    encode_all(&columns, COUNT, &bytes, &len);
    check(&columns, COUNT, bytes, len);
    free(bytes);
    drop(&columns);
}

static void short_ones_are_what_one_piece_is(void **state)
{
    struct err err = ERR_INIT;
    struct columns columns;
    struct column_encoder enc;
    void *parts = NULL;
    void *whole = NULL;
    size_t parts_len = 0;
    size_t whole_len = 0;
    make(&columns);
    encode_all(&columns, SMALL_COUNT, &parts, &parts_len);
    column_encode_init(&enc);
    column_encode_number(&enc, SMALL_COUNT);
    column_encode_i64(&enc, columns.far, SMALL_COUNT);
    column_encode_i64(&enc, columns.same, SMALL_COUNT);
    column_encode_bytes(&enc, columns.bytes, SMALL_COUNT);
    assert_true(column_encode_finish(&enc, &whole, &whole_len, &err));
    column_encode_free(&enc);
    assert_int_equal(parts_len, whole_len);
    assert_memory_equal(parts, whole, whole_len);
    check(&columns, SMALL_COUNT, parts, parts_len);
    free(parts);
    free(whole);
    drop(&columns);
}

static void nothing_is_no_bytes(void **state)
{
    struct err err = ERR_INIT;
    struct column_parts parts;
    struct column_decoder dec;
    struct arena arena;
    void *bytes = NULL;
    size_t len = 0;
    column_parts_init(&parts);
    assert_true(column_parts_finish(&parts, &bytes, &len, &err));
    column_parts_free(&parts);
    arena_init(&arena, 0);
    assert_true(column_decode_init(&dec, &arena, bytes, len, &err));
    assert_true(column_decode_is_at_end(&dec));
    assert_true(column_decode_finish(&dec, &err));
    arena_free(&arena);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_columns_come_back),
        cmocka_unit_test(short_ones_are_what_one_piece_is),
        cmocka_unit_test(nothing_is_no_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "ingest/base/memory/arena.h"
#include "tests/unit/unit.h"

#include <stdbool.h>
#include <string.h>

static bool is_aligned(const void *ptr)
{
    return (uintptr_t)ptr % _Alignof(max_align_t) == 0;
}

/* Sizes around the limits of blocks; each piece is filled with its number and read again at the
 * end. */
static void pieces_are_aligned_and_do_not_overlap(void **state)
{
    static const size_t sizes[] = {
        0, 1, 7, 8, 15, 16, 17, 100, 4096, 16384 - 64, 16384, 16385, 70000, (size_t)2 << 20, 33};
    enum { ROUNDS = 20, PIECES = ROUNDS * COUNT_OF(sizes) };
    unsigned char *pieces[PIECES];
    struct arena arena;
    arena_init(&arena, 0);
    size_t wanted_bytes = 0;
    for (size_t i = 0; i < PIECES; i++) {
        size_t size = sizes[i % COUNT_OF(sizes)];
        pieces[i] = arena_alloc(&arena, size);
        assert_non_null(pieces[i]);
        assert_true(is_aligned(pieces[i]));
        memset(pieces[i], (int)(i % 251), size);
        wanted_bytes += size;
    }
    for (size_t i = 0; i < PIECES; i++) {
        for (size_t j = 0; j < sizes[i % COUNT_OF(sizes)]; j++) {
            if (pieces[i][j] != i % 251) {
                fail_msg("piece %zu byte %zu was overwritten", i, j);
            }
        }
    }
    assert_true(arena.used_bytes >= wanted_bytes);
    assert_true(arena.held_bytes >= arena.used_bytes);
    arena_free(&arena);
}

static void nothing_is_held_before_use_and_after_free(void **state)
{
    struct arena arena;
    arena_init(&arena, 1000000);
    assert_int_equal(arena.held_bytes, 0);
    arena_free(&arena);
    for (int round = 0; round < 3; round++) {
        assert_non_null(arena_alloc(&arena, 50000));
        assert_true(arena.held_bytes >= 50000);
        arena_free(&arena);
        assert_int_equal(arena.held_bytes, 0);
        assert_int_equal(arena.used_bytes, 0);
        assert_int_equal(arena.max_bytes, 1000000);
    }
}

static void the_ceiling_holds_and_is_nearly_reached(void **state)
{
    static const size_t ceilings[] = {1, 1000, 20000, 100000, 5000000};
    static const size_t sizes[] = {16, 1000, 40000};
    for (size_t c = 0; c < COUNT_OF(ceilings); c++) {
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            struct arena arena;
            arena_init(&arena, ceilings[c]);
            size_t got = 0;
            while (arena_alloc(&arena, sizes[s]) != NULL) {
                got += sizes[s];
                assert_true(arena.held_bytes <= ceilings[c]);
            }
            bool small_beside_ceiling = sizes[s] * 10 < ceilings[c];
            assert_true(!small_beside_ceiling || got > ceilings[c] / 2);
            assert_null(arena_alloc(&arena, ceilings[c]));
            arena_free(&arena);
        }
    }
}

static void calloc_clears_and_refuses_overflow(void **state)
{
    struct arena arena;
    arena_init(&arena, 0);
    for (int round = 0; round < 2; round++) {
        unsigned char *dirty = arena_alloc(&arena, 3000);
        assert_non_null(dirty);
        memset(dirty, 0xAA, 3000);
        unsigned char *clean = arena_calloc(&arena, 30, 100);
        assert_non_null(clean);
        for (size_t i = 0; i < 3000; i++) {
            assert_int_equal(clean[i], 0);
        }
        arena_free(&arena);
    }
    assert_null(arena_calloc(&arena, SIZE_MAX / 2, 3));
    assert_null(arena_calloc(&arena, SIZE_MAX, SIZE_MAX));
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_alloc(&arena, SIZE_MAX - 7));
    assert_non_null(arena_calloc(&arena, 0, 100));
    assert_non_null(arena_calloc(&arena, 100, 0));
    arena_free(&arena);
}

static void strndup_copies_and_terminates(void **state)
{
    struct arena arena;
    arena_init(&arena, 0);
    const char source[] = "aten::add\0_";
    char *copy = arena_strndup(&arena, source, 4);
    assert_string_equal(copy, "aten");
    char *with_nul = arena_strndup(&arena, source, sizeof source - 1);
    assert_memory_equal(with_nul, source, sizeof source);
    assert_string_equal(arena_strndup(&arena, NULL, 0), "");
    assert_null(arena_strndup(&arena, source, SIZE_MAX));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_do_not_overlap),
        cmocka_unit_test(nothing_is_held_before_use_and_after_free),
        cmocka_unit_test(the_ceiling_holds_and_is_nearly_reached),
        cmocka_unit_test(calloc_clears_and_refuses_overflow),
        cmocka_unit_test(strndup_copies_and_terminates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

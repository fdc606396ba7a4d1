#include "ingest/base/memory/pages_pool.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)

#define RANGE_BYTES ((size_t)256 << 20)
#define PAGE_BYTES ((size_t)4096)

/* An array and the number that stands in all of its words. */
struct piece {
    uint32_t *words;
    size_t size_bytes;
    uint32_t number;
};

struct player {
    struct pages_pool *pool;
    uint32_t random;
    int faults;
};

static uint32_t next_random(struct player *player)
{
    player->random = player->random * 1664525U + 1013904223U;
    return player->random >> 8;
}

/* One word a page, and the last one. */
static void write_number(const struct piece *piece)
{
    for (size_t at = 0; at < piece->size_bytes; at += PAGE_BYTES) {
        piece->words[at / sizeof *piece->words] = piece->number;
    }
    piece->words[piece->size_bytes / sizeof *piece->words - 1] = piece->number;
}

static bool has_number(const struct piece *piece, size_t size_bytes)
{
    for (size_t at = 0; at < size_bytes; at += PAGE_BYTES) {
        if (piece->words[at / sizeof *piece->words] != piece->number) {
            return false;
        }
    }
    return size_bytes != piece->size_bytes ||
           piece->words[size_bytes / sizeof *piece->words - 1] == piece->number;
}

static bool is_all_zero(const struct piece *piece)
{
    for (size_t at = 0; at < piece->size_bytes; at += PAGE_BYTES) {
        if (piece->words[at / sizeof *piece->words] != 0) {
            return false;
        }
    }
    return true;
}

static size_t random_size(struct player *player)
{
    size_t most = next_random(player) % 8 == 0 ? (size_t)6 << 20 : (size_t)300 << 10;
    return (1 + next_random(player) % (most / PAGE_BYTES)) * PAGE_BYTES;
}

static void allocate(struct player *player, struct piece *piece)
{
    bool is_zero = false;
    piece->size_bytes = random_size(player);
    piece->words = pages_pool_alloc(player->pool, piece->size_bytes, &is_zero);
    if (piece->words == NULL) {
        player->faults++;
        return;
    }
    player->faults += is_zero && !is_all_zero(piece);
    piece->number = next_random(player) + 1;
    write_number(piece);
}

static void resize(struct player *player, struct piece *piece)
{
    size_t size_bytes = random_size(player);
    size_t kept_bytes = size_bytes < piece->size_bytes ? size_bytes : piece->size_bytes;
    if (!pages_pool_resize(player->pool, piece->words, size_bytes)) {
        player->faults += size_bytes <= piece->size_bytes;
        return;
    }
    player->faults += !has_number(piece, kept_bytes);
    piece->size_bytes = size_bytes;
    write_number(piece);
}

static void release(struct player *player, struct piece *piece)
{
    player->faults += !has_number(piece, piece->size_bytes);
    player->faults += pages_pool_size(player->pool, piece->words) != piece->size_bytes;
    pages_pool_free(player->pool, piece->words);
    piece->words = NULL;
}

/* Arrays come, change and go by chance; none may ever see another one's words. */
static void *play(void *argument)
{
    struct player *player = argument;
    struct piece pieces[24] = {{.words = NULL}};
    for (int round = 0; round < 4000; round++) {
        struct piece *piece = &pieces[next_random(player) % COUNT_OF(pieces)];
        if (piece->words == NULL) {
            allocate(player, piece);
        } else if (next_random(player) % 3 == 0) {
            resize(player, piece);
        } else {
            release(player, piece);
        }
        if (next_random(player) % 400 == 0) {
            pages_pool_keep(player->pool, next_random(player) % 2 == 0);
        }
    }
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        if (pieces[i].words != NULL) {
            release(player, &pieces[i]);
        }
    }
    return NULL;
}

static void assert_whole(struct pages_pool *pool)
{
    bool is_zero = false;
    void *all = pages_pool_alloc(pool, RANGE_BYTES, &is_zero);
    assert_non_null(all);
    assert_null(pages_pool_alloc(pool, 1, &is_zero));
    pages_pool_free(pool, all);
    pages_pool_keep(pool, false);
    assert_int_equal(pages_pool_use(pool).used_bytes, 0);
    assert_int_equal(pages_pool_use(pool).kept_bytes, 0);
}

static void arrays_never_overlap(void **state)
{
    (void)state;
    struct player player = {.pool = pages_pool_create(RANGE_BYTES), .random = 7};
    assert_non_null(player.pool);
    pages_pool_keep(player.pool, true);
    (void)play(&player);
    assert_int_equal(player.faults, 0);
    assert_whole(player.pool);
    pages_pool_destroy(player.pool);
}

static void threads_share_a_pool(void **state)
{
    (void)state;
    struct pages_pool *pool = pages_pool_create(RANGE_BYTES);
    assert_non_null(pool);
    pages_pool_keep(pool, true);
    pthread_t threads[4];
    struct player players[COUNT_OF(threads)];
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        players[i] = (struct player){.pool = pool, .random = (uint32_t)i};
        assert_int_equal(pthread_create(&threads[i], NULL, play, &players[i]), 0);
    }
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(players[i].faults, 0);
    }
    assert_whole(pool);
    pages_pool_destroy(pool);
}

static void *alloc(struct pages_pool *pool, size_t size_bytes)
{
    bool is_zero = false;
    void *array = pages_pool_alloc(pool, size_bytes, &is_zero);
    assert_non_null(array);
    return array;
}

/* What lives and what is kept are together never more than what lived at the fullest, and one large
 * page. */
static void fresh_pages_cost_kept_ones(void **state)
{
    (void)state;
    const size_t mb = (size_t)1 << 20;
    struct pages_pool *pool = pages_pool_create(RANGE_BYTES);
    assert_non_null(pool);
    pages_pool_keep(pool, true);
    void *first = alloc(pool, 6 * mb);
    void *wall = alloc(pool, 12 * mb);
    void *third = alloc(pool, 6 * mb);
    pages_pool_free(pool, first);
    assert_int_equal(pages_pool_use(pool).kept_bytes, 6 * mb);

    void *same = alloc(pool, 3 * mb);
    assert_ptr_equal(same, first);
    assert_int_equal(pages_pool_use(pool).kept_bytes, 3 * mb);

    void *too_large = alloc(pool, 4 * mb);
    assert_true(pages_pool_use(pool).used_bytes == 25 * mb);
    assert_true(pages_pool_use(pool).kept_bytes <= 2 * mb);
    pages_pool_free(pool, same);
    pages_pool_free(pool, wall);
    pages_pool_free(pool, third);
    pages_pool_free(pool, too_large);
    assert_true(pages_pool_use(pool).kept_bytes <= 25 * mb / 4);
    assert_true(pages_pool_use(pool).kept_bytes >= 6 * mb);
    assert_whole(pool);
    pages_pool_destroy(pool);
}

/* A hole of new pages is passed over where half of the array can have memory. */
static void arrays_stand_where_least_is_new(void **state)
{
    (void)state;
    const size_t mb = (size_t)1 << 20;
    struct pages_pool *pool = pages_pool_create(RANGE_BYTES);
    assert_non_null(pool);
    void *first = alloc(pool, 4 * mb);
    void *wall = alloc(pool, 2 * mb);
    void *third = alloc(pool, 2 * mb);
    pages_pool_free(pool, first);
    pages_pool_keep(pool, true);
    pages_pool_free(pool, third);
    assert_int_equal(pages_pool_use(pool).kept_bytes, 2 * mb);

    assert_ptr_equal(alloc(pool, 4 * mb), third);
    assert_ptr_equal(alloc(pool, 4 * mb), first);
    pages_pool_free(pool, wall);
    pages_pool_destroy(pool);
}

static void nothing_is_kept_unless_wanted(void **state)
{
    (void)state;
    struct pages_pool *pool = pages_pool_create(RANGE_BYTES);
    assert_non_null(pool);
    struct piece piece = {.size_bytes = (size_t)5 << 20, .number = 9};
    piece.words = alloc(pool, piece.size_bytes);
    write_number(&piece);
    pages_pool_free(pool, piece.words);
    assert_true(pages_pool_use(pool).kept_bytes == 0);
    bool is_zero = false;
    piece.words = pages_pool_alloc(pool, piece.size_bytes, &is_zero);
    assert_true(is_zero && is_all_zero(&piece));
    pages_pool_destroy(pool);
}

static void arrays_are_told_apart(void **state)
{
    (void)state;
    struct pages_pool *pool = pages_pool_create(RANGE_BYTES);
    struct pages_pool *other = pages_pool_create(RANGE_BYTES);
    assert_non_null(pool);
    assert_non_null(other);
    char *array = alloc(pool, 10);
    char *small = malloc(10);
    assert_true(pages_pool_owns(pool, array));
    assert_true(pages_pool_owns(pool, array + RANGE_BYTES - 1));
    assert_false(pages_pool_owns(pool, array + RANGE_BYTES));
    assert_false(pages_pool_owns(other, array));
    assert_false(pages_pool_owns(pool, small));
    assert_false(pages_pool_owns(pool, NULL));
    free(small);
    pages_pool_destroy(pool);
    pages_pool_destroy(other);
    pages_pool_destroy(NULL);
}

static void ranges_that_cannot_be_are_refused(void **state)
{
    (void)state;
    struct pages_pool *pool = pages_pool_create(RANGE_BYTES);
    assert_non_null(pool);
    bool is_zero = false;
    assert_null(pages_pool_alloc(pool, RANGE_BYTES + 1, &is_zero));
    assert_null(pages_pool_alloc(pool, SIZE_MAX, &is_zero));
    void *array = alloc(pool, 1);
    assert_false(pages_pool_resize(pool, array, SIZE_MAX));
    assert_true(pages_pool_resize(pool, array, RANGE_BYTES));
    pages_pool_free(pool, array);
    pages_pool_destroy(pool);
    assert_null(pages_pool_create(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_never_overlap),
        cmocka_unit_test(threads_share_a_pool),
        cmocka_unit_test(fresh_pages_cost_kept_ones),
        cmocka_unit_test(arrays_stand_where_least_is_new),
        cmocka_unit_test(nothing_is_kept_unless_wanted),
        cmocka_unit_test(arrays_are_told_apart),
        cmocka_unit_test(ranges_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests_name("pages_pool", tests, NULL, NULL);
}

#else

int main(void)
{
    return 0;
}

#endif

/* Where the lives of blocks lie, and what of them a window shows. */
#include "ingest/analysis/memory_snapshot/memory_snapshot.h"
#include "tests/unit/unit.h"

static struct snapshot_event event(enum snapshot_action action, int64_t addr, int64_t size)
{
    return (struct snapshot_event){.action = (uint8_t)action,
                                   .addr = addr,
                                   .size = size,
                                   .time_us = SNAPSHOT_NONE,
                                   .device_free = SNAPSHOT_NONE,
                                   .frame = SNAPSHOT_NO_FRAMES};
}

/* Two neighbours and a block far away, which none lies beside. */
static struct snapshot_event events[] = {
    {.action = SNAPSHOT_ALLOC, .addr = 0x1000, .size = 100, .frame = SNAPSHOT_NO_FRAMES},
    {.action = SNAPSHOT_ALLOC, .addr = 0x1064, .size = 50, .frame = SNAPSHOT_NO_FRAMES},
    {.action = SNAPSHOT_ALLOC, .addr = 0x900000, .size = 10, .frame = SNAPSHOT_NO_FRAMES},
    {.action = SNAPSHOT_FREE_REQUESTED, .addr = 0x1064, .size = 50, .frame = SNAPSHOT_NO_FRAMES},
    {.action = SNAPSHOT_FREE_REQUESTED, .addr = 0x900000, .size = 10, .frame = SNAPSHOT_NO_FRAMES},
    {.action = SNAPSHOT_FREE_REQUESTED, .addr = 0x1000, .size = 100, .frame = SNAPSHOT_NO_FRAMES},
};

static struct snapshot_lives
lives_of(struct snapshot_device *device, struct snapshot_window window, struct arena *arena)
{
    const struct memory_snapshot snapshot = {.devices = device, .device_count = 1};
    struct snapshot_lives lives;
    arena_init(arena, 0);
    assert_true(snapshot_lives_of(&snapshot, device, &window, arena, &lives));
    return lives;
}

static struct snapshot_window all(size_t limit)
{
    return (struct snapshot_window){
        .end_event = SNAPSHOT_NONE, .high_bytes = SNAPSHOT_NONE, .limit = limit};
}

static void lives_lie_by_address_without_what_lies_between(void **state)
{
    struct snapshot_device device = {.events = events, .event_count = COUNT_OF(events)};
    struct arena arena;
    struct snapshot_lives lives = lives_of(&device, all(10), &arena);
    static const struct snapshot_life_row rows[] = {
        {.first = 0, .end = 5, .bytes = 100, .low = 0},
        {.first = 1, .end = 3, .bytes = 50, .low = 100},
        {.first = 2, .end = 4, .bytes = 10, .low = 150},
    };
    assert_int_equal(lives.total, 3);
    assert_int_equal(lives.in_window, 3);
    assert_int_equal(lives.count, 3);
    assert_int_equal(lives.top_bytes, 160);
    assert_int_equal(lives.events, COUNT_OF(events));
    assert_null(lives.shades);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(lives.rows[i].first, rows[i].first);
        assert_int_equal(lives.rows[i].end, rows[i].end);
        assert_int_equal(lives.rows[i].bytes, rows[i].bytes);
        assert_int_equal(lives.rows[i].low, rows[i].low);
    }
    arena_free(&arena);
}

static void the_limit_keeps_the_largest_and_shades_the_rest(void **state)
{
    struct snapshot_device device = {.events = events, .event_count = COUNT_OF(events)};
    struct arena arena;
    struct snapshot_lives lives = lives_of(&device, all(1), &arena);
    double covered = 0;
    assert_int_equal(lives.count, 1);
    assert_int_equal(lives.rows[0].bytes, 100);
    assert_int_equal(lives.in_window, 3);
    assert_int_equal(lives.left_out_bytes, 60); /* of the two others, at the peak */
    assert_non_null(lives.shades);
    for (size_t i = 0; i < (size_t)SNAPSHOT_SHADE_COLUMNS * SNAPSHOT_SHADE_ROWS; i++) {
        assert_true(lives.shades[i] <= 100);
        covered += lives.shades[i] / 100.0;
    }
    covered /= (double)SNAPSHOT_SHADE_COLUMNS * SNAPSHOT_SHADE_ROWS;
    /* 50 bytes for 2 of 6 events, and 10 bytes for 2. */
    assert_true(covered > 0.9 * 60 / 160 * 2 / 6 && covered < 1.1 * 60 / 160 * 2 / 6);
    arena_free(&arena);
}

static void a_window_shows_what_reaches_into_it(void **state)
{
    static const struct {
        struct snapshot_window window;
        size_t count;
    } rows[] = {
        {{0, 1, 0, 160, 10}, 1},   /* before the others began */
        {{0, 6, 100, 160, 10}, 2}, /* above the first */
        {{4, 6, 120, 130, 10}, 0}, /* the second has ended */
        {{9, 2, 500, 100, 10}, 0}, /* inside out and outside */
        {{0, INT64_MAX, 0, INT64_MAX, 10}, 3},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct snapshot_device device = {.events = events, .event_count = COUNT_OF(events)};
        struct arena arena;
        struct snapshot_lives lives = lives_of(&device, rows[i].window, &arena);
        if (lives.count != rows[i].count) {
            fail_msg("window %zu: %zu", i, lives.count);
        }
        assert_true(lives.window.end_event > lives.window.first_event);
        assert_true(lives.window.high_bytes > lives.window.low_bytes);
        arena_free(&arena);
    }
}

/* Sizes and addresses of a hostile file. */
static void extreme_numbers_are_borne(void **state)
{
    struct snapshot_event hostile[] = {
        event(SNAPSHOT_ALLOC, INT64_MAX, INT64_MAX), event(SNAPSHOT_ALLOC, INT64_MIN, -5),
        event(SNAPSHOT_ALLOC, 0, INT64_MAX), event(SNAPSHOT_FREE_REQUESTED, 0, INT64_MIN + 1)};
    struct snapshot_device device = {.events = hostile, .event_count = COUNT_OF(hostile)};
    struct snapshot_device nothing = {.id = 0};
    struct arena arena;
    struct snapshot_lives lives = lives_of(&device, all(2), &arena);
    assert_int_equal(lives.total, 3);
    arena_free(&arena);
    lives = lives_of(&nothing, all(2), &arena);
    assert_int_equal(lives.total, 0);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lives_lie_by_address_without_what_lies_between),
        cmocka_unit_test(the_limit_keeps_the_largest_and_shades_the_rest),
        cmocka_unit_test(a_window_shows_what_reaches_into_it),
        cmocka_unit_test(extreme_numbers_are_borne),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

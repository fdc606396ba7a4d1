/* Sorts by key, and the map of ids, on input that each of their ways is for. */
#include "ingest/base/containers/id_map.h"
#include "ingest/index/sort.h"
#include "tests/unit/unit.h"

#define COUNT 5000

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void assert_pairs_sorted(const int64_t *keys)
{
    int64_t sorted[COUNT];
    uint32_t items[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        sorted[i] = keys[i];
        items[i] = i;
    }
    assert_true(sort_pairs(sorted, items, COUNT));
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(sorted[i], keys[items[i]]);
        assert_true(i == 0 || sorted[i - 1] < sorted[i] ||
                    (sorted[i - 1] == sorted[i] && items[i - 1] < items[i]));
    }
}

static void assert_sorted(const int64_t *keys)
{
    uint32_t items[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        items[i] = i;
    }
    assert_true(sort_by_key(items, COUNT, keys));
    assert_pairs_sorted(keys);
    for (uint32_t i = 1; i < COUNT; i++) {
        int64_t before = keys[items[i - 1]];
        int64_t here = keys[items[i]];
        assert_true(before < here || (before == here && items[i - 1] < items[i]));
    }
}

static void keys_sort_stably(void **state)
{
    int64_t keys[COUNT];
    uint64_t random = 7;
    for (uint32_t i = 0; i < COUNT; i++) {
        keys[i] = (int64_t)i * 100 + (int64_t)(next_random(&random) % 5000); /* nearly in order */
    }
    assert_sorted(keys);
    keys[17] = -INT64_C(4000000000000); /* one far away: all others in one bucket */
    assert_sorted(keys);
    keys[18] = INT64_MAX;
    keys[19] = INT64_MIN; /* no room beside the key */
    assert_sorted(keys);
    for (uint32_t i = 0; i < COUNT; i++) {
        keys[i] = (int64_t)(next_random(&random) % 3); /* few different ones */
    }
    assert_sorted(keys);
    for (uint32_t i = 0; i < COUNT; i++) {
        keys[i] = (int64_t)next_random(&random);
    }
    assert_sorted(keys);
}

/* Numbers keys in the order of their arrival, and knows those that never came. */
static void assert_map_keeps(int64_t first, int64_t step)
{
    struct id_map map;
    id_map_init(&map);
    assert_null(id_map_find(&map, first));
    for (uint32_t i = 0; i < COUNT; i++) {
        int64_t key = (int64_t)((uint64_t)first + (uint64_t)step * i);
        const struct id_slot *slot = id_map_add(&map, key);
        assert_non_null(slot);
        assert_int_equal(slot->index, i);
        assert_int_equal(slot->value, ID_MAP_NONE);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        int64_t key = (int64_t)((uint64_t)first + (uint64_t)step * i);
        struct id_slot *slot = id_map_add(&map, key);
        assert_non_null(slot);
        assert_int_equal(slot->index, i);
        assert_ptr_equal(id_map_find(&map, key), slot);
        assert_null(id_map_find(&map, (int64_t)((uint64_t)key + 1 + (uint64_t)step * COUNT)));
    }
    assert_int_equal(map.count, COUNT);
    id_map_free(&map);
}

static void ids_are_numbered(void **state)
{
    assert_map_keeps(1, 1);
    assert_map_keeps(-2500, 1);
    assert_map_keeps(INT64_MIN, 1);
    assert_map_keeps(3, 4);
    assert_map_keeps(0, 1024);
    assert_map_keeps(0, INT64_C(1) << 40); /* all at one place */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_sort_stably),
        cmocka_unit_test(ids_are_numbered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

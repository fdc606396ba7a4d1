/* What test_analysis_kernels does not ask of it: values that work against its pivots. */
#include "ingest/base/containers/introsort.h"
#include "tests/unit/unit.h"

#include <stdbool.h>

#define COUNT 20000
#define NOT_YET COUNT /* above every value that is settled */
#define SMALL_SPAN 16

/* Values that are settled while a sort looks at them, each comparison in the way that tells it the
 * least (McIlroy, A killer adversary for quicksort). */
struct adversary {
    int64_t values[COUNT];
    int64_t settled;
    uint32_t candidate;
};

static bool is_less(struct adversary *a, uint32_t x, uint32_t y)
{
    if (a->values[x] == NOT_YET && a->values[y] == NOT_YET) {
        a->values[x == a->candidate ? x : y] = a->settled++;
    }
    if (a->values[x] == NOT_YET) {
        a->candidate = x;
    } else if (a->values[y] == NOT_YET) {
        a->candidate = y;
    }
    return a->values[x] < a->values[y];
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t kept = *a;
    *a = *b;
    *b = kept;
}

static void order_two(struct adversary *a, uint32_t *items, size_t x, size_t y)
{
    if (is_less(a, items[x], items[y])) {
        swap(&items[x], &items[y]);
    }
}

/* Quicksort with the same pivots; the smaller part, which is left unsorted, stays unsettled. */
static void play(struct adversary *a, uint32_t *items)
{
    size_t first = 0;
    size_t last = COUNT - 1;
    while (last - first > SMALL_SPAN) {
        size_t middle = first + (last - first) / 2;
        order_two(a, items, middle, first);
        order_two(a, items, last, middle);
        order_two(a, items, middle, first);
        uint32_t pivot = items[middle];
        size_t low = first;
        size_t high = last - 1;
        swap(&items[middle], &items[high]);
        for (;;) {
            do {
                low++;
            } while (is_less(a, items[low], pivot));
            do {
                high--;
            } while (is_less(a, pivot, items[high]));
            if (low >= high) {
                break;
            }
            swap(&items[low], &items[high]);
        }
        swap(&items[low], &items[last - 1]);
        if (low - first < last - low) {
            first = low + 1;
        } else {
            last = low - 1;
        }
    }
}

static void values_against_its_pivots_are_sorted(void **state)
{
    static struct adversary adversary;
    static uint32_t items[COUNT];
    static bool seen[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        adversary.values[i] = NOT_YET;
        items[i] = i;
    }
    play(&adversary, items);
    assert_true(adversary.settled > COUNT / 2);
    for (uint32_t i = 0; i < COUNT; i++) {
        items[i] = i;
    }
    introsort_positions(items, COUNT, adversary.values);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_false(seen[items[i]]);
        seen[items[i]] = true;
        assert_true(i == 0 || adversary.values[items[i - 1]] <= adversary.values[items[i]]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_against_its_pivots_are_sorted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

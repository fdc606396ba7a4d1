/* Sampling of curves [TB-13d]. */
#include "ingest/analysis/util/lttb.h"
#include "tests/unit/unit.h"

#include <math.h>

#define POINTS 1003

static void keeps_all_of_a_short_curve(void **state)
{
    const double x[] = {0, 1, 2, 3};
    const double y[] = {5, 4, 9, 1};
    size_t chosen[8];
    assert_int_equal(lttb_choose(x, y, 4, 4, chosen), 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(chosen[i], i);
    }
    assert_int_equal(lttb_choose(x, y, 0, 4, chosen), 0);
    assert_int_equal(lttb_choose(x, y, 1, 4, chosen), 1);
}

/* One inner point: that of the largest triangle between the first and the last. */
static void takes_the_largest_triangle(void **state)
{
    const double x[] = {0, 1, 2, 3, 4};
    const double y[] = {0, 1, -7, 6, 0};
    size_t chosen[3];
    assert_int_equal(lttb_choose(x, y, 5, 3, chosen), 3);
    assert_int_equal(chosen[0], 0);
    assert_int_equal(chosen[1], 2);
    assert_int_equal(chosen[2], 4);
}

static void takes_the_first_of_equal_triangles(void **state)
{
    const double x[] = {0, 1, 2, 3, 4};
    const double y[] = {0, 5, 5, 5, 0};
    const double flat[] = {2, 2, 2, 2, 2};
    size_t chosen[3];
    assert_int_equal(lttb_choose(x, y, 5, 3, chosen), 3);
    assert_int_equal(chosen[1], 1);
    assert_int_equal(lttb_choose(x, flat, 5, 3, chosen), 3);
    assert_int_equal(chosen[1], 1);
}

/* Five inner points in three bins are 2, 2 and 1: a spike counts in its own bin only. */
static void larger_bins_come_first(void **state)
{
    const double x[] = {0, 1, 2, 3, 4, 5, 6};
    const double y[] = {0, 0, 9, 0, 9, 0, 0};
    size_t chosen[5];
    assert_int_equal(lttb_choose(x, y, 7, 5, chosen), 5);
    const size_t expected[] = {0, 2, 4, 5, 6};
    for (size_t i = 0; i < 5; i++) {
        if (i != 2) {
            assert_int_equal(chosen[i], expected[i]);
        }
    }
    assert_in_range(chosen[2], 3, 4);
}

/* The same by the definition: bins of floor or ceiling size, the mean of the next one, the first
 * maximum. */
static size_t
by_definition(const double *x, const double *y, size_t count, size_t wanted, size_t *out)
{
    size_t bins = wanted - 2;
    size_t size = (count - 2) / bins;
    size_t larger = (count - 2) % bins;
    size_t at = 1;
    out[0] = 0;
    for (size_t b = 0; b < bins; b++) {
        size_t end = at + size + (b < larger);
        size_t next_end = b + 1 == bins ? count : end + size + (b + 1 < larger);
        double mean_x = 0;
        double mean_y = 0;
        for (size_t i = end; i < next_end; i++) {
            mean_x += x[i] / (double)(next_end - end);
            mean_y += y[i] / (double)(next_end - end);
        }
        double largest = -1;
        for (size_t i = at; i < end; i++) {
            double ax = x[out[b]];
            double ay = y[out[b]];
            double area = fabs((x[i] - ax) * (mean_y - ay) - (mean_x - ax) * (y[i] - ay));
            if (area > largest * (1 + 1e-12)) {
                largest = area;
                out[b + 1] = i;
            }
        }
        at = end;
    }
    out[wanted - 1] = count - 1;
    return wanted;
}

static void follows_the_definition(void **state)
{
    double x[POINTS];
    double y[POINTS];
    uint32_t seed = 7;
    double time = 0;
    for (size_t i = 0; i < POINTS; i++) {
        seed = seed * 1664525u + 1013904223u;
        time += 1 + (double)(seed >> 28);
        x[i] = time;
        y[i] = (double)(seed >> 12);
    }
    static const size_t wanted[] = {3, 4, 10, 97, 500, 1001, 1002};
    for (size_t w = 0; w < COUNT_OF(wanted); w++) {
        size_t got[POINTS];
        size_t expected[POINTS];
        assert_int_equal(lttb_choose(x, y, POINTS, wanted[w], got), wanted[w]);
        assert_int_equal(by_definition(x, y, POINTS, wanted[w], expected), wanted[w]);
        for (size_t i = 0; i < wanted[w]; i++) {
            assert_int_equal(got[i], expected[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_all_of_a_short_curve),
        cmocka_unit_test(takes_the_largest_triangle),
        cmocka_unit_test(takes_the_first_of_equal_triangles),
        cmocka_unit_test(larger_bins_come_first),
        cmocka_unit_test(follows_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

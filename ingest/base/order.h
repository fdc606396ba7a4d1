/* Which of two comes first: below 0, 0, above 0, as qsort wants it; orders declared by their keys;
 * binary search. */
#ifndef KS_BASE_ORDER_H
#define KS_BASE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline int order_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* For qsort and bsearch, of elements that are such numbers, or begin with one. */
static inline int order_i64_at(const void *a, const void *b)
{
    return order_i64(*(const int64_t *)a, *(const int64_t *)b);
}

static inline int order_u32_at(const void *a, const void *b)
{
    return order_i64(*(const uint32_t *)a, *(const uint32_t *)b);
}

static inline int order_size_at(const void *a, const void *b)
{
    size_t x = *(const size_t *)a;
    size_t y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* By their bytes; NULL comes first. */
static inline int order_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

static inline int order_text_at(const void *a, const void *b)
{
    return order_text(*(const char *const *)a, *(const char *const *)b);
}

/* Binary search: moves `low` up to the first place below `high` of which `is_before` is false; it
 * speaks of the place `at`, and is true of all places in front of one of which it is true. */
/* NOLINTBEGIN(bugprone-macro-parentheses): `at` is a name */
#define ORDER_SEARCH(low, high, at, is_before)                  \
    for (size_t at, search_end = (high); (low) < search_end;) { \
        at = (low) + (search_end - (low)) / 2;                  \
        if (is_before) {                                        \
            (low) = at + 1;                                     \
        } else {                                                \
            search_end = at;                                    \
        }                                                       \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

/* How many of `count` elements of `bytes` are below the value (`or_at`: or equal to it), by the
 * int64_t at `offset` in each, by which they ascend. */
static inline size_t order_i64_below(
    const void *items, size_t count, size_t bytes, size_t offset, int64_t value, bool or_at)
{
    const char *first = items; /* NULL of none: nothing is added to it */
    size_t low = 0;
    ORDER_SEARCH(low, count, at,
                 order_i64(*(const int64_t *)(first + offset + at * bytes), value) <
                     (or_at ? 1 : 0));
    return low;
}

/* Not of NaN. */
static inline int order_f64_at(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Defines a comparison of two elements for qsort, by one key after the other:
 *
 *     ORDER_BY(by_total, struct kernel_row, ORDER_DOWN(total_ns), ORDER_TEXT(name))
 *
 * A key is a member that ascends or descends (not NaN), a text, or any comparison of `a` with `b`.
 */
#define ORDER_BY(function, type, ...)                        \
    static int function(const void *left, const void *right) \
    {                                                        \
        const type *a = left;                                \
        const type *b = right;                               \
        int order = 0;                                       \
        (void)(__VA_ARGS__);                                 \
        return order;                                        \
    }
#define ORDER_KEY(comparison) (order = order != 0 ? order : (comparison))
#define ORDER_UP(member) ORDER_KEY((a->member > b->member) - (a->member < b->member))
#define ORDER_DOWN(member) ORDER_KEY((a->member < b->member) - (a->member > b->member))
#define ORDER_TEXT(member) ORDER_KEY(order_text(a->member, b->member))

#endif

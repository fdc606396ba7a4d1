/* Rows with values of their own in every field, and their comparison field by field. */
#ifndef KS_TESTS_UNIT_INGEST_ANALYSIS_ROW_CHECKS_H
#define KS_TESTS_UNIT_INGEST_ANALYSIS_ROW_CHECKS_H

#include "tests/unit/ingest/store/store_fixture.h"

#include <math.h>

/* Distinct numbers, so that no two fields can be mixed up unseen; the first ones are the extremes.
 */
static inline int64_t next_number(int *counter)
{
    static const int64_t extremes[] = {INT64_MAX, INT64_MIN, 0, -1};
    int at = (*counter)++;
    return at >= 0 && at < 4 ? extremes[at] : (int64_t)at * 1000003;
}

/* Extremes and whole numbers among them, which are kept in another way; then distinct ones. */
static inline double next_real(int *counter)
{
    static const double extremes[] = {-0.0,
                                      (double)NAN,
                                      (double)INFINITY,
                                      -(double)INFINITY,
                                      5.0,
                                      0.1,
                                      0.0,
                                      1.0,
                                      -3.0,
                                      140737488355327.0,
                                      1e300,
                                      1e15,
                                      -140737488355328.0};
    int at = (*counter)++;
    return at < 13 ? extremes[at] : (double)at + 0.0625 * (double)(at % 16);
}

/* Equal to the sign of zero. */
static inline bool same_real(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

#define assert_same_real(a, b) assert_true(same_real(a, b))
#define assert_same_text(a, b)                     \
    do {                                           \
        const char *a_ = (a);                      \
        const char *b_ = (b);                      \
        assert_true((a_ == NULL) == (b_ == NULL)); \
        if (a_ != NULL && b_ != NULL) {            \
            assert_string_equal(a_, b_);           \
        }                                          \
    } while (0)
#define INT(field) assert_true(a->field == b->field)
#define REAL(field) assert_same_real(a->field, b->field)
#define TEXT(field) assert_same_text(a->field, b->field)
#define PAIR(field)     \
    do {                \
        REAL(field[0]); \
        REAL(field[1]); \
    } while (0)

#endif

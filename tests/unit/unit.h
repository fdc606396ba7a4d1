/* What every unit test includes: cmocka, which wants these headers before it. */
#ifndef KS_TESTS_UNIT_UNIT_H
#define KS_TESTS_UNIT_UNIT_H

/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
/* clang-format on */

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The stride of a sweep over every byte, and of its thousands of random rounds: 1, but a prime
 * where KINETOSCOPE_QUICK asks for a sample (tests/run.sh --quick), so that neighbours of all kinds
 * take their turn. */
static inline size_t unit_stride(void)
{
    return getenv("KINETOSCOPE_QUICK") == NULL ? 1 : 13;
}

#endif

/* What every unit test includes: cmocka, which wants these headers before it. */
#ifndef KS_TESTS_UNIT_UNIT_H
#define KS_TESTS_UNIT_UNIT_H

/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif

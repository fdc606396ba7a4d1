/* Integers of 128 bits, for counts of operations and bytes that must stay exact: products of many
 * dimensions exceed 64 bits. */
#ifndef KS_BASE_WIDE_H
#define KS_BASE_WIDE_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef __int128 wide_int;

#define WIDE_MAX (((((wide_int)1 << 126) - 1) << 1) + 1)
/* No value. */
#define WIDE_NONE (-WIDE_MAX - 1)
#define WIDE_TEXT_BYTES 48

/* False when the sum or the product does not fit; *out is then not set. The product is given up a
 * little before that: its size is judged with doubles. */
static inline bool wide_add(wide_int a, wide_int b, wide_int *out)
{
    return !__builtin_add_overflow(a, b, out);
}

static inline bool wide_mul(wide_int a, wide_int b, wide_int *out)
{
    double size = (double)a * (double)b;
    if (size > 0x1p126 || size < -0x1p126) {
        return false;
    }
    *out = a * b;
    return true;
}

/* Rounds down, as Python does; `b` is not 0. */
static inline wide_int wide_floor_div(wide_int a, wide_int b)
{
    wide_int quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/* The digits; answers where in `text` they begin. */
static inline const char *wide_text(wide_int value, char text[WIDE_TEXT_BYTES])
{
    char *at = text + WIDE_TEXT_BYTES - 1;
    wide_int rest = value;
    *at = '\0';
    do {
        int digit = (int)(rest % 10);
        *--at = (char)('0' + (digit < 0 ? -digit : digit));
        rest /= 10;
    } while (rest != 0);
    if (value < 0) {
        *--at = '-';
    }
    return at;
}

#endif

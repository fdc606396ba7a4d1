#include "ingest/base/text/num.h"

#include "ingest/base/order.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const uint64_t num_powers_of_ten[NUM_POWERS] = {1U,
                                                10U,
                                                100U,
                                                1000U,
                                                10000U,
                                                100000U,
                                                1000000U,
                                                10000000U,
                                                100000000U,
                                                1000000000U,
                                                10000000000U,
                                                100000000000U,
                                                1000000000000U,
                                                10000000000000U,
                                                100000000000000U,
                                                1000000000000000U,
                                                10000000000000000U,
                                                100000000000000000U,
                                                1000000000000000000U,
                                                10000000000000000000U};

/* Below it a double holds every integer, and Python prints integers without exponent up to 10^16.
 */
#define REPR_FIXED_LIMIT 1e16
/* A decimal of 15 digits is the only one of that length near its double. */
#define UNIQUE_DIGITS_LIMIT 1e15
#define DIGITS_MAX 17
/* 309 digits, point, 324 decimals, sign, NUL, and some air. */
#define FIXED_TEXT_BYTES 700
/* No double has a nonzero digit that rounding could change beyond this place (5e-324). */
#define DECIMALS_MAX 324

/* value = 0.d1 d2 d3 ... * 10^point */
struct decimal {
    char digits[DIGITS_MAX + 1];
    size_t count;
    int point;
};

static size_t put_uint(char *out, uint64_t value)
{
    char text[20];
    size_t at = sizeof text;
    do {
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    memcpy(out, text + at, sizeof text - at);
    return sizeof text - at;
}

static size_t put_text(char *out, const char *text)
{
    size_t len = strlen(text);
    memcpy(out, text, len + 1);
    return len;
}

static void strip_zeros(struct decimal *dec)
{
    while (dec->count > 1 && dec->digits[dec->count - 1] == '0') {
        dec->count--;
    }
}

/* Measured times have few decimals: when n / 10^6 with n below 10^15 is the value (both are exact
 * doubles, so that division rounds as reading the text does), n's digits are the shortest. */
static bool decimal_of_micros(struct decimal *dec, double value)
{
    const double scale = 1e6;
    double scaled = rint(value * scale);
    if (!(scaled >= 1 && scaled < UNIQUE_DIGITS_LIMIT) || scaled / scale != value) {
        return false;
    }
    dec->count = put_uint(dec->digits, (uint64_t)scaled);
    dec->point = (int)dec->count - 6;
    strip_zeros(dec);
    return true;
}

/* Reads "d.ddde+xx"; whatever stands between the first two digits is the locale's point. */
static void decimal_of_text(struct decimal *dec, const char *text)
{
    const char *exponent = text + strcspn(text, "e");
    dec->count = 0;
    for (const char *at = text; at < exponent; at++) {
        if (*at >= '0' && *at <= '9') {
            dec->digits[dec->count++] = *at;
        }
    }
    dec->point = (int)strtol(exponent + 1, NULL, 10) + 1;
    strip_zeros(dec);
}

/* The text's last digit up by one, without carry. */
static bool raise_last_digit(char *text)
{
    char *last = text + strcspn(text, "e") - 1;
    if (*last == '9') {
        return false;
    }
    ++*last;
    return true;
}

/* printf and strtod are exact and share the locale, so that the round trip can be tried in it. */
static void decimal_shortest(struct decimal *dec, double value)
{
    char text[DIGITS_MAX + 16];
    /* A normal double has no two decimals of 15 digits, a subnormal may. */
    int precision = value < DBL_MIN ? 1 : DBL_DIG;
    for (; precision < DIGITS_MAX; precision++) {
        (void)snprintf(text, sizeof text, "%.*e", precision - 1, value);
        if (strtod(text, NULL) == value) {
            break;
        }
        /* Below a power of two doubles lie closer: the nearest decimal may read back as the
         * neighbour while the next one up still reads back as the value. */
        if (raise_last_digit(text) && strtod(text, NULL) == value) {
            break;
        }
    }
    if (precision == DIGITS_MAX) {
        (void)snprintf(text, sizeof text, "%.*e", DIGITS_MAX - 1, value);
    }
    decimal_of_text(dec, text);
}

static size_t put_exponent_form(char *out, const struct decimal *dec)
{
    size_t len = 0;
    out[len++] = dec->digits[0];
    if (dec->count > 1) {
        out[len++] = '.';
        memcpy(out + len, dec->digits + 1, dec->count - 1);
        len += dec->count - 1;
    }
    int exponent = dec->point - 1;
    out[len++] = 'e';
    out[len++] = exponent < 0 ? '-' : '+';
    unsigned magnitude = (unsigned)(exponent < 0 ? -exponent : exponent);
    if (magnitude < 10) {
        out[len++] = '0';
    }
    return len + put_uint(out + len, magnitude);
}

static size_t put_fixed_form(char *out, const struct decimal *dec)
{
    size_t len = 0;
    if (dec->point <= 0) {
        size_t zeros = (size_t)-dec->point;
        len = put_text(out, "0.");
        memset(out + len, '0', zeros);
        memcpy(out + len + zeros, dec->digits, dec->count);
        return len + zeros + dec->count;
    }
    size_t whole = (size_t)dec->point;
    size_t from_digits = whole < dec->count ? whole : dec->count;
    memcpy(out, dec->digits, from_digits);
    memset(out + from_digits, '0', whole - from_digits);
    len = whole;
    out[len++] = '.';
    if (dec->count <= whole) {
        out[len++] = '0';
        return len;
    }
    memcpy(out + len, dec->digits + whole, dec->count - whole);
    return len + dec->count - whole;
}

size_t num_repr(char out[NUM_TEXT_BYTES], double value)
{
    if (isnan(value)) {
        return put_text(out, "nan");
    }
    size_t len = 0;
    if (signbit(value)) {
        out[len++] = '-';
        value = -value;
    }
    if (isinf(value)) {
        return len + put_text(out + len, "inf");
    }
    if (value < REPR_FIXED_LIMIT && value == floor(value)) {
        len += put_uint(out + len, (uint64_t)value);
        return len + put_text(out + len, ".0");
    }
    struct decimal dec = {.count = 0};
    if (!decimal_of_micros(&dec, value)) {
        decimal_shortest(&dec, value);
    }
    bool fixed = dec.point > -4 && dec.point <= 16;
    len += fixed ? put_fixed_form(out + len, &dec) : put_exponent_form(out + len, &dec);
    out[len] = '\0';
    return len;
}

double num_round(double value)
{
    /* The rounding mode is to nearest, halves to even. Adding zero turns -0.0 into 0.0. */
    return rint(value) + 0.0;
}

static double round_decimals(double value, int decimals)
{
    bool whole = fabs(value) >= 0x1p52;
    if (!isfinite(value) || whole || decimals > DECIMALS_MAX) {
        return value;
    }
    char text[FIXED_TEXT_BYTES];
    (void)snprintf(text, sizeof text, "%.*f", decimals < 0 ? 0 : decimals, value);
    return strtod(text, NULL);
}

double num_round_digits(double value, int digits)
{
    return round_decimals(value, digits);
}

double num_round_display(double value)
{
    double magnitude = fabs(value);
    if (magnitude == 0 || magnitude >= 0.01 || isnan(value)) {
        return round_decimals(value, 2);
    }
    return round_decimals(value, (int)fabs(floor(log10(magnitude))));
}

double num_percentile_sorted(const int64_t *sorted, size_t count, double q)
{
    if (count == 0) {
        return 0;
    }
    double rank = q * (double)(count - 1);
    if (!(rank > 0)) {
        return (double)sorted[0];
    }
    size_t below = (size_t)rank;
    if (below >= count - 1) {
        return (double)sorted[count - 1];
    }
    double share = rank - (double)below;
    double low = (double)sorted[below];
    double high = (double)sorted[below + 1];
    double gap = (double)((uint64_t)sorted[below + 1] - (uint64_t)sorted[below]);
    /* From the nearer end, as NumPy does, so that the last bit agrees. */
    return share >= 0.5 ? high - gap * (1 - share) : low + gap * share;
}

static double sum_eight_lanes(const double *values, size_t count)
{
    double lane[8];
    memcpy(lane, values, sizeof lane);
    size_t whole = count - count % 8;
    for (size_t i = 8; i < whole; i += 8) {
        for (size_t j = 0; j < 8; j++) {
            lane[j] += values[i + j];
        }
    }
    double sum =
        ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    for (size_t i = whole; i < count; i++) {
        sum += values[i];
    }
    return sum;
}

double num_sum_pairwise(const double *values, size_t count)
{
    if (count < 8) {
        double sum = 0;
        for (size_t i = 0; i < count; i++) {
            sum += values[i];
        }
        return sum;
    }
    if (count <= 128) {
        return sum_eight_lanes(values, count);
    }
    size_t half = count / 2;
    half -= half % 8;
    return num_sum_pairwise(values, half) + num_sum_pairwise(values + half, count - half);
}

double num_median(double *values, size_t count)
{
    if (count == 0) {
        return (double)NAN;
    }
    qsort(values, count, sizeof *values, order_f64_at);
    double high = values[count / 2];
    return count % 2 == 1 ? high : values[count / 2 - 1] / 2 + high / 2;
}

#include "api/table/columns.h"

#include "ingest/base/text/num.h"

#include <math.h>
#include <string.h>

/* "-9223372036854775808," */
#define INT_TEXT_BYTES 21
#define UINT_TEXT_BYTES 11
/* Doubles up to here have all integers. */
#define EXACT_MAX 9007199254740992.0

static const char two_digits[] = "00010203040506070809101112131415161718192021222324"
                                 "25262728293031323334353637383940414243444546474849"
                                 "50515253545556575859606162636465666768697071727374"
                                 "75767778798081828384858687888990919293949596979899";

static char *put_uint(char *at, uint64_t value)
{
    char text[INT_TEXT_BYTES];
    size_t begin = sizeof text;
    while (value >= 100) {
        begin -= 2;
        memcpy(text + begin, two_digits + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        begin -= 2;
        memcpy(text + begin, two_digits + value * 2, 2);
    } else {
        text[--begin] = (char)('0' + value);
    }
    size_t len = sizeof text - begin;
    memcpy(at, text + begin, len);
    return at + len;
}

static char *put_int(char *at, int64_t value)
{
    if (value < 0) {
        *at++ = '-';
        return put_uint(at, 0 - (uint64_t)value);
    }
    return put_uint(at, (uint64_t)value);
}

static char *put_null(char *at)
{
    static const char null_text[4] = {'n', 'u', 'l', 'l'};
    memcpy(at, null_text, sizeof null_text);
    return at + sizeof null_text;
}

static char *put_double(char *at, double value)
{
    if (!isfinite(value)) {
        return put_null(at);
    }
    if (fabs(value) < EXACT_MAX && trunc(value) == value) {
        return put_int(at, (int64_t)value);
    }
    char text[NUM_TEXT_BYTES];
    size_t len = num_repr(text, value);
    memcpy(at, text, len);
    return at + len;
}

/* Room for `count` items of so many bytes, behind the opened array; NULL without memory. */
static char *begin(struct json_write *w, const char *key, size_t count, size_t item_bytes)
{
    jw_key_array_begin(w, key);
    return count > SIZE_MAX / item_bytes ? NULL : buf_reserve(w->out, count * item_bytes);
}

/* `at`: behind the last item and its comma. */
static void end(struct json_write *w, const char *at)
{
    if (at == NULL) {
        w->out->failed = true;
        return;
    }
    const char *text = w->out->ptr + w->out->len;
    size_t len = (size_t)(at - text);
    w->out->len += len == 0 ? 0 : len - 1;
    jw_array_end(w);
}

void columns_ints(struct json_write *w, const char *key, const int64_t *values, size_t count)
{
    char *at = begin(w, key, count, INT_TEXT_BYTES);
    for (size_t i = 0; at != NULL && i < count; i++) {
        at = put_int(at, values[i]);
        *at++ = ',';
    }
    end(w, at);
}

void columns_known_ints(
    struct json_write *w, const char *key, const int64_t *values, size_t count, int64_t none)
{
    char *at = begin(w, key, count, INT_TEXT_BYTES);
    for (size_t i = 0; at != NULL && i < count; i++) {
        at = values[i] == none ? put_null(at) : put_int(at, values[i]);
        *at++ = ',';
    }
    end(w, at);
}

void columns_uints(struct json_write *w, const char *key, const uint32_t *values, size_t count)
{
    char *at = begin(w, key, count, UINT_TEXT_BYTES);
    for (size_t i = 0; at != NULL && i < count; i++) {
        at = put_uint(at, values[i]);
        *at++ = ',';
    }
    end(w, at);
}

void columns_doubles(struct json_write *w, const char *key, const double *values, size_t count)
{
    char *at = begin(w, key, count, NUM_TEXT_BYTES + 1);
    for (size_t i = 0; at != NULL && i < count; i++) {
        at = put_double(at, values[i]);
        *at++ = ',';
    }
    end(w, at);
}

#include "ingest/store/events/time.h"

#include "ingest/base/text/affix.h"

#define TIME_MAX_NS ((uint64_t)1 << 62)
#define NS_DIGITS 3
#define NS_PER_US 1000
#define PLAIN_US ((int64_t)1 << 52)
/* Beyond it every number is 0 or out of range, whatever its digits. */
#define EXPONENT_MAX 10000

/* digits * 10^exponent */
struct decimal {
    uint64_t digits;
    int64_t exponent;
    bool is_negative;
};

static bool scale_to_ns(const struct decimal *d, int64_t *ns)
{
    uint64_t value = d->digits;
    int64_t exponent = d->exponent + NS_DIGITS;
    uint64_t last = 0;
    for (; exponent > 0 && value != 0; exponent--) {
        if (value > TIME_MAX_NS / 10) {
            return false;
        }
        value *= 10;
    }
    for (; exponent < 0 && (value != 0 || last != 0); exponent++) {
        last = value % 10;
        value /= 10;
    }
    value += last >= 5;
    if (value >= TIME_MAX_NS) {
        return false;
    }
    *ns = d->is_negative ? -(int64_t)value : (int64_t)value;
    return true;
}

bool event_time_number(int64_t value, int64_t digits, int64_t *ns)
{
    /* What profilers write. */
    if (digits == 0 && value > -PLAIN_US && value < PLAIN_US) {
        *ns = value * NS_PER_US;
        return true;
    }
    struct decimal d = {.digits = value < 0 ? 0 - (uint64_t)value : (uint64_t)value,
                        .exponent = -digits,
                        .is_negative = value < 0};
    return scale_to_ns(&d, ns);
}

/* Digits at `at`, and where they end. What does not fit any more only moves the point. */
static const char *read_digits(const char *at, const char *end, bool is_fraction, struct decimal *d)
{
    for (; at < end && text_is_digit(*at); at++) {
        bool fits = d->digits <= (UINT64_MAX - 9) / 10;
        if (fits) {
            d->digits = d->digits * 10 + (uint64_t)(*at - '0');
        }
        d->exponent += (fits ? 0 : 1) - (is_fraction ? 1 : 0);
    }
    return at;
}

/* What stands behind the digits of a number: nothing, or an exponent. */
static bool read_exponent(const char *at, const char *end, struct decimal *d)
{
    if (at == end) {
        return true;
    }
    if (*at != 'e' && *at != 'E') {
        return false;
    }
    at++;
    bool is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) {
        at++;
    }
    if (at == end) {
        return false;
    }
    int64_t exponent = 0;
    for (; at < end && text_is_digit(*at); at++) {
        if (exponent < EXPONENT_MAX) {
            exponent = exponent * 10 + (*at - '0');
        }
    }
    d->exponent += is_negative ? -exponent : exponent;
    return at == end;
}

bool event_time_text(const char *json, size_t len, int64_t *ns)
{
    const char *at = json;
    const char *end = json + len;
    struct decimal d = {.digits = 0};
    if (len >= 2 && *at == '"') {
        at++;
        end--;
    }
    d.is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) {
        at++;
    }
    const char *digits = at;
    at = read_digits(at, end, false, &d);
    bool has_digits = at > digits;
    if (at < end && *at == '.') {
        digits = ++at;
        at = read_digits(at, end, true, &d);
        has_digits = has_digits || at > digits;
    }
    return has_digits && read_exponent(at, end, &d) && scale_to_ns(&d, ns);
}

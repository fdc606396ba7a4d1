#include "ingest/analysis/cycles/clock.h"

#include "ingest/analysis/classify/tb_clock.h"
#include "ingest/base/text/num.h"

#define NS_PER_US 1000
/* Below this doubles of microseconds tell nanoseconds apart. */
#define COARSE_NS ((INT64_C(1) << 49) * NS_PER_US)

/* Nanoseconds behind the decimal point of a text; -1 when they are no whole number. */
static int64_t decimals_ns(const char *text)
{
    const char *point = strchr(text, '.');
    int64_t sum = 0;
    int64_t unit = NS_PER_US;
    if (point == NULL) {
        return -1;
    }
    for (const char *at = point + 1; *at != '\0'; at++) {
        unit /= 10;
        if (unit == 0 || *at < '0' || *at > '9') {
            return -1;
        }
        sum += unit * (*at - '0');
    }
    return sum;
}

bool cycle_clock_is_short(int64_t time_ns)
{
    char text[NUM_TEXT_BYTES];
    int64_t rest_ns = time_ns % NS_PER_US;
    if (rest_ns == 0 || (time_ns < COARSE_NS && time_ns > -COARSE_NS)) {
        return true;
    }
    (void)num_repr(text, tb_clock_double_us(time_ns));
    return decimals_ns(text) == (rest_ns < 0 ? -rest_ns : rest_ns);
}

int64_t cycle_clock_meant(int64_t time_ns)
{
    if (time_ns % NS_PER_US == 0 || (time_ns < COARSE_NS && time_ns > -COARSE_NS)) {
        return time_ns;
    }
    double us = tb_clock_double_us(time_ns);
    double whole_us = floor(us);
    return (int64_t)whole_us * NS_PER_US + llround((us - whole_us) * NS_PER_US);
}

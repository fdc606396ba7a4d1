/* Unions of intervals of time, and what one has beside another [DEV-0.4]. */
#ifndef KS_ANALYSIS_DEVICE_TIME_INTERVALS_H
#define KS_ANALYSIS_DEVICE_TIME_INTERVALS_H

#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interval {
    int64_t start_ns, end_ns;
};

/* A union, as intervals that do not touch, in order. */
struct intervals {
    struct interval *items;
    size_t count;
};

/* Room for `cap` intervals. False without memory; must be freed in either case. */
bool intervals_init(struct intervals *intervals, size_t cap) KS_MUST_USE;
void intervals_free(struct intervals *intervals);
/* Adds an interval that starts no earlier than those before it. */
void intervals_add(struct intervals *intervals, int64_t start_ns, int64_t end_ns);
int64_t intervals_length(const struct intervals *intervals);
/* What is in `from` and not in `without`. *out has room for as many intervals as both together. */
void intervals_subtract(struct intervals *out,
                        const struct intervals *from,
                        const struct intervals *without);

#endif

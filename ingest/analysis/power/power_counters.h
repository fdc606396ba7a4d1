/* Which counters measure power or the clock of a device, and their integrals over time [CAU-7a]. */
#ifndef KS_ANALYSIS_POWER_POWER_COUNTERS_H
#define KS_ANALYSIS_POWER_POWER_COUNTERS_H

#include "ingest/analysis/power/power.h"
#include "ingest/index/index.h"

/* Devices beyond these are left out: no host has as many. */
#define POWER_DEVICES_MAX 256

/* A value holds until the next sample; behind the last one nothing is known. */
struct power_curve {
    int64_t *at_ns; /* ascending */
    double *sum;    /* integral up to there, in units times nanoseconds */
    uint32_t count; /* 0: no such counter; else at least 2 */
};

/* The part of [start_ns, end_ns) in which there are samples. */
int64_t power_curve_sampled_ns(const struct power_curve *curve, int64_t start_ns, int64_t end_ns);
/* Over that part. O(log n). */
double power_curve_integral(const struct power_curve *curve, int64_t start_ns, int64_t end_ns);

struct power_device {
    int64_t device;
    struct power_curve watts, megahertz; /* watts.count > 0 */
};

struct power_devices {
    struct power_device *items; /* in order of their numbers */
    size_t count;
};

/* Finds the counters of the trace and makes the curves, in the arena. O(n log n). False without
 * memory. */
bool power_devices_find(const struct trace_index *index,
                        int64_t zero_ns,
                        struct arena *arena,
                        struct power *out,
                        struct power_devices *devices) KS_MUST_USE;

#endif

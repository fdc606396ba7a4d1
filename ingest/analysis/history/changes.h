/* Change points of a series [HIST-2]: deterministic, from numbers alone.
 *
 *     values -> windows: E-divisive splits, kept by a t-test -> weak points -> merging -> changes
 *
 * O(n * window) for the windows, O(n log n) for the rest. */
#ifndef KS_ANALYSIS_HISTORY_CHANGES_H
#define KS_ANALYSIS_HISTORY_CHANGES_H

#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* The time of a window grows with the square of its length. */
#define HISTORY_WINDOW_MAX 1000

struct history_rules {
    size_t window;        /* 2 to HISTORY_WINDOW_MAX */
    double p;             /* above 0, below 1 */
    double min_magnitude; /* at least 0 */
    bool strict;          /* [HIST-2.6a] renews the tests of both real neighbours */
    bool p_of_series;     /* [HIST-2b] p counts for one window: long series are tested more often */
};
#define HISTORY_RULES_DEFAULT ((struct history_rules){50, 0.001, 0, false, false})
/* How requests and files ask for `p_of_series`, in place of a number. */
#define HISTORY_P_OF_SERIES "series"

/* The p that the tests of a series of `count` points are held against. */
double history_rules_p(const struct history_rules *rules, size_t count);

/* The figures that a change carries [HIST-2.2]; deviations are those of the population. */
struct history_test {
    double p;
    double mean_before, mean_after;
    double std_before, std_after;
    double change;    /* mean_after / mean_before - 1; 0 where that is 0 */
    double magnitude; /* the larger of the change and the change backwards, without sign */
};

struct history_change {
    size_t index; /* the change lies between the value before it and this one */
    struct history_test test;
};

/* What lies between two changes; deviations are those of a sample, 0 for one value. */
struct history_segment {
    size_t first, last; /* inclusive */
    double mean, std, median;
};

struct history_changes {
    struct history_change *changes; /* ascending */
    size_t change_count;
    size_t *weak; /* points before merging, ascending */
    size_t weak_count;
    struct history_segment *segments;
    size_t segment_count;
};

/* Finds the changes of `count` values, of which NaN is a gap; others must be finite. What *out
 * holds lies in the arena. False without memory. */
bool history_changes_find(struct history_changes *out,
                          struct arena *arena,
                          const double *values,
                          size_t count,
                          const struct history_rules *rules) KS_MUST_USE;

/* Figures of some values; all NaN for none. */
struct history_summary {
    size_t count;
    double mean, std, median, min, max; /* std of a sample, 0 for one value */
};
/* Of values that are finite. False without memory. */
bool history_summarise(struct history_summary *out, const double *values, size_t count) KS_MUST_USE;

#endif

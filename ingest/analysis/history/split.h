/* The best cut of a short piece of a series by the energy distance of E-divisive [HIST-2.3]. */
#ifndef KS_ANALYSIS_HISTORY_SPLIT_H
#define KS_ANALYSIS_HISTORY_SPLIT_H

#include "ingest/analysis/history/prefix.h"
#include "ingest/base/attr.h"

#include <stdbool.h>
#include <stddef.h>

/* What the splits of one series share. */
struct splitter {
    const struct prefix_sums *sums;
    double *scaled;  /* the values of a window, scaled as the sums are */
    double *whole;   /* by end: sum of the differences between all pairs before it */
    double *within;  /* by end: the same from the cut on */
    double *largest; /* by cut: its largest Q */
    struct window_piece *pieces;
};

/* For windows of at most `window` values. False without memory; must be freed in either case. */
bool splitter_init(struct splitter *splitter,
                   const struct prefix_sums *sums,
                   size_t window) KS_MUST_USE;
void splitter_free(struct splitter *splitter);
/* Marks the change points that the window [first, end) has at this level [HIST-2.4]. Returns the
 * last of them; 0 for none. */
size_t splitter_mark(
    struct splitter *splitter, size_t first, size_t end, double level, unsigned char *is_point);

/* Two-sided p of the pooled t-test between two pieces [HIST-2.2a]. */
double split_test_p(const struct piece *left, const struct piece *right);

#endif

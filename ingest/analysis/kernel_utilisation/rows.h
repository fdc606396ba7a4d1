/* The steps of kernel_utilisation_run: one group of rows each. */
#ifndef KS_ANALYSIS_KERNEL_UTILISATION_ROWS_H
#define KS_ANALYSIS_KERNEL_UTILISATION_ROWS_H

#include "ingest/analysis/kernel_utilisation/groups.h"
#include "ingest/base/attr.h"
#include "ingest/base/text/strtab.h"
#include "ingest/model/results/kernel_table.h"
#include "ingest/model/results/results.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A table on its way to results. Names are cleaned and copied once. */
struct kernel_utilisation {
    const struct kernel_table *table;
    struct trace_results *results;
    struct kernel_groups groups; /* launches by cleaned name */
    struct strtab *clean_names;
    uint32_t *clean_of_name; /* by string id of the table: id in clean_names */
    const char **copies;     /* by string id of the table, in the results' arena; NULL: none yet */
    const char **clean_copies; /* by id in clean_names */
};

/* The copy in the results' arena; NULL without memory. */
const char *kernel_utilisation_copy(struct kernel_utilisation *use, uint32_t name) KS_MUST_USE;
const char *kernel_utilisation_clean_copy(struct kernel_utilisation *use,
                                          uint32_t name) KS_MUST_USE;

/* A mean weighted by latency over the values that were measured. */
struct weighted_mean {
    double weighted_sum;
    double weight;
    double sum;
    int64_t count;
};

static inline void weighted_mean_add(struct weighted_mean *mean, double value, int64_t weight)
{
    if (!isnan(value)) {
        mean->weighted_sum += value * (double)weight;
        mean->weight += (double)weight;
        mean->sum += value;
        mean->count++;
    }
}

/* NaN when nothing was measured; launches that all took no time weigh alike. */
static inline double weighted_mean_of(const struct weighted_mean *mean)
{
    if (mean->weight > 0) {
        return mean->weighted_sum / mean->weight;
    }
    return mean->count > 0 ? mean->sum / (double)mean->count : (double)NAN;
}

/* Each fills its part of the results. False without memory. */
bool kernel_utilisation_fill_rows(struct kernel_utilisation *use)
    KS_MUST_USE; /* kernel_utilisation, totals */
bool kernel_utilisation_fill_launches(struct kernel_utilisation *use)
    KS_MUST_USE; /* kernel_utilisation_launches */
bool kernel_utilisation_fill_summaries(struct kernel_utilisation *use)
    KS_MUST_USE; /* both of these, in place of
    fill_rows */
bool kernel_utilisation_fill_kernels(struct kernel_utilisation *use) KS_MUST_USE; /* kernels */
bool kernel_utilisation_fill_metrics(struct kernel_utilisation *use)
    KS_MUST_USE; /* kernel_utilisation_metrics, _values */
bool kernel_utilisation_fill_transfers(struct kernel_utilisation *use) KS_MUST_USE; /* transfers */

#endif

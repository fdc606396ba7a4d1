/* The pieces of one cycle added up by function, process and device, with the metrics of each piece
 * [CMP-10.metrics.8] [CMP-10a.metrics.2]. */
#ifndef KS_ANALYSIS_CYCLES_ROWS_GROUPS_H
#define KS_ANALYSIS_CYCLES_ROWS_GROUPS_H

#include "ingest/analysis/cycles/rows/metrics.h"
#include "ingest/analysis/cycles/set.h"
#include "ingest/base/attr.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/containers/key_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A metric of a group: sums weighted by duration. */
struct cycle_sum {
    uint32_t next; /* of the same group, CYCLE_NONE */
    enum cycle_metric metric;
    double weight;
    double mean;
    double variance;
    double count; /* the same with equal weights, for events without a duration */
    double plain_mean;
    double plain_variance;
};

struct cycle_group {
    uint32_t name;
    uint32_t process;
    uint32_t device;  /* number, index into `device` */
    uint32_t host;    /* of the first piece */
    int64_t first_ns; /* its start */
    int64_t dur_ns;
    int64_t instances;
    uint32_t measured_count; /* values taken from samples, over all metrics */
    uint32_t interpolated_count;
    uint32_t first_sum; /* CYCLE_NONE: no metric */
};

/* Slices of one process on a processor, joined where they overlap. */
struct cycle_slice {
    int64_t start_ns;
    int64_t end_ns;
    int64_t dur_ns;
    int64_t instances; /* 0: none open */
    int64_t device;
    uint32_t host;
};

struct cycle_groups {
    struct cycle_events *events;
    const struct cycle_set *set;
    struct cycle_metrics *metrics; /* NULL: no counters */
    struct key_map keys;           /* (cycle, name, process, device) of all cycles so far */
    uint32_t first;                /* the present cycle's keys are first .. keys.count */
    struct cycle_group *items;     /* the present cycle's */
    size_t item_cap;
    struct cycle_sum *sums; /* the present cycle's */
    uint32_t sum_count;
    size_t sum_cap;
    struct id_map devices;
    int64_t *device; /* by number */
    size_t device_cap;
    uint32_t oncpu_name; /* what all slices are called; perhaps behind the trace's names */
    uint8_t *shown_type; /* by name: enum cycle_type of its last piece */
    uint32_t *recent;    /* by name: the key met last */
    uint32_t *slices;    /* places of the present cycle's pieces on a processor */
    uint32_t slice_count;
    size_t slice_cap;
    struct cycle_slice *slice; /* by process: the one that is open */
    uint32_t *sliced;          /* processes that have one */
    uint32_t sliced_count;
};

/* `metrics` may be NULL. False without memory; must be freed in either case. */
bool cycle_groups_init(struct cycle_groups *groups,
                       struct cycle_events *events,
                       const struct cycle_set *set,
                       struct cycle_metrics *metrics) KS_MUST_USE;
void cycle_groups_free(struct cycle_groups *groups);

/* The groups of one cycle, by index; earlier ones are forgotten. */
bool cycle_groups_collect(struct cycle_groups *groups, uint32_t cycle) KS_MUST_USE;

const char *cycle_groups_name(const struct cycle_groups *groups, uint32_t name);
/* Names and the one behind them. */
size_t cycle_groups_name_count(const struct cycle_groups *groups);

double cycle_sum_mean(const struct cycle_sum *sum);
double cycle_sum_variance(const struct cycle_sum *sum);

#endif

/* Energy from counters of power: of devices, steps, classes of device work, tokens [CAU-7].
 *
 *     counters of the trace ─► power_counters (a curve a device) ─► power: rows by group
 */
#ifndef KS_ANALYSIS_POWER_POWER_H
#define KS_ANALYSIS_POWER_POWER_H

#include "ingest/analysis/kernel_classes/kernel_rules.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/tables/table.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct power_row {
#define TABLE_DEF "ingest/model/tables/causes/power.def"
#include "ingest/model/tables/struct.h"
};
extern const struct row_table table_power; /* of the rows */

enum power_group { POWER_BY_DEVICE, POWER_BY_STEP, POWER_BY_CLASS };

struct power_counter {
#define TABLE_DEF "ingest/model/tables/causes/power_counter.def"
#include "ingest/model/tables/struct.h"
};
extern const struct row_table table_power_counter;

struct power {
    struct power_row *rows; /* in order of devices, of time, of energy */
    size_t count;
    struct power_counter *counters; /* in order of their first sample in the file */
    size_t counter_count;
    double energy_j;    /* of all sampled time */
    int64_t sampled_ns; /* summed over the devices */
    int64_t tokens;     /* of steps that say so and were sampled */
    double token_j;     /* energy of these steps by token; NaN: none */
};

/* Positions count from `zero_ns`; `own` as for kernel_class_of(). Everything in *out lives in the
 * arena, but texts of `own`. O(n log n). False without memory. */
bool power_analyse(const struct trace *trace,
                   int64_t zero_ns,
                   const struct kernel_rules *own,
                   enum power_group by,
                   struct arena *arena,
                   struct power *out) KS_MUST_USE;

#endif

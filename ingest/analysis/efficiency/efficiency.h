/* How well operators use the device: operations, bytes, rates and the roofline [CAU-4].
 *
 *     trace ─► causes ─► counted_calls (with formulas of op_inputs) ─► efficiency: rows by group
 *                                               device_peaks ────────┘
 */
#ifndef KS_ANALYSIS_EFFICIENCY_EFFICIENCY_H
#define KS_ANALYSIS_EFFICIENCY_EFFICIENCY_H

#include "ingest/analysis/efficiency/device_peaks.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/tables/table.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct efficiency_row {
#define TABLE_DEF "ingest/model/tables/operators/efficiency.def"
#include "ingest/model/tables/struct.h"
};
extern const struct row_table table_efficiency; /* of the rows */

enum efficiency_group {
    EFFICIENCY_BY_OPERATOR,
    EFFICIENCY_BY_SHAPE,
    EFFICIENCY_BY_MODULE,
    EFFICIENCY_BY_STEP
};

struct efficiency {
    /* A copy of the texts in the arena; name NULL: the device is not known. */
    struct device_peaks device;
    struct efficiency_row *rows; /* in order of their first call in the file */
    size_t count;
    int64_t calls;
    int64_t time_ns;
    wide_int flops, matrix_flops, bytes;
    double mfu;                              /* NaN: not known */
    int64_t modelled_time_ns;                /* of calls with a formula */
    int64_t outside_events, outside_time_ns; /* device work without a launch call */
};

/* The model must have been read with operator_inputs (struct format_options). `own` may be NULL.
 * Everything in *out lives in the arena, but texts of built-in peaks and of `own`. O(n log n).
 * False without memory. */
bool efficiency_analyse(const struct trace *trace,
                        enum efficiency_group by,
                        const struct device_peaks_list *own,
                        struct arena *arena,
                        struct efficiency *out) KS_MUST_USE;

#endif

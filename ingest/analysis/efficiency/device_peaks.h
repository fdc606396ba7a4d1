/* What devices can do at most, by their names [CAU-4.5]: from their data sheets, without sparsity.
 */
#ifndef KS_ANALYSIS_EFFICIENCY_DEVICE_PEAKS_H
#define KS_ANALYSIS_EFFICIENCY_DEVICE_PEAKS_H

#include "ingest/analysis/efficiency/formulas.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device_peaks {
    const char *name;                  /* part of a device's name */
    const char *source;                /* NULL: not told */
    double bandwidth_bytes_per_second; /* NaN: unknown */
    /* Operations a second; NaN: unknown. */
    double peak[FORMULA_UNIT_COUNT][FORMULA_PRECISION_COUNT];
    uint32_t listed[FORMULA_UNIT_COUNT]; /* bit (1 << precision): the source has a line for it */
};

/* Peaks of one's own: `--devices FILE`. */
struct device_peaks_list {
    struct arena arena; /* holds all below */
    struct device_peaks *items;
    size_t count;
};

/* A JSON object: {"key": {"bandwidth_bytes_per_second": n, "matrix": {"bf16": n}, "vector":
 * {"fp32": n}, "source": "text"}}. To be freed in either case. ERR_BAD_INPUT, ERR_IO,
 * ERR_NO_MEMORY. Afterwards only read, so that threads may share it. */
bool device_peaks_read(const char *path,
                       struct device_peaks_list *list,
                       struct err *err) KS_MUST_USE;
void device_peaks_free(struct device_peaks_list *list);

/* The first of one's own (`own`, NULL: none), then of the built-in ones, whose name is in that of a
 * device of the trace. NULL: none. */
const struct device_peaks *device_peaks_find(const struct trace *trace,
                                             const struct device_peaks_list *own);

#endif

/* Reads a perf-data table: a row a (cycle, process, function, metric, device), as `kinetoscope
 * cycles --format csv` prints it [CMP-10.metrics.10]; missing values and numbers are read by
 * [CMP-2g] and [CMP-4a]. */
#ifndef KS_FORMATS_PERF_DATA_PERF_DATA_H
#define KS_FORMATS_PERF_DATA_PERF_DATA_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/text_stream.h"

#include <stdbool.h>
#include <stddef.h>

/* By its columns: cycle, pid, function_name, metric_name, device, beta_pct, mu_pct, anchor_dur_us,
 * in any order. */
bool perf_data_recognises(const char *window, size_t len);
/* One item with results: cycles, cycle_uses (in file order), their time and the devices' type. A
 * row whose cycle, pid, beta_pct or anchor_dur_us cannot be read is left out; other cells that
 * are missing or no numbers are NaN (mu_pct, sigma_pct), NULL (metric_name, device), what beta_pct
 * gives (duration), 0 or "". The format does not know the file's name, so that a cycle without a
 * cycle_kind is CYCLE_STEP. Errors: ERR_BAD_INPUT (no readable row), ERR_TOO_LARGE, ERR_IO,
 * ERR_NO_MEMORY. */
bool perf_data_read(struct text_stream *stream,
                    const struct format_options *options,
                    struct format_bundle *bundle,
                    struct err *err) KS_MUST_USE;

#endif

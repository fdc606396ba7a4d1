/* What `ncu --csv` prints, in both of its forms, with the lines "==PROF== ..." and the output of
 * the profiled program before and between the rows:
 *
 *     long: a row a metric of a launch; also with the names and units of section tables
 *         "ID","Process ID","Process Name","Host Name","Kernel Name",...,"Metric Name",
 *         "Metric Unit","Metric Value"
 *     wide (--page raw): a row a launch, a column a metric, a row of units below the header
 *         "ID","Process ID",...,"gpu__time_duration.sum","sm__throughput.avg.pct_of_peak..."
 *
 * Metrics, by their own names or as section tables call them:
 *     gpu__time_duration.sum (Duration)                                       dur_ns
 *     sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed         tensor
 *     gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed (DRAM Throughput)           dram
 *     sm__throughput.avg.pct_of_peak_sustained_elapsed (Compute (SM) Throughput)         sm
 * Where one is absent its nearest kin stands in (gpu__time_duration.avg, dram__throughput...).
 * Others are kept by name, in units without prefixes (quantity.h); those that are texts are not.
 *
 * A launch is known by process, ID and kernel, for IDs restart with each process, and by the header
 * above it, for files may be put together. One without a duration is a bad row. */
#ifndef KS_FORMATS_NSIGHT_NCU_CSV_H
#define KS_FORMATS_NSIGHT_NCU_CSV_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/text_stream.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether a header row is in the window. */
bool ncu_csv_recognises(const char *window, size_t len);
/* ERR_UNSUPPORTED also for the summary that --print-summary prints. */
bool ncu_csv_read(struct text_stream *stream,
                  const struct format_options *options,
                  struct format_bundle *bundle,
                  struct err *err) KS_MUST_USE;

#endif

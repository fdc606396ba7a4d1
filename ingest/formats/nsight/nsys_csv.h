/* What `nsys stats --format csv` prints of kernels:
 *
 *     cuda_gpu_trace (gputrace): a row a launch, copy or set of memory
 *         Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,...,Bytes
 * (MB),...,Device,...,Strm,Name cuda_gpu_kern_sum (gpukernsum): a row a kernel Time (%),Total Time
 * (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
 *
 * Units stand in the heads. A file may hold several tables, with headings and messages of nsys
 * between them; those of other reports are passed over. A file with a trace is read from that, for
 * the summary only repeats it; the rows of a summary alone become summaries. Copies and sets are
 * known by their names, "[CUDA memcpy Host-to-Device]", "[CUDA memset]". */
#ifndef KS_FORMATS_NSIGHT_NSYS_CSV_H
#define KS_FORMATS_NSIGHT_NSYS_CSV_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/text_stream.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether a header row of one of the two is in the window. */
bool nsys_csv_recognises(const char *window, size_t len);
bool nsys_csv_read(struct text_stream *stream,
                   const struct format_options *options,
                   struct format_bundle *bundle,
                   struct err *err) KS_MUST_USE;

#endif

/* The short text table of kernel launches (seeds 000 to 002): a heading, then a row a launch.
 *
 *     Kernel                                                 Latency Tensor   DRAM
 *     cudnn::bn_fw_tr_1C11_kernel_NCHW                  |    1075296   0.00   0.10
 *     cudnn_infer_ampere_fp16_scudnn_fp16_128x32_relu...|     337024   0.00   0.11
 *
 * Latency is in nanoseconds unless the heading says "Latency (us)", utilisations are shares 0..1;
 * a column SM is read too. "|" or ":" stands between name and figures. Names may hold blanks and
 * colons, so that the row is split at the last separator behind which all figures stand, or, where
 * some are missing, at that behind which most do. A utilisation that is not there or no figure
 * ("n/a", "-") is not known; text behind the figures is ignored. */
#ifndef KS_FORMATS_NSIGHT_KERNEL_TEXT_TABLE_H
#define KS_FORMATS_NSIGHT_KERNEL_TEXT_TABLE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/text_stream.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether the heading is among the first lines. */
bool kernel_text_table_recognises(const char *window, size_t len);
bool kernel_text_table_read(struct text_stream *stream,
                            const struct format_options *options,
                            struct format_bundle *bundle,
                            struct err *err) KS_MUST_USE;

#endif

/* Databases that profilers write: one reader, which asks the tables what they are.
 *
 *     TASK, STRING_IDS                    Ascend PyTorch Profiler [FMT-1.4]
 *     rocpd_op, rocpd_api                 rocmProfileData [FMT-3.2]
 *     rocpd_kernel_dispatch<session>      rocprofv3 [FMT-3.3]
 *     CUPTI_ACTIVITY_KIND_*, StringIds    Nsight Systems [FMT-5] */
#ifndef KS_FORMATS_DATABASE_RECORDINGS_H
#define KS_FORMATS_DATABASE_RECORDINGS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/database/tables.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/text_stream.h"

#include <stdbool.h>
#include <stddef.h>

bool recordings_recognise(const char *window, size_t len);
/* ERR_UNSUPPORTED: a database of something else; ERR_BAD_INPUT: damaged, or without records. */
bool recordings_read(struct text_stream *stream,
                     const struct format_options *options,
                     struct format_bundle *bundle,
                     struct err *err) KS_MUST_USE;

/* Of each: reads what `recording` has open. */
typedef bool recording_reader(struct recording *recording,
                              const struct format_options *options,
                              struct trace **out,
                              struct err *err);
recording_reader nsys_recording_read, rpd_recording_read, rocpd_recording_read,
    ascend_recording_read;

#endif

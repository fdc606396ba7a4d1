/* JSON of rocprofv3 (rocprofv3 --output-format json) [FMT-3.1].
 *
 *     {"rocprofiler-sdk-tool": [{"agents": [], "kernel_symbols": [], "strings": {},
 *                                "buffer_records": {"kernel_dispatch": [], "hip_api": []}}]} */
#ifndef KS_FORMATS_ROCPROF_ROCPROF_JSON_H
#define KS_FORMATS_ROCPROF_ROCPROF_JSON_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/text_stream.h"

#include <stdbool.h>
#include <stddef.h>

bool rocprof_json_recognises(const char *window, size_t len);
/* The first process; others are counted as left out. Of text that breaks off what was read before.
 * ERR_BAD_INPUT: no record. */
bool rocprof_json_read(struct text_stream *stream,
                       const struct format_options *options,
                       struct format_bundle *bundle,
                       struct err *err) KS_MUST_USE;

#endif

/* Execution traces: PyTorch's ExecutionTraceObserver and MLCommons Chakra [FMT-9].
 *
 *     JSON, protocol buffers -> execution_trace_load -> struct execution_trace -> tensors, on
 * request
 *
 * The upload itself is kept: the results of an ingest are what a list of traces shows. */
#ifndef KS_FORMATS_EXECUTION_TRACE_EXECUTION_TRACE_H
#define KS_FORMATS_EXECUTION_TRACE_EXECUTION_TRACE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/text_stream.h"
#include "ingest/model/recorders/execution_trace.h"

#include <stdbool.h>
#include <stddef.h>

bool execution_trace_recognises(const char *window, size_t len);
/* Results without figures. Errors: those of execution_trace_load. */
bool execution_trace_read(struct text_stream *stream,
                          const struct format_options *options,
                          struct format_bundle *bundle,
                          struct err *err) KS_MUST_USE;

/* The execution trace in a file, as far as it can be read. ERR_BAD_INPUT: no node; ERR_TOO_LARGE
 * beyond the memory budget. *out is the caller's. */
bool execution_trace_load(struct input *in,
                          const struct format_options *options,
                          struct execution_trace **out,
                          struct err *err) KS_MUST_USE;

#endif

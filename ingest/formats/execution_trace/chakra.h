/* Chakra's files (.et): protocol buffers, each with its length in front: one GlobalMetadata, then
 * a Node each [FMT-9.3]. */
#ifndef KS_FORMATS_EXECUTION_TRACE_CHAKRA_H
#define KS_FORMATS_EXECUTION_TRACE_CHAKRA_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/execution_trace/build.h"
#include "ingest/formats/whole.h"

#include <stdbool.h>
#include <stddef.h>

bool chakra_recognises(const char *window, size_t len);
bool chakra_read(struct execution_build *build,
                 const struct whole *whole,
                 struct err *err) KS_MUST_USE;

#endif

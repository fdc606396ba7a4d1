/* Execution traces as JSON: as PyTorch's ExecutionTraceObserver writes them [FMT-9.1], and the
 * messages of Chakra as JSON [FMT-9.2]. */
#ifndef KS_FORMATS_EXECUTION_TRACE_JSON_H
#define KS_FORMATS_EXECUTION_TRACE_JSON_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/execution_trace/build.h"
#include "ingest/formats/whole.h"

#include <stdbool.h>
#include <stddef.h>

bool observer_json_recognises(const char *window, size_t len);
bool observer_json_read(struct execution_build *build,
                        const struct whole *whole,
                        struct err *err) KS_MUST_USE;

bool chakra_json_recognises(const char *window, size_t len);
bool chakra_json_read(struct execution_build *build,
                      const struct whole *whole,
                      struct err *err) KS_MUST_USE;

#endif

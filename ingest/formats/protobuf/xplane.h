/* XSpaces of XLA's profiler (*.xplane.pb: JAX, TensorFlow, PyTorch/XLA) [FMT-2].
 *
 *     XSpace -> XPlane (a device, the host) -> XLine (a stream, a thread) -> XEvent
 *
 * Names and statistics are ids of maps of the plane, which may come after its lines. */
#ifndef KS_FORMATS_PROTOBUF_XPLANE_H
#define KS_FORMATS_PROTOBUF_XPLANE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/whole.h"

#include <stdbool.h>
#include <stddef.h>

bool xplane_recognises(const char *window, size_t len);
/* Whole planes before damage are kept. ERR_BAD_INPUT with an offset: none. */
bool xplane_read(const struct whole *whole,
                 const struct format_options *options,
                 struct trace **out,
                 struct err *err) KS_MUST_USE;

#endif

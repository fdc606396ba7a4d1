/* Traces of Perfetto (*.pftrace): track events with interned names, sequences and clocks [FMT-6].
 */
#ifndef KS_FORMATS_PROTOBUF_PERFETTO_H
#define KS_FORMATS_PROTOBUF_PERFETTO_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/whole.h"

#include <stdbool.h>
#include <stddef.h>

bool perfetto_recognises(const char *window, size_t len);
/* Packets before damage are kept. ERR_BAD_INPUT with an offset: none that is read. */
bool perfetto_read(const struct whole *whole,
                   const struct format_options *options,
                   struct trace **out,
                   struct err *err) KS_MUST_USE;

#endif

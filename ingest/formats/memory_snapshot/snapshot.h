/* Memory snapshots: pickles of torch.cuda.memory._dump_snapshot and its NPU twin [FMT-4].
 *
 *     pickle -> snapshot_read -> struct memory_snapshot -> views, on request
 *
 * The upload itself is kept, so that the results of an ingest are what a list of traces shows. */
#ifndef KS_FORMATS_MEMORY_SNAPSHOT_SNAPSHOT_H
#define KS_FORMATS_MEMORY_SNAPSHOT_SNAPSHOT_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/text_stream.h"
#include "ingest/model/recorders/memory_snapshot.h"

#include <stdbool.h>
#include <stddef.h>

bool memory_snapshot_recognises(const char *window, size_t len);
/* Results without figures but for time and warnings. Errors: those of memory_snapshot_load. */
bool memory_snapshot_read(struct text_stream *stream,
                          const struct format_options *options,
                          struct format_bundle *bundle,
                          struct err *err) KS_MUST_USE;

/* The snapshot in a file. ERR_BAD_INPUT with an offset: refused, cut or no snapshot; ERR_TOO_LARGE
 * beyond the memory budget. *out is the caller's. */
bool memory_snapshot_load(struct input *in,
                          const struct format_options *options,
                          struct memory_snapshot **out,
                          struct err *err) KS_MUST_USE;

#endif

/* The SQLite export of Nsight Systems (nsys export --type sqlite): its tables of kernels, copies
 * and sets of memory.
 *
 *     CUPTI_ACTIVITY_KIND_KERNEL  start end deviceId streamId gridX.. blockX.. demangledName
 *     CUPTI_ACTIVITY_KIND_MEMCPY  start end deviceId streamId bytes copyKind
 *     CUPTI_ACTIVITY_KIND_MEMSET  start end deviceId streamId bytes
 *     StringIds                   id value: what names are ids of
 *
 * Formats know no SQL, but for this one: here the upload is a database, and SQL is how its bytes
 * are read. Nothing of it leaves the files nsys_sqlite, nsys_database and nsys_names, and nothing
 * in them has to do with the store. The schema differs between versions, so that columns are asked
 * for before they are read. */
#ifndef KS_FORMATS_NSIGHT_NSYS_SQLITE_H
#define KS_FORMATS_NSIGHT_NSYS_SQLITE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/format.h"
#include "ingest/formats/json/text_stream.h"

#include <stdbool.h>
#include <stddef.h>

bool nsys_sqlite_recognises(const char *window, size_t len);
/* Launches in the order of their start. ERR_UNSUPPORTED: a database of something else;
 * ERR_BAD_INPUT: damaged, or without kernels, and then what to record. */
bool nsys_sqlite_read(struct text_stream *stream,
                      const struct format_options *options,
                      struct format_bundle *bundle,
                      struct err *err) KS_MUST_USE;

#endif

/* Checks the names of runs, files and markers. */
#ifndef KS_API_UPLOAD_NAME_H
#define KS_API_UPLOAD_NAME_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>

#define UPLOAD_NAME_MAX_BYTES 255
#define UPLOAD_MARKER_MAX_BYTES 1000

/* Run names: valid UTF-8 without control characters, 1 to 255 bytes, not "." or "..".
 * ERR_BAD_REQUEST otherwise. */
bool upload_name_check_run(const char *name, struct err *err) KS_MUST_USE;
/* File names: the same, without "/". */
bool upload_name_check_file(const char *name, struct err *err) KS_MUST_USE;
/* Names of functions: as run names, up to 1000 bytes. */
bool upload_name_check_marker(const char *name, struct err *err) KS_MUST_USE;

#endif

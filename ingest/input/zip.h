/* Reads a zip archive as the tar archive that holds the same files, so that all who read the one
 * read the other:
 *
 *     [local header][deflated bytes]...[central directory]   ->   [tar header][bytes..pad]...
 *
 * Members that are stored, deflated or packed with zstd are undone. A member of another kind, or an
 * encrypted one, is passed on as it lies there: no format knows it.
 * Without a directory (an archive cut short) the headers in front of the members are followed.
 * Nothing is written to disk; the limits hold for the whole archive, however members overlap. */
#ifndef KS_INPUT_ZIP_H
#define KS_INPUT_ZIP_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/input/input.h"

#include <stdbool.h>
#include <stddef.h>

/* More are left out. */
#define ZIP_MEMBERS_MAX 100000u

/* Whether the bytes begin an archive with at least one file. */
bool zip_recognises(const char *bytes, size_t len);

struct zip;

/* Opens the archive at `path`, and *out on the bytes of the tar archive. Close *out, then the zip.
 * ERR_IO, ERR_NO_MEMORY; ERR_BAD_INPUT: no member; reading *out: ERR_TOO_LARGE beyond a limit. */
bool zip_open(struct zip **zip,
              struct input **out,
              const char *path,
              const struct input_limits *limits,
              struct err *err) KS_MUST_USE;
void zip_close(struct zip *zip); /* NULL is allowed */

#endif

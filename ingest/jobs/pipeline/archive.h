/* Reads an archive member by member. */
#ifndef KS_JOBS_PIPELINE_ARCHIVE_H
#define KS_JOBS_PIPELINE_ARCHIVE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/input/input.h"
#include "ingest/jobs/pipeline/file.h"

#include <stdbool.h>

/* Whether the input, of which nothing was read yet, is an archive (tar, zip). Errors: those of
 * input_next. */
bool pipeline_is_archive(struct input *in, bool *is_archive, struct err *err) KS_MUST_USE;
/* Reads the archive at `path` twice: first the names, because which worker a member is depends on
 * all of them. Closes `in`, which is opened on the same file. */
bool pipeline_archive(const struct pipeline_way *way,
                      struct input *in,
                      const char *path,
                      struct err *err) KS_MUST_USE;
/* Opens the file at `path`, or, where that is an archive, its member that is this worker, and calls
 * `read` once; the input is closed behind it. ERR_NOT_FOUND: no such member; errors of `read`. */
bool pipeline_read_worker(const char *path,
                          const char *worker,
                          const struct input_limits *limits,
                          bool (*read)(void *context, struct input *in, struct err *err),
                          void *context,
                          struct err *err) KS_MUST_USE;

#endif

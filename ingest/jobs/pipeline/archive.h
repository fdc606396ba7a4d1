/* An archive through the pipeline, member by member. */
#ifndef KS_JOBS_PIPELINE_ARCHIVE_H
#define KS_JOBS_PIPELINE_ARCHIVE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/input/input.h"
#include "ingest/jobs/pipeline/file.h"

#include <stdbool.h>

/* Whether the input, of which nothing was taken, is an archive. Errors: those of input_next. */
bool pipeline_is_archive(struct input *in, bool *is_archive, struct err *err) KS_MUST_USE;
/* Reads the file twice: names first, because which worker a member is depends on all of them. `in`
 * is of the file at `path` and will be closed. */
bool pipeline_archive(const struct pipeline_way *way,
                      struct input *in,
                      const char *path,
                      struct err *err) KS_MUST_USE;

#endif

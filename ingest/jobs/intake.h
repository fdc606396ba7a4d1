/* The sink that puts what the pipeline hands on into the store. */
#ifndef KS_JOBS_INTAKE_H
#define KS_JOBS_INTAKE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/jobs/internal.h"

#include <stdbool.h>
#include <stdint.h>

/* Of more members that could not be read, the number alone is kept. */
#define INTAKE_FAILURES_MAX 1000u

/* Reads the raw file at `path` into the store and publishes its traces, or none on false. *events
 * counts those of all traces. What of an archive could not be read stays with the job. A member
 * that does not fit into the job's grant ends the whole with ERR_TOO_LARGE, unless the grant is all
 * of the budget. */
bool intake_run(struct jobs *jobs,
                struct job *job,
                const char *path,
                uint64_t *events,
                struct err *err) KS_MUST_USE;

#endif

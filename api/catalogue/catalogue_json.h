/* Runs, traces and jobs as JSON objects of /api/v1. */
#ifndef KS_API_CATALOGUE_CATALOGUE_JSON_H
#define KS_API_CATALOGUE_CATALOGUE_JSON_H

#include "api/call.h"
#include "ingest/base/text/json_write.h"

#include <stddef.h>
#include <stdint.h>

bool catalogue_json_trace(struct json_write *w,
                          const struct api_call *call,
                          const struct store_trace *trace,
                          struct err *err) KS_MUST_USE;
/* Writes the members of a run into an open object. */
void catalogue_json_run_members(struct json_write *w,
                                struct arena *arena,
                                const struct api *api,
                                const struct store_run *run);
void catalogue_json_job(struct json_write *w, const struct api *api, const struct jobs_status *job);
/* Writes the failed members of the archive `file_name`, as items of an open array. */
void catalogue_json_failures(struct json_write *w,
                             const char *file_name,
                             const struct store_job_failure *failures,
                             size_t count);
/* Reads traces by id and writes them as items of an open array. */
bool catalogue_json_traces(struct json_write *w,
                           struct api_call *call,
                           const int64_t *ids,
                           size_t count,
                           struct err *err) KS_MUST_USE;
/* "2026-01-31T12:00:00Z" */
void catalogue_json_time(struct json_write *w, const char *key, int64_t unix_s);

#endif

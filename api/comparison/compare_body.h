/* The body of POST /api/v1/comparisons: which traces to compare. */
#ifndef KS_API_COMPARISON_COMPARE_BODY_H
#define KS_API_COMPARISON_COMPARE_BODY_H

#include "api/call.h"
#include "ingest/query/compare/compare_query.h"

#include <stdbool.h>

/* Reads the body into the arena of the answer. Replaces a run by the ids of its traces that have
 * cycles. Errors of json_body_read; ERR_BAD_REQUEST says which member is wrong; ERR_NOT_FOUND: an
 * unknown run. The comparison itself checks that trace ids exist. */
bool compare_body_read(struct query_compare_request *request,
                       struct api_call *call,
                       struct err *err) KS_MUST_USE;

#endif

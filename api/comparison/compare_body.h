/* The body of POST /api/v1/comparisons: which traces to compare. */
#ifndef KS_API_COMPARISON_COMPARE_BODY_H
#define KS_API_COMPARISON_COMPARE_BODY_H

#include "api/call.h"
#include "ingest/query/compare/compare_query.h"

#include <stdbool.h>

/* Everything in the arena of the answer. Runs become the ids of those of their traces that have
 * cycles. Errors: those of json_body_read; ERR_BAD_REQUEST says which member is wrong;
 * ERR_NOT_FOUND for an unknown run. Whether a trace of a given id exists is for the comparison to
 * say. */
bool compare_body_read(struct query_compare_request *request,
                       struct api_call *call,
                       struct err *err) KS_MUST_USE;

#endif

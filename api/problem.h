/* Errors as application/problem+json (RFC 9457). */
#ifndef KS_API_PROBLEM_H
#define KS_API_PROBLEM_H

#include "ingest/base/err.h"
#include "ingest/base/text/json_write.h"

/* Writes the members type, title, status, detail, code and, if known, byte_offset into an open
 * object. */
void problem_members(struct json_write *w, const struct err *err);

/* What Retry-After says, in seconds: not to all clients that are refused at once the same, so that
 * they do not all come back at once. */
const char *problem_retry_after(void);

#endif

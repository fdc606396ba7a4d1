/* Audit log: one line per change at level info, whatever the texts in it. Reads are not recorded
 * (level debug logs every request). */
#ifndef KS_SERVER_AUTH_AUDIT_H
#define KS_SERVER_AUTH_AUDIT_H

#include "api/api.h"
#include "ingest/base/log.h"
#include "server/http/http_request.h"

#include <stdbool.h>

/* Call it after the answer. `action`: "upload", "delete", "log in", "refused" ...; `path` is below
 * the base path, as received. */
void audit(const struct log *log,
           const struct api_subject *subject,
           const char *client,
           const char *action,
           const struct http_request *req,
           const char *path);
/* Logs, once each time, that an address presented too many wrong tokens. */
void audit_stopped(const struct log *log, const char *client, bool stopped);

#endif

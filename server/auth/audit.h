/* The record of who did what: one line each at level info, whatever the texts in it. Reading is not
 * recorded (level debug has every request). */
#ifndef KS_SERVER_AUTH_AUDIT_H
#define KS_SERVER_AUTH_AUDIT_H

#include "api/api.h"
#include "ingest/base/log.h"
#include "server/http/http_request.h"

#include <stdbool.h>

/* After the answer. `action`: "upload", "delete", "log in", "refused" ...; `path` below the base
 * path, as it came. */
void audit(const struct log *log,
           const struct api_subject *subject,
           const char *client,
           const char *action,
           const struct http_request *req,
           const char *path);
/* That an address was wrong too often, once each time that it happens. */
void audit_stopped(const struct log *log, const char *client, bool stopped);

#endif

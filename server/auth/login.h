/* Logging in and out with a browser: a small page of its own that needs no script. */
#ifndef KS_SERVER_AUTH_LOGIN_H
#define KS_SERVER_AUTH_LOGIN_H

#include "api/api.h"
#include "server/auth/access.h"
#include "server/http/http_request.h"
#include "server/request_guard.h"

#include <stdbool.h>

/* Whether the path is /login or /logout, below the base path. */
bool login_owns_path(const char *path);
/* Answers it. Failures count for the address `client`; `subject` is the request's subject. */
void login_answer(const struct request_guard *guard,
                  struct http_request *req,
                  const char *path,
                  const char *query,
                  const char *client,
                  const struct api_subject *subject);
/* Redirects a browser to the log-in page, which leads back to `path` (below the base path) and
 * `query` afterwards. */
void login_redirect(const struct request_guard *guard,
                    struct http_request *req,
                    const char *path,
                    const char *query);

#endif

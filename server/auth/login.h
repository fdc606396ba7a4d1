/* Logging in and out with a browser: a small page of its own, which needs no script. */
#ifndef KS_SERVER_AUTH_LOGIN_H
#define KS_SERVER_AUTH_LOGIN_H

#include "api/api.h"
#include "server/auth/access.h"
#include "server/http/http_request.h"
#include "server/request_guard.h"

#include <stdbool.h>

/* /login and /logout, below the base path. */
bool login_owns_path(const char *path);
/* `client` is the address to whom failures are put down; `subject` who the request shows to be. */
void login_answer(const struct request_guard *guard,
                  struct http_request *req,
                  const char *path,
                  const char *query,
                  const char *client,
                  const struct api_subject *subject);
/* Sends a browser to the page, from which it comes back to `path` (below the base path) and query
 * once it has logged in. */
void login_redirect(const struct request_guard *guard,
                    struct http_request *req,
                    const char *path,
                    const char *query);

#endif

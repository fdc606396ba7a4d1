/* Who may do what: tokens by role. The token file has one `role name sha256-of-token` a line, "#"
 * begins a comment; only hashes are kept. */
#ifndef KS_SERVER_ACCESS_H
#define KS_SERVER_ACCESS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>

struct access;

/* Each role may do what those before it may. */
enum access_role {
    ACCESS_NOBODY,
    ACCESS_VIEWER,   /* reads */
    ACCESS_UPLOADER, /* uploads, sets tags and notes */
    ACCESS_ADMIN,    /* deletes */
};
const char *access_role_text(enum access_role role);

/* Reads a token file. Errors (ERR_BAD_INPUT, ERR_IO) name the line. */
bool access_load(struct access **out, const char *path, struct err *err) KS_MUST_USE;
void access_free(struct access *access); /* NULL is allowed */

/* Whether the bearer of this Authorization header (NULL: none sent) has at least this role.
 * Otherwise ERR_UNAUTHORIZED (no token or an unknown one) or ERR_FORBIDDEN. A NULL access lets
 * everyone do everything. Beside "Bearer <token>" the token is taken as the password of "Basic":
 * that is how a browser asks for it. */
bool access_check(const struct access *access,
                  const char *authorization,
                  enum access_role needed,
                  struct err *err) KS_MUST_USE;

#endif

/* Extracts what identifies a request: a token in Authorization, or the cookie of a session. */
#ifndef KS_SERVER_AUTH_CREDENTIALS_H
#define KS_SERVER_AUTH_CREDENTIALS_H

#include "ingest/base/attr.h"

#include <stdbool.h>

#define CREDENTIALS_MAX_BYTES 4096
#define CREDENTIALS_COOKIE "kinetoscope_session"

/* The token of "Bearer TOKEN", or the password of "Basic", for `curl -u :TOKEN` and tools that know
 * nothing else. False for a header that is absent (NULL) or has none. */
bool credentials_token(const char *authorization, char token[CREDENTIALS_MAX_BYTES]) KS_MUST_USE;
/* The value of our cookie in a Cookie header (NULL: none). */
bool credentials_session(const char *cookie, char session[CREDENTIALS_MAX_BYTES]) KS_MUST_USE;

#endif

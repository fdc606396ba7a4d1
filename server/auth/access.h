/* Access: identifies the subject of a request by tokens (of a file and of the store) and by
 * sessions of browsers that logged in with one. Thread-safe.
 *
 * Until the first token exists, a server on loopback, or one with --allow-anonymous, asks for none:
 * everyone may do everything. From then on it asks. A request without token is anonymous; with
 * --allow-anonymous it is a viewer of the runs without project. Revoking the last token opens
 * nothing.
 *
 * Token file and store are read again when they may have changed: at once after a change by this
 * process, within a quarter of a second after a change by another, and for a token that is unknown.
 * Wrong tokens are counted together with the other servers of the catalogue (wrong_tokens.h). */
#ifndef KS_SERVER_AUTH_ACCESS_H
#define KS_SERVER_AUTH_ACCESS_H

#include "api/api.h"
#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/log.h"
#include "ingest/base/secret.h"

#include <stdbool.h>

struct access;

struct access_options {
    const char *token_file; /* NULL: none */
    struct store *store;    /* NULL: only the file's tokens, no sessions */
    bool allow_anonymous;
    bool on_loopback;
    const struct log *log;
};

/* Errors: those of token_file.h and of the store. */
bool access_create(struct access **out,
                   const struct access_options *options,
                   struct err *err) KS_MUST_USE;
void access_free(struct access *access); /* NULL is allowed */
/* Whether a token exists or ever existed. */
bool access_has_tokens(struct access *access);
/* Reads the file again now. A broken file leaves the tokens as they were and is logged, as is any
 * broken file found later. */
void access_reload(struct access *access);

/* What a request presents. */
struct access_claim {
    const char *client;        /* address */
    const char *authorization; /* header or NULL */
    const char *cookie;        /* header or NULL */
};

/* The subject of a request, valid until access_leave. */
struct access_visit {
    struct api_subject subject;
    struct access_tokens *tokens; /* owner of the subject's texts */
    bool is_unsaid;               /* the store has not said for a while which are valid */
};

/* Identifies the subject. ERR_UNAUTHORIZED: an unknown token; ERR_TOO_MANY: too many wrong tokens
 * from this address (sessions, and tokens that the program made, still work: nobody can guess
 * them); ERR_UNAVAILABLE: the store does not answer, and nobody else knows the token or session
 * (those known before pass for a minute). *stopped is set when this very failure was one too many.
 * A request that presents nothing, or an expired session, is anonymous: no error. A NULL access
 * allows everything. */
bool access_enter(struct access *access,
                  const struct access_claim *claim,
                  struct access_visit *visit,
                  bool *stopped,
                  struct err *err) KS_MUST_USE;
/* Checks the role: ERR_UNAUTHORIZED for an anonymous subject, else ERR_FORBIDDEN. */
bool access_check(const struct api_subject *subject,
                  enum access_role needed,
                  struct err *err) KS_MUST_USE;
/* Call it after each access_enter, also after one that failed. */
void access_leave(struct access *access, struct access_visit *visit);

#define ACCESS_SESSION_S INT64_C(2592000) /* 30 days */

/* Begins a session for a token; `secret` is the value of its cookie. Visit and errors as in
 * access_enter. */
bool access_log_in(struct access *access,
                   const char *client,
                   const char *token,
                   char secret[SECRET_BYTES],
                   struct access_visit *visit,
                   bool *stopped,
                   struct err *err) KS_MUST_USE;
/* Ends the session that this Cookie header names, if any. */
bool access_log_out(struct access *access, const char *cookie, struct err *err) KS_MUST_USE;

#endif

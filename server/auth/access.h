/* Who asks, and what he may: tokens of a file and of the store, and the sessions of browsers that
 * logged in with one. Thread-safe.
 *
 * As long as there has never been a token, a server on loopback, or one that was started with
 * --allow-anonymous, asks for none: everyone may do everything. As soon as there is one, it asks;
 * who shows none is nobody, or with --allow-anonymous a viewer of the runs that belong to no
 * project. That the last token was revoked opens nothing.
 *
 * The file and the store's tokens are looked at again when they may have changed: at once after a
 * change by this process, within a quarter of a second after one by another.
 */
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
    struct store *store;    /* NULL: only the file's tokens, and no sessions */
    bool allow_anonymous;
    bool on_loopback;
    const struct log *log;
};

/* Errors: those of the file (token_file.h) and of the store. */
bool access_create(struct access **out,
                   const struct access_options *options,
                   struct err *err) KS_MUST_USE;
void access_free(struct access *access); /* NULL is allowed */
/* Whether there is, or ever was, a token. */
bool access_has_tokens(struct access *access);
/* Reads the file again now. One that is broken keeps the tokens that were read before, and is
 * complained of in the log, as it is whenever a changed one is found. */
void access_reload(struct access *access);

/* What a request shows. */
struct access_claim {
    const char *client;        /* address */
    const char *authorization; /* header or NULL */
    const char *cookie;        /* header or NULL */
};

/* Who it is: `subject` is good until access_leave. */
struct access_visit {
    struct api_subject subject;
    struct access_tokens *tokens; /* what the subject's texts belong to */
};

/* ERR_UNAUTHORIZED for a token that is not known, ERR_TOO_MANY when this address was wrong too
 * often (sessions and tokens that were made here, which nobody can guess, are taken all the same).
 * *stopped is then whether it was this failure that was one too many. Who shows nothing, or a
 * session that is over, is nobody: no error. A NULL access lets everyone do everything. */
bool access_enter(struct access *access,
                  const struct access_claim *claim,
                  struct access_visit *visit,
                  bool *stopped,
                  struct err *err) KS_MUST_USE;
/* Whether the subject has this role: else ERR_UNAUTHORIZED for one without a token, or
 * ERR_FORBIDDEN. */
bool access_check(const struct api_subject *subject,
                  enum access_role needed,
                  struct err *err) KS_MUST_USE;
/* After each access_enter, also one that failed. */
void access_leave(struct access *access, struct access_visit *visit);

#define ACCESS_SESSION_S INT64_C(2592000) /* 30 days */

/* Begins a session for a token; `secret` is what the cookie holds. The visit is as after
 * access_enter, and so are the errors. */
bool access_log_in(struct access *access,
                   const char *client,
                   const char *token,
                   char secret[SECRET_BYTES],
                   struct access_visit *visit,
                   bool *stopped,
                   struct err *err) KS_MUST_USE;
/* Ends the session of this Cookie header, if it names one. */
bool access_log_out(struct access *access, const char *cookie, struct err *err) KS_MUST_USE;

#endif

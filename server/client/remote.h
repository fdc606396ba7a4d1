/* Asks another Kinetoscope server: uploads files, posts JSON. */
#ifndef KS_SERVER_CLIENT_REMOTE_H
#define KS_SERVER_CLIENT_REMOTE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/base/text/buf.h"

#include <stddef.h>
#include <stdint.h>

#define REMOTE_ANSWER_MAX_BYTES ((size_t)64 << 20)

struct remote {
    const char *url;   /* without a slash at its end */
    const char *token; /* NULL: none */
    unsigned retries;  /* of an upload, after pauses of 1, 2, 4 ... 30 s, or longer ones that the
                         server asks for (Retry-After, 600 s at most) */
};

/* Sends `json` (NULL: nothing) and appends what the server answers to `answer`. ERR_UNAVAILABLE: it
 * cannot be reached, or has too much to do; ERR_BAD_REQUEST: it refuses the request; ERR_FORBIDDEN:
 * it refuses for any other reason. The message has the server's words. */
bool remote_ask(const struct remote *remote,
                const char *method,
                const char *path,
                const char *json,
                struct buf *answer,
                struct err *err) KS_MUST_USE;

struct remote_upload {
    const char *run;
    const char *path;
    const char *name;        /* of the file, for the server */
    const char *project;     /* of a new run; NULL: none */
    int64_t rank;            /* STORE_NO_RANK: what file or name say */
    const char *const *tags; /* for the run, beside those that it has */
    size_t tag_count;
};

/* Uploads a file, packed on the way when it is a large text, and tries again while the server
 * cannot be reached. `url`: the address of its first trace, in the arena. Errors of remote_ask,
 * ERR_IO. */
bool remote_put(const struct remote *remote,
                struct arena *arena,
                const struct remote_upload *upload,
                const char **url,
                struct err *err) KS_MUST_USE;

#endif

/* Response cache: answers as they were sent, compressed, so that the next reader gets them without
 * any work. They hold for one version of the data: the first answer of a newer version empties the
 * cache. When memory is used up, the least recently used answer goes. Thread-safe.
 *
 *     access decided -> kept_take -- hit --> send, kept_give_back
 *                          `- miss --> make, send, kept_put */
#ifndef KS_SERVER_HTTP_KEPT_H
#define KS_SERVER_HTTP_KEPT_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kept;

struct kept_key {
    /* Everything besides the URL that decides what the reader may see: equal texts may see the
     * same. */
    const char *reader;
    const char *path; /* path and query as received */
    const char *query;
    bool packed; /* gzip where it pays */
};

/* An answer with status 200. */
struct kept_answer {
    const char *etag; /* with quotes */
    /* Complete header lines, those about the content last: a 304 sends only the first ones. */
    const char *lines;
    size_t lines_len;
    size_t content_lines_at;
    const void *bytes;
    size_t len;
};

/* Caches at most `max_bytes` in all and a sixteenth of it per answer. */
bool kept_create(struct kept **out, uint64_t max_bytes, struct err *err) KS_MUST_USE;
/* Call it after every answer was given back. NULL is allowed. */
void kept_free(struct kept *kept);

/* Finds the answer for this version of the data, or NULL. Give it back when it is sent. */
const struct kept_answer *
kept_take(struct kept *kept, const struct kept_key *key, uint64_t version) KS_MUST_USE;
void kept_give_back(struct kept *kept, const struct kept_answer *answer);
/* Copies the answer into the cache if there is room. `version` is that from before the answer was
 * made. */
void kept_put(struct kept *kept,
              const struct kept_key *key,
              uint64_t version,
              const struct kept_answer *answer);
/* Bytes in use, with all overhead. */
uint64_t kept_bytes(struct kept *kept);

#endif

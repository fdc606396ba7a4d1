/* Response cache: answers as they were sent, compressed, so that the next reader gets them without
 * any work. They hold for one version of the data: the first answer of a newer version empties the
 * cache. When memory is used up, the least recently used answer goes. Thread-safe.
 *
 *     access decided -> response_cache_acquire -- hit --> send, response_cache_release
 *                          `- miss --> make, send, response_cache_put */
#ifndef KS_SERVER_HTTP_RESPONSE_CACHE_H
#define KS_SERVER_HTTP_RESPONSE_CACHE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct response_cache;

struct response_cache_key {
    /* Everything besides the URL that decides what the reader may see: equal texts may see the
     * same. */
    const char *reader;
    const char *path; /* path and query as received */
    const char *query;
    bool gzipped; /* gzip where it pays */
};

/* An answer with status 200. */
struct cached_response {
    const char *etag; /* with quotes */
    /* Complete header lines, those about the content last: a 304 sends only the first ones. */
    const char *lines;
    size_t lines_len;
    size_t content_lines_at;
    const void *bytes;
    size_t len;
};

/* Caches at most `max_bytes` in all and a sixteenth of it per answer. */
bool response_cache_create(struct response_cache **out,
                           uint64_t max_bytes,
                           struct err *err) KS_MUST_USE;
/* Call it after every answer was given back. NULL is allowed. */
void response_cache_free(struct response_cache *cache);

/* Finds the answer for this version of the data, or NULL. Give it back when it is sent. */
const struct cached_response *response_cache_acquire(struct response_cache *cache,
                                                     const struct response_cache_key *key,
                                                     uint64_t version) KS_MUST_USE;
void response_cache_release(struct response_cache *cache, const struct cached_response *answer);
/* Copies the answer into the cache if there is room. `version` is that from before the answer was
 * made. */
void response_cache_put(struct response_cache *cache,
                        const struct response_cache_key *key,
                        uint64_t version,
                        const struct cached_response *answer);
/* Bytes in use, with all overhead. */
uint64_t response_cache_bytes(struct response_cache *cache);

#endif

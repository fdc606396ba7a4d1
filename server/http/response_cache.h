/* Answers that are kept as they went out, compressed form included, so that the next one who asks
 * gets them without any work. They hold while the data has the same version: the first answer of a
 * newer one empties the whole. What was used longest ago goes first when the memory is used up.
 * Thread-safe.
 *
 *     access decided -> response_cache_acquire -- there --> sent, response_cache_release
 *                          `- not there --> made, sent, response_cache_put
 */
#ifndef KS_SERVER_HTTP_RESPONSE_CACHE_H
#define KS_SERVER_HTTP_RESPONSE_CACHE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct response_cache;

struct response_cache_key {
    /* All that the data shown depends on beside the URL: two askers of the same text may read the
     * same. */
    const char *reader;
    const char *path; /* and query, as they came */
    const char *query;
    bool gzipped; /* in gzip where that pays */
};

/* An answer with status 200. */
struct cached_response {
    const char *etag; /* with quotes */
    /* Whole lines of the head, those of the content last: a 304 has only the first ones. */
    const char *lines;
    size_t lines_len;
    size_t content_lines_at;
    const void *bytes;
    size_t len;
};

/* Nothing is kept beyond `max_bytes` in all or a sixteenth of it each. */
bool response_cache_create(struct response_cache **out,
                           uint64_t max_bytes,
                           struct err *err) KS_MUST_USE;
/* After every answer was given back. NULL is allowed. */
void response_cache_free(struct response_cache *cache);

/* NULL when there is none for this version of the data. Given back once it is sent. */
const struct cached_response *response_cache_acquire(struct response_cache *cache,
                                                     const struct response_cache_key *key,
                                                     uint64_t version) KS_MUST_USE;
void response_cache_release(struct response_cache *cache, const struct cached_response *answer);
/* Copies the answer, if there is room for it. `version` is that of before it was made. */
void response_cache_put(struct response_cache *cache,
                        const struct response_cache_key *key,
                        uint64_t version,
                        const struct cached_response *answer);
/* What is kept, in bytes with all that belongs to it. */
uint64_t response_cache_bytes(struct response_cache *cache);

#endif

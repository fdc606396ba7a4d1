/* Answers that are kept as they went out, compressed form included, so that the next one who asks
 * gets them without any work. They hold while the data has the same version: the first answer of a
 * newer one empties the whole. What was used longest ago goes first when the memory is used up.
 * Thread-safe.
 *
 *     access decided -> kept_take -- there --> sent, kept_give_back
 *                          `- not there --> made, sent, kept_put
 */
#ifndef KS_SERVER_HTTP_KEPT_H
#define KS_SERVER_HTTP_KEPT_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kept;

struct kept_key {
    /* All that the data shown depends on beside the URL: two askers of the same text may read the
     * same. */
    const char *reader;
    const char *path; /* and query, as they came */
    const char *query;
    bool packed; /* in gzip where that pays */
};

/* An answer with status 200. */
struct kept_answer {
    const char *etag; /* with quotes */
    /* Whole lines of the head, those of the content last: a 304 has only the first ones. */
    const char *lines;
    size_t lines_len;
    size_t content_lines_at;
    const void *bytes;
    size_t len;
};

/* Nothing is kept beyond `max_bytes` in all or a sixteenth of it each. */
bool kept_create(struct kept **out, uint64_t max_bytes, struct err *err) KS_MUST_USE;
/* After every answer was given back. NULL is allowed. */
void kept_free(struct kept *kept);

/* NULL when there is none for this version of the data. Given back once it is sent. */
const struct kept_answer *
kept_take(struct kept *kept, const struct kept_key *key, uint64_t version) KS_MUST_USE;
void kept_give_back(struct kept *kept, const struct kept_answer *answer);
/* Copies the answer, if there is room for it. `version` is that of before it was made. */
void kept_put(struct kept *kept,
              const struct kept_key *key,
              uint64_t version,
              const struct kept_answer *answer);
/* What is kept, in bytes with all that belongs to it. */
uint64_t kept_bytes(struct kept *kept);

#endif

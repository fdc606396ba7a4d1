/* What request headers ask for: encodings, versions, ranges (RFC 9110). Pure functions; a NULL
 * header is one that was not sent. */
#ifndef KS_SERVER_HTTP_NEGOTIATE_H
#define KS_SERVER_HTTP_NEGOTIATE_H

#include <stdbool.h>
#include <stdint.h>

/* Accept-Encoding: whether gzip is acceptable and not less wanted than no encoding. */
bool negotiate_gzip(const char *accept_encoding);
/* If-None-Match: whether one of its tags is `etag` (weak comparison), or it is "*". */
bool negotiate_etag_matches(const char *if_none_match, const char *etag);
/* Accept: whether the client is a browser that shows a page. */
bool negotiate_html(const char *accept);
/* Whether a header value that is a comma-separated list of words holds this word. */
bool negotiate_has_word(const char *list, const char *word);

enum negotiate_range { RANGE_WHOLE, RANGE_PART, RANGE_OUTSIDE };
/* Range over `size` bytes: for RANGE_PART the first byte and the length. What is no single byte
 * range (several, another unit, nonsense) is RANGE_WHOLE, as if it had not been asked. */
enum negotiate_range
negotiate_range(const char *range, uint64_t size_bytes, uint64_t *first, uint64_t *len_bytes);

#endif

/* Parses what request headers ask for: encodings, versions, ranges (RFC 9110). Pure functions; NULL
 * means that the header was not sent. */
#ifndef KS_SERVER_HTTP_NEGOTIATE_H
#define KS_SERVER_HTTP_NEGOTIATE_H

#include <stdbool.h>
#include <stdint.h>

/* Accept-Encoding: whether gzip is acceptable and not less preferred than no encoding. */
bool negotiate_gzip(const char *accept_encoding);
/* If-None-Match: whether one of its tags is `etag` (weak comparison), or it is "*". */
bool negotiate_etag_matches(const char *if_none_match, const char *etag);
/* Accept: whether the client is a browser that wants a page. */
bool negotiate_html(const char *accept);
/* Whether a comma-separated header value contains this word. */
bool negotiate_has_word(const char *list, const char *word);

enum negotiate_range { RANGE_WHOLE, RANGE_PART, RANGE_OUTSIDE };
/* Range over `size` bytes; RANGE_PART sets the first byte and the length. Anything but a single
 * byte range (several ranges, another unit, nonsense) is RANGE_WHOLE, as if the header were absent.
 */
enum negotiate_range
negotiate_range(const char *range, uint64_t size_bytes, uint64_t *first, uint64_t *len_bytes);

#endif

/* UTF-8, one character at a time. */
#ifndef KS_BASE_TEXT_UTF8_H
#define KS_BASE_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_INVALID UINT32_MAX
#define UTF8_REPLACEMENT 0xFFFDU

/* Decodes the character that `text` begins with (`len` at least 1); returns its length in bytes.
 * Invalid bytes give UTF8_INVALID and the length that one U+FFFD replaces (Unicode's maximal
 * subpart). */
size_t utf8_decode(const char *text, size_t len, uint32_t *code_point);
/* Whether all of the text is UTF-8. */
bool utf8_is_valid(const char *text, size_t len);
/* The first byte in [at, end) that is not ASCII, or `end`. */
const char *utf8_skip_ascii(const char *at, const char *end);
/* `len`, or less if the text ends inside a character. */
size_t utf8_cut(const char *text, size_t len);

#endif

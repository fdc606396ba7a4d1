#include "ingest/store/events/search/text_match.h"

#include "ingest/base/order.h"
#include "ingest/store/events/documents/json_string.h"

#include <string.h>

#define QUERY_MAX_BYTES 1000
#define WORD_BITS 64u
/* Behind the point; int64 has no more. */
#define DIGITS_MAX 19

/* ---- what is searched for ---- */

/* Lower case; a NUL, which would end the search, is a space. Written so that compilers make vector
 * code of it. */
static void fold(char *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        unsigned char upper = (unsigned char)(c - 'A') < 26;
        c = (unsigned char)(c | upper << 5);
        out[i] = (char)(c == 0 ? ' ' : c);
    }
}

/* Appends the text in lower case; nothing without memory. */
static void append_folded(struct buf *out, const char *text, size_t len)
{
    if (out->cap - out->len <= len && buf_reserve(out, len + out->cap + 1) == NULL) {
        return;
    }
    fold(out->ptr + out->len, text, len);
    out->len += len;
    out->ptr[out->len] = '\0';
}

static bool is_plain(const char *q)
{
    for (; *q != '\0'; q++) {
        if (*q == '"' || *q == '\\' || (unsigned char)*q < ' ') {
            return false;
        }
    }
    return true;
}

/* Digits up to `end`, added to *value; false: too many. */
static bool add_digits(const char *at, const char *end, bool is_negative, int64_t *value)
{
    for (; at < end; at++) {
        int64_t digit = is_negative ? -(*at - '0') : *at - '0';
        int64_t room = is_negative ? INT64_MIN - digit : INT64_MAX - digit;
        if (is_negative ? *value < room / 10 : *value > room / 10) {
            return false;
        }
        *value = *value * 10 + digit;
    }
    return true;
}

static const char *skip_digits(const char *at)
{
    return at + strspn(at, "0123456789");
}

/* Only what the log has as numbers: an integer, or digits around a point, without surplus zeros. */
static bool read_number(const char *q, int64_t *number, int64_t *digits)
{
    bool is_negative = *q == '-';
    const char *whole = q + is_negative;
    const char *whole_end = skip_digits(whole);
    bool has_surplus_zero = *whole == '0' && (whole_end > whole + 1 || is_negative);
    *number = 0;
    *digits = 0;
    if (whole_end == whole || has_surplus_zero ||
        !add_digits(whole, whole_end, is_negative, number)) {
        return false;
    }
    if (*whole_end == '\0') {
        return true;
    }
    const char *fraction = whole_end + 1;
    const char *end = *whole_end == '.' ? skip_digits(fraction) : fraction;
    *digits = end - fraction;
    return *whole_end == '.' && *digits > 0 && *end == '\0' && *digits <= DIGITS_MAX &&
           add_digits(fraction, end, is_negative, number);
}

bool text_match_init(struct text_match *match, const char *q, struct err *err)
{
    size_t len = strlen(q);
    *match = (struct text_match){.q = q};
    buf_init(&match->needle, SIZE_MAX / 4);
    buf_init(&match->haystack, SIZE_MAX / 4);
    if (len > QUERY_MAX_BYTES) {
        return err_set(err, ERR_BAD_REQUEST,
                       "the search text has %zu bytes; at most %d are allowed", len,
                       QUERY_MAX_BYTES);
    }
    append_folded(&match->needle, q, len);
    match->is_plain = is_plain(q);
    match->is_number = read_number(q, &match->number, &match->digits);
    return true;
}

void text_match_free(struct text_match *match)
{
    buf_free(&match->needle);
    buf_free(&match->haystack);
}

bool text_match_failed(const struct text_match *match)
{
    return match->needle.failed || match->haystack.failed;
}

/* ---- one text ---- */

static bool is_number_text(const char *json, size_t len)
{
    return len > 0 && (json[0] == '-' || (json[0] >= '0' && json[0] <= '9'));
}

bool text_match_test(struct text_match *match, const char *json, size_t len)
{
    struct buf *haystack = &match->haystack;
    if (is_number_text(json, len)) {
        return strlen(match->q) == len && memcmp(match->q, json, len) == 0;
    }
    buf_clear(haystack);
    if (json_is_string(json, len) && memchr(json, '\\', len) != NULL) {
        char *decoded = buf_reserve(haystack, len);
        size_t decoded_len = decoded == NULL ? 0 : json_string_decode(decoded, json, len);
        if (decoded != NULL) {
            fold(decoded, decoded, decoded_len);
            decoded[decoded_len] = '\0';
        }
    } else if (json_is_string(json, len)) {
        append_folded(haystack, json + 1, len - 2);
    } else {
        append_folded(haystack, json, len);
    }
    return !text_match_failed(match) && strstr(haystack->ptr, match->needle.ptr) != NULL;
}

/* ---- a segment ---- */

static void set_bit(uint64_t *bits, uint32_t id, bool value)
{
    uint64_t bit = (uint64_t)1 << id % WORD_BITS;
    bits[id / WORD_BITS] = value ? bits[id / WORD_BITS] | bit : bits[id / WORD_BITS] & ~bit;
}

/* The text whose line begins at or before `at`, a place among lines of which each is a byte longer
 * than its text. */
static uint32_t line_at(const struct text_segment *segment, size_t at)
{
    size_t low = 0;
    ORDER_SEARCH(low, segment->count - 1, middle, (size_t)segment->ends[middle] + middle < at);
    return (uint32_t)low;
}

/* All texts as lines, looked through at once. */
static void
search_lines(struct text_match *match, const struct text_segment *segment, uint64_t *bits)
{
    struct buf *lines = &match->haystack;
    buf_clear(lines);
    for (uint32_t i = 0; i < segment->count; i++) {
        struct json_slice text = text_segment_text(segment, segment->first_id + i);
        append_folded(lines, text.text, text.len);
        append_folded(lines, "\n", 1);
    }
    if (text_match_failed(match)) {
        return;
    }
    const char *at = lines->ptr;
    const char *end = lines->ptr + lines->len;
    while (at < end && (at = strstr(at, match->needle.ptr)) != NULL && at < end) {
        uint32_t line = line_at(segment, (size_t)(at - lines->ptr));
        struct json_slice text = text_segment_text(segment, segment->first_id + line);
        bool matches = !is_number_text(text.text, text.len) ||
                       (strlen(match->q) == text.len && memcmp(match->q, text.text, text.len) == 0);
        set_bit(bits, segment->first_id + line, matches);
        at = lines->ptr + segment->ends[line] + line + 1;
    }
}

/* The texts that have an escape, one by one: what is found in them as they are means nothing. */
static void
search_escaped(struct text_match *match, const struct text_segment *segment, uint64_t *bits)
{
    for (uint32_t i = 0; i < segment->count; i++) {
        uint32_t id = segment->first_id + i;
        struct json_slice text = text_segment_text(segment, id);
        size_t left = segment->ends[segment->count - 1] - (size_t)(text.text - segment->bytes);
        const char *next = memchr(text.text, '\\', left);
        if (next == NULL) {
            return;
        }
        while (next >= text.text + text.len) {
            text = text_segment_text(segment, ++id);
        }
        i = id - segment->first_id;
        set_bit(bits, id, text_match_test(match, text.text, text.len));
    }
}

void text_match_segment(struct text_match *match,
                        const struct text_segment *segment,
                        uint64_t *bits)
{
    if (segment->count == 0) {
        return;
    }
    if (match->is_plain) {
        search_lines(match, segment, bits);
        search_escaped(match, segment, bits);
        return;
    }
    for (uint32_t i = 0; i < segment->count; i++) {
        struct json_slice text = text_segment_text(segment, segment->first_id + i);
        set_bit(bits, segment->first_id + i, text_match_test(match, text.text, text.len));
    }
}

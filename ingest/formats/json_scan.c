#include "ingest/formats/json_scan.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* --- strings --- */

static inline bool is_special(char c)
{
    return c == '"' || c == '\\' || (unsigned char)c < 0x20;
}

const char *json_find_special_plain(const char *at, const char *end)
{
    while (at < end && !is_special(*at)) {
        at++;
    }
    return at;
}

#if defined(__SSE2__)
static inline const char *find_special(const char *at, const char *end)
{
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i last_control = _mm_set1_epi8(0x1F);
    for (; at < end; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes);
        __m128i either =
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash));
        unsigned mask = (unsigned)_mm_movemask_epi8(_mm_or_si128(control, either));
        if (mask != 0) {
            return at + __builtin_ctz(mask);
        }
    }
    return at;
}
#else
static inline const char *find_special(const char *at, const char *end)
{
    return json_find_special_plain(at, end);
}
#endif

const char *json_find_special(const char *at, const char *end)
{
    return find_special(at, end);
}

static bool is_hex(char c)
{
    char lower = (char)(c | 0x20);
    return json_is_digit(c) || (lower >= 'a' && lower <= 'f');
}

/* `at` is at a backslash. */
static enum json_status scan_escape(const char **at, const char *end)
{
    const char *p = *at + 1;
    if (p >= end) {
        return JSON_MORE;
    }
    if (*p != 'u') {
        if (*p == '\0' || strchr("\"\\/bfnrt", *p) == NULL) {
            return JSON_BAD;
        }
        *at = p + 1;
        return JSON_OK;
    }
    for (int i = 1; i <= 4; i++) {
        if (p + i >= end) {
            return JSON_MORE;
        }
        if (!is_hex(p[i])) {
            return JSON_BAD;
        }
    }
    *at = p + 5;
    return JSON_OK;
}

static inline enum json_status scan_string(struct json_scan *scan, struct json_value *value)
{
    const char *begin = scan->at + 1;
    const char *at = begin;
    unsigned flags = 0;
    for (;;) {
        at = find_special(at, scan->end);
        if (KS_UNLIKELY(at >= scan->end)) {
            return JSON_MORE;
        }
        if (KS_LIKELY(*at == '"')) {
            break;
        }
        if (*at == '\\') {
            flags |= JSON_ESCAPED;
            enum json_status status = scan_escape(&at, scan->end);
            if (status != JSON_OK) {
                scan->at = at;
                return status;
            }
            continue;
        }
        if (scan->control == NULL) {
            scan->control = at;
        }
        scan->control_values += (flags & JSON_CONTROL) == 0;
        flags |= JSON_CONTROL;
        at++;
    }
    value->ptr = begin;
    value->len = (uint32_t)(at - begin);
    value->kind = JSON_KIND_STRING;
    value->flags = (uint8_t)flags;
    scan->at = at + 1;
    return JSON_OK;
}

enum json_status json_scan_string(struct json_scan *scan, struct json_value *value)
{
    return scan_string(scan, value);
}

/* --- scalars --- */

static inline const char *skip_digits(const char *at, const char *end)
{
    while (at < end && json_is_digit(*at)) {
        at++;
    }
    return at;
}

static inline enum json_status digits_missing(struct json_scan *scan, const char *at)
{
    scan->at = at;
    return at >= scan->end ? JSON_MORE : JSON_BAD;
}

static inline enum json_status scan_number(struct json_scan *scan, struct json_value *value)
{
    const char *begin = scan->at;
    const char *digits = begin + (*begin == '-');
    const char *at = skip_digits(digits, scan->end);
    unsigned flags = 0;
    if (at == digits) {
        return digits_missing(scan, at);
    }
    if (at < scan->end && *at == '.') {
        flags = JSON_DECIMAL;
        digits = at + 1;
        at = skip_digits(digits, scan->end);
        if (at == digits) {
            return digits_missing(scan, at);
        }
    }
    if (at < scan->end && (*at == 'e' || *at == 'E')) {
        flags = JSON_DECIMAL;
        digits = at + 1;
        digits += digits < scan->end && (*digits == '-' || *digits == '+');
        at = skip_digits(digits, scan->end);
        if (at == digits) {
            return digits_missing(scan, at);
        }
    }
    if (at >= scan->end) {
        return JSON_MORE;
    }
    value->ptr = begin;
    value->len = (uint32_t)(at - begin);
    value->kind = JSON_KIND_NUMBER;
    value->flags = (uint8_t)flags;
    scan->at = at;
    return JSON_OK;
}

static enum json_status scan_word(struct json_scan *scan,
                                  struct json_value *value,
                                  const char *word,
                                  uint32_t len,
                                  enum json_kind kind)
{
    size_t left = (size_t)(scan->end - scan->at);
    if (memcmp(scan->at, word, left < len ? left : len) != 0) {
        return JSON_BAD;
    }
    if (left < len) {
        return JSON_MORE;
    }
    *value = (struct json_value){.ptr = scan->at, .len = len, .kind = (uint8_t)kind};
    scan->at += len;
    return JSON_OK;
}

/* Everything but arrays and objects. */
static inline enum json_status scan_scalar(struct json_scan *scan, struct json_value *value)
{
    switch (*scan->at) {
    case '"':
        return scan_string(scan, value);
    case 't':
        return scan_word(scan, value, "true", 4, JSON_KIND_TRUE);
    case 'f':
        return scan_word(scan, value, "false", 5, JSON_KIND_FALSE);
    case 'n':
        return scan_word(scan, value, "null", 4, JSON_KIND_NULL);
    default:
        return scan_number(scan, value);
    }
}

/* --- nesting --- */

struct nesting {
    uint64_t is_object[JSON_DEPTH_MAX / 64];
    uint32_t depth;
};

enum nesting_state { WANT_VALUE, WANT_VALUE_OR_END, WANT_KEY, WANT_KEY_OR_END, WANT_COMMA };

static inline bool push(uint64_t *is_object, uint32_t *depth, bool object)
{
    if (*depth == JSON_DEPTH_MAX) {
        return false;
    }
    uint64_t bit = (uint64_t)1 << (*depth % 64);
    uint64_t *word = &is_object[*depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    (*depth)++;
    return true;
}

/* Of what the innermost open bracket is; `depth` is at least 1. */
static inline bool inner_is_object(const uint64_t *is_object, uint32_t depth)
{
    return (is_object[(depth - 1) / 64] >> ((depth - 1) % 64) & 1) != 0;
}

static inline enum json_status scan_key(struct json_scan *scan)
{
    struct json_value key;
    if (*scan->at != '"') {
        return JSON_BAD;
    }
    enum json_status status = scan_string(scan, &key);
    if (status != JSON_OK) {
        return status;
    }
    if (!json_skip_space(scan)) {
        return JSON_MORE;
    }
    if (*scan->at != ':') {
        return JSON_BAD;
    }
    scan->at++;
    return JSON_OK;
}

/* The byte at `at` is no space and comes where `state` says. */
static inline enum json_status
nesting_step(struct json_scan *scan, struct nesting *nesting, enum nesting_state *state)
{
    struct json_value value;
    char c = *scan->at;
    bool may_end = *state == WANT_COMMA || *state == WANT_KEY_OR_END || *state == WANT_VALUE_OR_END;
    if ((c == '}' || c == ']') && may_end) {
        if (inner_is_object(nesting->is_object, nesting->depth) != (c == '}')) {
            return JSON_BAD;
        }
        nesting->depth--;
        scan->at++;
        *state = WANT_COMMA;
        return JSON_OK;
    }
    switch (*state) {
    case WANT_COMMA:
        if (c != ',') {
            return JSON_BAD;
        }
        scan->at++;
        *state = inner_is_object(nesting->is_object, nesting->depth) ? WANT_KEY : WANT_VALUE;
        return JSON_OK;
    case WANT_KEY:
    case WANT_KEY_OR_END:
        *state = WANT_VALUE;
        return scan_key(scan);
    case WANT_VALUE:
    case WANT_VALUE_OR_END:
        break;
    }
    if (c == '{' || c == '[') {
        *state = c == '{' ? WANT_KEY_OR_END : WANT_VALUE_OR_END;
        scan->at++;
        return push(nesting->is_object, &nesting->depth, c == '{') ? JSON_OK : JSON_BAD;
    }
    *state = WANT_COMMA;
    return scan_scalar(scan, &value);
}

static enum json_status scan_nested(struct json_scan *scan, struct json_value *value)
{
    struct nesting nesting = {.depth = 0};
    enum nesting_state state = WANT_VALUE;
    const char *begin = scan->at;
    do {
        if (!json_skip_space(scan)) {
            return JSON_MORE;
        }
        enum json_status status = nesting_step(scan, &nesting, &state);
        if (status != JSON_OK) {
            return status;
        }
    } while (nesting.depth > 0);
    *value = (struct json_value){.ptr = begin,
                                 .len = (uint32_t)(scan->at - begin),
                                 .kind = *begin == '{' ? JSON_KIND_OBJECT : JSON_KIND_ARRAY};
    return JSON_OK;
}

enum json_status json_scan_value(struct json_scan *scan, struct json_value *value)
{
    if (*scan->at == '{' || *scan->at == '[') {
        return scan_nested(scan, value);
    }
    return scan_scalar(scan, value);
}

/* --- values larger than a window --- */

static enum json_status skip_string_part(struct json_skip *skip, const char **at, const char *end)
{
    const char *p = *at;
    if (skip->escaped && p < end) {
        skip->escaped = false;
        p++;
    }
    while (p < end) {
        p = find_special(p, end);
        if (p >= end) {
            break;
        }
        if (*p == '"') {
            skip->in_string = false;
            *at = p + 1;
            return JSON_OK;
        }
        if (*p == '\\' && p + 1 == end) {
            skip->escaped = true;
            break;
        }
        p += *p == '\\' ? 2 : 1;
    }
    *at = end;
    return JSON_MORE;
}

static bool is_scalar_byte(char c)
{
    return json_is_digit(c) || (c != '\0' && strchr("+-.eEtrufalsnNA/Iiy", c) != NULL);
}

/* One byte outside of strings; *done: the value ended before it (then it is not taken) or with it.
 */
static enum json_status skip_byte(struct json_skip *skip, char c, bool *taken, bool *done)
{
    *taken = true;
    bool ends_scalar = skip->in_scalar && !is_scalar_byte(c);
    skip->in_scalar = skip->in_scalar && !ends_scalar;
    if (ends_scalar && skip->depth == 0) {
        *taken = false;
        *done = true;
        return JSON_OK;
    }
    if (skip->after_brace && !json_is_space(c)) {
        skip->after_brace = false;
        if (c != '"' && c != '}') {
            return JSON_BAD;
        }
    }
    switch (c) {
    case '{':
    case '[':
        skip->after_brace = c == '{';
        return push(skip->is_object, &skip->depth, c == '{') ? JSON_OK : JSON_BAD;
    case '}':
    case ']':
        if (skip->depth == 0 || inner_is_object(skip->is_object, skip->depth) != (c == '}')) {
            return JSON_BAD;
        }
        skip->depth--;
        *done = skip->depth == 0;
        return JSON_OK;
    case '"':
        skip->in_string = true;
        return JSON_OK;
    case ',':
        return skip->depth == 0 ? JSON_BAD : JSON_OK;
    case ':':
        return skip->depth == 0 || !inner_is_object(skip->is_object, skip->depth) ? JSON_BAD
                                                                                  : JSON_OK;
    default:
        skip->in_scalar = is_scalar_byte(c);
        return skip->in_scalar || json_is_space(c) ? JSON_OK : JSON_BAD;
    }
}

enum json_status json_skip_value(struct json_skip *skip, const char **at, const char *end)
{
    while (*at < end) {
        if (skip->in_string) {
            if (skip_string_part(skip, at, end) == JSON_OK && skip->depth == 0) {
                return JSON_OK;
            }
            continue;
        }
        bool taken;
        bool done = false;
        enum json_status status = skip_byte(skip, **at, &taken, &done);
        if (status != JSON_OK) {
            return status;
        }
        *at += taken;
        if (done) {
            return JSON_OK;
        }
    }
    return JSON_MORE;
}

#include "ingest/formats/json/scan.h"

#include "ingest/base/bytes.h"

#include <string.h>

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

static inline const char *find_special(const char *at, const char *end)
{
    for (; at < end; at += BYTES_BLOCK) {
        uint32_t specials = bytes_block_specials(at);
        if (specials != 0) {
            return at + bytes_first(specials);
        }
    }
    return at;
}

const char *json_find_special(const char *at, const char *end)
{
    return find_special(at, end);
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
        if (!json_is_hex(p[i])) {
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
    if (KS_UNLIKELY(*digits == '0' && at - digits > 1)) {
        scan->at = digits + 1; /* a leading zero */
        return JSON_BAD;
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

enum nesting_state {
    WANT_VALUE,
    WANT_VALUE_OR_END,
    WANT_KEY,
    WANT_KEY_OR_END,
    WANT_COLON, /* only where values are skipped: elsewhere it belongs to the key */
    WANT_COMMA
};

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
    case WANT_COLON:
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

/* How far a scalar of a skipped value has come. */
enum scalar_state {
    SCALAR_NONE,
    SCALAR_MINUS,
    SCALAR_ZERO,
    SCALAR_DIGITS,
    SCALAR_POINT,
    SCALAR_FRACTION,
    SCALAR_E,
    SCALAR_SIGN,
    SCALAR_EXPONENT,
    SCALAR_BAD_NUMBER,
    SCALAR_BAD_WORD,
    SCALAR_WORD /* and above: this many bytes of scalar_words are behind it */
};

static const char scalar_words[] = "true\0false\0null";

static enum scalar_state begin_scalar(char c)
{
    const char *word;
    switch (c) {
    case '-':
        return SCALAR_MINUS;
    case '0':
        return SCALAR_ZERO;
    case 't':
    case 'f':
    case 'n':
        word = c == 't' ? scalar_words : scalar_words + (c == 'f' ? 5 : 11);
        return (enum scalar_state)(SCALAR_WORD + (word + 1 - scalar_words));
    default:
        if (json_is_digit(c)) {
            return SCALAR_DIGITS;
        }
        return c == '+' || c == '.' ? SCALAR_BAD_NUMBER : SCALAR_BAD_WORD;
    }
}

static enum scalar_state continue_number(enum scalar_state state, char c)
{
    switch (state) {
    case SCALAR_MINUS:
        return c == '0' ? SCALAR_ZERO : SCALAR_DIGITS;
    case SCALAR_DIGITS:
    case SCALAR_FRACTION:
    case SCALAR_EXPONENT:
        return state;
    case SCALAR_POINT:
        return SCALAR_FRACTION;
    case SCALAR_E:
    case SCALAR_SIGN:
        return SCALAR_EXPONENT;
    default:
        return SCALAR_BAD_NUMBER;
    }
}

static enum scalar_state continue_scalar(enum scalar_state state, char c)
{
    if (state >= SCALAR_WORD) {
        char wanted = scalar_words[state - SCALAR_WORD];
        return wanted != '\0' && wanted == c ? (enum scalar_state)(state + 1) : SCALAR_BAD_WORD;
    }
    if (state == SCALAR_BAD_WORD) {
        return state;
    }
    if (json_is_digit(c)) {
        return continue_number(state, c);
    }
    bool has_integer = state == SCALAR_ZERO || state == SCALAR_DIGITS;
    if (c == '.' && has_integer) {
        return SCALAR_POINT;
    }
    if ((c == 'e' || c == 'E') && (has_integer || state == SCALAR_FRACTION)) {
        return SCALAR_E;
    }
    if ((c == '+' || c == '-') && state == SCALAR_E) {
        return SCALAR_SIGN;
    }
    return state == SCALAR_MINUS ? SCALAR_BAD_WORD : SCALAR_BAD_NUMBER;
}

static unsigned scalar_flaws(enum scalar_state state)
{
    switch (state) {
    case SCALAR_NONE:
    case SCALAR_ZERO:
    case SCALAR_DIGITS:
    case SCALAR_FRACTION:
    case SCALAR_EXPONENT:
        return 0;
    case SCALAR_BAD_WORD:
        return JSON_FLAW_WORD;
    default:
        break;
    }
    if (state < SCALAR_WORD) {
        return JSON_FLAW_SYNTAX;
    }
    return scalar_words[state - SCALAR_WORD] == '\0' ? 0 : JSON_FLAW_WORD;
}

static void note_flaw(struct json_skip *skip, bool found, unsigned flaw)
{
    if (found) {
        skip->flaws = (uint8_t)(skip->flaws | flaw);
    }
}

/* Behind a backslash: first what it escapes, then the digits of a \u. */
static void skip_escaped(struct json_skip *skip, char c)
{
    if (skip->escape > 1) {
        note_flaw(skip, !json_is_hex(c), JSON_FLAW_ESCAPE);
        skip->escape = (uint8_t)(json_is_hex(c) && skip->escape > 2 ? skip->escape - 1 : 0);
        return;
    }
    skip->escape = c == 'u' ? 5 : 0;
    note_flaw(skip, c == '\0' || strchr("\"\\/bfnrtu", c) == NULL, JSON_FLAW_ESCAPE);
}

static enum json_status skip_string_part(struct json_skip *skip, const char **at, const char *end)
{
    const char *p = *at;
    while (p < end) {
        /* What a \u lacks may be the end of the string. */
        if (skip->escape == 1 || (skip->escape > 1 && *p != '"' && *p != '\\')) {
            skip_escaped(skip, *p++);
            continue;
        }
        note_flaw(skip, skip->escape > 1, JSON_FLAW_ESCAPE);
        skip->escape = 0;
        p = find_special(p, end);
        if (p >= end) {
            break;
        }
        if (*p == '"') {
            skip->in_string = false;
            *at = p + 1;
            return JSON_OK;
        }
        note_flaw(skip, *p != '\\', JSON_FLAW_CONTROL);
        skip->escape = *p++ == '\\';
    }
    *at = end;
    return JSON_MORE;
}

static bool is_scalar_byte(char c)
{
    return json_is_digit(c) || (c != '\0' && strchr("+-.eEtrufalsnNA/Iiy", c) != NULL);
}

/* What comes next must fit `state` to be JSON; it is skipped anyway. */
static void expect(struct json_skip *skip, bool fits, enum nesting_state next)
{
    note_flaw(skip, !fits, JSON_FLAW_SYNTAX);
    skip->expects = (uint8_t)next;
}

static bool expects_value(const struct json_skip *skip)
{
    return skip->expects == WANT_VALUE || skip->expects == WANT_VALUE_OR_END;
}

static bool expects_key(const struct json_skip *skip)
{
    return skip->expects == WANT_KEY || skip->expects == WANT_KEY_OR_END;
}

static enum json_status skip_opening(struct json_skip *skip, char c)
{
    skip->after_brace = c == '{';
    expect(skip, expects_value(skip), c == '{' ? WANT_KEY_OR_END : WANT_VALUE_OR_END);
    return push(skip->is_object, &skip->depth, c == '{') ? JSON_OK : JSON_BAD;
}

static enum json_status skip_closing(struct json_skip *skip, char c, bool *done)
{
    if (skip->depth == 0 || inner_is_object(skip->is_object, skip->depth) != (c == '}')) {
        return JSON_BAD;
    }
    expect(skip,
           skip->expects == WANT_COMMA || skip->expects == WANT_KEY_OR_END ||
               skip->expects == WANT_VALUE_OR_END,
           WANT_COMMA);
    skip->depth--;
    *done = skip->depth == 0;
    return JSON_OK;
}

/* A comma or a colon. */
static enum json_status skip_separator(struct json_skip *skip, char c)
{
    bool in_object = skip->depth > 0 && inner_is_object(skip->is_object, skip->depth);
    if (skip->depth == 0 || (c == ':' && !in_object)) {
        return JSON_BAD;
    }
    if (c == ':') {
        expect(skip, skip->expects == WANT_COLON, WANT_VALUE);
    } else {
        expect(skip, skip->expects == WANT_COMMA, in_object ? WANT_KEY : WANT_VALUE);
    }
    return JSON_OK;
}

static enum json_status skip_scalar_byte(struct json_skip *skip, char c)
{
    if (!is_scalar_byte(c)) {
        return json_is_space(c) ? JSON_OK : JSON_BAD;
    }
    if (skip->scalar == SCALAR_NONE) {
        expect(skip, expects_value(skip), WANT_COMMA);
        skip->scalar = (uint8_t)begin_scalar(c);
    } else {
        skip->scalar = (uint8_t)continue_scalar((enum scalar_state)skip->scalar, c);
    }
    return JSON_OK;
}

/* One byte outside of strings; *done: the value ended before it (then it is not taken) or with it.
 */
static enum json_status skip_byte(struct json_skip *skip, char c, bool *taken, bool *done)
{
    *taken = true;
    if (skip->scalar != SCALAR_NONE && !is_scalar_byte(c)) {
        skip->flaws = (uint8_t)(skip->flaws | scalar_flaws((enum scalar_state)skip->scalar));
        skip->scalar = SCALAR_NONE;
        if (skip->depth == 0) {
            *taken = false;
            *done = true;
            return JSON_OK;
        }
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
        return skip_opening(skip, c);
    case '}':
    case ']':
        return skip_closing(skip, c, done);
    case '"':
        skip->in_string = true;
        expect(skip, expects_key(skip) || expects_value(skip),
               expects_key(skip) ? WANT_COLON : WANT_COMMA);
        return JSON_OK;
    case ',':
    case ':':
        return skip_separator(skip, c);
    default:
        return skip_scalar_byte(skip, c);
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

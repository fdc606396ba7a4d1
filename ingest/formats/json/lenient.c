/* Where does a string end whose quotes cannot be trusted? A quote ends it only if what follows
 * could follow a string at that place; and a known key in the midst of it means that its closing
 * quote was lost:
 *
 *     "name": "say "hi" twice", "pid": 1        the quote before `, "pid":` ends it, the inner ones
 * do not "name": "aten::add, "pid": 1              the comma before the known key ends it "path":
 * "C:\dir\", "pid": 1               the quote ends it although a backslash stands before it
 */
#include "ingest/formats/json/lenient.h"

#include "ingest/formats/json/clean.h"

#include <string.h>

#define DEPTH_MAX 64
#define KEY_BYTES_MAX 128
#define STRING_BYTES_MAX ((ptrdiff_t)1 << 20)

static void note(struct json_lenient *lenient, enum warning_code code, const char *at)
{
    warning_add(&lenient->found, code, lenient->base_off + (uint64_t)(at - lenient->base));
}

static void put(const struct json_lenient *lenient, const char *text)
{
    if (lenient->out != NULL) {
        buf_puts(lenient->out, text);
    }
}

static const char *back_over_space(const char *at, const char *begin)
{
    while (at > begin && json_is_space(at[-1])) {
        at--;
    }
    return at;
}

/* JSON_OK when the next byte that is no space is `c`. */
static enum json_status next_is(const char *at, const char *end, char c)
{
    at = json_behind_space(at, end);
    if (at >= end) {
        return JSON_MORE;
    }
    return *at == c ? JSON_OK : JSON_BAD;
}

/* --- what may follow --- */

/* Whether a known key and a colon stand at `text`, the key's closing quote perhaps missing. */
static enum json_status known_key_at(const struct json_lenient *lenient, const char *text)
{
    const char *at = text;
    while (at < lenient->end && *at != '"' && *at != ':' && at - text < KEY_BYTES_MAX) {
        at++;
    }
    if (at >= lenient->end) {
        return JSON_MORE;
    }
    if (!lenient->is_known_key(text, (size_t)(at - text))) {
        return JSON_BAD;
    }
    return next_is(*at == '"' ? at + 1 : at, lenient->end, ':');
}

/* Whether a member's key stands at `at`: any text in quotes with a colon, or a known one that lost
 * a quote. */
static enum json_status key_at(const struct json_lenient *lenient, const char *at)
{
    if (*at != '"') {
        return known_key_at(lenient, at);
    }
    enum json_status known = known_key_at(lenient, at + 1);
    if (known != JSON_BAD) {
        return known;
    }
    const char *closing = json_find_special(at + 1, lenient->end);
    if (closing >= lenient->end) {
        return JSON_MORE;
    }
    return *closing == '"' ? next_is(closing + 1, lenient->end, ':') : JSON_BAD;
}

static bool begins_value(char c)
{
    return json_is_digit(c) || c == '-' || c == '"' || c == '[' || c == '{' || c == 't' ||
           c == 'f' || c == 'n' || c == 'N';
}

/* Whether a string value may end before `at`. */
static enum json_status
value_may_end(const struct json_lenient *lenient, const char *at, bool in_array)
{
    at = json_behind_space(at, lenient->end);
    if (at >= lenient->end) {
        return JSON_MORE;
    }
    if (*at == '}' || *at == ']') {
        return JSON_OK;
    }
    if (*at == '"' && !in_array) {
        return known_key_at(lenient, at + 1); /* the comma is lost */
    }
    if (*at != ',') {
        return JSON_BAD;
    }
    at = json_behind_space(at + 1, lenient->end);
    if (at >= lenient->end) {
        return JSON_MORE;
    }
    if (*at == '}' || *at == ']' || *at == ',') {
        return JSON_OK;
    }
    if (in_array) {
        return begins_value(*at) ? JSON_OK : JSON_BAD;
    }
    return key_at(lenient, at);
}

/* At a quote inside a string that began at `begin`: if a known key of this object, or of the next
 * event, opens here, *value_end is where the string must have ended. */
static enum json_status lost_quote(const struct json_lenient *lenient,
                                   const char *begin,
                                   const char *quote,
                                   const char **value_end)
{
    enum json_status status = known_key_at(lenient, quote + 1);
    if (status != JSON_OK) {
        return status;
    }
    const char *at = back_over_space(quote, begin);
    if (at > begin && at[-1] == '{') {
        at = back_over_space(at - 1, begin);
        if (at == begin || at[-1] != ',') {
            return JSON_BAD;
        }
        at = back_over_space(at - 1, begin);
        while (at > begin && at[-1] == '}') {
            at = back_over_space(at - 1, begin);
        }
        *value_end = at;
        return JSON_OK;
    }
    if (at == begin || at[-1] != ',') {
        return JSON_BAD;
    }
    *value_end = back_over_space(at - 1, begin);
    return JSON_OK;
}

/* --- strings --- */

struct string_scan {
    const char *begin;
    const char *at;
    const char *value_end; /* set when the string's end is known */
    unsigned flags;
    bool in_array;
};

static bool escapes_something(const char *at, const char *end)
{
    if (at[1] != 'u') {
        return at[1] != '\0' && strchr("\"\\/bfnrt", at[1]) != NULL;
    }
    for (int i = 2; i < 6; i++) {
        char lower = (char)(at + i < end ? at[i] | 0x20 : 'x');
        if (!json_is_digit(lower) && (lower < 'a' || lower > 'f')) {
            return false;
        }
    }
    return true;
}

/* Behind a quote that a backslash precedes: JSON_OK when a known key follows, so that the quote
 * closes. */
static enum json_status known_key_follows(const struct json_lenient *lenient, const char *at)
{
    at = json_behind_space(at, lenient->end);
    if (at < lenient->end) {
        if (*at != ',') {
            return JSON_BAD;
        }
        at = json_behind_space(at + 1, lenient->end);
    }
    if (at >= lenient->end) {
        return JSON_MORE;
    }
    return *at == '"' ? known_key_at(lenient, at + 1) : JSON_BAD;
}

static enum json_status take_backslash(struct json_lenient *lenient, struct string_scan *scan)
{
    const char *at = scan->at;
    if (at + 1 >= lenient->end) {
        return JSON_MORE;
    }
    scan->flags |= JSON_ESCAPED;
    if (at[1] == '"') {
        enum json_status closes = known_key_follows(lenient, at + 2);
        if (closes == JSON_OK) {
            note(lenient, WARN_BACKSLASH, at);
            scan->value_end = at + 1;
            scan->at = at + 2;
        }
        if (closes != JSON_BAD) {
            return closes;
        }
    }
    bool escapes = escapes_something(at, lenient->end);
    if (!escapes) {
        note(lenient, WARN_BACKSLASH, at);
    }
    scan->at += escapes ? 2 : 1;
    return JSON_OK;
}

static enum json_status take_quote(struct json_lenient *lenient, struct string_scan *scan)
{
    const char *quote = scan->at;
    enum json_status status = value_may_end(lenient, quote + 1, scan->in_array);
    if (status == JSON_OK) {
        scan->value_end = quote;
        scan->at = quote + 1;
    }
    if (status != JSON_BAD) {
        return status;
    }
    const char *value_end;
    status = lost_quote(lenient, scan->begin, quote, &value_end);
    if (status == JSON_OK) {
        note(lenient, WARN_SYNTAX, value_end);
        scan->value_end = value_end;
        scan->at = value_end;
    }
    if (status != JSON_BAD) {
        return status;
    }
    note(lenient, WARN_QUOTE, quote);
    scan->flags |= JSON_LOOSE;
    scan->at++;
    return JSON_OK;
}

static void take_control(struct json_lenient *lenient, struct string_scan *scan)
{
    if ((scan->flags & JSON_CONTROL) == 0) {
        note(lenient, WARN_CONTROL_CHARACTER, scan->at);
    }
    scan->flags |= JSON_CONTROL;
    scan->at++;
}

static enum json_status
lenient_string(struct json_lenient *lenient, struct json_value *value, bool in_array)
{
    const char *begin = lenient->at + 1;
    struct string_scan scan = {.begin = begin, .at = begin, .in_array = in_array};
    while (scan.value_end == NULL) {
        scan.at = json_find_special(scan.at, lenient->end);
        if (scan.at >= lenient->end) {
            return JSON_MORE;
        }
        if (scan.at - begin > STRING_BYTES_MAX) {
            return JSON_BAD;
        }
        enum json_status status = JSON_OK;
        if (*scan.at == '"') {
            status = take_quote(lenient, &scan);
        } else if (*scan.at == '\\') {
            status = take_backslash(lenient, &scan);
        } else {
            take_control(lenient, &scan);
        }
        if (status != JSON_OK) {
            return status;
        }
    }
    *value = (struct json_value){.ptr = begin,
                                 .len = (uint32_t)(scan.value_end - begin),
                                 .kind = JSON_KIND_STRING,
                                 .flags = (uint8_t)scan.flags};
    lenient->at = scan.at;
    if (lenient->out != NULL) {
        json_clean_string(value, lenient->out);
    }
    return JSON_OK;
}

/* --- bare words and broken numbers --- */

static bool ends_word(char c)
{
    return json_is_space(c) || c == ',' || c == '}' || c == ']';
}

/* How it is kept: N/A as a text, whatever else there is no JSON for
 * as null. */
static const char *word_text(const char *word, size_t len)
{
    return len == 3 && memcmp(word, "N/A", 3) == 0 ? "\"N/A\"" : "null";
}

static enum json_status lenient_word(struct json_lenient *lenient, struct json_value *value)
{
    static const char *const words[] = {"N/A",       "NaN",  "nan",  "-NaN",      "-nan",
                                        "Infinity",  "inf",  "-inf", "-Infinity", "None",
                                        "undefined", "True", "False"};
    const char *begin = lenient->at;
    const char *at = begin;
    while (at < lenient->end && !ends_word(*at) && at - begin < KEY_BYTES_MAX) {
        at++;
    }
    if (at >= lenient->end) {
        return JSON_MORE;
    }
    size_t len = (size_t)(at - begin);
    bool known = false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        known = known || (strlen(words[i]) == len && memcmp(words[i], begin, len) == 0);
    }
    bool is_number = len > 0 && strspn(begin, "+-.0123456789eE") >= len;
    if (!known && !is_number) {
        return JSON_BAD;
    }
    note(lenient, known ? WARN_BARE_NAN : WARN_SYNTAX, begin);
    *value = (struct json_value){.ptr = begin, .len = (uint32_t)len, .kind = JSON_KIND_BARE};
    lenient->at = at;
    put(lenient, word_text(begin, len));
    return JSON_OK;
}

/* --- arrays and objects --- */

static enum json_status lenient_array(struct json_lenient *lenient, struct json_value *value)
{
    const char *begin = lenient->at++;
    enum json_status status = JSON_OK;
    bool after_value = false;
    bool has_items = false;
    put(lenient, "[");
    while (status == JSON_OK) {
        lenient->at = json_behind_space(lenient->at, lenient->end);
        if (lenient->at >= lenient->end) {
            return JSON_MORE;
        }
        char c = *lenient->at;
        if (c == ']') {
            if (has_items && !after_value) {
                note(lenient, WARN_SYNTAX, lenient->at);
            }
            lenient->at++;
            break;
        }
        if (c == '}') {
            note(lenient, WARN_SYNTAX, lenient->at);
            break;
        }
        if (c == ',') {
            if (!after_value) {
                note(lenient, WARN_SYNTAX, lenient->at);
            }
            const char *next = json_behind_space(lenient->at + 1, lenient->end);
            bool is_member =
                next < lenient->end && *next == '"' && known_key_at(lenient, next + 1) == JSON_OK;
            if (is_member) {
                note(lenient, WARN_SYNTAX, lenient->at);
                break;
            }
            after_value = false;
            lenient->at++;
            continue;
        }
        if (after_value) {
            note(lenient, WARN_SYNTAX, lenient->at);
        }
        struct json_value item;
        put(lenient, has_items ? "," : "");
        has_items = true;
        status =
            c == '"' ? lenient_string(lenient, &item, true) : json_lenient_value(lenient, &item);
        after_value = true;
    }
    put(lenient, "]");
    *value = (struct json_value){
        .ptr = begin, .len = (uint32_t)(lenient->at - begin), .kind = JSON_KIND_ARRAY};
    return status;
}

static enum json_status
skip_member(struct json_lenient *lenient, const struct json_value *key, void *context)
{
    struct json_value value;
    (void)key;
    (void)context;
    return json_lenient_value(lenient, &value);
}

enum json_status json_lenient_value(struct json_lenient *lenient, struct json_value *value)
{
    struct json_scan scan = {.at = lenient->at, .end = lenient->end};
    const char *begin = lenient->at;
    if (lenient->at >= lenient->end) {
        return JSON_MORE;
    }
    if (*begin == '"') {
        return lenient_string(lenient, value, false);
    }
    enum json_status status = json_scan_value(&scan, value);
    if (status == JSON_OK && scan.at < scan.end && !ends_word(*scan.at)) {
        status = *begin == '{' || *begin == '[' || *scan.at == '"' ? JSON_OK : JSON_BAD;
    }
    if (status == JSON_OK && lenient->out != NULL) {
        json_clean_value(begin, (size_t)(scan.at - begin), lenient->out);
    }
    if (status != JSON_BAD) {
        lenient->at = scan.at;
        return status;
    }
    if (*begin != '{' && *begin != '[') {
        return lenient_word(lenient, value);
    }
    if (lenient->depth == DEPTH_MAX) {
        return JSON_BAD;
    }
    lenient->depth++;
    if (*begin == '[') {
        status = lenient_array(lenient, value);
    } else {
        status = json_lenient_object(lenient, skip_member, NULL);
        *value = (struct json_value){
            .ptr = begin, .len = (uint32_t)(lenient->at - begin), .kind = JSON_KIND_OBJECT};
    }
    lenient->depth--;
    return status;
}

/* A comma at `at`: *ends when what follows cannot belong to this object, for its closing brace is
 * lost. */
static enum json_status take_comma(struct json_lenient *lenient, bool expected, bool *ends)
{
    const char *comma = lenient->at;
    const char *next = json_behind_space(comma + 1, lenient->end);
    if (next >= lenient->end) {
        return JSON_MORE;
    }
    *ends = *next == '{';
    if (*ends || !expected || *next == '}') {
        note(lenient, WARN_SYNTAX, comma);
    }
    lenient->at = *ends ? comma : comma + 1;
    return JSON_OK;
}

/* The key at `at`, which key_at has accepted; afterwards behind its colon. */
static void take_key(struct json_lenient *lenient, struct json_value *key)
{
    const char *begin = lenient->at + (*lenient->at == '"');
    const char *closing = json_find_special(begin, lenient->end);
    const char *colon = memchr(begin, ':', (size_t)(lenient->end - begin));
    bool unclosed = colon < closing && lenient->is_known_key(begin, (size_t)(colon - begin));
    if (*lenient->at != '"' || unclosed) {
        note(lenient, WARN_SYNTAX, begin);
    }
    const char *key_end = unclosed ? colon : closing;
    *key = (struct json_value){
        .ptr = begin, .len = (uint32_t)(key_end - begin), .kind = JSON_KIND_STRING};
    lenient->at = json_behind_space(key_end + !unclosed, lenient->end) + 1;
}

static enum json_status
take_member(struct json_lenient *lenient, json_member_fn member, void *context)
{
    struct json_value key;
    enum json_status status = key_at(lenient, lenient->at);
    if (status != JSON_OK) {
        return status;
    }
    take_key(lenient, &key);
    if (lenient->out != NULL) {
        json_clean_string(&key, lenient->out);
        put(lenient, ":");
    }
    lenient->at = json_behind_space(lenient->at, lenient->end);
    if (lenient->at >= lenient->end) {
        return JSON_MORE;
    }
    return member(lenient, &key, context);
}

enum json_status
json_lenient_object(struct json_lenient *lenient, json_member_fn member, void *context)
{
    bool after_value = false;
    bool has_members = false;
    lenient->at++;
    put(lenient, "{");
    for (;;) {
        lenient->at = json_behind_space(lenient->at, lenient->end);
        if (lenient->at >= lenient->end) {
            return JSON_MORE;
        }
        char c = *lenient->at;
        bool ends = false;
        enum json_status status;
        if (c == '}') {
            lenient->at++;
            put(lenient, "}");
            return JSON_OK;
        }
        if (c == ',') {
            status = take_comma(lenient, after_value, &ends);
            after_value = false;
        } else if (c == ']' && after_value) {
            note(lenient, WARN_SYNTAX, lenient->at);
            lenient->at++;
            status = JSON_OK;
        } else {
            if (after_value) {
                note(lenient, WARN_SYNTAX, lenient->at);
            }
            put(lenient, has_members ? "," : "");
            has_members = true;
            status = take_member(lenient, member, context);
            after_value = true;
        }
        if (status != JSON_OK || ends) {
            put(lenient, "}");
            return status;
        }
    }
}

void json_lenient_clean(const struct json_lenient *how,
                        const struct json_value *value,
                        struct buf *out)
{
    switch ((enum json_kind)value->kind) {
    case JSON_KIND_STRING:
        json_clean_string(value, out);
        return;
    case JSON_KIND_BARE:
        buf_puts(out, word_text(value->ptr, value->len));
        return;
    case JSON_KIND_ARRAY:
    case JSON_KIND_OBJECT:
        break;
    default:
        json_clean_value(value->ptr, value->len, out);
        return;
    }
    struct json_lenient lenient = *how;
    struct json_value again;
    size_t before = out->len;
    lenient.at = value->ptr;
    lenient.depth = 0;
    lenient.out = out;
    if (json_lenient_value(&lenient, &again) != JSON_OK && !out->failed) {
        out->len = before;
        buf_puts(out, "null");
    }
}

#include "ingest/base/text/json_small.h"

#include <stdbool.h>
#include <stdint.h>

/* Behind the string whose opening quote is at `at`, or at the end. */
static size_t skip_string(const char *text, size_t len, size_t at)
{
    for (at++; at < len && text[at] != '"'; at++) {
        at += text[at] == '\\';
    }
    return at < len ? at + 1 : len;
}

/* Finds the bracket that opens one level too many. As far as the text is JSON the count is right;
 * behind a fault jansson reads no further. */
static bool find_too_deep(const char *text, size_t len, size_t *where)
{
    unsigned levels = 0;
    for (size_t at = 0; at < len;) {
        char c = text[at];
        if (c == '"') {
            at = skip_string(text, len, at);
            continue;
        }
        if ((c == '[' || c == '{') && levels++ == JSON_SMALL_LEVELS_MAX) {
            *where = at;
            return true;
        }
        levels -= (c == ']' || c == '}') && levels > 0;
        at++;
    }
    return false;
}

json_t *
json_small_parse(const char *text, size_t len, size_t flags, const char *what, struct err *err)
{
    size_t too_deep = 0;
    if (find_too_deep(text, len, &too_deep)) {
        (void)err_set_at(err, ERR_BAD_REQUEST, too_deep,
                         "%s nests arrays and objects deeper than %d levels at byte %zu: send it "
                         "with less nesting",
                         what, JSON_SMALL_LEVELS_MAX, too_deep);
        return NULL;
    }
    json_error_t fault;
    json_t *value = json_loadb(text, len, flags, &fault);
    if (value == NULL) {
        (void)err_set_at(err, ERR_BAD_REQUEST, (uint64_t)fault.position, "%s is no JSON: %s", what,
                         fault.text);
    }
    return value;
}

#include "api/query_string.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

/* The byte that "%XY" at `text` stands for, or -1. */
static int escaped_byte(const char *text, size_t len)
{
    if (len < 3) {
        return -1;
    }
    int high = hex_value(text[1]);
    int low = hex_value(text[2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool query_string_decode(const char **out,
                         struct arena *arena,
                         const char *text,
                         size_t len,
                         bool plus_is_space,
                         struct err *err)
{
    char *copy = arena_alloc(arena, len + 1);
    if (copy == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the address of the request");
    }
    size_t used = 0;
    for (size_t at = 0; at < len; at++) {
        char c = text[at];
        if (c == '%') {
            int byte = escaped_byte(text + at, len - at);
            if (byte <= 0) {
                return err_set(err, ERR_BAD_REQUEST,
                               "\"%.*s\" in the address is no valid escape: write %% as %%25",
                               (int)(len - at < 3 ? len - at : 3), text + at);
            }
            c = (char)byte;
            at += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        copy[used++] = c;
    }
    copy[used] = '\0';
    *out = copy;
    return true;
}

static bool parse_param(
    struct query_param *param, struct arena *arena, const char *text, size_t len, struct err *err)
{
    const char *equals = memchr(text, '=', len);
    size_t name_len = equals == NULL ? len : (size_t)(equals - text);
    param->value = "";
    if (!query_string_decode(&param->name, arena, text, name_len, true, err)) {
        return false;
    }
    return equals == NULL ||
           query_string_decode(&param->value, arena, equals + 1, len - name_len - 1, true, err);
}

bool query_string_parse(struct query_string *out,
                        struct arena *arena,
                        const char *text,
                        struct err *err)
{
    out->count = 0;
    out->params = arena_calloc(arena, QUERY_STRING_PARAMS_MAX, sizeof *out->params);
    if (out->params == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the parameters of the request");
    }
    while (*text != '\0') {
        size_t len = strcspn(text, "&");
        if (len > 0) {
            if (out->count == QUERY_STRING_PARAMS_MAX) {
                return err_set(err, ERR_BAD_REQUEST, "The address has more than %d parameters",
                               QUERY_STRING_PARAMS_MAX);
            }
            if (!parse_param(&out->params[out->count], arena, text, len, err)) {
                return false;
            }
            out->count++;
        }
        text += len + (text[len] == '&');
    }
    return true;
}

const char *query_string_get(const struct query_string *query, const char *name)
{
    for (size_t i = 0; i < query->count; i++) {
        if (strcmp(query->params[i].name, name) == 0) {
            return query->params[i].value;
        }
    }
    return NULL;
}

const char *query_string_word(const struct query_string *query, const char *name)
{
    const char *value = query_string_get(query, name);
    return value == NULL || *value == '\0' ? NULL : value;
}

bool query_string_int(const struct query_string *query,
                      const char *name,
                      int64_t min,
                      int64_t max,
                      int64_t *value,
                      struct err *err)
{
    const char *text = query_string_get(query, name);
    if (text == NULL || *text == '\0') {
        return true;
    }
    char *end = NULL;
    errno = 0;
    long long parsed = strtoll(text, &end, 10);
    bool plain = strspn(text, "-0123456789") == strlen(text);
    if (!plain || errno != 0 || end == text || *end != '\0' || parsed < min || parsed > max) {
        return err_set(err, ERR_BAD_REQUEST,
                       "The parameter %s is \"%.40s\": it must be an integer from %" PRId64
                       " to %" PRId64,
                       name, text, min, max);
    }
    *value = parsed;
    return true;
}

const char *query_string_encode(struct arena *arena, const char *text)
{
    static const char hex[] = "0123456789ABCDEF";
    static const char unreserved[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    char *out = arena_calloc(arena, strlen(text) + 1, 3);
    if (out == NULL) {
        return NULL;
    }
    char *to = out;
    for (; *text != '\0'; text++) {
        if (strchr(unreserved, *text) != NULL) {
            *to++ = *text;
        } else {
            unsigned char byte = (unsigned char)*text;
            *to++ = '%';
            *to++ = hex[byte >> 4];
            *to++ = hex[byte & 15];
        }
    }
    return out;
}

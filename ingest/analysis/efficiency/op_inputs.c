#include "ingest/analysis/efficiency/op_inputs.h"

#include <ctype.h>
#include <string.h>

#define LISTS_MAX 32

/* ---- texts ---- */

struct op_text op_text_strip(struct op_text text)
{
    while (text.len > 0 && isspace((unsigned char)*text.ptr) != 0) {
        text.ptr++;
        text.len--;
    }
    while (text.len > 0 && isspace((unsigned char)text.ptr[text.len - 1]) != 0) {
        text.len--;
    }
    return text;
}

bool op_text_is(struct op_text text, const char *word)
{
    if (strlen(word) != text.len) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (tolower((unsigned char)text.ptr[i]) != word[i]) {
            return false;
        }
    }
    return true;
}

bool op_text_int(struct op_text text, int64_t *number)
{
    struct op_text rest = op_text_strip(text);
    bool is_negative = rest.len > 0 && *rest.ptr == '-';
    size_t at = rest.len > 0 && (*rest.ptr == '-' || *rest.ptr == '+') ? 1 : 0;
    int64_t value = 0;
    if (at == rest.len) {
        return false;
    }
    for (; at < rest.len; at++) {
        if (isdigit((unsigned char)rest.ptr[at]) == 0 ||
            __builtin_mul_overflow(value, (int64_t)10, &value) ||
            __builtin_sub_overflow(value, (int64_t)(rest.ptr[at] - '0'), &value)) {
            return false;
        }
    }
    if (!is_negative && value == INT64_MIN) {
        return false;
    }
    *number = is_negative ? value : -value;
    return true;
}

/* ---- JSON ---- */

/* The last byte of the escape that begins at the backslash; NULL: it is none. */
static const char *skip_escape(const char *at)
{
    at++;
    if (*at != 'u') {
        return *at != '\0' && strchr("\"\\/bfnrt", *at) != NULL ? at : NULL;
    }
    for (size_t i = 1; i <= 4; i++) {
        if (isxdigit((unsigned char)at[i]) == 0) {
            return NULL;
        }
    }
    return at + 4;
}

/* Behind the string that begins at the quote; NULL: it does not end. */
static const char *skip_string(const char *at)
{
    for (at++; *at != '"'; at++) {
        if ((unsigned char)*at < ' ') {
            return NULL;
        }
        at = *at == '\\' ? skip_escape(at) : at;
        if (at == NULL) {
            return NULL;
        }
    }
    return at + 1;
}

static const char *skip_digits(const char *at)
{
    while (isdigit((unsigned char)*at) != 0) {
        at++;
    }
    return at;
}

static const char *skip_number(const char *at)
{
    const char *from = *at == '-' ? at + 1 : at;
    const char *end = skip_digits(from);
    if (end == from || (*from == '0' && end > from + 1)) {
        return NULL;
    }
    if (*end == '.') {
        from = end + 1;
        end = skip_digits(from);
        if (end == from) {
            return NULL;
        }
    }
    if (*end == 'e' || *end == 'E') {
        from = end + 1 + (end[1] == '-' || end[1] == '+' ? 1 : 0);
        end = skip_digits(from);
        return end == from ? NULL : end;
    }
    return end;
}

/* Behind a string, a number or a word; NULL: it is none of them. */
static const char *skip_plain(const char *at)
{
    static const char *const words[] = {"true", "false", "null"};
    if (*at == '"') {
        return skip_string(at);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strncmp(at, words[i], strlen(words[i])) == 0) {
            return at + strlen(words[i]);
        }
    }
    return skip_number(at);
}

/* Behind a value; NULL: it is not as op_inputs_is_json() says. */
static const char *skip_value(const char *at)
{
    size_t depth = 0;
    bool wants_value = true; /* else a comma or the end of a list */
    while (at != NULL && (wants_value || depth > 0)) {
        if (!wants_value && *at != ',' && *at != ']') {
            return NULL;
        }
        if (!wants_value) {
            wants_value = *at == ',';
            depth -= wants_value ? 0 : 1;
            at++;
        } else if (*at == '[' && at[1] == ']') {
            wants_value = false;
            at += 2;
        } else if (*at == '[') {
            if (++depth > LISTS_MAX) {
                return NULL;
            }
            at++;
        } else {
            at = skip_plain(at);
            wants_value = false;
        }
    }
    return at;
}

bool op_inputs_is_json(const char *json)
{
    const char *end = json == NULL ? NULL : skip_value(json);
    return end != NULL && *end == '\0';
}

/* ---- inputs ---- */

/* The elements of a list, at most OP_INPUTS_MAX, each as it stands. */
static size_t read_list(const char *json, struct op_text *items)
{
    size_t count = 0;
    const char *at = json == NULL || *json != '[' || json[1] == ']' ? NULL : json + 1;
    while (at != NULL && count < OP_INPUTS_MAX) {
        const char *end = skip_value(at);
        if (end == NULL) {
            return count;
        }
        items[count++] = (struct op_text){at, (size_t)(end - at)};
        at = *end == ',' ? end + 1 : NULL;
    }
    return count;
}

/* A list of integers; false for anything else. */
static bool
read_dims(struct op_inputs *out, size_t *used, struct op_text item, struct op_dims *dims)
{
    const char *at = item.ptr + 1;
    const char *end = item.ptr + item.len - 1;
    bool is_list = item.len >= 2 && *item.ptr == '[';
    *dims = (struct op_dims){.first = (uint16_t)*used, .is_given = is_list && item.len > 2};
    if (!is_list) {
        return false;
    }
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        struct op_text number = {at, (size_t)((comma == NULL ? end : comma) - at)};
        if (*used == OP_INPUTS_NUMBERS || !op_text_int(number, &out->numbers[*used])) {
            return false;
        }
        (*used)++;
        dims->rank++;
        at = comma == NULL ? end : comma + 1;
    }
    return true;
}

static struct op_text unquoted(struct op_text item)
{
    bool is_string = item.len >= 2 && *item.ptr == '"';
    return is_string ? (struct op_text){item.ptr + 1, item.len - 2} : item;
}

void op_inputs_read(const char *dims,
                    const char *types,
                    const char *concrete,
                    struct op_inputs *out)
{
    struct op_text items[OP_INPUTS_MAX];
    size_t used = 0;
    out->dims_count = read_list(dims, items);
    for (size_t i = 0; i < out->dims_count; i++) {
        out->dims[i].is_tensor = read_dims(out, &used, items[i], &out->dims[i]);
    }
    out->type_count = read_list(types, items);
    for (size_t i = 0; i < out->type_count; i++) {
        bool is_string = *items[i].ptr == '"';
        out->types[i] = is_string ? unquoted(items[i]) : (struct op_text){"", 0};
    }
    out->concrete_count = read_list(concrete, out->concrete);
    for (size_t i = 0; i < out->concrete_count; i++) {
        out->concrete[i] = op_text_strip(unquoted(out->concrete[i]));
    }
}

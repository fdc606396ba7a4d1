#include "ingest/store/events/documents/json_members.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *skip_spaces(const char *at, const char *end)
{
    while (at < end && is_space(*at)) {
        at++;
    }
    return at;
}

/* From an opening quote to behind the closing one. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++) {
        if (*at == '\\' && at + 1 < end) {
            at++;
        }
    }
    return at < end ? at + 1 : end;
}

/* From its first byte to the , or } behind it. */
static const char *skip_value(const char *at, const char *end)
{
    size_t depth = 0;
    while (at < end) {
        char c = *at;
        if (depth == 0 && (c == ',' || c == '}' || c == ']')) {
            return at;
        }
        if (c == '"') {
            at = skip_string(at, end);
            continue;
        }
        if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            depth--;
        }
        at++;
    }
    return at;
}

void json_members_begin(struct json_members *members, const char *text, size_t len)
{
    const char *end = text + len;
    const char *at = skip_spaces(text, end);
    bool is_object = at < end && *at == '{';
    *members = (struct json_members){.at = is_object ? at + 1 : end, .end = end};
}

bool json_members_next(struct json_members *members,
                       struct json_slice *key,
                       struct json_slice *value)
{
    const char *end = members->end;
    const char *at = skip_spaces(members->at, end);
    if (at < end && *at == ',') {
        at = skip_spaces(at + 1, end);
    }
    if (at == end || *at != '"') {
        return false;
    }
    const char *key_end = skip_string(at, end);
    *key = (struct json_slice){.text = at, .len = (size_t)(key_end - at)};
    at = skip_spaces(key_end, end);
    if (at == end || *at != ':') {
        return false;
    }
    at = skip_spaces(at + 1, end);
    const char *value_end = skip_value(at, end);
    members->at = value_end;
    while (value_end > at && is_space(value_end[-1])) {
        value_end--;
    }
    *value = (struct json_slice){.text = at, .len = (size_t)(value_end - at)};
    return true;
}

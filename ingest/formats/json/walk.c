#include "ingest/formats/json/walk.h"

#include "ingest/formats/json/text.h"

#include <string.h>

static bool fail(struct json_walk *walk)
{
    walk->failed = true;
    return false;
}

static bool skip_space(struct json_walk *walk)
{
    while (walk->at < walk->end && json_is_space(*walk->at)) {
        walk->at++;
    }
    return walk->at < walk->end || fail(walk);
}

struct json_walk json_walk_of(const struct json_value *value)
{
    /* A value that was not there has no text, and no offset from it. */
    return (struct json_walk){.at = value->ptr,
                              .end = value->ptr == NULL ? NULL : value->ptr + value->len};
}

bool json_walk_is(struct json_walk *walk, char first)
{
    return !walk->failed && skip_space(walk) && *walk->at == first;
}

bool json_walk_enter(struct json_walk *walk, char bracket)
{
    if (!json_walk_is(walk, bracket)) {
        return fail(walk);
    }
    walk->at++;
    return true;
}

bool json_walk_enter_or_skip(struct json_walk *walk, char bracket)
{
    if (!json_walk_is(walk, bracket)) {
        (void)json_walk_skip(walk);
        return false;
    }
    return json_walk_enter(walk, bracket);
}

/* To the next item; false at the closing bracket. */
static bool next(struct json_walk *walk, char closing)
{
    if (walk->failed || !skip_space(walk)) {
        return false;
    }
    if (*walk->at == ',') {
        walk->at++;
        if (!skip_space(walk)) {
            return false;
        }
    }
    if (*walk->at == closing) {
        walk->at++;
        return false;
    }
    return true;
}

bool json_walk_key(struct json_walk *walk, struct json_value *key)
{
    if (!next(walk, '}')) {
        return false;
    }
    struct json_scan scan = {.at = walk->at, .end = walk->end};
    if (*scan.at != '"' || json_scan_string(&scan, key) != JSON_OK) {
        return fail(walk);
    }
    walk->at = scan.at;
    if (!skip_space(walk) || *walk->at != ':') {
        return fail(walk);
    }
    walk->at++;
    return skip_space(walk);
}

bool json_walk_item(struct json_walk *walk)
{
    return next(walk, ']');
}

bool json_walk_trails(struct json_walk *walk)
{
    while (walk->at < walk->end && json_is_space(*walk->at)) {
        walk->at++;
    }
    return !walk->failed && walk->at < walk->end;
}

bool json_walk_value(struct json_walk *walk, struct json_value *value)
{
    if (walk->failed || !skip_space(walk)) {
        return false;
    }
    struct json_scan scan = {.at = walk->at, .end = walk->end};
    if (json_scan_value(&scan, value) != JSON_OK) {
        return fail(walk);
    }
    walk->at = scan.at;
    return true;
}

bool json_walk_skip(struct json_walk *walk)
{
    struct json_skip skip = {.depth = 0};
    if (walk->failed || !skip_space(walk)) {
        return false;
    }
    return json_skip_value(&skip, &walk->at, walk->end) == JSON_OK || fail(walk);
}

bool json_walk_find(const struct json_value *object, const char *name, struct json_value *out)
{
    struct json_walk walk = json_walk_of(object);
    struct json_value key;
    if (object->kind != JSON_KIND_OBJECT || !json_walk_enter(&walk, '{')) {
        return false;
    }
    while (json_walk_key(&walk, &key)) {
        if (json_walk_text_is(&key, name)) {
            return json_walk_value(&walk, out);
        }
        if (!json_walk_skip(&walk)) {
            return false;
        }
    }
    return false;
}

bool json_walk_text_is(const struct json_value *value, const char *text)
{
    return value->kind == JSON_KIND_STRING && strlen(text) == value->len &&
           memcmp(text, value->ptr, value->len) == 0;
}

int64_t json_walk_int(const struct json_value *value, int64_t none)
{
    int64_t number;
    bool is_int = value->kind == JSON_KIND_STRING
                      ? json_text_parse_int(value->ptr, value->len, &number)
                      : value->kind == JSON_KIND_NUMBER && json_text_bits(value, &number);
    return is_int ? number : none;
}

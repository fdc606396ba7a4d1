#include "api/json_body.h"

#include "api/call.h"
#include "ingest/base/text/json_small.h"

#include <string.h>

#define BODY_MAX_BYTES ((size_t)256 << 10)
#define CHUNK_BYTES ((size_t)4 << 10)

static bool
read_bytes(struct buf *body, const struct api_request *request, size_t max_bytes, struct err *err)
{
    char chunk[CHUNK_BYTES];
    for (;;) {
        int64_t got = request->read_body(request, chunk, sizeof chunk);
        if (got == API_BODY_TOO_SLOW) {
            return err_set(err, ERR_TIMEOUT,
                           "Nothing came for too long (the server's --request-timeout) after %zu "
                           "bytes of the body",
                           body->len);
        }
        if (got < 0) {
            return err_set(err, ERR_CLIENT_GONE, "The client went away");
        }
        if (got == 0) {
            return true;
        }
        buf_append(body, chunk, (size_t)got);
        if (body->failed) {
            return err_set(err, ERR_TOO_LARGE, "The body may have at most %zu bytes", max_bytes);
        }
    }
}

static json_t *
read_json(const struct api_request *request, size_t max_bytes, size_t flags, struct err *err)
{
    struct buf body;
    json_t *value = NULL;
    buf_init(&body, max_bytes);
    if (read_bytes(&body, request, max_bytes, err)) {
        value =
            json_small_parse(body.ptr, body.len, JSON_REJECT_DUPLICATES | flags, "The body", err);
    }
    buf_free(&body);
    return value;
}

json_t *json_body_read(const struct api_request *request, struct err *err)
{
    return read_json(request, BODY_MAX_BYTES, 0, err);
}

json_t *json_body_read_long(const struct api_request *request, size_t max_bytes, struct err *err)
{
    return read_json(request, max_bytes, JSON_DECODE_INT_AS_REAL, err);
}

static bool has_control_character(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7F) {
            return true;
        }
    }
    return false;
}

bool json_body_text(const json_t *value,
                    const char *what,
                    size_t max_bytes,
                    struct arena *arena,
                    const char **text,
                    struct err *err)
{
    size_t len = json_string_length(value);
    if (!json_is_string(value) || len == 0 || len > max_bytes ||
        has_control_character(json_string_value(value))) {
        return err_set(err, ERR_BAD_REQUEST,
                       "%s must be a string of 1 to %zu bytes without control characters", what,
                       max_bytes);
    }
    *text = arena_strndup(arena, json_string_value(value), len);
    return *text != NULL || err_set(err, ERR_NO_MEMORY, "No memory for %s", what);
}

bool json_body_knows(json_t *body, const char *const *known, struct err *err)
{
    char names[CALL_NAMES_BYTES] = "";
    if (!json_is_object(body)) {
        return err_set(err, ERR_BAD_REQUEST, "The body must be an object");
    }
    for (size_t i = 0; known[i] != NULL; i++) {
        call_add_name(names, known[i]);
    }
    void *at = json_object_iter(body);
    for (; at != NULL; at = json_object_iter_next(body, at)) {
        size_t i = 0;
        const char *key = json_object_iter_key(at);
        while (known[i] != NULL && strcmp(known[i], key) != 0) {
            i++;
        }
        if (known[i] == NULL) {
            return err_set(err, ERR_BAD_REQUEST, "Unknown member \"%.60s\": known are %s", key,
                           names);
        }
    }
    return true;
}

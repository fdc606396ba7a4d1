#include "api/call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Headers and names: two encodings of a name of 255 bytes, and more. */
#define TEXT_MAX_BYTES 8192
/* Of an answer: below the power of two at which the buffer is full. What is shorter is sent whole,
 * with its length and an ETag, and may be kept. */
#define PART_BYTES ((size_t)3 << 20)

struct arena *call_arena(struct api_call *call)
{
    return &call->response->arena;
}

struct json_write call_json(struct api_call *call, bool ascii)
{
    call->response->status = 200;
    call->response->content_type = "application/json";
    buf_clear(&call->response->body);
    struct json_write w;
    jw_init(&w, &call->response->body, ascii);
    return w;
}

static bool send_part(void *context, struct buf *body)
{
    struct api_response *response = context;
    (void)body; /* the response's */
    api_response_tell_age(response);
    store_snapshot_close(response->snapshot);
    return response->request->send_part(response->request, response);
}

void call_sends_parts(struct api_call *call)
{
    if (call->request->send_part != NULL) {
        buf_drain_to(&call->response->body, PART_BYTES, send_part, call->response);
    }
}

struct json_write call_json_long(struct api_call *call, bool ascii)
{
    struct json_write w = call_json(call, ascii);
    call_sends_parts(call);
    return w;
}

bool call_flag(const struct api_call *call, const char *name)
{
    const char *value = query_string_get(&call->query, name);
    return value != NULL && (strcmp(value, "") == 0 || strcmp(value, "1") == 0 ||
                             strcmp(value, "true") == 0 || strcmp(value, "yes") == 0);
}

const char *call_header(const struct api_call *call, const char *name)
{
    const char *value = call->request->header(call->request, name);
    return value == NULL ? "" : value;
}

/* What vsnprintf wrote into TEXT_MAX_BYTES, kept as long as the answer; NULL when it was cut. */
static const char *keep(struct api_call *call, const char *text, int len)
{
    bool whole = len >= 0 && len < TEXT_MAX_BYTES;
    return whole ? arena_strndup(call_arena(call), text, (size_t)len) : NULL;
}

const char *call_format(struct api_call *call, const char *fmt, ...)
{
    char text[TEXT_MAX_BYTES];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return keep(call, text, len);
}

/* Headers are few and known; one that finds no place or no memory is left out. */
void call_add_header(struct api_call *call, const char *name, const char *fmt, ...)
{
    char text[TEXT_MAX_BYTES];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    struct api_response *response = call->response;
    const char *value = keep(call, text, len);
    if (value != NULL && response->header_count < API_HEADERS_MAX) {
        response->headers[response->header_count++] = (struct api_header){name, value};
    }
}

static const char *path_of_url(const char *url)
{
    const char *host = strstr(url, "://");
    const char *path = host == NULL ? NULL : strchr(host + 3, '/');
    return path == NULL ? "" : path;
}

void call_add_location(struct api_call *call, const char *path)
{
    if (path != NULL) {
        call_add_header(call, "Location", "%s%s", path_of_url(call->api->options.public_url), path);
    }
}

void call_add_attachment(struct api_call *call, const char *file_name)
{
    const char *encoded = query_string_encode(call_arena(call), file_name);
    size_t len = strlen(file_name);
    char *plain = arena_strndup(call_arena(call), file_name, len);
    if (encoded == NULL || plain == NULL) {
        return;
    }
    for (size_t i = 0; i < len; i++) {
        if (plain[i] < 0x20 || plain[i] > 0x7E || strchr("\"\\%", plain[i]) != NULL) {
            plain[i] = '_';
        }
    }
    if (strcmp(plain, file_name) == 0) {
        call_add_header(call, "Content-Disposition", "attachment; filename=\"%s\"", plain);
    } else {
        call_add_header(call, "Content-Disposition",
                        "attachment; filename=\"%s\"; filename*=UTF-8''%s", plain, encoded);
    }
}

bool call_id_at(
    const struct api_call *call, size_t place, const char *what, int64_t *id, struct err *err)
{
    const char *text = call->params[place];
    errno = 0;
    *id = strtoll(text, NULL, 10);
    bool digits = *text != '\0' && strspn(text, "0123456789") == strlen(text);
    if (!digits || errno != 0) {
        return err_set(err, ERR_NOT_FOUND, "No %s has the id \"%.80s\": ids are numbers", what,
                       text);
    }
    return true;
}

bool call_id(const struct api_call *call, const char *what, int64_t *id, struct err *err)
{
    return call_id_at(call, 0, what, id, err);
}

bool call_trace_id(const struct api_call *call, int64_t *id, struct err *err)
{
    return call_id(call, "trace", id, err) && store_trace_check(call->snapshot, *id, err);
}

void call_add_name(char names[CALL_NAMES_BYTES], const char *name)
{
    size_t len = strlen(names);
    if (len + strlen(name) + 8 < CALL_NAMES_BYTES) {
        (void)snprintf(names + len, CALL_NAMES_BYTES - len, "%s%s", len == 0 ? "" : ", ", name);
    } else if (len > 0 && names[len - 1] != '.') {
        (void)snprintf(names + len, CALL_NAMES_BYTES - len, " ...");
    }
}

/* The small JSON bodies of requests. */
#include "api/catalogue/patch_body.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

struct body {
    const uint8_t *at;
    size_t left;
};

static int64_t read_body(const struct api_request *request, void *bytes, size_t len)
{
    struct body *body = request->connection;
    len = len < body->left ? len : body->left;
    if (len > 0) {
        memcpy(bytes, body->at, len);
    }
    body->at += len;
    body->left -= len;
    return (int64_t)len;
}

int fuzz_one_input(const uint8_t *bytes, size_t len)
{
    struct err err = ERR_INIT;
    struct arena arena;
    struct patch_body patch = {.tags = NULL};
    struct body body = {.at = bytes, .left = len};
    const struct api_request request = {
        .content_length = (int64_t)len, .read_body = read_body, .connection = &body};
    arena_init(&arena, 0);
    if (patch_body_read(&patch, PATCH_RUN, &request, &arena, &err)) {
        fuzz_require(patch.tags != NULL || patch.note != NULL || patch.project != NULL ||
                         patch.has_pinned,
                     "a body changes something");
    } else {
        fuzz_require(err.msg[0] != '\0', "who refuses says why");
    }
    arena_free(&arena);
    return 0;
}

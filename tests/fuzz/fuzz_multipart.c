/* Forms as browsers send them. The first line of an input is the content type, the rest the body,
 * which is given whole and in small pieces. */
#include "api/upload/multipart.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_PIECE_BYTES 3

struct body {
    const uint8_t *at;
    size_t left;
    size_t piece_len;
};

static int64_t read_body(void *state, void *bytes, size_t len)
{
    struct body *body = state;
    len = len < body->left ? len : body->left;
    len = len < body->piece_len ? len : body->piece_len;
    if (len > 0) {
        memcpy(bytes, body->at, len);
    }
    body->at += len;
    body->left -= len;
    return (int64_t)len;
}

static uint64_t read_part(struct multipart *m, uint64_t hash, bool *good, struct err *err)
{
    const char *bytes = NULL;
    size_t len = 0;
    while ((*good = multipart_data(m, &bytes, &len, err)) && len > 0) {
        hash = fuzz_hash(hash, bytes, len);
    }
    return hash;
}

/* Every second part is passed over when `skips`. */
static uint64_t read_form(const char *type, struct body body, bool skips)
{
    struct err err = ERR_INIT;
    struct multipart *m = NULL;
    struct multipart_part part = {.name = NULL};
    const struct multipart_source source = {.read = read_body, .state = &body};
    bool has_part = false;
    uint64_t hash = FUZZ_HASH_INIT;
    bool good = multipart_create(&m, type, source, &err);
    for (unsigned i = 0; good && (good = multipart_next(m, &part, &has_part, &err)) && has_part;
         i++) {
        hash = fuzz_hash_text(fuzz_hash_text(hash, part.name), part.file_name);
        if (!skips || i % 2 == 0) {
            hash = read_part(m, hash, &good, &err);
        }
    }
    multipart_destroy(m);
    fuzz_require(good || err.msg[0] != '\0', "who refuses says why");
    return fuzz_hash_text(hash, good ? "" : err.msg);
}

int fuzz_one_input(const uint8_t *bytes, size_t len)
{
    const uint8_t *end = len == 0 ? NULL : memchr(bytes, '\n', len);
    if (end == NULL) {
        return 0;
    }
    size_t type_len = (size_t)(end - bytes);
    char *type = fuzz_text(bytes, type_len);
    struct body body = {.at = end + 1, .left = len - type_len - 1, .piece_len = SIZE_MAX};
    uint64_t whole = read_form(type, body, false);
    body.piece_len = SMALL_PIECE_BYTES;
    fuzz_require(read_form(type, body, false) == whole, "the size of the pieces does not matter");
    (void)read_form(type, body, true);
    free(type);
    return 0;
}

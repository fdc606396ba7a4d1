/* Query strings, and path segments with percent escapes. */
#include "api/query_string.h"
#include "tests/fuzz/fuzz.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What is encoded is decoded to the same. */
static void check_encoding(struct arena *arena, const char *text)
{
    struct err err = ERR_INIT;
    const char *back = NULL;
    const char *encoded = query_string_encode(arena, text);
    fuzz_require(encoded != NULL, "every text can be encoded");
    fuzz_require(query_string_decode(&back, arena, encoded, strlen(encoded), false, &err) &&
                     strcmp(back, text) == 0,
                 "what is encoded is decoded to the same");
}

static void check_params(struct arena *arena, const struct query_string *query)
{
    fuzz_require(query->count <= QUERY_STRING_PARAMS_MAX, "the parameters are bounded");
    for (size_t i = 0; i < query->count; i++) {
        struct err err = ERR_INIT;
        int64_t number = -1;
        const struct query_param *param = &query->params[i];
        fuzz_require(query_string_get(query, param->name) != NULL, "a parameter is found by name");
        check_encoding(arena, param->name);
        check_encoding(arena, param->value);
        if (query_string_int(query, param->name, INT64_MIN, INT64_MAX, &number, &err)) {
            continue;
        }
        fuzz_require(number == -1 && err.msg[0] != '\0',
                     "what is no number leaves the value alone");
    }
}

int fuzz_one_input(const uint8_t *bytes, size_t len)
{
    struct err err = ERR_INIT;
    struct arena arena;
    struct query_string query = {.count = 0};
    const char *segment = NULL;
    char *text = fuzz_text(bytes, len);
    arena_init(&arena, 0);
    if (query_string_parse(&query, &arena, text, &err)) {
        check_params(&arena, &query);
    } else {
        fuzz_require(err.msg[0] != '\0', "who refuses says why");
    }
    if (query_string_decode(&segment, &arena, text, strlen(text), false, &err)) {
        check_encoding(&arena, segment);
    }
    arena_free(&arena);
    free(text);
    return 0;
}

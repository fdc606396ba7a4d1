#include "api/catalogue/tags.h"

#include <stdlib.h>
#include <string.h>

#define TAGS_MAX 64
#define TAG_MAX_BYTES 200

static bool check_tags(const json_t *tags, struct err *err)
{
    if (!json_is_array(tags) || json_array_size(tags) > TAGS_MAX) {
        return err_set(err, ERR_BAD_REQUEST, "\"tags\" must be an array of at most %d strings",
                       TAGS_MAX);
    }
    for (size_t i = 0; i < json_array_size(tags); i++) {
        const json_t *tag = json_array_get(tags, i);
        size_t len = json_string_length(tag);
        if (!json_is_string(tag) || len == 0 || len > TAG_MAX_BYTES) {
            return err_set(err, ERR_BAD_REQUEST,
                           "Item %zu of \"tags\" must be a string of 1 to %d bytes", i,
                           TAG_MAX_BYTES);
        }
    }
    return true;
}

bool tags_of_json(const char **text, struct arena *arena, const json_t *tags, struct err *err)
{
    if (!check_tags(tags, err)) {
        return false;
    }
    char *dumped = json_dumps(tags, 0);
    *text = dumped == NULL ? NULL : arena_strdup(arena, dumped);
    free(dumped);
    return *text != NULL || err_set(err, ERR_NO_MEMORY, "No memory for the tags");
}

bool tags_of_query(const char **text,
                   struct arena *arena,
                   const struct query_string *query,
                   struct err *err)
{
    json_t *tags = json_array();
    bool ok = true;
    for (size_t i = 0; ok && i < query->count; i++) {
        ok = strcmp(query->params[i].name, "tag") != 0 ||
             json_array_append_new(tags, json_string(query->params[i].value)) == 0;
    }
    *text = NULL;
    ok = ok ? json_array_size(tags) == 0 || tags_of_json(text, arena, tags, err)
            : err_set(err, ERR_BAD_REQUEST, "A tag must be UTF-8");
    json_decref(tags);
    return ok;
}

#include "api/patch_body.h"

#include "api/json_body.h"

#include <stdlib.h>
#include <string.h>

#define NOTE_MAX_BYTES ((size_t)64 << 10)
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

/* The tags as the store keeps them: one text, the same for the same tags. */
static bool
keep_tags(struct patch_body *patch, struct arena *arena, const json_t *tags, struct err *err)
{
    if (!check_tags(tags, err)) {
        return false;
    }
    char *text = json_dumps(tags, 0);
    patch->tags = text == NULL ? NULL : arena_strndup(arena, text, strlen(text));
    free(text);
    return patch->tags != NULL || err_set(err, ERR_NO_MEMORY, "No memory for the tags");
}

static bool
keep_note(struct patch_body *patch, struct arena *arena, const json_t *note, struct err *err)
{
    size_t len = json_string_length(note);
    if (!json_is_string(note) || len > NOTE_MAX_BYTES) {
        return err_set(err, ERR_BAD_REQUEST, "\"note\" must be a string of at most %zu bytes",
                       NOTE_MAX_BYTES);
    }
    patch->note = arena_strndup(arena, json_string_value(note), len);
    return patch->note != NULL || err_set(err, ERR_NO_MEMORY, "No memory for the note");
}

static bool
keep_members(struct patch_body *patch, struct arena *arena, json_t *object, struct err *err)
{
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(object) || json_object_size(object) == 0) {
        return err_set(err, ERR_BAD_REQUEST,
                       "The body must be an object with \"tags\", \"note\" or both");
    }
    json_object_foreach(object, key, value)
    {
        bool is_tags = strcmp(key, "tags") == 0;
        if (!is_tags && strcmp(key, "note") != 0) {
            return err_set(err, ERR_BAD_REQUEST,
                           "\"%.60s\" cannot be changed: only \"tags\" and \"note\" can", key);
        }
        if (is_tags ? !keep_tags(patch, arena, value, err) : !keep_note(patch, arena, value, err)) {
            return false;
        }
    }
    return true;
}

bool patch_body_read(struct patch_body *patch,
                     const struct api_request *request,
                     struct arena *arena,
                     struct err *err)
{
    *patch = (struct patch_body){NULL, NULL};
    json_t *object = json_body_read(request, err);
    bool ok = object != NULL && keep_members(patch, arena, object, err);
    json_decref(object);
    return ok;
}

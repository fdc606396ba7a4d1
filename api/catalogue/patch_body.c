#include "api/catalogue/patch_body.h"

#include "api/catalogue/tags.h"
#include "api/json_body.h"

#include <stdio.h>
#include <string.h>

#define NOTE_MAX_BYTES ((size_t)64 << 10)

static bool
keep_tags(struct patch_body *patch, struct arena *arena, const json_t *tags, struct err *err)
{
    return tags_of_json(&patch->tags, arena, tags, err);
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
keep_pinned(struct patch_body *patch, struct arena *arena, const json_t *pinned, struct err *err)
{
    (void)arena;
    if (!json_is_boolean(pinned)) {
        return err_set(err, ERR_BAD_REQUEST, "\"pinned\" must be true or false");
    }
    patch->pinned = json_is_true(pinned);
    patch->has_pinned = true;
    return true;
}

static bool
keep_project(struct patch_body *patch, struct arena *arena, const json_t *project, struct err *err)
{
    const char *name = json_string_value(project);
    if (name == NULL) {
        return err_set(err, ERR_BAD_REQUEST,
                       "\"project\" must be the name of a project, or \"\" for none");
    }
    if (*name != '\0' && !store_project_check(name, err)) {
        return false;
    }
    patch->project = arena_strdup(arena, name);
    return patch->project != NULL || err_set(err, ERR_NO_MEMORY, "No memory for the project");
}

static const struct member {
    const char *key;
    bool of_runs_alone;
    bool (*keep)(struct patch_body *patch,
                 struct arena *arena,
                 const json_t *value,
                 struct err *err);
} members[] = {
    {"tags", false, keep_tags},
    {"note", false, keep_note},
    {"pinned", true, keep_pinned},
    {"project", true, keep_project},
};
#define MEMBER_COUNT (sizeof members / sizeof members[0])
#define MEMBERS_BYTES 100

/* "tags", "note" ... as a text. */
static const char *name_members(enum patch_subject subject, char text[MEMBERS_BYTES])
{
    size_t len = 0;
    text[0] = '\0';
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        if (subject == PATCH_RUN || !members[i].of_runs_alone) {
            len += (size_t)snprintf(text + len, MEMBERS_BYTES - len, "%s\"%s\"",
                                    len == 0 ? "" : ", ", members[i].key);
        }
    }
    return text;
}

static const struct member *find_member(enum patch_subject subject, const char *key)
{
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        if (strcmp(members[i].key, key) == 0) {
            return subject == PATCH_RUN || !members[i].of_runs_alone ? &members[i] : NULL;
        }
    }
    return NULL;
}

static bool keep_members(struct patch_body *patch,
                         enum patch_subject subject,
                         struct arena *arena,
                         json_t *object,
                         struct err *err)
{
    const char *key = NULL;
    json_t *value = NULL;
    char known[MEMBERS_BYTES];
    if (!json_is_object(object) || json_object_size(object) == 0) {
        return err_set(err, ERR_BAD_REQUEST, "The body must be an object with at least one of %s",
                       name_members(subject, known));
    }
    json_object_foreach(object, key, value)
    {
        const struct member *member = find_member(subject, key);
        if (member == NULL) {
            return err_set(err, ERR_BAD_REQUEST, "\"%.60s\" cannot be changed: only %s can", key,
                           name_members(subject, known));
        }
        if (!member->keep(patch, arena, value, err)) {
            return false;
        }
    }
    return true;
}

bool patch_body_read(struct patch_body *patch,
                     enum patch_subject subject,
                     const struct api_request *request,
                     struct arena *arena,
                     struct err *err)
{
    *patch = (struct patch_body){0};
    json_t *object = json_body_read(request, err);
    bool ok = object != NULL && keep_members(patch, subject, arena, object, err);
    json_decref(object);
    return ok;
}

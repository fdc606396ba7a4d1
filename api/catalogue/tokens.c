/* Tokens, for admins. What is answered once, when a token is made, is nowhere afterwards. */
#include "api/call.h"
#include "api/catalogue/catalogue_json.h"
#include "api/handlers.h"
#include "api/json_body.h"
#include "ingest/base/secret.h"
#include "ingest/store/store_access.h"

#include <string.h>

#define PROJECTS_MAX_BYTES ((size_t)STORE_PROJECTS_MAX * (STORE_PROJECT_MAX_BYTES + 4) + 8)

/* ---- list ---- */

static void write_time(struct json_write *w, const char *key, int64_t unix_s)
{
    if (unix_s == 0) {
        jw_key_null(w, key);
    } else {
        catalogue_json_time(w, key, unix_s);
    }
}

static void write_members(struct json_write *w, const struct store_token *token)
{
    jw_key_string(w, "name", token->name);
    jw_key_string(w, "role", access_role_text(token->role));
    jw_key(w, "projects");
    jw_raw(w, token->projects, strlen(token->projects));
}

bool tokens_list(struct api_call *call, struct err *err)
{
    struct store_token *tokens = NULL;
    size_t count = 0;
    if (store_is_away(call->api->store)) { /* a list of lately would not say so */
        return err_set(err, ERR_UNAVAILABLE, "The database does not answer; try again");
    }
    if (!store_tokens(call->api->store, call_arena(call), &tokens, &count, err)) {
        return false;
    }
    call_add_header(call, "Cache-Control", "no-store");
    struct json_write w = call_json(call, false);
    jw_object_begin(&w);
    jw_key_array_begin(&w, "tokens");
    for (size_t i = 0; i < count; i++) {
        jw_object_begin(&w);
        write_members(&w, &tokens[i]);
        write_time(&w, "created_at", tokens[i].created_at_s);
        write_time(&w, "revoked_at", tokens[i].revoked_at_s);
        write_time(&w, "last_used_at", tokens[i].last_used_at_s);
        jw_object_end(&w);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    return true;
}

/* ---- making one ---- */

static bool keep_projects(struct buf *list, const json_t *projects, struct err *err)
{
    size_t count = json_array_size(projects);
    if (projects != NULL && (!json_is_array(projects) || count > STORE_PROJECTS_MAX)) {
        return err_set(err, ERR_BAD_REQUEST, "\"projects\" must be an array of at most %d names",
                       STORE_PROJECTS_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(projects, i));
        if (!store_project_check(name == NULL ? "" : name, err)) {
            return false;
        }
        store_projects_add(list, name);
    }
    return !list->failed || err_set(err, ERR_NO_MEMORY, "No memory for the projects");
}

static bool check_members(json_t *object, struct err *err)
{
    const char *key = NULL;
    json_t *value = NULL;
    if (!json_is_object(object)) {
        return err_set(err, ERR_BAD_REQUEST,
                       "The body must be an object: {\"name\": ..., \"role\": ...}");
    }
    json_object_foreach(object, key, value)
    {
        if (strcmp(key, "name") != 0 && strcmp(key, "role") != 0 && strcmp(key, "projects") != 0) {
            return err_set(err, ERR_BAD_REQUEST,
                           "\"%.60s\" is unknown: a token has name, role and projects", key);
        }
    }
    return true;
}

/* `list` becomes the projects and lives as long as the token is used. */
static bool read_token(struct store_token *token,
                       struct buf *list,
                       struct api_call *call,
                       json_t *object,
                       struct err *err)
{
    const char *role = json_string_value(json_object_get(object, "role"));
    if (!check_members(object, err) ||
        !json_body_text(json_object_get(object, "name"), "\"name\"", STORE_TOKEN_NAME_MAX_BYTES,
                        call_arena(call), &token->name, err) ||
        !store_token_name_check(token->name, err)) {
        return false;
    }
    if (role == NULL || !access_role_parse(role, &token->role)) {
        return err_set(err, ERR_BAD_REQUEST, "\"role\" must be viewer, uploader or admin");
    }
    if (!keep_projects(list, json_object_get(object, "projects"), err)) {
        return false;
    }
    token->projects = list->len == 0 ? "[]" : list->ptr;
    return true;
}

static bool make_token(struct api_call *call, const struct store_token *wanted, struct err *err)
{
    char secret[SECRET_BYTES];
    char sha256_hex[SHA256_HEX_BYTES];
    struct store_token token = *wanted;
    token.sha256_hex = sha256_hex;
    if (!secret_make(secret, STORE_TOKEN_PREFIX, err) || !secret_hash(secret, sha256_hex, err) ||
        !store_token_add(call->api->store, &token, err)) {
        return false;
    }
    struct json_write w = call_json(call, false);
    call->response->status = 201;
    call_add_header(call, "Cache-Control", "no-store");
    jw_object_begin(&w);
    write_members(&w, wanted);
    jw_key_string(&w, "token", secret);
    jw_object_end(&w);
    return true;
}

bool tokens_post(struct api_call *call, struct err *err)
{
    struct store_token token = {.id = 0};
    struct buf projects;
    json_t *object = json_body_read(call->request, err);
    if (object == NULL) {
        return false;
    }
    buf_init(&projects, PROJECTS_MAX_BYTES);
    bool ok = read_token(&token, &projects, call, object, err) && make_token(call, &token, err);
    json_decref(object);
    buf_free(&projects);
    return ok;
}

/* ---- revoking ---- */

bool tokens_delete(struct api_call *call, struct err *err)
{
    if (!store_token_revoke(call->api->store, call->params[0], err)) {
        return false;
    }
    call->response->status = 204;
    return true;
}

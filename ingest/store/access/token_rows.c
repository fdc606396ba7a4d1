#include "ingest/store/access/token_rows.h"

#include "ingest/base/text/utf8.h"
#include "ingest/base/wall_clock.h"

#include <string.h>

const char *access_role_text(enum access_role role)
{
    switch (role) {
    case ACCESS_ROLE_VIEWER:
        return "viewer";
    case ACCESS_ROLE_UPLOADER:
        return "uploader";
    case ACCESS_ROLE_ADMIN:
        return "admin";
    case ACCESS_ROLE_NOBODY:
        break;
    }
    return "nobody";
}

bool access_role_parse(const char *word, enum access_role *role)
{
    for (*role = ACCESS_ROLE_VIEWER; *role <= ACCESS_ROLE_ADMIN; (*role)++) {
        if (strcmp(word, access_role_text(*role)) == 0) {
            return true;
        }
    }
    return false;
}

bool store_token_name_check(const char *name, struct err *err)
{
    size_t len = strlen(name);
    if (len == 0 || len > STORE_TOKEN_NAME_MAX_BYTES) {
        return err_set(err, ERR_BAD_REQUEST, "the name of a token has 1 to %d bytes, not %zu",
                       STORE_TOKEN_NAME_MAX_BYTES, len);
    }
    for (size_t at = 0; at < len;) {
        uint32_t code_point;
        size_t char_len = utf8_decode(name + at, len - at, &code_point);
        bool is_control = code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0);
        if (code_point == UTF8_INVALID || is_control) {
            return err_set(err, ERR_BAD_REQUEST,
                           "the name of a token is text without control characters");
        }
        at += char_len;
    }
    return true;
}

static void read_token(struct db_stmt *st, struct arena *arena, struct store_token *token)
{
    size_t len;
    token->id = db_get_int(st);
    token->name = db_get_text(st, arena);
    const char *role = db_peek_text(st, &len);
    if (role == NULL || !access_role_parse(role, &token->role)) {
        token->role = ACCESS_ROLE_NOBODY;
    }
    token->sha256_hex = db_get_text(st, arena);
    token->projects = db_get_text(st, arena);
    token->created_at_s = db_get_int(st);
    token->revoked_at_s = db_get_int(st);
    token->last_used_at_s = db_get_int(st);
}

bool token_rows_list(
    struct db *db, struct arena *arena, struct store_token **rows, size_t *count, struct err *err)
{
    struct db_stmt st;
    *count = 0;
    db_prepare(&st, db, "SELECT count(*) FROM token");
    size_t rows_max = db_next(&st) ? (size_t)db_get_int(&st) : 0;
    if (!db_done(&st, err)) {
        return false;
    }
    *rows = arena_calloc(arena, rows_max + 1, sizeof **rows);
    if (*rows == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the tokens");
    }
    db_prepare(&st, db,
               "SELECT id, name, role, sha256, projects, created_at_s, coalesce(revoked_at_s, 0),"
               " coalesce(last_used_at_s, 0) FROM token ORDER BY id");
    while (*count < rows_max && db_next(&st)) {
        read_token(&st, arena, &(*rows)[(*count)++]);
    }
    return db_done(&st, err);
}

static bool check_room(struct db *db, const char *name, struct err *err)
{
    struct db_stmt st;
    db_prepare(
        &st, db,
        "SELECT count(*), count(*) FILTER (WHERE name = ?) FROM token WHERE revoked_at_s IS NULL");
    db_put_text(&st, name);
    bool any = db_next(&st);
    int64_t valid = any ? db_get_int(&st) : 0;
    int64_t of_name = any ? db_get_int(&st) : 0;
    if (!db_done(&st, err)) {
        return false;
    }
    if (of_name > 0) {
        return err_set(err, ERR_CONFLICT,
                       "there is a token \"%s\" already: revoke it first, or choose another name",
                       name);
    }
    return valid < STORE_TOKENS_MAX ||
           err_set(err, ERR_CONFLICT, "there are %d valid tokens, as many as may be: revoke some",
                   STORE_TOKENS_MAX);
}

bool token_rows_add(struct db *db, const struct store_token *token, struct err *err)
{
    if (!check_room(db, token->name, err)) {
        return false;
    }
    struct db_stmt st;
    db_prepare(&st, db,
               "INSERT INTO token (name, role, sha256, projects, created_at_s)"
               " VALUES (?, ?, ?, ?, ?)");
    db_put_text(&st, token->name);
    db_put_text(&st, access_role_text(token->role));
    db_put_text(&st, token->sha256_hex);
    db_put_text(&st, token->projects);
    db_put_int(&st, wall_clock_s());
    return db_run(&st, err);
}

bool token_rows_revoke(struct db *db, const char *name, struct err *err)
{
    struct db_stmt st;
    if (!db_run_text(db,
                     "DELETE FROM session WHERE token_sha256 IN"
                     " (SELECT sha256 FROM token WHERE name = ? AND revoked_at_s IS NULL)",
                     name, err)) {
        return false;
    }
    db_prepare(&st, db,
               "UPDATE token SET revoked_at_s = ? WHERE name = ? AND revoked_at_s IS NULL");
    db_put_int(&st, wall_clock_s());
    db_put_text(&st, name);
    return db_run(&st, err) &&
           (db_changes(db) > 0 ||
            err_set(err, ERR_NOT_FOUND, "there is no valid token \"%s\"", name));
}

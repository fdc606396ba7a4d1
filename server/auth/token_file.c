#include "server/auth/token_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 4096
#define HASH_HEX_LEN (SHA256_HEX_BYTES - 1)
#define PROJECTS_MAX_BYTES ((size_t)LINE_MAX_BYTES * 4)

struct token_file {
    struct arena *arena;
    struct store_token *tokens;
    size_t count, capacity;
};

static bool read_hash(const char *word, char hash_hex[SHA256_HEX_BYTES])
{
    if (strlen(word) != HASH_HEX_LEN) {
        return false;
    }
    for (size_t i = 0; i < HASH_HEX_LEN; i++) {
        unsigned char c = (unsigned char)word[i];
        if (!isxdigit(c)) {
            return false;
        }
        hash_hex[i] = (char)tolower(c);
    }
    hash_hex[HASH_HEX_LEN] = '\0';
    return true;
}

static const char *keep(struct token_file *file, const char *text)
{
    return arena_strdup(file->arena, text);
}

static bool
read_projects(struct token_file *file, char *words, const char **projects, struct err *err)
{
    struct buf list;
    char *rest = NULL;
    *projects = "[]";
    if (words == NULL) {
        return true;
    }
    buf_init(&list, PROJECTS_MAX_BYTES);
    bool ok = true;
    for (char *name = strtok_r(words, ",", &rest); ok && name != NULL;
         name = strtok_r(NULL, ",", &rest)) {
        ok = store_project_check(name, err);
        if (ok) {
            store_projects_add(&list, name);
        }
    }
    if (ok && list.len > 0) {
        *projects = keep(file, list.ptr);
    }
    buf_free(&list);
    return ok;
}

static bool add_token(struct token_file *file, const struct store_token *token, struct err *err)
{
    if (file->count == STORE_TOKENS_MAX) {
        return err_set(err, ERR_BAD_INPUT, "more than %d tokens", STORE_TOKENS_MAX);
    }
    struct store_token *grown =
        arena_grow(file->arena, file->tokens, file->count, &file->capacity, sizeof *grown);
    if (grown == NULL || token->name == NULL || token->sha256_hex == NULL ||
        token->projects == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the tokens");
    }
    file->tokens = grown;
    grown[file->count++] = *token;
    return true;
}

static bool read_line(struct token_file *file, char *line, struct err *err)
{
    char hash_hex[SHA256_HEX_BYTES];
    struct store_token token = {.id = 0};
    line[strcspn(line, "#\r\n")] = '\0';
    char *rest = NULL;
    const char *role = strtok_r(line, " \t", &rest);
    if (role == NULL) {
        return true;
    }
    const char *name = strtok_r(NULL, " \t", &rest);
    const char *hash = strtok_r(NULL, " \t", &rest);
    char *projects = strtok_r(NULL, " \t", &rest);
    if (name == NULL || hash == NULL || strtok_r(NULL, " \t", &rest) != NULL) {
        return err_set(err, ERR_BAD_INPUT,
                       "a line is: role name sha256-of-token [project,project...]");
    }
    if (!access_role_parse(role, &token.role)) {
        return err_set(err, ERR_BAD_INPUT, "the role is viewer, uploader or admin, not \"%.40s\"",
                       role);
    }
    if (!read_hash(hash, hash_hex)) {
        return err_set(err, ERR_BAD_INPUT,
                       "the third word is the token's SHA-256 in 64 hexadecimal digits: "
                       "printf %%s TOKEN | sha256sum");
    }
    if (!store_token_name_check(name, err) ||
        !read_projects(file, projects, &token.projects, err)) {
        return false;
    }
    token.name = keep(file, name);
    token.sha256_hex = keep(file, hash_hex);
    return add_token(file, &token, err);
}

static bool read_lines(struct token_file *file, FILE *stream, struct err *err)
{
    char line[LINE_MAX_BYTES];
    for (unsigned number = 1; fgets(line, sizeof line, stream) != NULL; number++) {
        bool whole = strchr(line, '\n') != NULL || feof(stream);
        if (!whole) {
            return err_set(err, ERR_BAD_INPUT, "line %u is too long", number);
        }
        if (!read_line(file, line, err)) {
            return err_context(err, "line %u", number);
        }
    }
    if (ferror(stream)) {
        return err_set_errno(err, ERR_IO, errno, "it cannot be read");
    }
    return file->count > 0 ||
           err_set(err, ERR_BAD_INPUT, "there is no token in it, so nobody could do anything");
}

bool token_file_read(const char *path,
                     struct arena *arena,
                     struct store_token **tokens,
                     size_t *count,
                     struct err *err)
{
    struct token_file file = {.arena = arena};
    FILE *stream = fopen(path, "r");
    if (stream == NULL) {
        return err_set_errno(err, ERR_IO, errno, "token file %.200s", path);
    }
    bool ok = read_lines(&file, stream, err);
    (void)fclose(stream);
    *tokens = file.tokens;
    *count = file.count;
    return ok || err_context(err, "token file %.200s", path);
}

#include "server/access.h"

#include "ingest/base/sha256.h"

#include <ctype.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TOKENS_MAX 4096
#define LINE_MAX_BYTES 1024
#define CREDENTIALS_MAX_BYTES 4096
#define HASH_HEX_LEN (SHA256_HEX_BYTES - 1)

struct token {
    enum access_role role;
    char hash_hex[SHA256_HEX_BYTES];
};

struct access {
    struct token *tokens;
    size_t count;
};

const char *access_role_text(enum access_role role)
{
    switch (role) {
    case ACCESS_VIEWER:
        return "viewer";
    case ACCESS_UPLOADER:
        return "uploader";
    case ACCESS_ADMIN:
        return "admin";
    case ACCESS_NOBODY:
        break;
    }
    return "nobody";
}

static bool role_parse(const char *word, enum access_role *role)
{
    for (*role = ACCESS_VIEWER; *role <= ACCESS_ADMIN; (*role)++) {
        if (strcmp(word, access_role_text(*role)) == 0) {
            return true;
        }
    }
    return false;
}

static bool hash_parse(const char *word, char hash_hex[SHA256_HEX_BYTES])
{
    if (strlen(word) != HASH_HEX_LEN) {
        return false;
    }
    for (size_t i = 0; i <= HASH_HEX_LEN; i++) {
        unsigned char c = (unsigned char)word[i];
        if (c != '\0' && !isxdigit(c)) {
            return false;
        }
        hash_hex[i] = (char)tolower(c);
    }
    return true;
}

static bool add_token(struct access *access, const struct token *token, struct err *err)
{
    if (access->count == TOKENS_MAX) {
        return err_set(err, ERR_BAD_INPUT, "more than %d tokens", TOKENS_MAX);
    }
    struct token *grown = realloc(access->tokens, (access->count + 1) * sizeof *grown);
    if (grown == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the tokens");
    }
    access->tokens = grown;
    access->tokens[access->count++] = *token;
    return true;
}

static bool parse_line(struct access *access, char *line, struct err *err)
{
    line[strcspn(line, "#\r\n")] = '\0';
    char *rest = NULL;
    const char *role = strtok_r(line, " \t", &rest);
    if (role == NULL) {
        return true;
    }
    const char *name = strtok_r(NULL, " \t", &rest);
    const char *hash = strtok_r(NULL, " \t", &rest);
    if (name == NULL || hash == NULL || strtok_r(NULL, " \t", &rest) != NULL) {
        return err_set(err, ERR_BAD_INPUT, "a line is: role name sha256-of-token");
    }
    struct token token;
    if (!role_parse(role, &token.role)) {
        return err_set(err, ERR_BAD_INPUT, "the role is viewer, uploader or admin, not \"%.40s\"",
                       role);
    }
    if (!hash_parse(hash, token.hash_hex)) {
        return err_set(err, ERR_BAD_INPUT,
                       "the third word is the token's SHA-256 in 64 hexadecimal digits: "
                       "printf %%s TOKEN | sha256sum");
    }
    return add_token(access, &token, err);
}

static bool parse_file(struct access *access, FILE *file, struct err *err)
{
    char line[LINE_MAX_BYTES];
    for (unsigned number = 1; fgets(line, sizeof line, file) != NULL; number++) {
        bool whole = strchr(line, '\n') != NULL || feof(file);
        if (!whole) {
            return err_set(err, ERR_BAD_INPUT, "line %u is too long", number);
        }
        if (!parse_line(access, line, err)) {
            return err_context(err, "line %u", number);
        }
    }
    if (ferror(file)) {
        return err_set_errno(err, ERR_IO, errno, "it cannot be read");
    }
    if (access->count == 0) {
        return err_set(err, ERR_BAD_INPUT, "there is no token in it, so nobody could do anything");
    }
    return true;
}

bool access_load(struct access **out, const char *path, struct err *err)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return err_set_errno(err, ERR_IO, errno, "token file %.200s", path);
    }
    struct access *access = calloc(1, sizeof *access);
    bool ok = access == NULL ? err_set(err, ERR_NO_MEMORY, "no memory for the tokens")
                             : parse_file(access, file, err);
    (void)fclose(file);
    if (!ok) {
        access_free(access);
        return err_context(err, "token file %.200s", path);
    }
    *out = access;
    return true;
}

void access_free(struct access *access)
{
    if (access != NULL) {
        free(access->tokens);
        free(access);
    }
}

/* The password of "user:password" in base64, into `token`. */
static bool decode_basic(const char *text, char token[CREDENTIALS_MAX_BYTES])
{
    size_t len = strlen(text);
    unsigned char pair[CREDENTIALS_MAX_BYTES];
    if (len == 0 || len % 4 != 0 || len > CREDENTIALS_MAX_BYTES) {
        return false;
    }
    int decoded = EVP_DecodeBlock(pair, (const unsigned char *)text, (int)len);
    if (decoded < 0) {
        return false;
    }
    /* EVP_DecodeBlock counts the padding as bytes. */
    size_t pair_len = (size_t)decoded - (text[len - 1] == '=') - (text[len - 2] == '=');
    const unsigned char *colon = memchr(pair, ':', pair_len);
    if (colon == NULL) {
        return false;
    }
    size_t token_len = pair_len - (size_t)(colon + 1 - pair);
    memcpy(token, colon + 1, token_len);
    token[token_len] = '\0';
    return true;
}

static bool token_of(const char *authorization, char token[CREDENTIALS_MAX_BYTES])
{
    static const char bearer[] = "Bearer ";
    static const char basic[] = "Basic ";
    if (authorization == NULL) {
        return false;
    }
    if (strncasecmp(authorization, basic, sizeof basic - 1) == 0) {
        return decode_basic(authorization + sizeof basic - 1, token);
    }
    if (strncasecmp(authorization, bearer, sizeof bearer - 1) != 0) {
        return false;
    }
    const char *text = authorization + sizeof bearer - 1;
    text += strspn(text, " ");
    size_t len = strcspn(text, " \t");
    if (len >= CREDENTIALS_MAX_BYTES) {
        return false;
    }
    memcpy(token, text, len);
    token[len] = '\0';
    return true;
}

/* All tokens are compared, so that the time tells nothing about which one was near. */
static enum access_role role_of(const struct access *access, const char *token)
{
    char hash_hex[SHA256_HEX_BYTES];
    struct sha256 *hash = sha256_create();
    if (hash == NULL) {
        return ACCESS_NOBODY;
    }
    sha256_update(hash, token, strlen(token));
    sha256_final_hex(hash, hash_hex);
    sha256_destroy(hash);
    enum access_role role = ACCESS_NOBODY;
    for (size_t i = 0; i < access->count; i++) {
        const struct token *known = &access->tokens[i];
        if (CRYPTO_memcmp(known->hash_hex, hash_hex, HASH_HEX_LEN) == 0 && known->role > role) {
            role = known->role;
        }
    }
    return role;
}

bool access_check(const struct access *access,
                  const char *authorization,
                  enum access_role needed,
                  struct err *err)
{
    if (access == NULL || needed == ACCESS_NOBODY) {
        return true;
    }
    char token[CREDENTIALS_MAX_BYTES];
    if (!token_of(authorization, token)) {
        return err_set(err, ERR_UNAUTHORIZED,
                       "This server asks for a token: send the header Authorization: Bearer TOKEN");
    }
    enum access_role role = role_of(access, token);
    if (role == ACCESS_NOBODY) {
        return err_set(err, ERR_UNAUTHORIZED, "The token is not one that this server knows");
    }
    if (role < needed) {
        return err_set(err, ERR_FORBIDDEN, "This needs the role %s; the token has the role %s",
                       access_role_text(needed), access_role_text(role));
    }
    return true;
}

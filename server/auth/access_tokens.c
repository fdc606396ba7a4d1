#include "server/auth/access_tokens.h"

#include "ingest/base/containers/fnv.h"
#include "ingest/base/secret.h"

#include <stdlib.h>
#include <string.h>

#define DAY_S 86400

/* With its NUL, so that no two lists of texts are the same bytes. */
static void mix(struct access_tokens *tokens, const char *text)
{
    tokens->mark = fnv_add(tokens->mark, text, strlen(text) + 1);
}

static bool keep(struct access_tokens *tokens, const struct store_token *token)
{
    struct access_token *item = &tokens->items[tokens->count];
    item->name = arena_strdup(&tokens->arena, token->name);
    item->projects = arena_strdup(&tokens->arena, token->projects);
    if (item->name == NULL || item->projects == NULL ||
        strlen(token->sha256_hex) != SHA256_HEX_BYTES - 1) {
        return item->name != NULL && item->projects != NULL;
    }
    memcpy(item->sha256_hex, token->sha256_hex, SHA256_HEX_BYTES);
    item->projects = token->role == ACCESS_ROLE_ADMIN ? NULL : item->projects;
    item->role = token->role;
    item->id = token->id;
    atomic_init(&item->last_used_day, token->last_used_at_s / DAY_S);
    tokens->count++;
    mix(tokens, token->name);
    mix(tokens, token->projects);
    mix(tokens, token->sha256_hex);
    mix(tokens, access_role_text(token->role));
    return true;
}

static bool collect(struct access_tokens *tokens,
                    const struct store_token *of_file,
                    size_t file_count,
                    const struct store_token *of_store,
                    size_t store_count)
{
    tokens->items =
        arena_calloc(&tokens->arena, file_count + store_count + 1, sizeof *tokens->items);
    bool ok = tokens->items != NULL;
    for (size_t i = 0; ok && i < file_count; i++) {
        ok = keep(tokens, &of_file[i]);
    }
    for (size_t i = 0; ok && i < store_count; i++) {
        ok = of_store[i].revoked_at_s != 0 || of_store[i].role == ACCESS_ROLE_NOBODY ||
             keep(tokens, &of_store[i]);
    }
    tokens->any = file_count + store_count > 0;
    return ok;
}

bool access_tokens_make(struct access_tokens **out,
                        const struct store_token *of_file,
                        size_t file_count,
                        struct store *store,
                        struct err *err)
{
    struct store_token *of_store = NULL;
    size_t store_count = 0;
    struct arena rows;
    struct access_tokens *tokens = calloc(1, sizeof *tokens);
    if (tokens == NULL) {
        return err_set(err, ERR_NO_MEMORY, "No memory for the tokens");
    }
    arena_init(&tokens->arena, 0);
    arena_init(&rows, 0);
    bool ok = store == NULL || store_tokens(store, &rows, &of_store, &store_count, err);
    if (ok && !collect(tokens, of_file, file_count, of_store, store_count)) {
        ok = err_set(err, ERR_NO_MEMORY, "No memory for the tokens");
    }
    arena_free(&rows);
    if (!ok) {
        access_tokens_free(tokens);
        return false;
    }
    *out = tokens;
    return true;
}

void access_tokens_free(struct access_tokens *tokens)
{
    if (tokens != NULL) {
        arena_free(&tokens->arena);
        free(tokens);
    }
}

struct access_token *access_tokens_find(const struct access_tokens *tokens,
                                        const char sha256_hex[SHA256_HEX_BYTES])
{
    struct access_token *found = NULL;
    for (size_t i = 0; i < tokens->count; i++) {
        struct access_token *item = &tokens->items[i];
        if (secret_hash_equal(item->sha256_hex, sha256_hex) &&
            (found == NULL || item->role > found->role)) {
            found = item;
        }
    }
    return found;
}

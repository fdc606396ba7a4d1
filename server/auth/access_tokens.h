/* The valid tokens at one time, as an immutable list that its last reader frees. */
#ifndef KS_SERVER_AUTH_ACCESS_TOKENS_H
#define KS_SERVER_AUTH_ACCESS_TOKENS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/base/sha256.h"
#include "ingest/store/store_access.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct access_token {
    const char *name;
    enum access_role role;
    const char *projects; /* NULL: all */
    char sha256_hex[SHA256_HEX_BYTES];
    int64_t id;                    /* in the store; 0: from the file */
    _Atomic int64_t last_used_day; /* tokens of the store only */
};

struct access_tokens {
    struct arena arena;
    struct access_token *items;
    size_t count;
    bool any;         /* a token exists or existed */
    uint64_t mark;    /* hash of the contents: equal for equal tokens */
    unsigned holders; /* readers; guarded by the owner's lock */
};

/* Merges the valid tokens of both lists. Those of the file must live as long. NULL store: only the
 * file's. */
bool access_tokens_make(struct access_tokens **out,
                        const struct store_token *of_file,
                        size_t file_count,
                        struct store *store,
                        struct err *err) KS_MUST_USE;
void access_tokens_free(struct access_tokens *tokens); /* NULL is allowed */
/* Finds the token of this hash; of several the one with the highest role; NULL. Compares all of
 * them, so that timing does not reveal a near match. */
struct access_token *access_tokens_find(const struct access_tokens *tokens,
                                        const char sha256_hex[SHA256_HEX_BYTES]);

#endif

/* The valid tokens at one time: a list that never changes, and that goes when the last one who
 * looks at it is done. */
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
    int64_t id;                    /* in the store; 0: of the file */
    _Atomic int64_t last_used_day; /* of a token in the store */
};

struct access_tokens {
    struct arena arena;
    struct access_token *items;
    size_t count;
    bool any;         /* there is one, or was */
    uint64_t mark;    /* of all that it holds: the same for the same tokens */
    unsigned holders; /* guarded by the lock of who hands it out */
};

/* The valid ones of both lists. The file's must live as long. NULL store: none of it. */
bool access_tokens_make(struct access_tokens **out,
                        const struct store_token *of_file,
                        size_t file_count,
                        struct store *store,
                        struct err *err) KS_MUST_USE;
void access_tokens_free(struct access_tokens *tokens); /* NULL is allowed */
/* The token of this hash, of several the one with the highest role; NULL. All are compared, so that
 * the time tells nothing about which one was near. */
struct access_token *access_tokens_find(const struct access_tokens *tokens,
                                        const char sha256_hex[SHA256_HEX_BYTES]);

#endif

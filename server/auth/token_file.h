/* Parses the token file: lines of `role name sha256-of-token`, then, for a token with projects,
 * their names separated by commas. "#" begins a comment. */
#ifndef KS_SERVER_AUTH_TOKEN_FILE_H
#define KS_SERVER_AUTH_TOKEN_FILE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/store/store_access.h"

#include <stddef.h>

/* Reads name, role, sha256_hex and projects of each token into the arena. ERR_BAD_INPUT, ERR_IO
 * name the line. A file without a token is an error. */
bool token_file_read(const char *path,
                     struct arena *arena,
                     struct store_token **tokens,
                     size_t *count,
                     struct err *err) KS_MUST_USE;

#endif

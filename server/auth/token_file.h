/* The token file: one `role name sha256-of-token` a line, and after it, when the token belongs to
 * projects, their names with commas between them; "#" begins a comment. */
#ifndef KS_SERVER_AUTH_TOKEN_FILE_H
#define KS_SERVER_AUTH_TOKEN_FILE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/store/store_access.h"

#include <stddef.h>

/* What it holds, in the arena: name, role, sha256_hex and projects are set. Errors (ERR_BAD_INPUT,
 * ERR_IO) name the line; a file without a token is one. */
bool token_file_read(const char *path,
                     struct arena *arena,
                     struct store_token **tokens,
                     size_t *count,
                     struct err *err) KS_MUST_USE;

#endif

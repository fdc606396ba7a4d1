/* The rows of `token` on any connection: the store's own, or one beside it. */
#ifndef KS_STORE_ACCESS_TOKEN_ROWS_H
#define KS_STORE_ACCESS_TOKEN_ROWS_H

#include "ingest/store/db/db.h"
#include "ingest/store/store_access.h"

bool token_rows_list(struct db *db,
                     struct arena *arena,
                     struct store_token **rows,
                     size_t *count,
                     struct err *err) KS_MUST_USE;
/* Both within a transaction of the caller. */
bool token_rows_add(struct db *db, const struct store_token *token, struct err *err) KS_MUST_USE;
bool token_rows_revoke(struct db *db, const char *name, struct err *err) KS_MUST_USE;

#endif

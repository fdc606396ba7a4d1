/* What the catalogue answered lately, for the time that its server is away: the rows of a statement
 * by its text and parameters. Bounded: the oldest answer goes first. Thread-safe. */
#ifndef KS_STORE_DB_POSTGRES_RECALL_H
#define KS_STORE_DB_POSTGRES_RECALL_H

#include "ingest/base/sha256.h"

#include <libpq-fe.h>
#include <stdint.h>

struct recall;

struct recall *recall_create(void); /* NULL without memory */
void recall_free(struct recall *recall);

/* Keeps a copy, unless it is too large or there is no memory for it. */
void recall_keep(struct recall *recall,
                 const char key[SHA256_HEX_BYTES],
                 const PGresult *result,
                 int64_t now_ms);
/* A copy for the caller, and when it was kept; NULL: unknown, or too old. */
PGresult *recall_find(struct recall *recall,
                      const char key[SHA256_HEX_BYTES],
                      int64_t now_ms,
                      int64_t *kept_at_ms);

#endif

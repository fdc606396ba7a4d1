/* The schema: migrations/NNNN_*.sql, embedded by embed_sql.cmake. */
#ifndef KS_STORE_DB_MIGRATIONS_H
#define KS_STORE_DB_MIGRATIONS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/log.h"
#include "ingest/store/db/db.h"

#include <stdbool.h>
#include <stddef.h>

struct store_migration {
    int version; /* PRAGMA user_version after it */
    const char *name;
    const unsigned char *sql; /* NUL-terminated ASCII */
};

extern const struct store_migration store_migrations[]; /* ascending, from 1 without gaps */
extern const size_t store_migration_count;

/* Whether the database has no table yet. */
bool store_is_new(struct db *db, bool *is_new, struct err *err) KS_MUST_USE;
/* Brings the database to the newest version, each step in a transaction of its own. Refuses a
 * database that is newer than this program or belongs to another one (ERR_STORE). */
bool store_migrate(struct db *db, const struct log *log, struct err *err) KS_MUST_USE;

#endif

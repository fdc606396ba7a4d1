/* The engine of a catalogue on a PostgreSQL server. */
#ifndef KS_STORE_DB_POSTGRES_POSTGRES_H
#define KS_STORE_DB_POSTGRES_POSTGRES_H

#include "ingest/store/db/db.h"

/* `url` is postgresql://…, as libpq reads it. ERR_UNAVAILABLE: the server does not answer, or, for
 * a writer, another one has the database. */
bool postgres_open(struct db **out, const char *url, enum db_mode mode, struct err *err)
    KS_MUST_USE;
bool postgres_open_shared(struct db **out,
                          const char *url,
                          struct db_shared *shared,
                          struct err *err) KS_MUST_USE;

#endif

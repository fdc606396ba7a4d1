/* A connection to PostgreSQL. Outside of a transaction it is made again when it was lost; a
 * transaction that loses it fails, up to its end, with ERR_UNAVAILABLE. */
#ifndef KS_STORE_DB_POSTGRES_CONNECTION_H
#define KS_STORE_DB_POSTGRES_CONNECTION_H

#include "ingest/store/db/engine.h"

#include <libpq-fe.h>

#define XID_BYTES 24

struct postgres_db {
    struct db db;
    char *url;
    enum db_mode mode;
    PGconn *conn;
    uint64_t generation; /* of the connection: statements of an earlier one are prepared again */
    uint64_t next_name;  /* of a prepared statement */
    int64_t lost_at_ms;  /* monotonic; 0: it is not lost */
    int64_t changes;     /* rows that the last statement touched */
    bool is_begun;       /* a transaction, also one that was lost with its connection */
    bool is_closing;
    char xid[XID_BYTES]; /* of the transaction of a writer; "": none */
};

static inline struct postgres_db *postgres_of(struct db *db)
{
    return (struct postgres_db *)db;
}

/* Connects again, if that is needed and no transaction is under way. */
bool postgres_ensure(struct postgres_db *db, struct err *err) KS_MUST_USE;
bool postgres_is_lost(const struct postgres_db *db);

/* ---- errors.c ---- */

/* What went wrong with `result` (NULL: with the connection). Frees nothing; returns false. */
bool postgres_failed(const struct postgres_db *db, const PGresult *result, struct err *err);

/* ---- statements.c ---- */

extern const struct db_engine postgres_engine;

/* The engine's part of connection.c. */
void postgres_close(struct db *front);
bool postgres_exec(const char *sql, struct db *front, struct err *err) KS_MUST_USE;
bool postgres_exec_schema(const char *sql, struct db *front, struct err *err) KS_MUST_USE;
bool postgres_set_durable(struct db *front, bool durable, struct err *err) KS_MUST_USE;
bool postgres_begin(struct db *front, struct err *err) KS_MUST_USE;
bool postgres_commit(struct db *front, struct err *err) KS_MUST_USE;
bool postgres_rollback(struct db *front, struct err *err) KS_MUST_USE;

#endif

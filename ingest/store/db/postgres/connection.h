/* A connection to PostgreSQL. Outside of a transaction it is made again when it was lost; a
 * transaction that loses it fails, up to its end, with ERR_UNAVAILABLE.
 *
 * How long a call waits for a server that is away, counted from when the first connection of the
 * process missed it: 10 s, or 2 s in db_begin_recent, which then answers from what was read lately
 * (recall.h). After that nobody waits: the calls of one second try once in all, the others fail at
 * once, until one has reached it. */
#ifndef KS_STORE_DB_POSTGRES_CONNECTION_H
#define KS_STORE_DB_POSTGRES_CONNECTION_H

#include "ingest/base/secret.h"
#include "ingest/store/db/engine.h"

#include <libpq-fe.h>

/* Of each host of the URL; a time-out of libpq is a text. */
#define POSTGRES_CONNECT_S "3"

struct postgres_db {
    struct db db;
    char *url;
    enum db_mode mode;
    PGconn *conn;
    uint64_t generation; /* of the connection: statements of an earlier one are prepared again */
    uint64_t next_name;  /* of a prepared statement */
    int64_t changes;     /* rows that the last statement touched */
    bool is_begun;       /* a transaction, also one that was lost with its connection */
    bool is_recent;      /* that one is of db_begin_recent: what it reads is kept */
    bool recalls;        /* and has no server: it reads what was kept */
    bool is_closing;
    bool is_dropped;  /* the connection is not to be used again */
    int64_t timeline; /* of the server, see struct db_shared; 0: unknown */
    bool has_marks;   /* the catalogue has the table commit_mark */
    int64_t mark;     /* of the last transaction of a writer; 0: it has none */
    int64_t next_mark;
    struct db_shared own;      /* of one that shares nothing */
    char writer[SECRET_BYTES]; /* whose marks they are */
};

static inline struct postgres_db *postgres_of(struct db *db)
{
    return (struct postgres_db *)db;
}

/* Connects again, if that is needed and no transaction is under way. */
bool postgres_ensure(struct postgres_db *db, struct err *err) KS_MUST_USE;
bool postgres_is_lost(const struct postgres_db *db);
/* The server does not answer, since `silent_ms` ago unless that is known already. Returns since
 * when. */
int64_t postgres_note_away(struct postgres_db *db, int64_t silent_ms);

/* ---- answer.c ---- */

/* The last result of what was sent (PQsend..., which returned `sent`), or NULL: the connection is
 * lost, if need be because the server stands still. */
PGresult *postgres_answer(struct postgres_db *db, int sent);
/* From now on the connection counts as lost. */
void postgres_drop(struct postgres_db *db);

/* ---- errors.c ---- */

/* What went wrong with `result` (NULL: with the connection). Frees nothing; returns false. The
 * connection of a writer to a server that takes no writes is dropped: another may be the primary.
 */
bool postgres_failed(struct postgres_db *db, const PGresult *result, struct err *err);

/* ---- statements.c ---- */

extern const struct db_engine postgres_engine;

/* The engine's part of connection.c. */
void postgres_close(struct db *front);
bool postgres_exec(const char *sql, struct db *front, struct err *err) KS_MUST_USE;
bool postgres_exec_schema(const char *sql, struct db *front, struct err *err) KS_MUST_USE;
bool postgres_set_durable(struct db *front, bool durable, struct err *err) KS_MUST_USE;
bool postgres_begin(struct db *front, struct err *err) KS_MUST_USE;
bool postgres_begin_recent(struct db *front, int64_t away_ms, struct err *err) KS_MUST_USE;
bool postgres_commit(struct db *front, struct err *err) KS_MUST_USE;
bool postgres_rollback(struct db *front, struct err *err) KS_MUST_USE;

#endif

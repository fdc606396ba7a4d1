/* One connection to a database and its statements. Not thread-safe: who uses a connection owns it
 * for that time. The catalogue is embedded (SQLite) or on a server (PostgreSQL, db/postgres/), and
 * its SQL is what both understand; files of traces are always SQLite.
 *
 * A statement collects its first failure (preparing, binding, stepping, copying a text) and tells
 * it once, at the end:
 *
 *     struct db_stmt st;
 *     db_prepare(&st, db, "SELECT name FROM run WHERE id = ?");
 *     db_put_int(&st, id);
 *     while (db_next(&st)) {
 *         name = db_get_text(&st, arena);
 *     }
 *     return db_done(&st, err);
 */
#ifndef KS_STORE_DB_DB_H
#define KS_STORE_DB_DB_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/base/text/buf.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct matcher;

struct db_stmt {
    struct db *db;
    void *raw;  /* the engine's, cached by the connection; NULL when preparing failed */
    int param;  /* number of the last parameter that was set */
    int column; /* the next column to read */
    bool failed;
    struct err failure;
};

enum db_mode {
    DB_WRITER,
    DB_READER,
    DB_BESIDE,    /* writes to a server's database that another process has */
    DB_MAKER,     /* of a file that is written once: no journal, no syncs */
    DB_IN_MEMORY, /* one that is begun in memory; can roll back */
    DB_IMMUTABLE  /* of such a file, afterwards: no locks, no look whether it changed */
};

/* Opens (a writer also creates) the database and sets the connection up: WAL, foreign keys, bounded
 * cache, the SQL function ks_match (match.h). */
bool db_open(struct db **out, const char *path, enum db_mode mode, struct err *err) KS_MUST_USE;
/* The same of a database on a server, postgresql://…. ERR_UNAVAILABLE: it does not answer, or
 * another one has it; ERR_BAD_REQUEST: no such URL, or the program was built without libpq. */
bool db_open_url(struct db **out, const char *url, enum db_mode mode, struct err *err) KS_MUST_USE;
/* DB_IMMUTABLE, through a VFS of SQLite by its name. */
bool db_open_by(struct db **out, const char *name, const char *vfs, struct err *err) KS_MUST_USE;
/* A reader of a database that lies in memory. Takes `image`, SQLite's memory, also on failure. */
bool db_open_image(struct db **out, void *image, size_t bytes, struct err *err) KS_MUST_USE;
void db_close(struct db *db); /* NULL is allowed */

struct recall;

/* What the connections to one database on a server have in common; all zero at first. */
struct db_shared {
    _Atomic int64_t timeline; /* of its primary, which grows when another becomes it; 0: unknown */
    _Atomic int64_t away_since_ms; /* monotonic; 0: it answered last */
    _Atomic int64_t tried_at_ms;   /* one of them tried to reach it */
    struct recall *recall;         /* what was read lately; NULL: nothing is kept */
};
/* So long a call waits for a server that is away (postgres/connection.h), and the end of a commit
 * that was lost is looked for. */
#define DB_WAITS_MS 10000
/* From now on what was read in db_begin_recent is kept for the time that the server is away. */
bool db_shared_keep(struct db_shared *shared, struct err *err) KS_MUST_USE;
void db_shared_end(struct db_shared *shared);
/* A reader of a database on a server, which it reaches when it is first used. */
bool db_open_shared(struct db **out, const char *url, struct db_shared *shared, struct err *err)
    KS_MUST_USE;
/* From now on a connection to a server that was the primary before the newest that any of them has
 * seen counts as lost: it may take connections for a while. */
void db_share(struct db *db, struct db_shared *shared);
bool db_is_in_memory(const struct db *db);

/* Runs statements without parameters and rows; `sql` may hold several. */
bool db_exec(struct db *db, const char *sql, struct err *err) KS_MUST_USE;
/* Opens a transaction: of a writer, waiting for others; of a reader, which sees one state. */
bool db_begin(struct db *db, struct err *err) KS_MUST_USE;
/* As db_begin, of a reader whose answer may be old. While the server is away, and not longer than
 * `away_ms`, its statements have the rows that they had lately, if they are known; otherwise they
 * fail with ERR_UNAVAILABLE. Rows of several statements need not belong together then: nothing may
 * be written because of them. */
bool db_begin_recent(struct db *db, int64_t away_ms, struct err *err) KS_MUST_USE;
/* How old the oldest rows are that this transaction has read so; -1: it is none of these. */
int64_t db_recalled_ms(const struct db *db);
/* ERR_UNAVAILABLE: the connection to a server was lost, and it is not known whether it committed.
 */
bool db_commit(struct db *db, struct err *err) KS_MUST_USE;
bool db_rollback(struct db *db, struct err *err) KS_MUST_USE;
/* Whether the commits of this writer wait for the disk (at first they do). */
bool db_set_durable(struct db *db, bool durable, struct err *err) KS_MUST_USE;
/* Whether a commit of this connection was lost and nobody could say whether it came through. */
bool db_is_in_doubt(const struct db *db);
/* Creates the tables of `sql` (schema/), in a transaction. */
bool db_exec_schema(struct db *db, const char *sql, struct err *err) KS_MUST_USE;
bool db_is_server(const struct db *db);
const char *db_path(const struct db *db); /* of its file, or host and name of it */
bool db_in_transaction(const struct db *db);
/* Ends a transaction: commits when `ok`; otherwise, or if that fails, rolls back. Returns whether
 * it committed. */
bool db_end(struct db *db, bool ok, struct err *err) KS_MUST_USE;
/* Rows that the last statement inserted, changed or removed. */
int64_t db_changes(const struct db *db);
/* Bytes that the database takes, without what is free in its file. */
bool db_used_bytes(struct db *db, uint64_t *bytes, struct err *err) KS_MUST_USE;

/* ---- of SQLite alone: a server has no log that is ours ---- */

/* Whether the last call failed because the disk rejected a write. */
bool db_failed_to_sync(const struct db *db);
/* Checkpoints the whole write-ahead log and empties it. */
bool db_checkpoint(struct db *db, struct err *err) KS_MUST_USE;
/* Checkpoints what it can of the write-ahead log, while others read and write, so that the log can
 * start over. */
bool db_checkpoint_passive(struct db *db, struct err *err) KS_MUST_USE;
/* Pages of the log after the last commit of this connection. */
int db_log_pages(const struct db *db);
/* For tests and limits. */
sqlite3 *db_handle(struct db *db);

/* ---- statements ---- */

/* `sql` is a literal: the connection caches statements by its address. */
void db_prepare(struct db_stmt *st, struct db *db, const char *sql);
/* As db_prepare, for a text made at run time; frees it. */
void db_prepare_buf(struct db_stmt *st, struct db *db, struct buf *sql);

/* Each sets the next parameter, which has the type of the call, also where it is NULL. Texts must
 * live until db_done; NULL sets NULL. */
void db_put_int(struct db_stmt *st, int64_t value);
/* NaN sets NULL. A whole number is stored as an integer, in a byte or none instead of eight; a
 * column of type ANY reads it back as the same double, -0.0 included. */
void db_put_real(struct db_stmt *st, double value);
void db_put_optional(struct db_stmt *st, int64_t value); /* INT64_MIN sets NULL */
/* The parameter of DB_CLOCK_S, or DB_CLOCK_OF, in seconds since 1970. What several servers compare
 * goes by the clock of their database: one of them may have a wrong one. An embedded database has
 * the clock of this program, and no end of the years that it can tell (unixepoch ends with 9999).
 */
void db_put_clock(struct db_stmt *st);
#define DB_CLOCK_OF(parameter) "coalesce(" parameter ", unixepoch())"
#define DB_CLOCK_S DB_CLOCK_OF("?")
/* The same clock, read. */
bool db_clock(struct db *db, int64_t *now_s, struct err *err) KS_MUST_USE;
void db_put_text(struct db_stmt *st, const char *text);
/* The bytes must live until db_done. */
void db_put_blob(struct db_stmt *st, const void *bytes, size_t len);
/* The second argument of ks_match in SQL; must live until db_done. NULL matches nothing. */
void db_put_matcher(struct db_stmt *st, struct matcher *matcher);

/* True for a row, false at the end or after a failure. */
bool db_next(struct db_stmt *st);
/* Each reads the next column. */
int64_t db_get_int(struct db_stmt *st);
int64_t db_get_optional(struct db_stmt *st); /* NULL reads as INT64_MIN */
double db_get_real(struct db_stmt *st);      /* NULL reads as NaN */
bool db_get_bool(struct db_stmt *st);
/* A number 0..last; anything else reads as `last`. */
int db_get_enum(struct db_stmt *st, int last);
bool db_get_is_null(struct db_stmt *st);                          /* does not advance */
const char *db_get_text(struct db_stmt *st, struct arena *arena); /* a copy; NULL for NULL */
const char *db_peek_text(struct db_stmt *st, size_t *len);        /* valid until the next call */
const void *db_peek_blob(struct db_stmt *st, size_t *len);        /* the same */
/* Records that an allocation of the caller failed, so that db_done reports it. */
void db_fail_memory(struct db_stmt *st);
/* Ends the statement and reports its first failure. */
bool db_done(struct db_stmt *st, struct err *err) KS_MUST_USE;
/* db_next and db_done, for statements without rows. */
bool db_run(struct db_stmt *st, struct err *err) KS_MUST_USE;
/* db_run for one that says RETURNING: *value is the first column of the first row, untouched
 * without one. */
bool db_run_returning(struct db_stmt *st, int64_t *value, struct err *err) KS_MUST_USE;
/* The first column of the first row of `sql`, which has no parameters; 0 without a row. */
bool db_read_int(struct db *db, const char *sql, int64_t *value, struct err *err) KS_MUST_USE;
/* Prepares and runs `sql` with one parameter; db_changes counts the rows it touched. */
bool db_run_id(struct db *db, const char *sql, int64_t id, struct err *err) KS_MUST_USE;
bool db_run_text(struct db *db, const char *sql, const char *text, struct err *err) KS_MUST_USE;

#endif

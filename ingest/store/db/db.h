/* One SQLite connection and its statements. Not thread-safe: who uses a connection owns it for that
 * time.
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
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;

struct db_stmt {
    struct db *db;
    sqlite3_stmt *raw; /* cached by the connection; NULL when preparing failed */
    int param;         /* number of the last parameter that was set */
    int column;        /* the next column to read */
    bool failed;
    struct err failure;
};

enum db_mode {
    DB_WRITER,
    DB_READER,
    DB_MAKER,     /* of a file that is written once: no journal, no syncs */
    DB_IN_MEMORY, /* one that is begun in memory; can roll back */
    DB_IMMUTABLE  /* of such a file, afterwards: no locks, no look whether it changed */
};

/* Opens (a writer also creates) the database and sets the connection up: WAL, foreign keys, bounded
 * cache, the SQL function ks_match (match.h). */
bool db_open(struct db **out, const char *path, enum db_mode mode, struct err *err) KS_MUST_USE;
/* A reader of a database that lies in memory. Takes `image`, SQLite's memory, also on failure. */
bool db_open_image(struct db **out, void *image, size_t bytes, struct err *err) KS_MUST_USE;
void db_close(struct db *db); /* NULL is allowed */
bool db_is_in_memory(const struct db *db);

/* Runs statements without parameters and rows; `sql` may hold several. */
bool db_exec(struct db *db, const char *sql, struct err *err) KS_MUST_USE;
bool db_in_transaction(const struct db *db);
/* Ends a transaction: commits when `ok`; otherwise, or if that fails, rolls back. Returns whether
 * it committed. */
bool db_end(struct db *db, bool ok, struct err *err) KS_MUST_USE;
/* Whether the last call failed because the disk rejected a write. */
bool db_failed_to_sync(const struct db *db);
/* Checkpoints the whole write-ahead log and empties it. */
bool db_checkpoint(struct db *db, struct err *err) KS_MUST_USE;
/* Checkpoints what it can of the write-ahead log, while others read and write, so that the log can
 * start over. */
bool db_checkpoint_passive(struct db *db, struct err *err) KS_MUST_USE;
/* Pages of the log after the last commit of this connection. */
int db_log_pages(const struct db *db);
/* Rows that the last statement inserted, changed or removed. */
int64_t db_changes(const struct db *db);
int64_t db_last_id(const struct db *db);
/* For tests and limits. */
sqlite3 *db_handle(struct db *db);

/* `sql` is a literal: the connection caches statements by its address. */
void db_prepare(struct db_stmt *st, struct db *db, const char *sql);
/* As db_prepare, for a text made at run time; frees it. */
void db_prepare_buf(struct db_stmt *st, struct db *db, struct buf *sql);

/* Each sets the next parameter. Texts must live until db_done; NULL sets NULL. */
void db_put_int(struct db_stmt *st, int64_t value);
/* NaN sets NULL. A whole number is stored as an integer, in a byte or none instead of eight; a
 * column of type ANY reads it back as the same double, -0.0 included. */
void db_put_real(struct db_stmt *st, double value);
void db_put_optional(struct db_stmt *st, int64_t value); /* INT64_MIN sets NULL */
void db_put_text(struct db_stmt *st, const char *text);
/* The bytes must live until db_done. */
void db_put_blob(struct db_stmt *st, const void *bytes, size_t len);
void db_put_null(struct db_stmt *st);
/* A pointer for an SQL function of ours that expects this `type`. */
void db_put_pointer(struct db_stmt *st, void *pointer, const char *type);

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
/* Prepares and runs `sql` with one parameter; db_changes counts the rows it touched. */
bool db_run_id(struct db *db, const char *sql, int64_t id, struct err *err) KS_MUST_USE;
bool db_run_text(struct db *db, const char *sql, const char *text, struct err *err) KS_MUST_USE;

#endif

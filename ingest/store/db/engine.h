/* What a database engine does for db.h. A connection of an engine begins with struct db, so that
 * the engine finds its own fields behind it. */
#ifndef KS_STORE_DB_ENGINE_H
#define KS_STORE_DB_ENGINE_H

#include "ingest/store/db/db.h"

/* A prepared statement of an engine: one that no other type is like, so that what is called through
 * its pointers stays known (tests/checks/recursion.py). */
struct db_raw;

struct db_engine {
    bool is_server;
    void (*close)(struct db *db);
    bool (*exec)(const char *sql, struct db *db, struct err *err);
    bool (*exec_schema)(const char *sql, struct db *db, struct err *err);
    bool (*set_durable)(struct db *db, bool durable, struct err *err);
    bool (*begin)(struct db *db, struct err *err);
    bool (*begin_recent)(struct db *db, int64_t away_ms, struct err *err); /* NULL: as begin */
    bool (*commit)(struct db *db, struct err *err);
    bool (*rollback)(struct db *db, struct err *err); /* of one that was lost, too */
    bool (*in_transaction)(const struct db *db);
    int64_t (*changes)(const struct db *db);
    bool (*used_bytes)(struct db *db, uint64_t *bytes, struct err *err);

    bool (*prepare)(struct db *db, const char *sql, struct db_raw **raw, struct err *err);
    void (*finalize)(struct db_raw *raw);
    bool (*is_busy)(struct db_raw *raw);
    void (*reset)(struct db_stmt *st); /* forgets what was put, too */

    /* Parameters count from 1. A failure is told by db_stmt_fail. */
    void (*put_int)(struct db_stmt *st, int param, int64_t value);
    void (*put_optional)(struct db_stmt *st, int param, int64_t value);
    void (*put_real)(struct db_stmt *st, int param, double value); /* NaN sets NULL */
    void (*put_text)(struct db_stmt *st, int param, const char *text);
    void (*put_blob)(struct db_stmt *st, int param, const void *bytes, size_t len);
    void (*put_matcher)(struct db_stmt *st, int param, struct matcher *matcher);

    bool (*next)(struct db_stmt *st);
    /* Columns count from 0. NULL reads as 0, no bytes. */
    bool (*is_null)(struct db_stmt *st, int column);
    int64_t (*get_int)(struct db_stmt *st, int column);
    double (*get_real)(struct db_stmt *st, int column);
    const char *(*get_text)(struct db_stmt *st, int column, size_t *len);
    const void *(*get_blob)(struct db_stmt *st, int column, size_t *len);
};

/* Sorted tables make a statement each (columns x directions); what is used seldom goes. */
#define CACHED_STATEMENTS 96

struct cached_statement {
    const char *literal; /* found again by address; NULL for a text of run time */
    char *text;          /* the copy of a text of run time */
    struct db_raw *raw;
    uint64_t used_at;
};

struct db {
    const struct db_engine *engine;
    char *path; /* for messages: of the file, or host and name of the database */
    struct cached_statement cache[CACHED_STATEMENTS];
    size_t cached;
    uint64_t clock;           /* of uses, for the oldest one */
    bool is_in_doubt;         /* see db_is_in_doubt */
    int64_t recalled_ms;      /* see db_recalled_ms */
    struct db_shared *shared; /* NULL: embedded */
};

/* Records the first failure of a statement. */
void db_stmt_fail(struct db_stmt *st, const struct err *failure);
/* Finalizes all cached statements. */
void db_forget_statements(struct db *db);

#endif

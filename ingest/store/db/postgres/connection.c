#include "ingest/store/db/postgres/connection.h"

#include "ingest/base/monotonic.h"
#include "ingest/store/db/postgres/postgres.h"
#include "ingest/store/db/postgres/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* See connection.h, and DB_WAITS_MS. */
#define RECENT_WAITS_MS 2000
/* Between two tries of all connections, while a call waits and when none does any more. */
#define RETRY_MS 100
#define LATE_RETRY_MS 1000
#define SCHEMA_MAX_BYTES ((size_t)1 << 20)
#define MARK_BYTES 256
#define MARK_DIGITS 24

static void pause_ms(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&time, NULL);
}

static void hear_nothing(void *context, const char *message)
{
    (void)context;
    (void)message;
}

/* ---- connecting ---- */

/* Whether the statements went well. Not for the outside: connects never. */
static bool run(struct postgres_db *db, const char *sql, struct err *err)
{
    PGresult *result = postgres_answer(db, PQsendQuery(db->conn, sql));
    ExecStatusType status = PQresultStatus(result);
    bool ok = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (ok) {
        db->changes = strtoll(PQcmdTuples(result), NULL, 10);
    } else {
        (void)postgres_failed(db, result, err);
    }
    PQclear(result);
    return ok;
}

/* The first value of the first row, cut to fit; "" without one. */
static bool ask(struct postgres_db *db, const char *sql, char *out, size_t cap, struct err *err)
{
    PGresult *result = postgres_answer(db, PQsendQuery(db->conn, sql));
    bool ok = PQresultStatus(result) == PGRES_TUPLES_OK || postgres_failed(db, result, err);
    bool found = ok && PQntuples(result) > 0 && PQnfields(result) > 0;
    (void)snprintf(out, cap, "%s", found ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    return ok;
}

static bool set_up(struct postgres_db *db, struct err *err)
{
    const char *encoding = PQparameterStatus(db->conn, "server_encoding");
    (void)PQsetNoticeProcessor(db->conn, hear_nothing, NULL);
    if (encoding == NULL || strcmp(encoding, "UTF8") != 0) {
        return err_set(err, ERR_BAD_REQUEST,
                       "the database %.120s has the encoding %.40s; make one with ENCODING 'UTF8'",
                       db->db.path, encoding == NULL ? "?" : encoding);
    }
    return run(db,
               "SET statement_timeout = '60s'; SET lock_timeout = '10s'; SET jit = off;"
               " SET bytea_output = 'hex'; SET standard_conforming_strings = on",
               err) &&
           /* A server that stands still must not keep others from its rows for ever. */
           (db->mode == DB_READER ||
            run(db, "SET idle_in_transaction_session_timeout = '15s'", err));
}

/* A server that crashed, starts again as the primary that it was, and is one until it hears that
 * another was made it meanwhile. */
static bool find_timeline(struct postgres_db *db, struct err *err)
{
    char found[24];
    if (!ask(db,
             "SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE"
             " ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint END",
             found, sizeof found, err)) {
        return false;
    }
    db->timeline = strtoll(found, NULL, 10);
    return true;
}

/* False: this one is behind. */
static bool follow_timeline(const struct postgres_db *db)
{
    int64_t newest = atomic_load(&db->db.shared->timeline);
    while (newest < db->timeline &&
           !atomic_compare_exchange_weak(&db->db.shared->timeline, &newest, db->timeline)) {
    }
    return db->timeline == 0 || newest <= db->timeline;
}

static bool connect_once(struct postgres_db *db, struct err *err)
{
    /* What the URL says goes before. */
    static const char *const names[] = {"application_name",
                                        "connect_timeout",
                                        "target_session_attrs",
                                        "client_encoding",
                                        "keepalives_idle",
                                        "keepalives_interval",
                                        "keepalives_count",
                                        "tcp_user_timeout",
                                        "dbname",
                                        NULL};
    const char *const values[] = {
        "kinetoscope", POSTGRES_CONNECT_S, "read-write", "UTF8", "10", "5", "3", "15000", db->url,
        NULL};
    PQfinish(db->conn);
    db->conn = PQconnectdbParams(names, values, 1);
    db->generation++;
    db->is_dropped = false;
    db->has_marks = false;
    db->timeline = 0; /* of the new connection nothing is known; the old one's would make it lost */
    if (postgres_is_lost(db)) {
        return postgres_failed(db, NULL, err);
    }
    (void)PQsetnonblocking(db->conn, 1); /* answer.c */
    const char *host = PQhost(db->conn);
    const char *name = PQdb(db->conn);
    size_t len = strlen(host) + strlen(name) + 2;
    char *path = malloc(len);
    if (path != NULL) {
        (void)snprintf(path, len, "%s/%s", host, name);
        free(db->db.path);
        db->db.path = path;
    }
    struct err failure = ERR_INIT;
    if (!set_up(db, &failure) || !find_timeline(db, &failure) ||
        (!follow_timeline(db) && !postgres_failed(db, NULL, &failure))) {
        /* Half set up it must not be used. */
        PQfinish(db->conn);
        db->conn = NULL;
        *err = failure;
        return false;
    }
    atomic_store(&db->db.shared->away_since_ms, 0);
    return true;
}

/* ---- a server that is away ---- */

int64_t postgres_note_away(struct postgres_db *db, int64_t silent_ms)
{
    int64_t since_ms = 0;
    int64_t began_ms = monotonic_ms() - silent_ms;
    return atomic_compare_exchange_strong(&db->db.shared->away_since_ms, &since_ms, began_ms)
               ? began_ms
               : since_ms;
}

/* -1: it is not. */
static int64_t away_ms(const struct postgres_db *db)
{
    int64_t since_ms = atomic_load(&db->db.shared->away_since_ms);
    return since_ms == 0 ? -1 : monotonic_ms() - since_ms;
}

/* True for one of all connections. */
static bool is_to_try(struct postgres_db *db, int64_t now_ms, int64_t after_ms)
{
    int64_t tried_at_ms = atomic_load(&db->db.shared->tried_at_ms);
    return away_ms(db) < 0 ||
           (now_ms - tried_at_ms >= after_ms &&
            atomic_compare_exchange_strong(&db->db.shared->tried_at_ms, &tried_at_ms, now_ms));
}

static bool connect_until(struct postgres_db *db, int64_t until_ms, struct err *err)
{
    for (;;) {
        struct err failure = ERR_INIT;
        int64_t now_ms = monotonic_ms();
        bool is_late = now_ms >= until_ms;
        bool tries = is_to_try(db, now_ms, is_late ? LATE_RETRY_MS : RETRY_MS);
        if (tries && connect_once(db, &failure)) {
            return true;
        }
        if (tries && (is_late || failure.code != ERR_UNAVAILABLE)) {
            *err = failure;
            return false;
        }
        int64_t since_ms = postgres_note_away(db, 0);
        if (is_late) {
            return err_set(err, ERR_UNAVAILABLE,
                           "the database %.120s has not answered for %lld s; try again",
                           db->db.path, (long long)((now_ms - since_ms) / 1000));
        }
        pause_ms(RETRY_MS);
    }
}

static bool ensure_within(struct postgres_db *db, int64_t waits_ms, struct err *err)
{
    /* Whether others are right would take as long again to find out. */
    if (!db->is_begun && away_ms(db) >= RECENT_WAITS_MS) {
        postgres_drop(db);
    }
    if (!postgres_is_lost(db)) {
        return true;
    }
    if (db->is_begun) {
        return err_set(err, ERR_UNAVAILABLE,
                       "the connection to the database %.120s was lost; try again", db->db.path);
    }
    return connect_until(db, postgres_note_away(db, 0) + waits_ms, err);
}

bool postgres_ensure(struct postgres_db *db, struct err *err)
{
    return ensure_within(db, DB_WAITS_MS, err);
}

static bool make(struct postgres_db **out, const char *url, enum db_mode mode, struct err *err)
{
    struct postgres_db *db = calloc(1, sizeof *db);
    if (db == NULL || (db->url = strdup(url)) == NULL ||
        (db->db.path = strdup("of --database-url")) == NULL) {
        free(db == NULL ? NULL : db->url);
        free(db);
        return err_set(err, ERR_NO_MEMORY, "no memory to open the database");
    }
    db->db.engine = &postgres_engine;
    db->db.shared = &db->own;
    db->mode = mode;
    *out = db;
    return true;
}

bool postgres_open(struct db **out, const char *url, enum db_mode mode, struct err *err)
{
    struct postgres_db *db = NULL;
    if (!make(&db, url, mode, err)) {
        return false;
    }
    if (!secret_make(db->writer, "kw_", err) || !connect_once(db, err)) {
        db_close(&db->db);
        return false;
    }
    *out = &db->db;
    return true;
}

bool postgres_open_shared(struct db **out,
                          const char *url,
                          struct db_shared *shared,
                          struct err *err)
{
    struct postgres_db *db = NULL;
    if (!make(&db, url, DB_READER, err)) {
        return false;
    }
    db_share(&db->db, shared);
    *out = &db->db;
    return true;
}

void postgres_close(struct db *front)
{
    struct postgres_db *db = postgres_of(front);
    db->is_closing = true;
    db_forget_statements(front);
    PQfinish(db->conn);
    free(db->url);
    free(front->path);
    free(db);
}

/* ---- statements without parameters ---- */

bool postgres_exec(const char *sql, struct db *front, struct err *err)
{
    struct postgres_db *db = postgres_of(front);
    return postgres_ensure(db, err) && run(db, sql, err);
}

/* What the search path of the URL names first, should it not be there. */
static bool make_namespace(struct postgres_db *db, struct err *err)
{
    char path[128];
    char create[160];
    char current[128];
    if (!ask(db, "SELECT current_schema()", current, sizeof current, err)) {
        return false;
    }
    if (current[0] != '\0') {
        return true;
    }
    if (!ask(db, "SHOW search_path", path, sizeof path, err)) {
        return false;
    }
    path[strcspn(path, ",")] = '\0';
    (void)snprintf(create, sizeof create, "CREATE SCHEMA %s", path);
    return run(db, create, err);
}

bool postgres_exec_schema(const char *sql, struct db *front, struct err *err)
{
    struct postgres_db *db = postgres_of(front);
    struct buf text;
    buf_init(&text, SCHEMA_MAX_BYTES);
    postgres_schema(&text, sql);
    bool ok = !text.failed || err_set(err, ERR_NO_MEMORY, "no memory for the schema");
    ok = ok && postgres_ensure(db, err) && make_namespace(db, err);
    for (size_t i = 0; ok && i < postgres_function_count; i++) {
        ok = run(db, postgres_functions[i], err);
    }
    ok = ok && run(db, text.ptr, err) && run(db, postgres_marks, err);
    buf_free(&text);
    return ok;
}

/* ---- transactions ---- */

/* All commits wait for the server's disk: it may end and come back while this program, which counts
 * on what it wrote, goes on. */
bool postgres_set_durable(struct db *front, bool durable, struct err *err)
{
    (void)front;
    (void)durable;
    (void)err;
    return true;
}

/* What came through is read off a row that every transaction of a writer writes. A number of the
 * transaction would not do: a server that crashed, or another one that takes its place, gives the
 * numbers of what was lost to others. */
static bool find_marks(struct postgres_db *db, struct err *err)
{
    char there[8];
    if (db->has_marks) {
        return true;
    }
    if (!ask(db, "SELECT to_regclass('kinetoscope') IS NOT NULL", there, sizeof there, err)) {
        return false;
    }
    if (there[0] != 't') { /* the catalogue is about to be made */
        return true;
    }
    /* Two servers that make it at once get into each other's way. */
    db->has_marks = run(db, postgres_marks, err) || run(db, postgres_marks, err);
    return db->has_marks;
}

#define MARK                                                                             \
    "INSERT INTO commit_mark AS m (writer, mark, at_s) VALUES ('%s', %lld, unixepoch())" \
    " ON CONFLICT (writer) DO UPDATE SET at_s = excluded.at_s"

static bool begin_writer(struct postgres_db *db, struct err *err)
{
    char sql[MARK_BYTES];
    db->mark = 0;
    if (!find_marks(db, err)) {
        return false;
    }
    if (!db->has_marks) {
        return run(db, "BEGIN", err);
    }
    db->mark = ++db->next_mark;
    (void)snprintf(sql, sizeof sql, "BEGIN; " MARK ", mark = excluded.mark", db->writer,
                   (long long)db->mark);
    return run(db, sql, err);
}

static bool begin_now(struct postgres_db *db, struct err *err)
{
    return db->mode == DB_READER ? run(db, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", err)
                                 : begin_writer(db, err);
}

/* A connection may have been lost since it was used: that shows with the first statement. */
static bool begin_within(struct postgres_db *db, int64_t waits_ms, struct err *err)
{
    struct err first = ERR_INIT;
    if (!ensure_within(db, waits_ms, err)) {
        return false;
    }
    bool ok = begin_now(db, &first);
    if (!ok && postgres_is_lost(db)) {
        ok = ensure_within(db, waits_ms, &first) && begin_now(db, &first);
    }
    db->is_begun = ok;
    if (ok && away_ms(db) >= 0) {
        atomic_store(&db->db.shared->away_since_ms, 0);
    }
    if (!ok) {
        /* Of several statements the first may have begun it. */
        struct err second = ERR_INIT;
        (void)!postgres_rollback(&db->db, &second);
        *err = first;
    }
    return ok;
}

bool postgres_begin(struct db *front, struct err *err)
{
    struct postgres_db *db = postgres_of(front);
    db->is_recent = false;
    return begin_within(db, DB_WAITS_MS, err);
}

/* While nobody waits for the server any more, it is left to others to look for it. */
bool postgres_begin_recent(struct db *front, int64_t longest_ms, struct err *err)
{
    struct postgres_db *db = postgres_of(front);
    struct err failure = ERR_INIT;
    db->is_recent = db->db.shared->recall != NULL;
    bool may_recall = db->is_recent && away_ms(db) < longest_ms;
    bool waits = !may_recall || away_ms(db) < RECENT_WAITS_MS;
    if (waits && begin_within(db, RECENT_WAITS_MS, &failure)) {
        return true;
    }
    if (!may_recall || (waits && failure.code != ERR_UNAVAILABLE)) {
        *err = failure;
        return false;
    }
    db->recalls = true;
    db->is_begun = true;
    front->recalled_ms = 0;
    return true;
}

/* What became of a transaction whose commit was lost with the connection. A server that still
 * carries it out has its row locked: the look waits for the end. */
static bool find_commit(struct postgres_db *db, struct err *err)
{
    char sql[MARK_BYTES];
    char found[MARK_DIGITS] = "";
    int64_t until_ms = monotonic_ms() + DB_WAITS_MS;
    (void)snprintf(sql, sizeof sql, MARK " RETURNING m.mark", db->writer, 0LL);
    while (db->mark != 0 && monotonic_ms() < until_ms) {
        bool asked = (!postgres_is_lost(db) || connect_until(db, until_ms, err)) &&
                     ask(db, sql, found, sizeof found, err);
        if (asked) {
            return strtoll(found, NULL, 10) == db->mark ||
                   err_set(err, ERR_UNAVAILABLE, "the database %.120s lost the change; try again",
                           db->db.path);
        }
        pause_ms(RETRY_MS);
    }
    db->db.is_in_doubt = true;
    return err_set(err, ERR_UNAVAILABLE,
                   "the database %.120s does not answer; it is not known whether it has the change",
                   db->db.path);
}

bool postgres_commit(struct db *front, struct err *err)
{
    struct postgres_db *db = postgres_of(front);
    if (db->recalls) {
        return postgres_rollback(front, err);
    }
    bool has_failed = PQtransactionStatus(db->conn) == PQTRANS_INERROR;
    if (postgres_is_lost(db)) { /* before the commit was sent */
        return err_set(err, ERR_UNAVAILABLE,
                       "the connection to the database %.120s was lost; try again", db->db.path);
    }
    if (has_failed) {
        return err_set(err, ERR_STORE, "database %.120s: a statement before has failed",
                       db->db.path);
    }
    struct err failure = ERR_INIT;
    bool ok = run(db, "COMMIT", &failure);
    if (!ok && postgres_is_lost(db) && db->mode != DB_READER) {
        db->is_begun = false;
        failure = (struct err)ERR_INIT;
        ok = find_commit(db, &failure);
    }
    if (!ok) {
        *err = failure;
    } else {
        db->is_begun = false;
    }
    return ok;
}

bool postgres_rollback(struct db *front, struct err *err)
{
    struct postgres_db *db = postgres_of(front);
    bool was_there = !db->recalls;
    db->is_begun = false;
    db->recalls = false;
    return !was_there || postgres_is_lost(db) || run(db, "ROLLBACK", err);
}

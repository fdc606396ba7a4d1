/* One SELECT over the tables of a trace, by a connection of its own. */
#include "ingest/store/results_files.h"
#include "ingest/store/sql/tables.h"
#include "ingest/store/store_sql.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <time.h>

/* Steps of SQLite's machine between two looks at the clock: a few hundred microseconds. */
#define CLOCK_STEPS 20000
/* More of them would keep the processors from those who look at the page. */
#define RUNNING_MAX 2

struct session {
    struct db *db;   /* in memory */
    uint64_t needed; /* bits: tables that the statement reads */
    struct timespec deadline;
    bool is_late;
};

/* ---- the connection ---- */

/* Nothing else is in the database; what a statement may do with it is to read. */
static int authorise(void *session_void,
                     int action,
                     const char *table,
                     const char *column,
                     const char *database,
                     const char *view)
{
    struct session *session = session_void;
    (void)column;
    (void)database;
    (void)view;
    if (action == SQLITE_READ) {
        for (size_t i = 0; table != NULL && i < sql_tables_count(); i++) {
            session->needed |= (uint64_t)(strcmp(sql_tables_at(i).name, table) == 0) << i;
        }
    }
    return action == SQLITE_READ || action == SQLITE_SELECT || action == SQLITE_FUNCTION
               ? SQLITE_OK
               : SQLITE_DENY;
}

static int look_at_clock(void *session_void)
{
    struct session *session = session_void;
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    session->is_late =
        now.tv_sec > session->deadline.tv_sec ||
        (now.tv_sec == session->deadline.tv_sec && now.tv_nsec >= session->deadline.tv_nsec);
    return session->is_late;
}

static void set_limits(sqlite3 *handle)
{
    static const struct {
        int what;
        int most;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, 1 << 20},
        {SQLITE_LIMIT_SQL_LENGTH, (int)STORE_SQL_TEXT_MAX_BYTES},
        {SQLITE_LIMIT_COLUMN, 200},
        {SQLITE_LIMIT_EXPR_DEPTH, 100},
        {SQLITE_LIMIT_COMPOUND_SELECT, 20},
        {SQLITE_LIMIT_VDBE_OP, 200000},
        {SQLITE_LIMIT_FUNCTION_ARG, 32},
        {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200},
        {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        (void)sqlite3_limit(handle, limits[i].what, limits[i].most);
    }
}

/* Sorting and grouping spill into files, so that memory stays within the cache and the tables. */
static const char set_up[] = "PRAGMA temp_store = FILE; PRAGMA page_size = 4096;"
                             "PRAGMA max_page_count = 32768; PRAGMA temp.cache_size = -8192";

static bool open_session(struct session *session, struct err *err)
{
    *session = (struct session){.db = NULL};
    if (!db_open(&session->db, ":memory:", DB_WRITER, err)) {
        return false;
    }
    if (!db_exec(session->db, set_up, err) || !sql_tables_create(session->db, "main", err)) {
        db_close(session->db);
        return false;
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &session->deadline);
    session->deadline.tv_sec += STORE_SQL_MS / 1000;
    return true;
}

static void guard(struct session *session)
{
    sqlite3 *handle = db_handle(session->db);
    set_limits(handle);
    sqlite3_progress_handler(handle, CLOCK_STEPS, look_at_clock, session);
    (void)sqlite3_set_authorizer(handle, authorise, session);
}

static void unguard(struct session *session)
{
    (void)sqlite3_set_authorizer(db_handle(session->db), NULL, NULL);
}

/* ---- a statement ---- */

static bool fail(const struct session *session, int rc, struct err *err)
{
    sqlite3 *handle = db_handle(session->db);
    if (session->is_late) {
        return err_set(err, ERR_BAD_REQUEST,
                       "The statement took longer than %d s: select less, or take the file of the "
                       "trace (results.db) and ask it on your own machine",
                       STORE_SQL_MS / 1000);
    }
    switch (rc & 0xFF) {
    case SQLITE_NOMEM:
        return err_set(err, ERR_NO_MEMORY, "no memory for the statement");
    case SQLITE_AUTH:
        return err_set(err, ERR_BAD_REQUEST,
                       "One SELECT over the tables of the trace is allowed, without recursion: %s",
                       sqlite3_errmsg(handle));
    case SQLITE_ERROR:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
        return err_set(err, ERR_BAD_REQUEST, "SQL: %s", sqlite3_errmsg(handle));
    default:
        return err_set(err, ERR_STORE, "SQL: %s", sqlite3_errmsg(handle));
    }
}

static bool is_blank(const char *text)
{
    while (isspace((unsigned char)*text) || *text == ';') {
        text++;
    }
    return *text == '\0';
}

static bool
prepare(const struct session *session, const char *sql, sqlite3_stmt **out, struct err *err)
{
    const char *rest = sql;
    int rc = sqlite3_prepare_v2(db_handle(session->db), sql, -1, out, &rest);
    if (rc != SQLITE_OK) {
        return fail(session, rc, err);
    }
    bool ok = *out != NULL && is_blank(rest) && sqlite3_stmt_readonly(*out) != 0 &&
              sqlite3_column_count(*out) > 0;
    if (!ok) {
        (void)sqlite3_finalize(*out);
        return err_set(err, ERR_BAD_REQUEST, "SQL: one SELECT is wanted, and nothing behind it");
    }
    return true;
}

static const char *copy_hex(struct arena *arena, const unsigned char *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    char *hex = arena_alloc(arena, len * 2 + 1);
    for (size_t i = 0; hex != NULL && i < len; i++) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    if (hex != NULL) {
        hex[len * 2] = '\0';
    }
    return hex;
}

/* False: no memory. */
static bool
read_value(sqlite3_stmt *st, int column, struct arena *arena, struct store_sql_value *out)
{
    switch (sqlite3_column_type(st, column)) {
    case SQLITE_INTEGER:
        *out = (struct store_sql_value){.kind = STORE_SQL_INT,
                                        .integer = sqlite3_column_int64(st, column)};
        return true;
    case SQLITE_FLOAT:
        out->real = sqlite3_column_double(st, column);
        out->kind = isfinite(out->real) ? STORE_SQL_REAL : STORE_SQL_NULL;
        return true;
    case SQLITE_TEXT: {
        const char *text = (const char *)sqlite3_column_text(st, column);
        out->kind = STORE_SQL_TEXT;
        out->text = text == NULL ? NULL : arena_strdup(arena, text);
        return out->text != NULL;
    }
    case SQLITE_BLOB: {
        const void *bytes = sqlite3_column_blob(st, column);
        out->kind = STORE_SQL_TEXT;
        out->text = copy_hex(arena, bytes, (size_t)sqlite3_column_bytes(st, column));
        return out->text != NULL;
    }
    default:
        *out = (struct store_sql_value){.kind = STORE_SQL_NULL};
        return true;
    }
}

static const char **read_columns(sqlite3_stmt *st, struct arena *arena, size_t *count)
{
    *count = (size_t)sqlite3_column_count(st);
    const char **columns = arena_calloc(arena, *count, sizeof *columns);
    for (size_t i = 0; columns != NULL && i < *count; i++) {
        const char *name = sqlite3_column_name(st, (int)i);
        columns[i] = name == NULL ? NULL : arena_strdup(arena, name);
        columns = columns[i] == NULL ? NULL : columns;
    }
    return columns;
}

/* Room for one row more. The rows move at most log n times. */
static struct store_sql_value *
grow(struct store_sql_answer *answer, struct arena *arena, size_t *cap, size_t *bytes)
{
    size_t columns = answer->column_count;
    struct store_sql_value *grown =
        arena_grow(arena, answer->values, answer->row_count, cap, columns * sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    answer->values = grown;
    *bytes += columns * sizeof *grown;
    return grown + answer->row_count * columns;
}

static bool read_rows(const struct session *session,
                      sqlite3_stmt *st,
                      struct arena *arena,
                      int64_t row_max,
                      struct store_sql_answer *out,
                      struct err *err)
{
    size_t cap = 0;
    size_t bytes = 0;
    int rc;
    while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
        if ((int64_t)out->row_count == row_max || bytes > STORE_SQL_ANSWER_BYTES) {
            out->truncated = true;
            return true;
        }
        struct store_sql_value *row = grow(out, arena, &cap, &bytes);
        bool ok = row != NULL;
        for (size_t i = 0; ok && i < out->column_count; i++) {
            ok = read_value(st, (int)i, arena, &row[i]);
            bytes += ok && row[i].kind == STORE_SQL_TEXT ? strlen(row[i].text) : 0;
        }
        if (!ok) {
            return err_set(err, ERR_NO_MEMORY, "no memory for the rows of the answer");
        }
        out->row_count++;
    }
    return rc == SQLITE_DONE || fail(session, rc, err);
}

static bool fill_needed(struct session *session,
                        struct store_snapshot *snapshot,
                        int64_t trace_id,
                        struct err *err)
{
    struct db *db;
    struct db *file;
    if (!store_snapshot_read(snapshot, &db, err)) {
        return false;
    }
    bool ok = store_check_trace(db, trace_id, err) &&
              store_snapshot_tables(snapshot, trace_id, &file, err) &&
              db_exec(session->db, "BEGIN", err);
    for (size_t i = 0; ok && i < sql_tables_count(); i++) {
        ok = (session->needed >> i & 1U) == 0 || sql_tables_fill(session->db, "main", i, file, err);
    }
    return ok && db_exec(session->db, "COMMIT", err);
}

/* Which tables it reads is known once it is prepared. */
static bool run_select(struct session *session,
                       struct store_snapshot *snapshot,
                       int64_t trace_id,
                       struct arena *arena,
                       const char *sql,
                       int64_t row_max,
                       struct store_sql_answer *out,
                       struct err *err)
{
    sqlite3_stmt *st = NULL;
    guard(session);
    if (!prepare(session, sql, &st, err)) {
        return false;
    }
    unguard(session);
    bool ok = fill_needed(session, snapshot, trace_id, err);
    guard(session);
    if (ok) {
        out->columns = read_columns(st, arena, &out->column_count);
        ok = (out->columns != NULL || err_set(err, ERR_NO_MEMORY, "no memory for the columns")) &&
             read_rows(session, st, arena, row_max, out, err);
    }
    (void)sqlite3_finalize(st);
    return ok;
}

bool store_sql_select(struct store_snapshot *snapshot,
                      struct arena *arena,
                      int64_t trace_id,
                      const char *sql,
                      int64_t row_max,
                      struct store_sql_answer *out,
                      struct err *err)
{
    struct session session;
    struct store *store = snapshot->store;
    *out = (struct store_sql_answer){.columns = NULL};
    if (atomic_fetch_add(&store->sql_running, 1) >= RUNNING_MAX) {
        atomic_fetch_sub(&store->sql_running, 1);
        return err_set(err, ERR_TOO_MANY, "%d other statements are running: try again in a moment",
                       RUNNING_MAX);
    }
    bool ok = open_session(&session, err);
    if (ok) {
        ok = run_select(&session, snapshot, trace_id, arena, sql, row_max, out, err);
        db_close(session.db);
    }
    atomic_fetch_sub(&store->sql_running, 1);
    return ok;
}

/* ---- the tables themselves ---- */

static bool describe(const struct session *session,
                     struct arena *arena,
                     struct store_sql_table *table,
                     struct err *err)
{
    char sql[128];
    sqlite3_stmt *st = NULL;
    (void)snprintf(sql, sizeof sql, "SELECT * FROM %s", table->name);
    if (!prepare(session, sql, &st, err)) {
        return false;
    }
    table->columns = read_columns(st, arena, &table->column_count);
    (void)sqlite3_finalize(st);
    return table->columns != NULL || err_set(err, ERR_NO_MEMORY, "no memory for the columns");
}

bool store_sql_tables(struct arena *arena,
                      struct store_sql_table **out,
                      size_t *count,
                      struct err *err)
{
    struct session session;
    *count = sql_tables_count();
    *out = arena_calloc(arena, *count, sizeof **out);
    if (*out == NULL) {
        return err_set(err, ERR_NO_MEMORY, "no memory for the tables");
    }
    if (!open_session(&session, err)) {
        return false;
    }
    bool ok = true;
    for (size_t i = 0; ok && i < *count; i++) {
        struct sql_table table = sql_tables_at(i);
        (*out)[i] = (struct store_sql_table){.name = table.name, .doc = table.doc};
        ok = describe(&session, arena, &(*out)[i], err);
    }
    db_close(session.db);
    return ok;
}

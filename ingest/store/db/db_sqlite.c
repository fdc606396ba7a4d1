/* The engine that is always there: SQLite, for an embedded catalogue and for the files of traces.
 */
#include "ingest/store/db/engine.h"
#include "ingest/store/db/match.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Another program that looks into the database may hold its lock for a moment. */
#define BUSY_TIMEOUT_MS 10000
/* Of a log that nobody has brought into the database, the writer does it himself, at 128 MB. */
#define LOG_MAX_PAGES 16384
/* Beyond it an integer takes as many bytes as the double. */
#define WHOLE_MAX 140737488355327.0 /* 2^47 - 1 */

/* The type of the pointer that ks_match takes. */
#define MATCH_POINTER "ks_matcher"

struct sqlite_db {
    struct db db;
    sqlite3 *handle;
    enum db_mode mode;
    const char *vfs; /* NULL: the system's files */
    int log_pages;   /* see db_log_pages */
    sqlite3_stmt *begin, *commit;
};

static struct sqlite_db *own(struct db *db)
{
    return (struct sqlite_db *)db;
}

static const struct sqlite_db *own_const(const struct db *db)
{
    return (const struct sqlite_db *)db;
}

sqlite3 *db_handle(struct db *db)
{
    return own(db)->handle;
}

/* What the system said: SQLite keeps it for each of its files, and only now and then for the
 * connection. */
static int system_errno(sqlite3 *handle)
{
    int errnum = sqlite3_system_errno(handle);
    sqlite3_file *log = NULL;
    if (errnum == 0) {
        (void)sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &errnum);
    }
    if (errnum == 0 &&
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK &&
        log != NULL && log->pMethods != NULL) {
        (void)log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &errnum);
    }
    return errnum;
}

/* Values of SQLite's own result codes; `handle` may be NULL when opening failed for lack of memory.
 */
static bool set_error(sqlite3 *handle, const char *path, int rc, struct err *err)
{
    int primary = rc & 0xFF;
    bool io = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN;
    int errnum = io && handle != NULL ? system_errno(handle) : 0;
    if (primary == SQLITE_NOMEM) {
        return err_set(err, ERR_NO_MEMORY, "database %s: out of memory", path);
    }
    if (primary == SQLITE_FULL || errnum == ENOSPC || errnum == EDQUOT) {
        return err_set(err, ERR_NO_SPACE,
                       "no space left for the database %s; free some on the server's disk, then "
                       "try again",
                       path);
    }
    if (errnum == EHOSTUNREACH) { /* files/ranged.c */
        return err_set(err, ERR_UNAVAILABLE,
                       "the objects with the results of this trace do not answer; try again later");
    }
    const char *reason = handle != NULL ? sqlite3_errmsg(handle) : sqlite3_errstr(rc);
    if (io || primary == SQLITE_READONLY) {
        return err_set(err, ERR_STORE, "database %s: %s; check the server's disk, then try again",
                       path, reason);
    }
    return err_set(err, ERR_STORE, "database %s: %s", path, reason);
}

static bool failed(struct db *db, int rc, struct err *err)
{
    return set_error(own(db)->handle, db->path, rc, err);
}

static bool sqlite_exec(const char *sql, struct db *db, struct err *err)
{
    int rc = sqlite3_exec(own(db)->handle, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK || failed(db, rc, err);
}

/* The page size counts only for a new database and before the journal mode is set. What a writer
 * writes it seldom reads again, so it keeps few pages. Publishing waits
 * for the disk (FULL); batches of an invisible trace do not (access.c switches). secure_delete is
 * on by default in Debian's build and would write every freed page once more. */
static const char writer_setup[] = "PRAGMA page_size = 8192;"
                                   "PRAGMA journal_mode = WAL;"
                                   "PRAGMA synchronous = FULL;"
                                   "PRAGMA foreign_keys = ON;"
                                   "PRAGMA secure_delete = OFF;"
                                   "PRAGMA journal_size_limit = 67108864;"
                                   "PRAGMA cache_size = -2048;"
                                   "PRAGMA temp_store = MEMORY;"
                                   "PRAGMA trusted_schema = OFF";
static const char reader_setup[] = "PRAGMA query_only = ON;"
                                   "PRAGMA mmap_size = 268435456;"
                                   "PRAGMA cache_size = -4096;"
                                   "PRAGMA temp_store = MEMORY;"
                                   "PRAGMA trusted_schema = OFF";

static const char maker_setup[] = "PRAGMA journal_mode = OFF;"
                                  "PRAGMA synchronous = OFF;"
                                  "PRAGMA locking_mode = EXCLUSIVE;"
                                  "PRAGMA cache_size = -2048;"
                                  "PRAGMA temp_store = MEMORY;"
                                  "PRAGMA trusted_schema = OFF";

static const char memory_setup[] = "PRAGMA temp_store = MEMORY;"
                                   "PRAGMA trusted_schema = OFF";

static const char *const setups[] = {
    [DB_WRITER] = writer_setup, [DB_READER] = reader_setup,    [DB_BESIDE] = writer_setup,
    [DB_MAKER] = maker_setup,   [DB_IN_MEMORY] = memory_setup, [DB_IMMUTABLE] = reader_setup};

/* ks_match(text, matcher) */
static void sql_match(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    const char *text = (const char *)sqlite3_value_text(values[0]);
    const struct matcher *matcher = sqlite3_value_pointer(values[1], MATCH_POINTER);
    sqlite3_result_int(context, text != NULL && matcher != NULL && match_test(matcher, text));
}

/* After each commit of a writer. What fails is tried again with the next. */
static int note_log(void *context, sqlite3 *handle, const char *name, int pages)
{
    struct sqlite_db *db = context;
    db->log_pages = pages;
    if (pages >= LOG_MAX_PAGES) {
        (void)sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    }
    return SQLITE_OK;
}

static bool set_up(struct sqlite_db *db, struct err *err)
{
    (void)sqlite3_extended_result_codes(db->handle, 1);
    (void)sqlite3_busy_timeout(db->handle, BUSY_TIMEOUT_MS);
    if (!sqlite_exec(setups[db->mode], &db->db, err)) {
        return false;
    }
    (void)sqlite3_wal_hook(db->handle, note_log, db);
    int rc = sqlite3_create_function_v2(db->handle, "ks_match", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                        NULL, sql_match, NULL, NULL, NULL);
    return rc == SQLITE_OK || failed(&db->db, rc, err);
}

/* SQLite counts its memory under one lock that every thread takes for each piece of it; nobody asks
 * for that figure. */
static void count_no_memory(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/* A path as the name that SQLite takes for a file which nobody changes. NULL without memory. */
static char *immutable_name(const char *path)
{
    static const char head[] = "file:";
    static const char tail[] = "?immutable=1";
    char *name = malloc(sizeof head + sizeof tail + 3 * strlen(path));
    if (name == NULL) {
        return NULL;
    }
    size_t len = sizeof head - 1;
    memcpy(name, head, len);
    for (const char *at = path; *at != '\0'; at++) {
        if (*at == '%' || *at == '?' || *at == '#') {
            len += (size_t)snprintf(name + len, 4, "%%%02X", (unsigned)*at);
        } else {
            name[len++] = *at;
        }
    }
    memcpy(name + len, tail, sizeof tail);
    return name;
}

static int open_handle(struct sqlite_db *db)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    if (db->mode != DB_IMMUTABLE) {
        flags |= db->mode == DB_WRITER ? SQLITE_OPEN_CREATE : 0;
        return sqlite3_open_v2(db->db.path, &db->handle, flags, NULL);
    }
    flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    if (db->vfs != NULL) {
        return sqlite3_open_v2(db->db.path, &db->handle, flags, db->vfs);
    }
    char *name = immutable_name(db->db.path);
    flags |= SQLITE_OPEN_URI;
    int rc = name == NULL ? SQLITE_NOMEM : sqlite3_open_v2(name, &db->handle, flags, NULL);
    free(name);
    return rc;
}

bool db_is_in_memory(const struct db *db)
{
    return strcmp(db->path, ":memory:") == 0;
}

bool db_failed_to_sync(const struct db *db)
{
    return !db->engine->is_server &&
           sqlite3_extended_errcode(own_const(db)->handle) == SQLITE_IOERR_FSYNC;
}

bool db_checkpoint(struct db *db, struct err *err)
{
    int rc =
        sqlite3_wal_checkpoint_v2(own(db)->handle, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return rc == SQLITE_OK || failed(db, rc, err);
}

bool db_checkpoint_passive(struct db *db, struct err *err)
{
    int rc =
        sqlite3_wal_checkpoint_v2(own(db)->handle, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return rc == SQLITE_OK || (rc & 0xFF) == SQLITE_BUSY || failed(db, rc, err);
}

int db_log_pages(const struct db *db)
{
    return db->engine->is_server ? 0 : own_const(db)->log_pages;
}

static void sqlite_close(struct db *db)
{
    db_forget_statements(db);
    (void)sqlite3_finalize(own(db)->begin);
    (void)sqlite3_finalize(own(db)->commit);
    (void)sqlite3_close_v2(own(db)->handle);
    free(db->path);
    free(db);
}

/* Such a statement stays prepared in `kept`. Not through the cache: what ends a transaction reaches
 * little else. */
static bool step(struct db *db, sqlite3_stmt **kept, const char *sql, struct err *err)
{
    int rc = *kept != NULL ? SQLITE_OK
                           : sqlite3_prepare_v3(own(db)->handle, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                                kept, NULL);
    rc = rc == SQLITE_OK ? sqlite3_step(*kept) : rc;
    bool ok = rc == SQLITE_DONE || failed(db, rc, err);
    (void)sqlite3_reset(*kept);
    return ok;
}

static bool sqlite_begin(struct db *db, struct err *err)
{
    return step(db, &own(db)->begin, own(db)->mode == DB_WRITER ? "BEGIN IMMEDIATE" : "BEGIN", err);
}

static bool sqlite_commit(struct db *db, struct err *err)
{
    return step(db, &own(db)->commit, "COMMIT", err);
}

static bool sqlite_rollback(struct db *db, struct err *err)
{
    return sqlite_exec("ROLLBACK", db, err);
}

static bool sqlite_set_durable(struct db *db, bool durable, struct err *err)
{
    return sqlite_exec(durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", db,
                       err);
}

static bool sqlite_in_transaction(const struct db *db)
{
    return sqlite3_get_autocommit(own_const(db)->handle) == 0;
}

static int64_t sqlite_changes(const struct db *db)
{
    return sqlite3_changes(own_const(db)->handle);
}

static bool sqlite_used_bytes(struct db *db, uint64_t *bytes, struct err *err)
{
    int64_t used = 0;
    bool ok = db_read_int(db,
                          "SELECT (page_count - freelist_count) * page_size"
                          " FROM pragma_page_count, pragma_freelist_count, pragma_page_size",
                          &used, err);
    *bytes = (uint64_t)used;
    return ok;
}

/* ---- statements ---- */

static bool sqlite_prepare(struct db *db, const char *sql, struct db_raw **raw, struct err *err)
{
    sqlite3_stmt *made = NULL;
    int rc = sqlite3_prepare_v3(own(db)->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &made, NULL);
    *raw = (struct db_raw *)made;
    return rc == SQLITE_OK || failed(db, rc, err);
}

static void sqlite_finalize(struct db_raw *raw)
{
    (void)sqlite3_finalize((sqlite3_stmt *)raw);
}

static bool sqlite_is_busy(struct db_raw *raw)
{
    return sqlite3_stmt_busy((sqlite3_stmt *)raw) != 0;
}

static void sqlite_reset(struct db_stmt *st)
{
    (void)sqlite3_reset(st->raw);
    /* Texts and pointers of the caller end here. */
    (void)sqlite3_clear_bindings(st->raw);
}

static void check(struct db_stmt *st, int rc)
{
    if (rc != SQLITE_OK) {
        struct err failure = ERR_INIT;
        (void)failed(st->db, rc, &failure);
        db_stmt_fail(st, &failure);
    }
}

static void put_int(struct db_stmt *st, int param, int64_t value)
{
    check(st, sqlite3_bind_int64(st->raw, param, value));
}

static void put_optional(struct db_stmt *st, int param, int64_t value)
{
    check(st, value == INT64_MIN ? sqlite3_bind_null(st->raw, param)
                                 : sqlite3_bind_int64(st->raw, param, value));
}

/* -0.0 is no integer. */
static bool is_small_integer(double value)
{
    return value >= -WHOLE_MAX && value <= WHOLE_MAX && value == (double)(int64_t)value &&
           !(value == 0.0 && signbit(value));
}

static void put_real(struct db_stmt *st, int param, double value)
{
    check(st, is_small_integer(value) ? sqlite3_bind_int64(st->raw, param, (int64_t)value)
                                      : sqlite3_bind_double(st->raw, param, value));
}

static void put_text(struct db_stmt *st, int param, const char *text)
{
    check(st, sqlite3_bind_text(st->raw, param, text, -1, SQLITE_STATIC));
}

static void put_blob(struct db_stmt *st, int param, const void *bytes, size_t len)
{
    check(st, sqlite3_bind_blob64(st->raw, param, bytes, len, SQLITE_STATIC));
}

static void put_matcher(struct db_stmt *st, int param, struct matcher *matcher)
{
    check(st, sqlite3_bind_pointer(st->raw, param, matcher, MATCH_POINTER, NULL));
}

static bool sqlite_next(struct db_stmt *st)
{
    int rc = sqlite3_step(st->raw);
    check(st, rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc);
    return rc == SQLITE_ROW;
}

static bool is_null(struct db_stmt *st, int column)
{
    return sqlite3_column_type(st->raw, column) == SQLITE_NULL;
}

static int64_t get_int(struct db_stmt *st, int column)
{
    return sqlite3_column_int64(st->raw, column);
}

static double get_real(struct db_stmt *st, int column)
{
    return sqlite3_column_double(st->raw, column);
}

static const char *get_text(struct db_stmt *st, int column, size_t *len)
{
    /* Without a type of its own in the column, const unsigned char * is what SQLite has for text.
     */
    const char *text = (const char *)sqlite3_column_text(st->raw, column);
    *len = text == NULL ? 0 : (size_t)sqlite3_column_bytes(st->raw, column);
    return text;
}

static const void *get_blob(struct db_stmt *st, int column, size_t *len)
{
    const void *bytes = sqlite3_column_blob(st->raw, column);
    *len = (size_t)sqlite3_column_bytes(st->raw, column);
    return bytes;
}

static const struct db_engine sqlite_engine = {.close = sqlite_close,
                                               .exec = sqlite_exec,
                                               .exec_schema = sqlite_exec,
                                               .set_durable = sqlite_set_durable,
                                               .begin = sqlite_begin,
                                               .rollback = sqlite_rollback,
                                               .commit = sqlite_commit,
                                               .in_transaction = sqlite_in_transaction,
                                               .changes = sqlite_changes,
                                               .used_bytes = sqlite_used_bytes,
                                               .prepare = sqlite_prepare,
                                               .finalize = sqlite_finalize,
                                               .is_busy = sqlite_is_busy,
                                               .reset = sqlite_reset,
                                               .put_int = put_int,
                                               .put_optional = put_optional,
                                               .put_real = put_real,
                                               .put_text = put_text,
                                               .put_blob = put_blob,
                                               .put_matcher = put_matcher,
                                               .next = sqlite_next,
                                               .is_null = is_null,
                                               .get_int = get_int,
                                               .get_real = get_real,
                                               .get_text = get_text,
                                               .get_blob = get_blob};

/* ---- opening ---- */

static bool
open_with(struct db **out, const char *path, enum db_mode mode, const char *vfs, struct err *err)
{
    static pthread_once_t configured = PTHREAD_ONCE_INIT;
    (void)pthread_once(&configured, count_no_memory);
    struct sqlite_db *db = calloc(1, sizeof *db);
    if (db == NULL || (db->db.path = strdup(path)) == NULL) {
        free(db);
        return err_set(err, ERR_NO_MEMORY, "no memory to open the database %s", path);
    }
    db->db.engine = &sqlite_engine;
    db->mode = mode;
    db->vfs = vfs;
    int rc = open_handle(db);
    bool ok = rc == SQLITE_OK || failed(&db->db, rc, err);
    ok = ok && set_up(db, err);
    if (!ok) {
        db_close(&db->db);
        return false;
    }
    *out = &db->db;
    return true;
}

bool db_open(struct db **out, const char *path, enum db_mode mode, struct err *err)
{
    return open_with(out, path, mode, NULL, err);
}

bool db_open_by(struct db **out, const char *name, const char *vfs, struct err *err)
{
    return open_with(out, name, DB_IMMUTABLE, vfs, err);
}

bool db_open_image(struct db **out, void *image, size_t bytes, struct err *err)
{
    struct db *db = NULL;
    if (!db_open(&db, ":memory:", DB_IN_MEMORY, err) || db == NULL) {
        sqlite3_free(image);
        return false;
    }
    int rc = sqlite3_deserialize(db_handle(db), "main", image, (sqlite3_int64)bytes,
                                 (sqlite3_int64)bytes,
                                 SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
    if (rc != SQLITE_OK) {
        (void)failed(db, rc, err);
        db_close(db);
        return false;
    }
    *out = db;
    return true;
}

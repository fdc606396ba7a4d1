#include "ingest/store/db/db.h"

#include "ingest/store/db/match.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sorted tables make a statement each (columns x directions); what is used seldom goes. */
#define CACHED_STATEMENTS 96
/* Another program that looks into the database may hold its lock for a moment. */
#define BUSY_TIMEOUT_MS 10000
/* Of a log that nobody has brought into the database, the writer does it himself, at 128 MB. */
#define LOG_MAX_PAGES 16384
/* Beyond it an integer takes as many bytes as the double. */
#define WHOLE_MAX 140737488355327.0 /* 2^47 - 1 */

struct cached_statement {
    const char *literal; /* found again by address; NULL for a text of run time */
    char *text;          /* the copy of a text of run time */
    sqlite3_stmt *raw;
    uint64_t used_at;
};

struct db {
    sqlite3 *handle;
    char *path;
    int log_pages; /* see db_log_pages */
    struct cached_statement cache[CACHED_STATEMENTS];
    size_t cached;
    uint64_t clock; /* of uses, for the oldest one */
};

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
    const char *reason = handle != NULL ? sqlite3_errmsg(handle) : sqlite3_errstr(rc);
    if (io || primary == SQLITE_READONLY) {
        return err_set(err, ERR_STORE, "database %s: %s; check the server's disk, then try again",
                       path, reason);
    }
    return err_set(err, ERR_STORE, "database %s: %s", path, reason);
}

bool db_exec(struct db *db, const char *sql, struct err *err)
{
    int rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK || set_error(db->handle, db->path, rc, err);
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

static const char *const setups[] = {[DB_WRITER] = writer_setup,
                                     [DB_READER] = reader_setup,
                                     [DB_MAKER] = maker_setup,
                                     [DB_IN_MEMORY] = memory_setup,
                                     [DB_IMMUTABLE] = reader_setup};

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
    struct db *db = context;
    db->log_pages = pages;
    if (pages >= LOG_MAX_PAGES) {
        (void)sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    }
    return SQLITE_OK;
}

static bool set_up(struct db *db, enum db_mode mode, struct err *err)
{
    (void)sqlite3_extended_result_codes(db->handle, 1);
    (void)sqlite3_busy_timeout(db->handle, BUSY_TIMEOUT_MS);
    if (!db_exec(db, setups[mode], err)) {
        return false;
    }
    (void)sqlite3_wal_hook(db->handle, note_log, db);
    int rc = sqlite3_create_function_v2(db->handle, "ks_match", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                        NULL, sql_match, NULL, NULL, NULL);
    return rc == SQLITE_OK || set_error(db->handle, db->path, rc, err);
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

static int open_handle(struct db *db, enum db_mode mode)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    if (mode != DB_IMMUTABLE) {
        flags |= mode == DB_WRITER ? SQLITE_OPEN_CREATE : 0;
        return sqlite3_open_v2(db->path, &db->handle, flags, NULL);
    }
    char *name = immutable_name(db->path);
    flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_URI;
    int rc = name == NULL ? SQLITE_NOMEM : sqlite3_open_v2(name, &db->handle, flags, NULL);
    free(name);
    return rc;
}

bool db_open(struct db **out, const char *path, enum db_mode mode, struct err *err)
{
    static pthread_once_t configured = PTHREAD_ONCE_INIT;
    (void)pthread_once(&configured, count_no_memory);
    struct db *db = calloc(1, sizeof *db);
    if (db == NULL || (db->path = strdup(path)) == NULL) {
        free(db);
        return err_set(err, ERR_NO_MEMORY, "no memory to open the database %s", path);
    }
    int rc = open_handle(db, mode);
    bool ok = rc == SQLITE_OK || set_error(db->handle, path, rc, err);
    ok = ok && set_up(db, mode, err);
    if (!ok) {
        db_close(db);
        return false;
    }
    *out = db;
    return true;
}

bool db_open_image(struct db **out, void *image, size_t bytes, struct err *err)
{
    struct db *db = NULL;
    if (!db_open(&db, ":memory:", DB_IN_MEMORY, err) || db == NULL) {
        sqlite3_free(image);
        return false;
    }
    int rc =
        sqlite3_deserialize(db->handle, "main", image, (sqlite3_int64)bytes, (sqlite3_int64)bytes,
                            SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY);
    if (rc != SQLITE_OK) {
        (void)set_error(db->handle, db->path, rc, err);
        db_close(db);
        return false;
    }
    *out = db;
    return true;
}

bool db_is_in_memory(const struct db *db)
{
    return strcmp(db->path, ":memory:") == 0;
}

static void drop_statement(struct cached_statement *entry)
{
    (void)sqlite3_finalize(entry->raw);
    free(entry->text);
    *entry = (struct cached_statement){0};
}

void db_close(struct db *db)
{
    if (db == NULL) {
        return;
    }
    for (size_t i = 0; i < db->cached; i++) {
        drop_statement(&db->cache[i]);
    }
    (void)sqlite3_close_v2(db->handle);
    free(db->path);
    free(db);
}

bool db_in_transaction(const struct db *db)
{
    return sqlite3_get_autocommit(db->handle) == 0;
}

bool db_end(struct db *db, bool ok, struct err *err)
{
    struct err second = ERR_INIT;
    ok = ok && db_exec(db, "COMMIT", err);
    if (!ok && db_in_transaction(db) && !db_exec(db, "ROLLBACK", &second)) {
        (void)err_context(err, "not rolled back");
    }
    return ok;
}

bool db_failed_to_sync(const struct db *db)
{
    return sqlite3_extended_errcode(db->handle) == SQLITE_IOERR_FSYNC;
}

bool db_checkpoint(struct db *db, struct err *err)
{
    int rc = sqlite3_wal_checkpoint_v2(db->handle, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return rc == SQLITE_OK || set_error(db->handle, db->path, rc, err);
}

bool db_checkpoint_passive(struct db *db, struct err *err)
{
    int rc = sqlite3_wal_checkpoint_v2(db->handle, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return rc == SQLITE_OK || (rc & 0xFF) == SQLITE_BUSY ||
           set_error(db->handle, db->path, rc, err);
}

int db_log_pages(const struct db *db)
{
    return db->log_pages;
}

int64_t db_changes(const struct db *db)
{
    return sqlite3_changes(db->handle);
}

int64_t db_last_id(const struct db *db)
{
    return sqlite3_last_insert_rowid(db->handle);
}

sqlite3 *db_handle(struct db *db)
{
    return db->handle;
}

/* ---- statements ---- */

static void stmt_fail(struct db_stmt *st, int rc)
{
    if (!st->failed) {
        st->failed = true;
        (void)set_error(st->db->handle, st->db->path, rc, &st->failure);
    }
}

void db_fail_memory(struct db_stmt *st)
{
    if (!st->failed) {
        st->failed = true;
        (void)err_set(&st->failure, ERR_NO_MEMORY, "no memory for the rows of the answer");
    }
}

static struct cached_statement *find_statement(struct db *db, const char *sql, bool is_literal)
{
    for (size_t i = 0; i < db->cached; i++) {
        struct cached_statement *entry = &db->cache[i];
        bool same = is_literal ? entry->literal == sql
                               : entry->text != NULL && strcmp(entry->text, sql) == 0;
        if (same) {
            return entry;
        }
    }
    return NULL;
}

/* A place for a new statement: a free one, else that of the statement used longest ago and not in
 * use. */
static struct cached_statement *free_entry(struct db *db)
{
    if (db->cached < CACHED_STATEMENTS) {
        return &db->cache[db->cached++];
    }
    struct cached_statement *oldest = NULL;
    for (size_t i = 0; i < CACHED_STATEMENTS; i++) {
        struct cached_statement *entry = &db->cache[i];
        bool idle = sqlite3_stmt_busy(entry->raw) == 0;
        if (idle && (oldest == NULL || entry->used_at < oldest->used_at)) {
            oldest = entry;
        }
    }
    if (oldest != NULL) {
        drop_statement(oldest);
    }
    return oldest;
}

static void prepare(struct db_stmt *st, struct db *db, const char *sql, bool is_literal)
{
    *st = (struct db_stmt){.db = db, .failure = ERR_INIT};
    struct cached_statement *entry = find_statement(db, sql, is_literal);
    if (entry == NULL) {
        sqlite3_stmt *raw = NULL;
        char *text = is_literal ? NULL : strdup(sql);
        int rc = sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, NULL);
        if (rc == SQLITE_OK && (is_literal || text != NULL)) {
            entry = free_entry(db);
        }
        if (entry == NULL) {
            stmt_fail(st, rc == SQLITE_OK ? SQLITE_NOMEM : rc);
            (void)sqlite3_finalize(raw);
            free(text);
            return;
        }
        *entry =
            (struct cached_statement){.literal = is_literal ? sql : NULL, .text = text, .raw = raw};
    }
    entry->used_at = ++db->clock;
    st->raw = entry->raw;
}

void db_prepare(struct db_stmt *st, struct db *db, const char *sql)
{
    prepare(st, db, sql, true);
}

void db_prepare_buf(struct db_stmt *st, struct db *db, struct buf *sql)
{
    if (sql->failed) {
        *st = (struct db_stmt){.db = db, .failure = ERR_INIT};
        db_fail_memory(st);
    } else {
        prepare(st, db, sql->ptr, false);
    }
    buf_free(sql);
}

static void check_bound(struct db_stmt *st, int rc)
{
    if (rc != SQLITE_OK) {
        stmt_fail(st, rc);
    }
}

void db_put_int(struct db_stmt *st, int64_t value)
{
    if (!st->failed) {
        check_bound(st, sqlite3_bind_int64(st->raw, ++st->param, value));
    }
}

/* -0.0 is no integer. */
static bool is_small_integer(double value)
{
    return value >= -WHOLE_MAX && value <= WHOLE_MAX && value == (double)(int64_t)value &&
           !(value == 0.0 && signbit(value));
}

void db_put_real(struct db_stmt *st, double value)
{
    if (st->failed) {
        return;
    }
    int param = ++st->param;
    check_bound(st, is_small_integer(value) ? sqlite3_bind_int64(st->raw, param, (int64_t)value)
                                            : sqlite3_bind_double(st->raw, param, value));
}

void db_put_optional(struct db_stmt *st, int64_t value)
{
    if (value == INT64_MIN) {
        db_put_null(st);
    } else {
        db_put_int(st, value);
    }
}

void db_put_text(struct db_stmt *st, const char *text)
{
    if (!st->failed) {
        check_bound(st, sqlite3_bind_text(st->raw, ++st->param, text, -1, SQLITE_STATIC));
    }
}

void db_put_blob(struct db_stmt *st, const void *bytes, size_t len)
{
    if (!st->failed) {
        check_bound(st, sqlite3_bind_blob64(st->raw, ++st->param, bytes, len, SQLITE_STATIC));
    }
}

void db_put_null(struct db_stmt *st)
{
    if (!st->failed) {
        check_bound(st, sqlite3_bind_null(st->raw, ++st->param));
    }
}

void db_put_pointer(struct db_stmt *st, void *pointer, const char *type)
{
    if (!st->failed) {
        check_bound(st, sqlite3_bind_pointer(st->raw, ++st->param, pointer, type, NULL));
    }
}

bool db_next(struct db_stmt *st)
{
    if (st->failed) {
        return false;
    }
    st->column = 0;
    int rc = sqlite3_step(st->raw);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        stmt_fail(st, rc);
    }
    return rc == SQLITE_ROW;
}

int64_t db_get_int(struct db_stmt *st)
{
    return sqlite3_column_int64(st->raw, st->column++);
}

int64_t db_get_optional(struct db_stmt *st)
{
    bool is_null = db_get_is_null(st);
    int64_t value = db_get_int(st);
    return is_null ? INT64_MIN : value;
}

int db_get_enum(struct db_stmt *st, int last)
{
    int64_t value = db_get_int(st);
    return value >= 0 && value <= last ? (int)value : last;
}

bool db_get_bool(struct db_stmt *st)
{
    return db_get_int(st) != 0;
}

bool db_get_is_null(struct db_stmt *st)
{
    return sqlite3_column_type(st->raw, st->column) == SQLITE_NULL;
}

double db_get_real(struct db_stmt *st)
{
    bool is_null = db_get_is_null(st);
    double value = sqlite3_column_double(st->raw, st->column++);
    return is_null ? (double)NAN : value;
}

const void *db_peek_blob(struct db_stmt *st, size_t *len)
{
    int column = st->column++;
    const void *bytes = sqlite3_column_blob(st->raw, column);
    *len = (size_t)sqlite3_column_bytes(st->raw, column);
    return bytes;
}

const char *db_peek_text(struct db_stmt *st, size_t *len)
{
    int column = st->column++;
    /* Without a type of its own in the column, const unsigned char * is what SQLite has for text.
     */
    const char *text = (const char *)sqlite3_column_text(st->raw, column);
    *len = text == NULL ? 0 : (size_t)sqlite3_column_bytes(st->raw, column);
    return text;
}

const char *db_get_text(struct db_stmt *st, struct arena *arena)
{
    bool is_null = db_get_is_null(st);
    size_t len;
    const char *text = db_peek_text(st, &len);
    if (is_null) {
        return NULL;
    }
    const char *copy = text == NULL ? NULL : arena_strndup(arena, text, len);
    if (copy == NULL) {
        db_fail_memory(st);
    }
    return copy;
}

bool db_done(struct db_stmt *st, struct err *err)
{
    if (st->raw != NULL) {
        (void)sqlite3_reset(st->raw);
        /* Texts and pointers of the caller end here. */
        (void)sqlite3_clear_bindings(st->raw);
    }
    if (st->failed) {
        *err = st->failure;
    }
    return !st->failed;
}

bool db_run(struct db_stmt *st, struct err *err)
{
    (void)db_next(st);
    return db_done(st, err);
}

bool db_run_id(struct db *db, const char *sql, int64_t id, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, sql);
    db_put_int(&st, id);
    return db_run(&st, err);
}

bool db_run_text(struct db *db, const char *sql, const char *text, struct err *err)
{
    struct db_stmt st;
    db_prepare(&st, db, sql);
    db_put_text(&st, text);
    return db_run(&st, err);
}

#include "ingest/formats/database/database.h"

#include "ingest/base/files/write_all.h"
#include "ingest/base/text/buf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES_MAX 4096
#define HEADER_BYTES 100
/* What a compressed upload may grow to on disk. */
#define UNPACKED_BYTES_MAX ((uint64_t)16 << 30)
#define TEXT_BYTES_MAX (16 << 20)

/* ---- errors ---- */

/* Sets the error of SQLite's last result: ERR_BAD_INPUT, ERR_IO, ERR_NO_MEMORY. Returns false. */
static bool set_error(const struct database *db, struct err *err)
{
    int code = sqlite3_errcode(db->handle) & 0xFF;
    const char *reason = sqlite3_errmsg(db->handle);
    switch (code) {
    case SQLITE_NOMEM:
        return err_set(err, ERR_NO_MEMORY, "no memory to read the database");
    case SQLITE_NOTADB:
        return err_set(err, ERR_UNSUPPORTED, "this looks like an SQLite database, but is none: %s",
                       reason);
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
        return err_set(err, ERR_IO, "the database cannot be read: %s", reason);
    default:
        return err_set(err, ERR_BAD_INPUT,
                       "the database cannot be read: %s; export or upload it again", reason);
    }
}

/* ---- where the bytes are ---- */

static bool copy_input(struct text_stream *stream, int fd, uint64_t *size_bytes, struct err *err)
{
    const char *window = stream->at;
    size_t len = (size_t)(stream->end - stream->at);
    *size_bytes = 0;
    while (len > 0) {
        *size_bytes += len;
        if (*size_bytes > UNPACKED_BYTES_MAX) {
            return err_set(err, ERR_TOO_LARGE,
                           "the compressed database unpacks to more than %" PRIu64 " GiB",
                           UNPACKED_BYTES_MAX >> 30);
        }
        if (!(write_all(fd, window, len) ||
              err_set_errno(err, ERR_IO, errno, "unpacking the database")) ||
            !input_next(stream->in, 0, &window, &len, err)) {
            return false;
        }
    }
    return true;
}

static bool make_copy(struct text_stream *stream,
                      char path[PATH_BYTES_MAX],
                      uint64_t *size_bytes,
                      struct err *err)
{
    const char *folder = getenv("TMPDIR");
    int len = snprintf(path, PATH_BYTES_MAX, "%s/kinetoscope-database-XXXXXX",
                       folder == NULL || *folder == '\0' ? "/tmp" : folder);
    if (len < 0 || len >= PATH_BYTES_MAX) {
        return err_set(err, ERR_IO, "TMPDIR is too long");
    }
    int fd = mkstemp(path);
    if (fd < 0) {
        return err_set_errno(err, ERR_IO, errno, "no temporary file %s", path);
    }
    bool ok = copy_input(stream, fd, size_bytes, err);
    if (close(fd) != 0 && ok) {
        ok = err_set_errno(err, ERR_IO, errno, "unpacking the database");
    }
    if (!ok) {
        (void)unlink(path);
    }
    return ok;
}

/* ---- opening ---- */

/* Nothing writes to the file: no locks and no journal are needed, nor could any be made beside an
 * upload. */
static bool make_uri(struct buf *uri, const char *path, struct err *err)
{
    buf_init(uri, (size_t)PATH_BYTES_MAX * 4);
    buf_puts(uri, "file:");
    for (; *path != '\0'; path++) {
        if (strchr("%?#", *path) != NULL) {
            buf_printf(uri, "%%%02X", (unsigned)(unsigned char)*path);
        } else {
            buf_putc(uri, *path);
        }
    }
    buf_puts(uri, "?mode=ro&immutable=1");
    return !uri->failed || err_set(err, ERR_NO_MEMORY, "no memory for the path of the database");
}

static uint32_t big_endian(const char *at, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++) {
        value = value << 8 | (unsigned char)at[i];
    }
    return value;
}

/* What the header says of the file's size; 0: nothing, for a program that did not keep it wrote
 * last (https://www.sqlite.org/fileformat.html, 1.3.7). */
static uint64_t size_by_header(const struct text_stream *stream)
{
    const char *at = stream->at;
    if (stream->end - at < HEADER_BYTES || big_endian(at + 24, 4) != big_endian(at + 92, 4)) {
        return 0;
    }
    uint32_t page_bytes = big_endian(at + 16, 2);
    return (uint64_t)big_endian(at + 28, 4) * (page_bytes == 1 ? 65536 : page_bytes);
}

/* SQLite refuses a file that is cut unless its schema may be written, which a connection that only
 * reads cannot do; what lies behind the cut is then damage of the table that it belongs to. */
static bool read_in_part(sqlite3 *handle)
{
    return sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL) == SQLITE_OK &&
           sqlite3_db_config(handle, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL) == SQLITE_OK;
}

static bool harden(sqlite3 *handle)
{
    static const struct {
        int option;
        int value;
    } options[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_DQS_DML, 0},
        {SQLITE_DBCONFIG_DQS_DDL, 0},
        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
    };
    static const struct {
        int limit;
        int value;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, TEXT_BYTES_MAX},
        {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
        {SQLITE_LIMIT_COLUMN, 500},
        {SQLITE_LIMIT_EXPR_DEPTH, 20},
        {SQLITE_LIMIT_COMPOUND_SELECT, 2},
        {SQLITE_LIMIT_VDBE_OP, 25000},
        {SQLITE_LIMIT_FUNCTION_ARG, 8},
        {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_VARIABLE_NUMBER, 8},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (sqlite3_db_config(handle, options[i].option, options[i].value, NULL) != SQLITE_OK) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        (void)sqlite3_limit(handle, limits[i].limit, limits[i].value);
    }
    return sqlite3_exec(handle,
                        "PRAGMA query_only = ON; PRAGMA mmap_size = 0; PRAGMA cell_size_check = "
                        "ON; PRAGMA temp_store = MEMORY",
                        NULL, NULL, NULL) == SQLITE_OK;
}

static bool open_path(struct database *db, const char *path, struct err *err)
{
    struct buf uri;
    int flags =
        SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    bool ok = make_uri(&uri, path, err);
    if (ok) {
        ok = sqlite3_open_v2(uri.ptr, &db->handle, flags, NULL) == SQLITE_OK &&
             harden(db->handle) && (!database_is_cut(db) || read_in_part(db->handle));
        if (!ok) {
            (void)set_error(db, err);
        }
    }
    buf_free(&uri);
    if (!ok) {
        database_close(db);
    }
    return ok;
}

bool database_open(struct database *db, struct text_stream *stream, struct err *err)
{
    const char *own = input_path(stream->in);
    *db = (struct database){.size_bytes = input_bytes_total(stream->in),
                            .own_bytes = size_by_header(stream)};
    if (own != NULL && input_container(stream->in) == INPUT_PLAIN) {
        return open_path(db, own, err);
    }
    char path[PATH_BYTES_MAX];
    if (!make_copy(stream, path, &db->size_bytes, err)) {
        return false;
    }
    /* SQLite keeps the file open; its name is needed no longer. */
    bool ok = open_path(db, path, err);
    (void)unlink(path);
    return ok;
}

void database_close(struct database *db)
{
    (void)sqlite3_close(db->handle);
    db->handle = NULL;
}

/* ---- statements ---- */

bool database_prepare(const struct database *db,
                      const char *sql,
                      sqlite3_stmt **statement,
                      struct err *err)
{
    *statement = NULL;
    return sqlite3_prepare_v2(db->handle, sql, -1, statement, NULL) == SQLITE_OK ||
           set_error(db, err);
}

bool database_step(const struct database *db, sqlite3_stmt *statement, bool *more, struct err *err)
{
    int code = sqlite3_step(statement);
    *more = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE || set_error(db, err);
}

bool database_has_table(const struct database *db, const char *table, bool *has_it, struct err *err)
{
    sqlite3_stmt *statement;
    *has_it = false;
    if (!database_prepare(db,
                          "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 "
                          "AND name = ?1",
                          &statement, err)) {
        return false;
    }
    bool ok = sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC) == SQLITE_OK
                  ? database_step(db, statement, has_it, err)
                  : set_error(db, err);
    (void)sqlite3_finalize(statement);
    return ok;
}

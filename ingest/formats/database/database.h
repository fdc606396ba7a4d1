/* Opens an uploaded SQLite database so that nothing in it can do harm: read-only; no triggers,
 * views or extensions; no function that a schema could misuse; rows of bounded size. */
#ifndef KS_FORMATS_DATABASE_DATABASE_H
#define KS_FORMATS_DATABASE_DATABASE_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/formats/json/text_stream.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* No row takes fewer bytes: a damaged database cannot pretend to more of them. */
#define DATABASE_ROW_BYTES_MIN 4

struct database {
    sqlite3 *handle;
    uint64_t size_bytes;
    uint64_t own_bytes; /* what its header says; 0: nothing */
};

/* Shorter than its header says: rows are missing. */
static inline bool database_is_cut(const struct database *db)
{
    return db->size_bytes < db->own_bytes;
}

/* SQLite must seek: it reads the input's own file, or, where that is compressed or none, a copy in
 * TMPDIR (/tmp) that is unlinked at once. `stream` is at its first byte. Errors: ERR_UNSUPPORTED
 * (no database after all), ERR_TOO_LARGE, ERR_NO_SPACE, ERR_BAD_INPUT, ERR_IO, ERR_NO_MEMORY. */
bool database_open(struct database *db, struct text_stream *stream, struct err *err) KS_MUST_USE;
void database_close(struct database *db);

/* The statement of this text; sqlite3_finalize it. */
bool database_prepare(const struct database *db,
                      const char *sql,
                      sqlite3_stmt **statement,
                      struct err *err) KS_MUST_USE;
/* Steps to the next row; *more is false at the end. */
bool database_step(const struct database *db, sqlite3_stmt *statement, bool *more, struct err *err)
    KS_MUST_USE;
/* Whether there is a plain table (no view, no virtual table) of this name. */
bool database_has_table(const struct database *db, const char *table, bool *has_it, struct err *err)
    KS_MUST_USE;

#endif

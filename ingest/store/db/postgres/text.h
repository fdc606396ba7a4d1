/* SQL of the common subset as PostgreSQL wants it. */
#ifndef KS_STORE_DB_POSTGRES_TEXT_H
#define KS_STORE_DB_POSTGRES_TEXT_H

#include "ingest/base/attr.h"
#include "ingest/base/text/buf.h"

#include <stddef.h>

/* Bytes that postgres_parameters needs at most. */
size_t postgres_parameters_room(const char *sql);
/* "?" and "?2" become "$1" and "$2", as SQLite numbers them, in `out`. Returns how many parameters
 * there are. Takes little stack: statements are made deep within requests. */
size_t postgres_parameters(char *out, const char *sql);
/* The schema: types and keys of SQLite become those of PostgreSQL, comments and pragmas go. */
void postgres_schema(struct buf *out, const char *sql);

/* Functions that the catalogue's SQL calls and PostgreSQL lacks, with SQLite's names and meaning.
 */
extern const char *const postgres_functions[];
extern const size_t postgres_function_count;

/* The table in which writers mark their transactions, made where it is missing. It is the engine's
 * own: no schema, no step and no copy knows it. */
extern const char postgres_marks[];

#endif

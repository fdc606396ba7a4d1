/* SQL of the common subset as PostgreSQL wants it. */
#ifndef KS_STORE_DB_POSTGRES_TEXT_H
#define KS_STORE_DB_POSTGRES_TEXT_H

#include "ingest/base/attr.h"
#include "ingest/base/text/buf.h"

#include <stddef.h>

/* "?" and "?2" become "$1" and "$2", as SQLite numbers them. Returns how many parameters there are;
 * a failure is that of `out`. */
size_t postgres_parameters(struct buf *out, const char *sql);
/* The schema: types and keys of SQLite become those of PostgreSQL, comments and pragmas go. */
void postgres_schema(struct buf *out, const char *sql);

/* Functions that the catalogue's SQL calls and PostgreSQL lacks, with SQLite's names and meaning.
 */
extern const char *const postgres_functions[];
extern const size_t postgres_function_count;

#endif

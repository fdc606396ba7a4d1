/* The schema of the database: schema/N_*.sql, embedded in the order of their names. */
#ifndef KS_STORE_DB_SCHEMA_H
#define KS_STORE_DB_SCHEMA_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/store/db/db.h"

#include <stdbool.h>
#include <stdint.h>

/* PRAGMA user_version of a database of this program. Raise it with every change of the schema, of
 * the catalogue or of the files: a database of an older version is taken over
 * (catalogue/takeover.h), so that every trace is analysed again. */
#define SCHEMA_VERSION 34
/* Version of the analyses, which stands in the row of every upload. Raise it when the same bytes
 * give other figures than before, in tables that stayed as they are: what an older version has
 * analysed is analysed again in the background (catalogue/reanalysis.c). */
#define ANALYSIS_VERSION 3

/* All statements of the catalogue, and of the file of a trace; NUL-terminated ASCII. */
extern const char schema_sql[];
extern const char results_schema_sql[];

#define CATALOGUE_ID_BYTES 40

/* The version of the database: 0 without any table. Fails (ERR_STORE) if the database was written
 * by another program, or by a version of this one that is newer. */
bool schema_version(struct db *db, int64_t *version, struct err *err) KS_MUST_USE;
/* Creates all tables; call it in a transaction. */
bool schema_create(struct db *db, struct err *err) KS_MUST_USE;
/* Of a database on a server: what tells it from all others. */
bool schema_read_id(struct db *db, char id[CATALOGUE_ID_BYTES], struct err *err) KS_MUST_USE;

#endif

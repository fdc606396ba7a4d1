/* The schema of the database: schema/N_*.sql, embedded in the order of their names. */
#ifndef KS_STORE_SCHEMA_SCHEMA_H
#define KS_STORE_SCHEMA_SCHEMA_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/store/db/db.h"

#include <stdbool.h>
#include <stdint.h>

/* Of the catalogue. Raise it with every change of schema/N_*.sql, and write a step (steps.h). */
#define SCHEMA_VERSION 40
/* The oldest that steps lead on from: older ones are taken over (catalogue/takeover.h), so that
 * every trace is analysed again. */
#define SCHEMA_BASE 35
/* Of the files of traces (schema/results/, and the packed rows in them), which are never changed:
 * PRAGMA user_version of each, written by schema/results/1_events.sql. Raise both with every change
 * of what stands in a file, and ANALYSIS_VERSION, so that every trace is analysed again in the
 * background. Files of another version are not read. */
#define RESULTS_VERSION 1
/* Version of the analyses, which stands in the row of every upload. Raise it when the same bytes
 * give other figures than before, in tables that stayed as they are: what an older version has
 * analysed is analysed again in the background (catalogue/reanalysis.c). */
#define ANALYSIS_VERSION 8

/* All statements of the catalogue, and of the file of a trace; NUL-terminated ASCII. */
extern const char schema_sql[];
extern const char results_schema_sql[];

#define CATALOGUE_ID_BYTES 40

/* The version of the database: 0 without any table. Fails (ERR_STORE) if the database was written
 * by another program, or by a version of this one that this one does not work with: the next is the
 * last it does (steps.h). */
bool schema_version(struct db *db, int64_t *version, struct err *err) KS_MUST_USE;
/* The same without these checks, of a database that has tables; and changes it. */
bool schema_read_version(struct db *db, int64_t *version, struct err *err) KS_MUST_USE;
bool schema_set_version(struct db *db, int64_t version, struct err *err) KS_MUST_USE;
/* Creates all tables; call it in a transaction. */
bool schema_create(struct db *db, struct err *err) KS_MUST_USE;
/* On a server each of the 200 values of a trace would look up and lock its metric, as other uploads
 * do, and its trace, which is most of what they cost. What stores values names those that are
 * there; series_metrics_purge keeps metrics, and a trigger does for traces what the reference says.
 */
bool schema_free_values(struct db *db, struct err *err) KS_MUST_USE;
/* Locks on a server, for the rest of a step: all of the tables or none. Who has one and waits for
 * another would hold up a writer that comes to them in another order, and one of both would fail.
 * Only after ten seconds it waits. */
#define SCHEMA_LOCK(tables_and_mode)                                                        \
    "DO $$ BEGIN FOR i IN 1..200 LOOP BEGIN LOCK TABLE " tables_and_mode " NOWAIT; RETURN;" \
    " EXCEPTION WHEN lock_not_available THEN PERFORM pg_sleep(0.05); END; END LOOP;"        \
    " LOCK TABLE " tables_and_mode "; END $$"
/* Of a database on a server: what tells it from all others. */
bool schema_read_id(struct db *db, char id[CATALOGUE_ID_BYTES], struct err *err) KS_MUST_USE;

#endif

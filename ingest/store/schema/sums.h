/* Sums over tables of the catalogue that grow without an end, kept in the table kept_sum, so that
 * neither a list nor an upload counts a million rows.
 *
 * Triggers of the database keep them, in the transaction of whoever changes a row: a rollback takes
 * both back, and a program of the version before, which knows nothing of them, keeps them as well.
 * On a server two writers at once have a row each and wait for nobody. */
#ifndef KS_STORE_SCHEMA_SUMS_H
#define KS_STORE_SCHEMA_SUMS_H

#include "ingest/base/attr.h"
#include "ingest/store/db/db.h"

#include <stdbool.h>
#include <stdint.h>

enum sums_kind {
    SUMS_OBJECTS, /* live ones */
    SUMS_RESULTS, /* files of results in results/ */
    SUMS_RUNS     /* visible ones */
};

struct sums {
    int64_t items;
    int64_t traces; /* of the runs */
    uint64_t size_bytes;
};

/* Makes the triggers and counts what is there; call it in the transaction that makes the table. */
bool sums_make(struct db *db, struct err *err) KS_MUST_USE;
/* On a server: the triggers of a version before do what today's do. */
bool sums_renew(struct db *db, struct err *err) KS_MUST_USE;
/* While so many rows come in one transaction that no trigger is to see each; then counts. */
bool sums_pause(struct db *db, struct err *err) KS_MUST_USE;
bool sums_resume(struct db *db, struct err *err) KS_MUST_USE;

/* projects: as in struct store_page; project: that one alone; NULL: any. */
bool sums_read(struct db *db,
               enum sums_kind kind,
               const char *projects,
               const char *project,
               struct sums *out,
               struct err *err) KS_MUST_USE;

#endif

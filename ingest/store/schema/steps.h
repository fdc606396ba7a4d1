/* Numbered steps that bring the catalogue of an older version to today's schema, on both engines.
 *
 * A new database gets the schema of schema/N_*.sql as a whole. One of version SCHEMA_BASE or later
 * gets the steps that it lacks, each in a transaction of its own that also records it (table
 * schema_step) and sets the version: a crash leaves the database between two steps. Several servers
 * may start at once: each step is applied by one of them. What is older than SCHEMA_BASE is taken
 * over (catalogue/takeover.h).
 *
 * A program of schema n works on databases of schema n and n + 1, so that servers of both run side
 * by side during an upgrade. Therefore a step only adds (tables, indexes, columns with a default)
 * or takes a constraint away. To remove or change something else, stop using it in one version and
 * remove it in the next. What a program of the version before cannot live with takes two numbers:
 * two steps, the first empty.
 *
 * A step is SQL that both engines understand, with the types of the schema (INTEGER, TEXT, REAL,
 * BLOB, ANY; STRICT tables). Write the change into schema/N_*.sql as well: a test compares. */
#ifndef KS_STORE_SCHEMA_STEPS_H
#define KS_STORE_SCHEMA_STEPS_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/store/db/db.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum step_then {
    THEN_NOTHING,
    THEN_MAKE_SUMS, /* sums.h */
    THEN_RENEW_SUMS,
    THEN_FREE_VALUES /* schema_free_values */
};

struct schema_step {
    int64_t version; /* of the database afterwards */
    const char *sql;
    enum step_then then; /* what is not the same SQL in both engines */
};

/* One for each version after SCHEMA_BASE, in order. */
extern const struct schema_step schema_steps[];
extern const size_t schema_step_count;

/* Applies to a writer's database, whose version is at least SCHEMA_BASE, those of `steps` that it
 * lacks. On failure those before stay. */
bool schema_apply_steps(struct db *db,
                        const struct schema_step *steps,
                        size_t count,
                        struct err *err) KS_MUST_USE;

#endif

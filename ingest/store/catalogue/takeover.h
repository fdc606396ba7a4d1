/* Takes over the database of a version before SCHEMA_BASE, from which no steps lead on
 * (schema/steps.h): results are derived data and never migrated.
 *
 *     kinetoscope.db (old) ─► kinetoscope-new.db ─► renamed in place; the old one stays as
 * kinetoscope-schema-N.db
 *
 * Kept are runs with their notes, tags, projects and pins, tokens, sessions, jobs, and comparisons.
 * Every upload gets its job back, which analyses it again by today's rules; its traces keep their
 * ids, notes and tags (table `taken_over`). The bytes of an upload that this program cannot read
 * stay, for the next takeover to try again. An upload whose bytes were not kept (--retain-raw no)
 * cannot be analysed again: its job fails with words that name the old file. A crash at any moment
 * leaves either the old database or the finished new one, and the next start goes on. */
#ifndef KS_STORE_CATALOGUE_TAKEOVER_H
#define KS_STORE_CATALOGUE_TAKEOVER_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/store/internal.h"

#include <stdbool.h>
#include <stdint.h>

/* To be called before the database is opened: ends a takeover that a crash interrupted between its
 * two renames, and removes what an earlier moment left. */
bool takeover_recover(struct store *store, struct err *err) KS_MUST_USE;
/* Takes the database over, which has this version and no open connection. Afterwards store->db_path
 * has SCHEMA_VERSION. Fails (ERR_CONFLICT) if the name for the old file is taken. */
bool takeover_run(struct store *store, int64_t version, struct err *err) KS_MUST_USE;

#endif

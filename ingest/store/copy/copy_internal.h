/* What the modules of a copy share. */
#ifndef KS_STORE_COPY_COPY_INTERNAL_H
#define KS_STORE_COPY_COPY_INTERNAL_H

#include "ingest/store/copy/copy.h"
#include "ingest/store/internal.h"
#include "ingest/store/objects/objects.h"

struct copy_side {
    struct store *store;     /* paths and connection alone: store_open_bare */
    struct objects *objects; /* NULL: uploads are files in raw/ */
};

struct copy {
    struct copy_side from, to;
    bool is_same_objects; /* what the source has there already is taken over as it is */
    const struct copy_progress *progress;
    struct copy_counts *counts;
    uint64_t done_bytes, total_bytes;
    bool is_missing; /* something that was deleted at the source meanwhile */
};

/* ---- copy_bytes.c ---- */

/* Ends what a copy that was killed has left half written. */
bool copy_bytes_recover(struct copy *copy, struct err *err) KS_MUST_USE;
/* Brings to the target every upload and file of a trace that `db`, the source at some moment,
 * names and the target lacks. Sets is_missing. */
bool copy_bytes(struct copy *copy, struct db *db, struct err *err) KS_MUST_USE;

/* ---- copy_rows.c ---- */

/* Replaces the rows of the target by those of `db`, in a transaction of the target that is open.
 * Rows of objects are those of copy_bytes. */
bool copy_rows(struct copy *copy, struct db *db, struct err *err) KS_MUST_USE;
/* Whether the target has any row. */
bool copy_rows_none(struct copy *copy, bool *none, struct err *err) KS_MUST_USE;

#endif

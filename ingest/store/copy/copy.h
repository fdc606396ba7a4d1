/* Copies a whole store into another place: from a data directory to a database server and objects,
 * back, or from one of these to the next, while a server serves the source.
 *
 *     uploads and files of traces ──► the same, each checked ──► all rows, in one transaction
 *
 * Bytes come first. They never change under their names, so a copy that was killed goes on: what is
 * at the target already is not sent again. Then the source is looked at as of one moment, what has
 * come meanwhile is sent, and the rows of that moment replace those of the target. Until then the
 * target's table `copy_state` says that it is half a copy, and store_open refuses it; afterwards it
 * says whose copy it is, so that a later copy of the same source brings the target up to date. The
 * first store_open of the target ends that. */
#ifndef KS_STORE_COPY_COPY_H
#define KS_STORE_COPY_COPY_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/store/store.h"

#include <stdbool.h>
#include <stdint.h>

/* Receives progress now and then, in bytes, then in rows; totals may still grow (0: not known). For
 * one thread at a time, not always the same. */
struct copy_progress {
    void *context;
    void (*tell_bytes)(void *context, uint64_t done, uint64_t total);
    void (*tell_rows)(void *context, uint64_t done);
};

struct copy_counts {
    uint64_t uploads, files, bytes; /* that were copied now: uploads and files of traces */
    uint64_t there;                 /* of both, that the target had already */
    uint64_t lost;                  /* of both, that the source names and does not have */
    uint64_t rows;
};

/* Both places have a data_dir. `from` is read alone. ERR_CONFLICT: the target holds something that
 * is no copy of this source, or the places do not belong together; ERR_UNAVAILABLE: another process
 * has the target, a server does not answer, or too much is being deleted; ERR_NOT_FOUND: there is
 * no source; ERR_IO: also an upload whose bytes do not match its hash. */
bool store_copy(const struct store_place *from,
                const struct store_place *to,
                const struct copy_progress *progress,
                struct copy_counts *counts,
                struct err *err) KS_MUST_USE;

#endif

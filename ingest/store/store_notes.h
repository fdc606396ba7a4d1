/* Notes that people pin to a window of time, a kernel or an operator of a trace or of a whole run,
 * and known regressions: a metric whose change at a run is explained. Threads, arenas and errors as
 * in store.h. */
#ifndef KS_STORE_STORE_NOTES_H
#define KS_STORE_STORE_NOTES_H

#include "ingest/store/store.h"

#include <stddef.h>
#include <stdint.h>

#define STORE_NOTES_MAX 1000 /* of a run */

enum store_note_kind { NOTE_WINDOW, NOTE_KERNEL, NOTE_OPERATOR, NOTE_REGRESSION, NOTE_KIND_COUNT };

struct store_note {
    int64_t id;
    const char *run;
    int64_t trace_id; /* 0: of the whole run */
    enum store_note_kind kind;
    const char *name;         /* of the kernel, the operator, the metric; "" for a window */
    int64_t start_ns, end_ns; /* of a window */
    const char *text;
    const char *author; /* name of the token, "" when anonymous */
    int64_t created_at_s;
};

/* "window", "kernel", "operator", "regression" */
const char *store_note_kind_text(enum store_note_kind kind);

/* Adds a note; id and time are filled in. ERR_NOT_FOUND: no such run, or the trace is none of its;
 * ERR_CONFLICT: the run has STORE_NOTES_MAX notes. */
bool store_note_add(struct store *store, struct store_note *note, struct err *err) KS_MUST_USE;
/* The oldest first: all of a run. ERR_NOT_FOUND. */
bool store_notes_of_run(struct store_snapshot *snapshot,
                        struct arena *arena,
                        const char *run,
                        struct store_note **notes,
                        size_t *count,
                        struct err *err) KS_MUST_USE;
/* Those of the trace, and those of its whole run. ERR_NOT_FOUND. */
bool store_notes_of_trace(struct store_snapshot *snapshot,
                          struct arena *arena,
                          int64_t trace_id,
                          struct store_note **notes,
                          size_t *count,
                          struct err *err) KS_MUST_USE;
/* The known regressions of a metric, of every run; of several at a run the newest is the last. */
bool store_notes_of_metric(struct store_snapshot *snapshot,
                           struct arena *arena,
                           const char *metric,
                           struct store_note **notes,
                           size_t *count,
                           struct err *err) KS_MUST_USE;
/* Removes a note; with `author` only one that this author wrote, NULL: any. ERR_NOT_FOUND: the run
 * has no such note; ERR_FORBIDDEN: another one wrote it. */
bool store_note_delete(struct store *store,
                       const char *run,
                       int64_t id,
                       const char *author,
                       struct err *err) KS_MUST_USE;

#endif

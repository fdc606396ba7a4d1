/* What the catalogue keeps of a run, so that a list of runs reads no trace: how many traces and
 * workers it has, which views, and the figures of one trace. Whoever changes which traces of a run
 * are visible counts them here and then renews the run, in the same transaction of the writer. The
 * cost of an upload grows with the run only by counting its workers and bytes in an index. */
#ifndef KS_STORE_RUNS_RUN_FIGURES_H
#define KS_STORE_RUNS_RUN_FIGURES_H

#include "ingest/base/attr.h"
#include "ingest/store/db/db.h"

#include <stdbool.h>
#include <stdint.h>

enum run_change {
    RUN_TRACES_GO = -1, /* call it before their rows go */
    RUN_TRACES_COME = 1
};

/* Counts the traces of an upload. trace_id: that one alone; 0: all. */
bool run_figures_count(struct db *db,
                       int64_t upload_id,
                       int64_t trace_id,
                       enum run_change change,
                       struct err *err) KS_MUST_USE;
/* Brings the row of the run up to date. A run that is gone is no error. */
bool run_figures_renew(struct db *db, int64_t run_id, struct err *err) KS_MUST_USE;
/* The run has no visible trace any more. */
bool run_figures_forget(struct db *db, int64_t run_id, struct err *err) KS_MUST_USE;

#endif

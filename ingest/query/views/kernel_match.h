/* Kernels of a profiler trace beside the utilisation that a kernel table of the same run measured.
 */
#ifndef KS_QUERY_VIEWS_KERNEL_MATCH_H
#define KS_QUERY_VIEWS_KERNEL_MATCH_H

#include "ingest/base/attr.h"
#include "ingest/base/err.h"
#include "ingest/base/memory/arena.h"
#include "ingest/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_match_use {
    double tensor, dram, sm; /* latency-weighted; NaN: not measured */
    enum use_class use;
    double headroom_ns; /* time in the trace x (1 - the larger measured use); NaN */
    int64_t launches;   /* of the table, behind these figures; 0: no match */
    bool by_launch;     /* grid and block were equal too */
};

/* All kernel tables of the run of one trace. */
struct kernel_match {
    bool available;     /* the run has a kernel table, and this trace is not one */
    int64_t *table_ids; /* traces that are kernel tables */
    size_t table_count;
    int64_t matched_kernels; /* names of the trace that a table has */
    const char **unmatched;  /* names that no table has, by time descending */
    size_t unmatched_count;
    const char **unmatched_in_table; /* cleaned names of the tables that the trace lacks, by time
                                        descending */
    size_t unmatched_in_table_count;
    struct kernel_match_index *index; /* for the look-ups below; in the arena */
};

/* Matches kernels with equal cleaned names. A name that the table cut ("..." at its end) matches
 * the one name of the trace that begins so and that no table has in full; if several do, none. With
 * `launches`, also reads launch configurations, which query_kernel_match_launch needs. Results are
 * in the arena. ERR_NOT_FOUND: an unknown trace. */
bool query_kernel_match(struct store_snapshot *snapshot,
                        struct arena *arena,
                        int64_t trace_id,
                        bool launches,
                        struct kernel_match *out,
                        struct err *err) KS_MUST_USE;
/* Use of a kernel by its full name in the trace: by cleaned name over all launches. A name that is
 * not of the trace has none. */
struct kernel_match_use
query_kernel_match_name(const struct kernel_match *match, const char *full_name, int64_t total_ns);
/* Use of a launch configuration: by cleaned name, then grid and block ("[128, 1, 1]"); by the name
 * alone where no launch of the table has this grid and block. */
struct kernel_match_use query_kernel_match_launch(const struct kernel_match *match,
                                                  const char *full_name,
                                                  const char *grid,
                                                  const char *block,
                                                  int64_t total_ns);

#endif

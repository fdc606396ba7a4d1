/* The slices of any trace by name, track or category, whatever its categories mean [DEV-5]. */
#ifndef KS_ANALYSIS_SLICES_SLICES_H
#define KS_ANALYSIS_SLICES_SLICES_H

#include "ingest/analysis/util/percentiles.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/model/tables/table.h"
#include "ingest/model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A track is a pair of process and thread id as texts: "7" and 7 are one. */
enum slices_group { SLICES_BY_NAME, SLICES_BY_TRACK, SLICES_BY_CATEGORY };

struct slices_row {
    const char *key; /* the name, the category; of a track "process / thread", by name or number */
    const char *pid, *tid;                  /* of a track, else NULL */
    const char *process_name, *thread_name; /* of a track that has them, else NULL */
    int64_t count;
    int64_t total_ns;
    int64_t self_ns; /* without what runs inside on the same track; below 0 where slices inside one
                        overlap each other without nesting */
    int64_t busy_ns; /* length of the union, over all tracks */
    int64_t min_ns, max_ns;
    struct percentiles duration;
};

struct slices {
    struct slices_row *rows; /* the largest total_ns first, then by name, category, pid and tid */
    size_t count;
    int64_t slice_count;
    int64_t duration_ns; /* from the first start to the last end */
};

/* A slice is a complete event, or a begin and the end that closes it. Begins and ends pair up
 * within their track in order of time; one without a partner is none. Everything in *out lives in
 * the arena. O(n log n). False without memory. */
bool slices_analyse(const struct trace *trace,
                    enum slices_group by,
                    struct arena *arena,
                    struct slices *out) KS_MUST_USE;

extern const struct row_table table_slices; /* of the rows */

#endif

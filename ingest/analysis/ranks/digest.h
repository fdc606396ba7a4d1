/* Makes the digest of a trace for the views of its run [RANK-0d]. */
#ifndef KS_ANALYSIS_RANKS_DIGEST_H
#define KS_ANALYSIS_RANKS_DIGEST_H

#include "ingest/analysis/classify/events.h"
#include "ingest/base/attr.h"
#include "ingest/base/memory/arena.h"
#include "ingest/index/index.h"
#include "ingest/model/rank_digest.h"

#include <stdbool.h>

/* At most so many parts: then the names with the least time go without. */
#define RANK_PARTS_MAX ((uint32_t)1 << 19)

/* At most so many stretches of work: the shortest gaps between more are closed [RANK-10b]. */
#define RANK_BUSY_MAX ((uint32_t)1 << 14)

/* In the arena; O(n log n) of the trace's events, whatever overlaps. False without memory. */
bool rank_digest_build(struct rank_digest **out,
                       struct arena *arena,
                       struct event_classes *sel,
                       const struct trace_index *index) KS_MUST_USE;

/* What a collective does, by `Collective name`; by the kernel's name where that is NULL [RANK-1b].
 */
enum rank_kind rank_kind_of(const char *collective_name, const char *kernel_name);
/* Bytes of an element of `dtype`; 0: unknown [RANK-1g]. */
int64_t rank_element_bytes(const char *dtype);

/* What the name of a range says of a pipeline's work [RANK-4c]. */
struct rank_operation_name {
    int64_t stage; /* RANK_UNKNOWN */
    uint8_t type;  /* enum operation_type */
    uint8_t rule;  /* which of the rules of [RANK-4c] tells it, from 1; 0: none does */
};
struct rank_operation_name rank_operation_named(const char *name);

#endif

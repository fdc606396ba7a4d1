/* What the two files that make a digest share. */
#ifndef KS_ANALYSIS_RANKS_DIGEST_INTERNAL_H
#define KS_ANALYSIS_RANKS_DIGEST_INTERNAL_H

#include "ingest/analysis/ranks/digest.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/strtab.h"

struct digesting {
    struct arena *arena;
    struct event_classes *sel;
    const struct trace_index *index;
    struct rank_digest *out;
    struct strtab *texts;
    uint32_t *args_of;    /* by event: index into trace.collectives; NULL: there are none */
    struct id_map packed; /* string of the trace -> text without blanks */
    struct id_map copied; /* string of the trace -> text */
    struct id_map named;  /* name -> text */
    struct id_map kinds;  /* name of a kernel -> enum rank_kind */
    bool failed;
};

/* Absolute. */
static inline int64_t digest_start(const struct digesting *d, uint32_t event)
{
    return saturating_add(d->sel->trace->events.ts_ns[event], d->sel->trace->base_time_ns);
}

bool digest_is_collective(const struct digesting *d, uint32_t event);
/* The text of a name of the classes. */
uint32_t digest_name(struct digesting *d, uint32_t name);
/* Fills segments and parts from collectives and steps. */
bool digest_segments(struct digesting *d) KS_MUST_USE;

/* Fills operations, from steps too. */
bool digest_operations(struct digesting *d) KS_MUST_USE;
/* Fills busy. */
bool digest_busy(struct digesting *d) KS_MUST_USE;

#endif

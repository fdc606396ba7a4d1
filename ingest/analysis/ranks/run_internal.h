/* What the files that lay ranks beside each other share. */
#ifndef KS_ANALYSIS_RANKS_RUN_INTERNAL_H
#define KS_ANALYSIS_RANKS_RUN_INTERNAL_H

#include "ingest/analysis/ranks/run.h"
#include "ingest/base/containers/id_map.h"
#include "ingest/base/containers/key_map.h"
#include "ingest/base/saturating.h"
#include "ingest/base/text/strtab.h"

#define RANKS_NONE UINT32_MAX

/* One kernel of a collective on one rank. */
struct ranks_event {
    int64_t start_ns, duration_ns; /* of the rank's own clock */
    int64_t sequence;
    uint32_t event;
    uint32_t call; /* name and kind */
    uint32_t group;
    uint32_t instance; /* once matched */
};

struct ranks_call {
    uint32_t name; /* of run.texts */
    enum rank_kind kind;
};

/* A process group, or without one all collectives of a name. */
struct ranks_group {
    uint32_t name;  /* of run.texts; RANKS_NONE: no group */
    uint32_t ranks; /* the same */
    bool by_order;  /* not all have a Seq of their own */
    uint32_t seen;  /* events of the rank at hand */
    uint32_t seen_member;
};

struct ranks_instance {
    int64_t sequence;
    int64_t size, in_bytes, out_bytes; /* of the lowest rank, as told */
    uint32_t group;
    uint32_t call; /* of the lowest rank */
    uint32_t dtype;
    uint32_t lowest; /* member */
    uint32_t step;   /* place in run.steps; RANKS_NONE */
    bool mismatch;
    bool is_expanded; /* the clocks of all its ranks are set */
};

/* A part of an instance. */
struct ranks_part {
    uint32_t member, event; /* event: place in the member's events */
};

struct ranks_member {
    int64_t rank, trace_id;
    int64_t first_ns, last_ns; /* RANK_UNKNOWN: no event */
    int64_t offset_ns, residual_ns;
    int64_t samples; /* RANK_UNKNOWN: a reference */
    int64_t communication_ns, hidden_ns;
    struct ranks_event *events; /* by start */
    struct rank_step *steps;    /* by number */
    uint32_t *steps_by_start;
    uint32_t event_count, step_count;
    bool is_placed; /* on the common clock */
};

/* A name of the kernels of a culprit, in one step. */
struct ranks_candidate {
    uint32_t step; /* place */
    uint32_t name; /* of run.texts */
};

struct ranks_run {
    struct ranks_member *members;
    size_t member_count, added;
    struct strtab *texts;
    struct key_map calls; /* {name, kind} */
    struct key_map groups_by_text;
    struct ranks_group *groups;
    size_t groups_cap;
    struct ranks_instance *instances;
    uint32_t instance_count;
    uint32_t *first; /* of an instance's parts; one more than instances */
    struct ranks_part *parts;
    int64_t *sent_bytes; /* NULL: no all-to-all says how it splits */
    struct id_map member_of_rank;
    /* Steps and stragglers. */
    int64_t *steps;
    size_t step_count, left_out_steps;
    int64_t *wait_ns;  /* by member, then step; RANK_UNKNOWN: takes no part */
    int64_t *cause_ns; /* CAUSE_COUNT to a cell */
    struct culprit_row *culprits;
    struct key_map candidates; /* {step, name} */
    uint32_t *first_candidate; /* by step */
    int64_t *candidate_ns;     /* by member, then candidate */
    size_t culprit_count;
    bool has_instances; /* that stragglers use */
    bool has_candidates;
    int64_t *last_start_ns; /* by instance, aligned: when the last rank arrives; NULL: not asked */
    int64_t zero_ns;        /* ranks_zero(), aligned; with last_start_ns */
};

static inline struct ranks_call ranks_call_of(const struct ranks_run *run, uint32_t call)
{
    const struct key *key = &run->calls.keys[call];
    return (struct ranks_call){key->id[0], (enum rank_kind)key->id[1]};
}

static inline const struct ranks_event *ranks_part_event(const struct ranks_run *run,
                                                         const struct ranks_part *part)
{
    return &run->members[part->member].events[part->event];
}

static inline uint32_t ranks_instance_size(const struct ranks_run *run, uint32_t instance)
{
    return run->first[instance + 1] - run->first[instance];
}

/* Whether clocks and stragglers use it [RANK-2a]. */
bool ranks_synchronises(const struct ranks_run *run, uint32_t instance);
/* floor((a + b) / 2) */
static inline int64_t ranks_middle(int64_t a, int64_t b)
{
    return (a & b) + ((a ^ b) >> 1);
}
/* Sorts; count > 0. */
int64_t ranks_median(int64_t *values, size_t count);
void ranks_sort(int64_t *values, size_t count);

/* Place of a step in run.steps; RANKS_NONE: it is left out. */
uint32_t ranks_step_place(const struct ranks_run *run, int64_t number);
/* Absolute start of the run on one clock [RANK-0c]; 0 without events. */
int64_t ranks_zero(const struct ranks_run *run, bool is_raw);
/* Adds what the all-to-alls of a digest send [RANK-1k]. */
bool ranks_add_experts(struct ranks_run *run,
                       size_t member,
                       const struct rank_digest *digest) KS_MUST_USE;
bool ranks_set_clocks(struct ranks_run *run) KS_MUST_USE;
/* Steps, waits, culprits. */
bool ranks_find_culprits(struct ranks_run *run) KS_MUST_USE;
bool ranks_add_work(struct ranks_run *run,
                    size_t member,
                    const struct rank_digest *digest) KS_MUST_USE;

#endif

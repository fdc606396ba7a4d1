/* Who waits in which step, and for whom [RANK-3]. */
#include "ingest/analysis/ranks/run_internal.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <stdlib.h>
#include <string.h>

/* Cells of ranks and steps; steps beyond them are left out at the end. */
#define CELLS_MAX ((size_t)1 << 22)
/* Values of names of kernels that are held for all ranks. */
#define CANDIDATE_VALUES_MAX ((size_t)1 << 23)
#define MARGIN_MIN_NS 20000
#define MARGIN_PERCENT 100

/* ---- steps ---- */

uint32_t ranks_step_place(const struct ranks_run *run, int64_t number)
{
    size_t low = order_i64_below(run->steps, run->step_count, sizeof *run->steps, 0, number, false);
    return low < run->step_count && run->steps[low] == number ? (uint32_t)low : RANKS_NONE;
}

static bool list_steps(struct ranks_run *run)
{
    size_t count = 0;
    size_t kept = 0;
    for (size_t m = 0; m < run->member_count; m++) {
        count += run->members[m].step_count;
    }
    run->steps = scratch_alloc(count, sizeof *run->steps);
    if (run->steps == NULL) {
        return false;
    }
    count = 0;
    for (size_t m = 0; m < run->member_count; m++) {
        for (uint32_t i = 0; i < run->members[m].step_count; i++) {
            run->steps[count++] = run->members[m].steps[i].number;
        }
    }
    ranks_sort(run->steps, count);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || run->steps[i] != run->steps[kept - 1]) {
            run->steps[kept++] = run->steps[i];
        }
    }
    size_t most = run->member_count == 0 ? 0 : CELLS_MAX / run->member_count;
    run->step_count = kept < most ? kept : most;
    run->left_out_steps = kept - run->step_count;
    return true;
}

/* The last step that starts at or before a time of the rank's own clock. */
static uint32_t step_at(const struct ranks_run *run, const struct ranks_member *member, int64_t ns)
{
    size_t low = 0;
    ORDER_SEARCH(low, member->step_count, middle,
                 member->steps[member->steps_by_start[middle]].start_ns <= ns);
    return low == 0 ? RANKS_NONE
                    : ranks_step_place(run, member->steps[member->steps_by_start[low - 1]].number);
}

static const struct rank_step *step_of(const struct ranks_member *member, int64_t number)
{
    size_t low = order_i64_below(member->steps, member->step_count, sizeof *member->steps,
                                 offsetof(struct rank_step, number), number, false);
    bool is_there = low < member->step_count && member->steps[low].number == number;
    return is_there ? &member->steps[low] : NULL;
}

/* ---- waits ---- */

static int64_t *cell(const struct ranks_run *run, int64_t *cells, size_t member, uint32_t step)
{
    return &cells[member * run->step_count + step];
}

static bool is_used(const struct ranks_run *run, uint32_t instance)
{
    return run->instances[instance].step != RANKS_NONE && ranks_synchronises(run, instance);
}

static int64_t aligned_start(const struct ranks_run *run, const struct ranks_part *part)
{
    return saturating_sub(ranks_part_event(run, part)->start_ns,
                          run->members[part->member].offset_ns);
}

static void add_waits(struct ranks_run *run, uint32_t instance)
{
    int64_t last_ns = INT64_MIN;
    for (uint32_t p = run->first[instance]; p < run->first[instance + 1]; p++) {
        last_ns = i64_max(last_ns, aligned_start(run, &run->parts[p]));
    }
    for (uint32_t p = run->first[instance]; p < run->first[instance + 1]; p++) {
        const struct ranks_part *part = &run->parts[p];
        int64_t *wait_ns = cell(run, run->wait_ns, part->member, run->instances[instance].step);
        int64_t before_ns = *wait_ns == RANK_UNKNOWN ? 0 : *wait_ns;
        *wait_ns = saturating_add(before_ns, saturating_sub(last_ns, aligned_start(run, part)));
    }
}

static bool find_waits(struct ranks_run *run)
{
    size_t cells = run->member_count * run->step_count;
    run->wait_ns = scratch_alloc(cells, sizeof *run->wait_ns);
    run->cause_ns = scratch_calloc(cells * CAUSE_COUNT, sizeof *run->cause_ns);
    if (run->wait_ns == NULL || run->cause_ns == NULL) {
        return false;
    }
    for (size_t i = 0; i < cells; i++) {
        run->wait_ns[i] = RANK_UNKNOWN;
    }
    for (uint32_t i = 0; i < run->instance_count; i++) {
        struct ranks_instance *instance = &run->instances[i];
        const struct ranks_part *lowest = &run->parts[run->first[i]];
        instance->step =
            step_at(run, &run->members[lowest->member], ranks_part_event(run, lowest)->start_ns);
        if (is_used(run, i)) {
            run->has_instances = true;
            add_waits(run, i);
        }
    }
    return true;
}

/* ---- culprits [RANK-3f] ---- */

/* 1 % of the upper median of the step's durations. */
static bool is_margin(struct ranks_run *run, uint32_t step, int64_t margin_ns, int64_t *room)
{
    size_t count = 0;
    for (size_t m = 0; m < run->member_count; m++) {
        const struct rank_step *own = step_of(&run->members[m], run->steps[step]);
        if (own != NULL) {
            room[count++] = own->duration_ns;
        }
    }
    ranks_sort(room, count);
    int64_t duration_ns = count == 0 ? 0 : room[count / 2];
    bool is_share =
        margin_ns > INT64_MAX / MARGIN_PERCENT || margin_ns * MARGIN_PERCENT >= duration_ns;
    return margin_ns >= MARGIN_MIN_NS && is_share;
}

static void find_culprit(struct ranks_run *run, uint32_t step, int64_t *room)
{
    struct culprit_row *row = &run->culprits[step];
    size_t count = 0;
    size_t least = 0;
    *row = (struct culprit_row){
        .step = run->steps[step], .rank = RANK_UNKNOWN, .margin_ns = RANK_UNKNOWN};
    for (size_t m = 0; m < run->member_count; m++) {
        int64_t wait_ns = *cell(run, run->wait_ns, m, step);
        if (wait_ns == RANK_UNKNOWN) {
            continue;
        }
        bool is_least = count == 0 || wait_ns < *cell(run, run->wait_ns, least, step);
        least = is_least ? m : least;
        room[count++] = wait_ns;
    }
    if (count < 2) {
        return;
    }
    ranks_sort(room, count);
    row->margin_ns = saturating_sub(room[count / 2], room[0]);
    if (is_margin(run, step, row->margin_ns, room)) {
        row->rank = run->members[least].rank;
        run->culprit_count++;
    }
}

bool ranks_find_culprits(struct ranks_run *run)
{
    int64_t *room = scratch_alloc(run->member_count, sizeof *room);
    bool ok = room != NULL && list_steps(run) && find_waits(run);
    run->culprits = scratch_calloc(run->step_count, sizeof *run->culprits);
    run->first_candidate = scratch_calloc(run->step_count + 1, sizeof *run->first_candidate);
    ok = ok && run->culprits != NULL && run->first_candidate != NULL;
    for (uint32_t s = 0; ok && s < run->step_count; s++) {
        find_culprit(run, s, room);
    }
    scratch_free(room);
    return ok;
}

bool ranks_run_has_culprits(const struct ranks_run *run)
{
    return run->culprit_count > 0;
}

/* ---- work [RANK-3e] ---- */

/* Time between two collectives, as segments of the digest: [from, to). */
struct interval {
    uint32_t from, to;
    uint32_t step;
};

static uint32_t segment_of(const struct rank_digest *digest, int64_t ns)
{
    return (uint32_t)order_i64_below(digest->segments, digest->segment_count,
                                     sizeof *digest->segments,
                                     offsetof(struct rank_segment, start_ns), ns, false);
}

/* The work intervals of a rank, in order. NULL without memory; to be freed. */
static struct interval *list_intervals(const struct ranks_run *run,
                                       size_t member,
                                       const struct rank_digest *digest,
                                       uint32_t *count)
{
    const struct ranks_member *from = &run->members[member];
    struct interval *intervals = scratch_alloc(from->event_count, sizeof *intervals);
    bool is_first = true;
    int64_t end_ns = 0;
    *count = 0;
    for (uint32_t i = 0; intervals != NULL && i < from->event_count; i++) {
        const struct ranks_event *item = &from->events[i];
        if (!is_used(run, item->instance)) {
            continue;
        }
        uint32_t step = run->instances[item->instance].step;
        const struct rank_step *own = is_first ? step_of(from, run->steps[step]) : NULL;
        int64_t begin_ns = is_first ? (own == NULL ? item->start_ns : own->start_ns) : end_ns;
        int64_t until_ns = saturating_add(item->start_ns, item->duration_ns);
        end_ns = is_first ? until_ns : i64_max(end_ns, until_ns);
        is_first = false;
        if (item->start_ns > begin_ns) {
            intervals[(*count)++] = (struct interval){segment_of(digest, begin_ns),
                                                      segment_of(digest, item->start_ns), step};
        }
    }
    return intervals;
}

static void add_interval(struct ranks_run *run,
                         size_t member,
                         const struct rank_digest *digest,
                         const struct interval *interval)
{
    int64_t *causes = &run->cause_ns[(member * run->step_count + interval->step) * CAUSE_COUNT];
    for (uint32_t i = interval->from; i < interval->to && i + 1 < digest->segment_count; i++) {
        const struct rank_segment *segment = &digest->segments[i];
        int64_t whole = saturating_sub(segment[1].start_ns, segment->start_ns);
        int64_t told = segment->compute_ns + segment->memory_ns + segment->input_ns;
        causes[CAUSE_COMPUTE] = saturating_add(causes[CAUSE_COMPUTE], segment->compute_ns);
        causes[CAUSE_MEMORY] = saturating_add(causes[CAUSE_MEMORY], segment->memory_ns);
        causes[CAUSE_INPUT] = saturating_add(causes[CAUSE_INPUT], segment->input_ns);
        causes[CAUSE_HOST] = saturating_add(causes[CAUSE_HOST], saturating_sub(whole, told));
    }
}

/* ---- kernels [RANK-3g] ---- */

typedef bool visit_part(void *context, uint32_t step, const struct rank_part *part);

/* Intervals and parts both ascend: each part is met once. */
static bool each_part(const struct rank_digest *digest,
                      const struct interval *intervals,
                      uint32_t interval_count,
                      visit_part *visit,
                      void *context)
{
    uint32_t at = 0;
    bool ok = true;
    for (uint32_t p = 0; ok && p < digest->part_count; p++) {
        const struct rank_part *part = &digest->parts[p];
        while (at < interval_count && intervals[at].to <= part->segment) {
            at++;
        }
        if (at < interval_count && part->segment >= intervals[at].from) {
            ok = visit(context, intervals[at].step, part);
        }
    }
    return ok;
}

struct naming {
    struct ranks_run *run;
    const struct rank_digest *digest;
    int64_t rank;
    struct key_map keys; /* {step, name of the digest} */
    int64_t *ns;         /* by key */
    size_t cap;
};

static bool note_name(void *context, uint32_t step, const struct rank_part *part)
{
    struct naming *n = context;
    if (n->run->culprits[step].rank != n->rank) {
        return true;
    }
    int64_t *sums = scratch_grow(n->ns, n->keys.count, &n->cap, sizeof *sums);
    if (sums == NULL) {
        return false;
    }
    n->ns = sums;
    uint32_t count = n->keys.count;
    uint32_t at = key_map_add(&n->keys, (struct key){{step, part->name, 0, 0}});
    if (at == KEY_MAP_NONE) {
        return false;
    }
    sums[at] = saturating_add(at == count ? 0 : sums[at], part->ns);
    return true;
}

struct named {
    int64_t ns;
    uint32_t step, name; /* name: of the digest */
};

ORDER_BY(by_step, struct named, ORDER_UP(step), ORDER_DOWN(ns), ORDER_UP(name))

/* The names with most time of each step, as many as there is room for in the table of all ranks. */
static bool choose_names(const struct naming *n)
{
    struct ranks_run *run = n->run;
    size_t most = CANDIDATE_VALUES_MAX / run->member_count / run->culprit_count;
    struct named *names = scratch_alloc(n->keys.count, sizeof *names);
    size_t taken = 0;
    bool ok = names != NULL;
    most = most < CULPRIT_KERNELS_MAX ? CULPRIT_KERNELS_MAX : most;
    for (uint32_t i = 0; ok && i < n->keys.count; i++) {
        names[i] = (struct named){n->ns[i], n->keys.keys[i].id[0], n->keys.keys[i].id[1]};
    }
    if (ok && n->keys.count > 0) {
        qsort(names, n->keys.count, sizeof *names, by_step);
    }
    for (uint32_t i = 0; ok && i < n->keys.count; i++) {
        taken = i > 0 && names[i].step == names[i - 1].step ? taken + 1 : 0;
        if (taken < most) {
            const char *text = n->digest->texts[names[i].name];
            uint32_t shared = strtab_intern(run->texts, text, strlen(text));
            ok = shared != STRTAB_NONE &&
                 key_map_add(&run->candidates, (struct key){{names[i].step, shared, 0, 0}}) !=
                     KEY_MAP_NONE;
        }
    }
    scratch_free(names);
    return ok;
}

static bool is_culprit(const struct ranks_run *run, int64_t rank)
{
    for (size_t s = 0; s < run->step_count; s++) {
        if (run->culprits[s].rank == rank) {
            return true;
        }
    }
    return false;
}

bool ranks_add_work(struct ranks_run *run, size_t member, const struct rank_digest *digest)
{
    uint32_t count = 0;
    struct interval *intervals = list_intervals(run, member, digest, &count);
    struct naming n = {.run = run, .digest = digest, .rank = run->members[member].rank};
    bool ok = intervals != NULL;
    key_map_init(&n.keys);
    for (uint32_t i = 0; ok && i < count; i++) {
        add_interval(run, member, digest, &intervals[i]);
    }
    if (ok && is_culprit(run, n.rank)) {
        ok = each_part(digest, intervals, count, note_name, &n) && choose_names(&n);
    }
    key_map_free(&n.keys);
    SCRATCH_FREE(n.ns, intervals);
    return ok;
}

struct valuing {
    struct ranks_run *run;
    const uint32_t *shared; /* by text of the digest; STRTAB_NONE: no candidate */
    int64_t *values;        /* of the rank, by candidate */
};

static bool add_value(void *context, uint32_t step, const struct rank_part *part)
{
    const struct valuing *v = context;
    uint32_t name = v->shared[part->name];
    uint32_t at = v->run->culprits[step].rank == RANK_UNKNOWN || name == STRTAB_NONE
                      ? KEY_MAP_NONE
                      : key_map_find(&v->run->candidates, (struct key){{step, name, 0, 0}});
    if (at != KEY_MAP_NONE) {
        v->values[at] = saturating_add(v->values[at], part->ns);
    }
    return true;
}

bool ranks_run_kernels(struct ranks_run *run, size_t member, const struct rank_digest *digest)
{
    uint32_t count = 0;
    uint32_t candidates = run->candidates.count;
    if (digest->collective_count != run->members[member].event_count) {
        return true; /* another trace meanwhile */
    }
    if (run->candidate_ns == NULL) {
        run->candidate_ns =
            scratch_calloc(run->member_count * ((size_t)candidates + 1), sizeof *run->candidate_ns);
    }
    uint32_t *shared = scratch_alloc(digest->text_count, sizeof *shared);
    struct interval *intervals = list_intervals(run, member, digest, &count);
    bool ok = run->candidate_ns != NULL && shared != NULL && intervals != NULL;
    for (uint32_t i = 0; ok && i < digest->text_count; i++) {
        shared[i] = strtab_find(run->texts, digest->texts[i], strlen(digest->texts[i]));
    }
    if (ok) {
        struct valuing v = {run, shared, run->candidate_ns + member * candidates};
        ok = each_part(digest, intervals, count, add_value, &v);
    }
    SCRATCH_FREE(shared, intervals);
    return ok;
}

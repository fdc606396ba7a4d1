/* What the waits of a run say, in figures and in a sentence [RANK-3g] to [RANK-3i]. */
#include "ingest/analysis/ranks/run_internal.h"
#include "ingest/base/memory/scratch.h"
#include "ingest/base/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIGH_SAMPLES 10
#define HIGH_RESIDUAL_NS 10000
#define MEDIUM_SAMPLES 3
#define MEDIUM_RESIDUAL_NS 100000
#define NS_PER_MS 1e6
/* A name in the sentence is cut. */
#define NAME_BYTES 40
#define TEXT_BYTES 512

/* ---- clocks [RANK-2d] ---- */

static const char *confidence_of(const struct ranks_member *member)
{
    if (member->samples == RANK_UNKNOWN) {
        return "reference";
    }
    if (member->samples >= HIGH_SAMPLES && member->residual_ns <= HIGH_RESIDUAL_NS) {
        return "high";
    }
    bool is_medium = member->samples >= MEDIUM_SAMPLES && member->residual_ns <= MEDIUM_RESIDUAL_NS;
    return is_medium ? "medium" : "low";
}

static bool copy_clocks(const struct ranks_run *run, struct arena *arena, struct ranks_verdict *out)
{
    out->rank_count = run->member_count;
    out->clocks = arena_calloc(arena, run->member_count + 1, sizeof *out->clocks);
    for (size_t m = 0; out->clocks != NULL && m < run->member_count; m++) {
        const struct ranks_member *member = &run->members[m];
        out->clocks[m] = (struct clock_row){.rank = member->rank,
                                            .trace = member->trace_id,
                                            .offset_ns = member->offset_ns,
                                            .samples = member->samples,
                                            .residual_ns = member->residual_ns,
                                            .confidence = confidence_of(member)};
        out->island_count += member->samples == RANK_UNKNOWN;
    }
    out->reference = run->member_count == 0 ? RANK_UNKNOWN : run->members[0].rank;
    return out->clocks != NULL;
}

/* ---- cells ---- */

static bool copy_cells(const struct ranks_run *run, struct arena *arena, struct ranks_verdict *out)
{
    size_t cells = run->member_count * run->step_count;
    out->step_count = run->step_count;
    out->left_out_steps = (int64_t)run->left_out_steps;
    out->steps = arena_calloc(arena, run->step_count + 1, sizeof *out->steps);
    out->step_ns = arena_calloc(arena, cells + 1, sizeof *out->step_ns);
    out->wait_ns = arena_calloc(arena, cells + 1, sizeof *out->wait_ns);
    out->work_ns = arena_calloc(arena, cells + 1, sizeof *out->work_ns);
    if (out->steps == NULL || out->step_ns == NULL || out->wait_ns == NULL ||
        out->work_ns == NULL) {
        return false;
    }
    for (size_t s = 0; s < run->step_count; s++) {
        out->steps[s] = run->steps[s];
    }
    for (size_t i = 0; i < cells; i++) {
        const int64_t *causes = &run->cause_ns[i * CAUSE_COUNT];
        int64_t work_ns = 0;
        for (int c = 0; c < CAUSE_COUNT; c++) {
            work_ns = saturating_add(work_ns, causes[c]);
        }
        out->step_ns[i] = RANK_UNKNOWN;
        out->wait_ns[i] = run->wait_ns[i];
        out->work_ns[i] = run->wait_ns[i] == RANK_UNKNOWN ? RANK_UNKNOWN : work_ns;
    }
    for (size_t m = 0; m < run->member_count; m++) {
        const struct ranks_member *member = &run->members[m];
        size_t s = 0; /* both ascend */
        for (uint32_t i = 0; i < member->step_count; i++) {
            while (s < run->step_count && run->steps[s] < member->steps[i].number) {
                s++;
            }
            if (s < run->step_count) {
                out->step_ns[m * run->step_count + s] = member->steps[i].duration_ns;
            }
        }
    }
    return true;
}

/* ---- culprits ---- */

/* Lower median of `values` of the ranks that take part in the step. */
static int64_t
usual(const struct ranks_run *run, size_t step, const int64_t *values, size_t stride, int64_t *room)
{
    size_t count = 0;
    for (size_t m = 0; m < run->member_count; m++) {
        if (run->wait_ns[m * run->step_count + step] != RANK_UNKNOWN) {
            room[count++] = values[m * stride];
        }
    }
    ranks_sort(room, count);
    return count == 0 ? 0 : room[(count - 1) / 2];
}

static void find_cause(
    const struct ranks_run *run, size_t step, size_t member, struct culprit_row *row, int64_t *room)
{
    size_t stride = run->step_count * CAUSE_COUNT;
    row->cause = CAUSE_COMPUTE;
    for (int c = 0; c < CAUSE_COUNT; c++) {
        const int64_t *values = run->cause_ns + step * CAUSE_COUNT + c;
        row->excess_ns[c] =
            saturating_sub(values[member * stride], usual(run, step, values, stride, room));
        row->cause =
            row->excess_ns[c] > row->excess_ns[row->cause] ? (enum rank_cause)c : row->cause;
    }
}

static bool goes_before(const struct culprit_kernel *a, const struct culprit_kernel *b)
{
    return a->excess_ns != b->excess_ns ? a->excess_ns > b->excess_ns
                                        : strcmp(a->name, b->name) < 0;
}

static void note_kernel(struct culprit_row *row, struct culprit_kernel kernel)
{
    size_t at = row->kernel_count;
    while (at > 0 && goes_before(&kernel, &row->kernels[at - 1])) {
        at--;
    }
    if (at == CULPRIT_KERNELS_MAX) {
        return;
    }
    row->kernel_count += row->kernel_count < CULPRIT_KERNELS_MAX;
    for (size_t i = row->kernel_count - 1; i > at; i--) {
        row->kernels[i] = row->kernels[i - 1];
    }
    row->kernels[at] = kernel;
}

static bool find_kernels(const struct ranks_run *run,
                         const uint32_t *candidates,
                         uint32_t count,
                         size_t member,
                         struct culprit_row *row,
                         int64_t *room)
{
    size_t stride = run->candidates.count;
    for (uint32_t i = 0; i < count; i++) {
        const struct key *key = &run->candidates.keys[candidates[i]];
        const int64_t *values = run->candidate_ns + candidates[i];
        int64_t excess_ns =
            saturating_sub(values[member * stride], usual(run, key->id[0], values, stride, room));
        if (excess_ns > 0) {
            note_kernel(row,
                        (struct culprit_kernel){strtab_text(run->texts, key->id[1]), excess_ns});
        }
    }
    return true;
}

static bool copy_kernel_names(struct culprit_row *row, struct arena *arena)
{
    bool ok = true;
    for (size_t k = 0; ok && k < row->kernel_count; k++) {
        row->kernels[k].name = arena_strdup(arena, row->kernels[k].name);
        ok = row->kernels[k].name != NULL;
    }
    return ok;
}

/* The candidates of each step beside each other; to be freed. */
static uint32_t *candidates_by_step(const struct ranks_run *run)
{
    uint32_t *list = scratch_alloc(run->candidates.count, sizeof *list);
    uint32_t *first = run->first_candidate;
    for (uint32_t i = 0; list != NULL && i < run->candidates.count; i++) {
        first[run->candidates.keys[i].id[0]]++;
    }
    for (size_t s = 0, sum = 0; list != NULL && s <= run->step_count; s++) {
        sum += first[s];
        first[s] = (uint32_t)sum; /* its end */
    }
    for (uint32_t i = run->candidates.count; list != NULL && i-- > 0;) {
        list[--first[run->candidates.keys[i].id[0]]] = i;
    }
    return list;
}

static bool
explain_culprits(const struct ranks_run *run, struct arena *arena, struct ranks_verdict *out)
{
    int64_t *room = scratch_alloc(run->member_count, sizeof *room);
    uint32_t *candidates = candidates_by_step(run);
    bool ok = room != NULL && candidates != NULL;
    out->culprits = arena_calloc(arena, run->step_count + 1, sizeof *out->culprits);
    ok = ok && out->culprits != NULL;
    for (size_t s = 0; ok && s < run->step_count; s++) {
        struct culprit_row *row = &out->culprits[s];
        *row = run->culprits[s];
        const struct id_slot *slot =
            row->rank == RANK_UNKNOWN ? NULL : id_map_find(&run->member_of_rank, row->rank);
        if (slot == NULL) {
            continue;
        }
        uint32_t first = run->first_candidate[s];
        uint32_t count = run->first_candidate[s + 1] - first;
        find_cause(run, s, slot->value, row, room);
        ok = (run->candidate_ns == NULL ||
              find_kernels(run, candidates + first, count, slot->value, row, room)) &&
             copy_kernel_names(row, arena);
    }
    SCRATCH_FREE(room, candidates);
    return ok;
}

/* ---- recurrence and verdict ---- */

ORDER_BY(by_steps, struct recurrence_row, ORDER_DOWN(steps), ORDER_UP(rank))

static bool
count_recurrence(const struct ranks_run *run, struct arena *arena, struct ranks_verdict *out)
{
    out->recurrence = arena_calloc(arena, run->member_count + 1, sizeof *out->recurrence);
    if (out->recurrence == NULL) {
        return false;
    }
    for (size_t m = 0; m < run->member_count; m++) {
        out->recurrence[m].rank = run->members[m].rank;
    }
    for (size_t s = 0; s < run->step_count; s++) {
        const struct culprit_row *row = &out->culprits[s];
        const struct id_slot *slot =
            row->rank == RANK_UNKNOWN ? NULL : id_map_find(&run->member_of_rank, row->rank);
        if (slot != NULL) {
            out->recurrence[slot->value].steps++;
            out->lost_ns = saturating_add(out->lost_ns, row->margin_ns);
        }
    }
    if (run->member_count > 0) {
        qsort(out->recurrence, run->member_count, sizeof *out->recurrence, by_steps);
    }
    while (out->recurrence_count < run->member_count &&
           out->recurrence[out->recurrence_count].steps > 0) {
        out->recurrence_count++;
    }
    return true;
}

/* By steps, then by name. */
static enum rank_cause usual_cause(const struct ranks_verdict *out)
{
    size_t counts[CAUSE_COUNT] = {0};
    int best = 0;
    for (size_t s = 0; s < out->step_count; s++) {
        counts[out->culprits[s].cause] += out->culprits[s].rank == out->rank;
    }
    for (int c = 1; c < CAUSE_COUNT; c++) {
        bool is_before =
            strcmp(rank_cause_name((enum rank_cause)c), rank_cause_name((enum rank_cause)best)) < 0;
        best = counts[c] > counts[best] || (counts[c] == counts[best] && is_before) ? c : best;
    }
    return (enum rank_cause)best;
}

static void decide(const struct ranks_run *run, struct ranks_verdict *out)
{
    size_t hits = run->culprit_count;
    out->rank = RANK_UNKNOWN;
    out->culprit_steps = out->recurrence_count == 0 ? 0 : out->recurrence[0].steps;
    if (run->member_count < 2 || !run->has_instances) {
        out->kind = VERDICT_UNKNOWN;
    } else if (hits == 0 || hits * 10 < run->step_count) {
        out->kind = VERDICT_BALANCED;
    } else if (hits >= 2 && (uint64_t)out->culprit_steps * 2 >= hits) {
        out->kind = VERDICT_PERSISTENT;
        out->rank = out->recurrence[0].rank;
        out->cause = usual_cause(out);
    } else {
        out->kind = VERDICT_SCATTERED;
    }
}

/* The kernel with the most excess over all steps of the culprit; NULL: none. The lists are short: a
 * step has three at most. */
static const struct culprit_kernel *worst_kernel(const struct ranks_verdict *out)
{
    const struct culprit_kernel *worst = NULL;
    for (size_t s = 0; s < out->step_count; s++) {
        const struct culprit_row *row = &out->culprits[s];
        bool counts = row->rank == out->rank && row->kernel_count > 0;
        if (counts && (worst == NULL || goes_before(&row->kernels[0], worst))) {
            worst = &row->kernels[0];
        }
    }
    return worst;
}

static const char *const cause_texts[CAUSE_COUNT] = {"compute kernels", "copies and sets",
                                                     "loading its input", "work of its host"};

static void write_persistent(const struct ranks_verdict *out, double lost_ms, char *text)
{
    const struct culprit_kernel *worst = worst_kernel(out);
    bool has_name = worst != NULL && (out->cause == CAUSE_COMPUTE || out->cause == CAUSE_MEMORY);
    char kernel[NAME_BYTES + 48] = "";
    if (has_name) {
        bool is_cut = strlen(worst->name) > NAME_BYTES;
        (void)snprintf(kernel, sizeof kernel, " (%.*s%s +%.2f ms)", NAME_BYTES, worst->name,
                       is_cut ? "\xE2\x80\xA6" : "", (double)worst->excess_ns / NS_PER_MS);
    }
    (void)snprintf(text, TEXT_BYTES,
                   "Rank %" PRId64 " makes the others wait in %" PRId64
                   " of %zu steps, %.2f ms a step, by %s%s.",
                   out->rank, out->culprit_steps, out->step_count, lost_ms, cause_texts[out->cause],
                   kernel);
}

static bool write_text(const struct ranks_run *run, struct arena *arena, struct ranks_verdict *out)
{
    char text[TEXT_BYTES];
    size_t hits = run->culprit_count;
    double lost_ms = hits == 0 ? 0 : (double)out->lost_ns / (double)hits / NS_PER_MS;
    switch (out->kind) {
    case VERDICT_UNKNOWN:
        (void)snprintf(text, sizeof text,
                       "No two ranks share a collective in a step: nothing says who waits.");
        break;
    case VERDICT_BALANCED:
        (void)snprintf(text, sizeof text,
                       "No rank makes the others wait: %zu of %zu steps have a slowest one.", hits,
                       out->step_count);
        break;
    case VERDICT_PERSISTENT:
        write_persistent(out, lost_ms, text);
        break;
    default:
        (void)snprintf(text, sizeof text,
                       "Ranks make the others wait in %zu of %zu steps, %.2f ms a step, none of "
                       "them in half of these.",
                       hits, out->step_count, lost_ms);
        break;
    }
    out->text = arena_strdup(arena, text);
    return out->text != NULL;
}

/* ---- where it lies in time [RANK-10a] ---- */

static bool place_steps(const struct ranks_run *run, struct arena *arena, struct ranks_verdict *out)
{
    out->zero_ns = ranks_zero(run, false);
    out->step_start_ns = arena_calloc(arena, run->step_count + 1, sizeof *out->step_start_ns);
    out->step_end_ns = arena_calloc(arena, run->step_count + 1, sizeof *out->step_end_ns);
    if (out->step_start_ns == NULL || out->step_end_ns == NULL) {
        return false;
    }
    for (size_t s = 0; s < run->step_count; s++) {
        out->step_start_ns[s] = INT64_MAX;
        out->step_end_ns[s] = INT64_MIN;
    }
    for (size_t m = 0; m < run->member_count; m++) {
        const struct ranks_member *member = &run->members[m];
        int64_t zero_ns = saturating_add(out->zero_ns, member->offset_ns);
        if (member->last_ns != RANK_UNKNOWN) {
            out->end_ns = i64_max(out->end_ns, saturating_sub(member->last_ns, zero_ns));
        }
        for (uint32_t i = 0; i < member->step_count; i++) {
            const struct rank_step *step = &member->steps[i];
            uint32_t place = ranks_step_place(run, step->number);
            if (place != RANKS_NONE) {
                int64_t start_ns = saturating_sub(step->start_ns, zero_ns);
                out->step_start_ns[place] = i64_min(out->step_start_ns[place], start_ns);
                out->step_end_ns[place] =
                    i64_max(out->step_end_ns[place], saturating_add(start_ns, step->duration_ns));
            }
        }
    }
    return true;
}

bool ranks_run_verdict(struct ranks_run *run, struct arena *arena, struct ranks_verdict *out)
{
    *out = (struct ranks_verdict){.rank_count = 0};
    if (!copy_clocks(run, arena, out) || !copy_cells(run, arena, out) ||
        !explain_culprits(run, arena, out) || !count_recurrence(run, arena, out) ||
        !place_steps(run, arena, out)) {
        return false;
    }
    decide(run, out);
    return write_text(run, arena, out);
}
